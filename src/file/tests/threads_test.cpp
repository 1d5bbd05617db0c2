// Several threads on several files, and on one. MPI is not initialised.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stria/file.hpp"

namespace stria {
namespace {

const std::string kDirectory = std::filesystem::temp_directory_path() / ("stria_threads." + std::to_string(getpid()));

class Threads : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(kDirectory); }
  void TearDown() override { std::filesystem::remove_all(kDirectory); }
};

// Returns the message of the error that `call` throws, in a thread of its own; "" for none.
template <typename Call>
std::string error_in_a_thread(Call&& call) {
  std::string message;
  std::thread([&] {
    try {
      call();
    } catch (const Error& error) {
      message = error.code() == ErrorCode::kInvalidArgument ? error.what() : "another code";
    }
  }).join();
  return message;
}

TEST_F(Threads, HaveFilesOfTheirOwn) {
  constexpr int64_t kCount = 5000;
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &error = errors[static_cast<size_t>(t)]] {
      try {
        for (int i = 0; i < 3; ++i) {
          const std::string path = kDirectory + "/" + std::to_string(t) + "_" + std::to_string(i);
          std::vector<double> written(kCount);
          std::iota(written.begin(), written.end(), 1000. * t + i);
          File file = File::create(path, {.sync = false});
          file.create_dataset("x", ElementType::kFloat64, {kCount}).put({{0}, {kCount}}, Memory(written.data(), kCount));
          file.set_attribute("x", "thread", t);
          file.commit();
          File again = File::open(path, {.verify = true});
          if (again.read<double>("x") != written || again.attribute<int>("x", "thread") != t || !again.verify().empty()) {
            error = path + " has another content";
          }
        }
      } catch (const Error& thrown) {
        error = thrown.what();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(errors, std::vector<std::string>(4));
}

// The other thread's call comes while commit() moves data, which the progress tells.
TEST_F(Threads, AreRefusedWhileAnotherUsesTheFile) {
  const double one = 1;
  File file = File::create(kDirectory + "/a", {.sync = false});
  Dataset x = file.create_dataset("x", ElementType::kFloat64, {2});
  x.put({{0}, {1}}, Memory(&one, 1));
  std::vector<std::string> messages;
  file.progress([&](const Progress&) {
    if (messages.empty()) {
      messages.push_back(error_in_a_thread([&] { x.put({{1}, {1}}, Memory(&one, 1)); }));
      messages.push_back(error_in_a_thread([&] { file.create_dataset("y", ElementType::kFloat64, {2}); }));
      messages.push_back(error_in_a_thread([&] { file.commit(); }));
      messages.push_back(error_in_a_thread([&] { static_cast<void>(x.dims()); }));
    }
  });
  file.flush();
  ASSERT_EQ(messages.size(), 4U);
  for (const std::string& message : messages) {
    EXPECT_NE(message.find("/a' is in use by another thread"), std::string::npos) << message;
  }
  // The put is missing, so there must be no file.
  try {
    file.commit();
    FAIL() << "a file without what the other thread has put";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a call was refused because another thread used the file"), std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(kDirectory + "/a"));
}

TEST_F(Threads, MayUseAFileInTurn) {
  const std::vector<double> values = {1, 2, 3};
  File file = File::create(kDirectory + "/in_turn", {.sync = false});
  Dataset x = file.create_dataset("x", ElementType::kFloat64, {3});
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(error_in_a_thread([&] { x.put({{i}, {1}}, Memory(&values[static_cast<size_t>(i)], 1)); }), "");
  }
  EXPECT_EQ(error_in_a_thread([&] { file.commit(); }), "");
  EXPECT_EQ(File::open(kDirectory + "/in_turn").read<double>("x"), values);
}

// Whatever comes at the same time: either all puts were taken and the file has them, or none of it
// is there.
TEST_F(Threads, NeverSpoilAFile) {
  constexpr int64_t kRows = 3000;
  std::vector<double> values(2 * kRows);
  std::iota(values.begin(), values.end(), 0.);
  for (int round = 0; round < 3; ++round) {
    const std::string path = kDirectory + "/both" + std::to_string(round);
    File file = File::create(path, {.sync = false});
    Dataset x = file.create_dataset("x", ElementType::kFloat64, {2 * kRows});
    std::vector<int64_t> refused(2);
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < 2; ++t) {
      threads.emplace_back([&, t, &count = refused[static_cast<size_t>(t)]] {
        for (int64_t row = t * kRows; row < (t + 1) * kRows; ++row) {
          try {
            x.put({{row}, {1}}, Memory(&values[static_cast<size_t>(row)], 1));
          } catch (const Error&) {
            ++count;
          }
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (refused[0] + refused[1] > 0) {
      EXPECT_THROW(file.commit(), Error);
      EXPECT_FALSE(std::filesystem::exists(path));
    } else {
      file.commit();
      EXPECT_EQ(File::open(path).read<double>("x"), values);
    }
  }
}

TEST_F(Threads, WaitForACallBeforeTheFileEnds) {
  const std::vector<double> written(1000, 7);
  const std::string path = kDirectory + "/ended";
  {
    File file = File::create(path, {.sync = false});
    file.create_dataset("x", ElementType::kFloat64, {1000}).put({{0}, {1000}}, Memory(written.data(), 1000));
    file.commit();
  }
  std::optional<File> file = File::open(path);
  Dataset x = file->dataset("x");
  std::thread other;
  bool has_ended = false;
  file->progress([&](const Progress&) {
    if (!other.joinable()) {
      other = std::thread([&] {
        file.reset();
        has_ended = true;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  std::vector<double> read(1000);
  x.read({{0}, {1000}}, Memory(read.data(), 1000));
  other.join();
  EXPECT_EQ(read, written);
  EXPECT_TRUE(has_ended);
  EXPECT_THROW(x.read<double>(), Error);
}

// What the report does would be within a call that moves data.
TEST_F(Threads, MustNotUseAFileInItsReport) {
  const double one = 1;
  const std::string path = kDirectory + "/reported";
  File file = File::create(path, {.sync = false});
  Dataset x = file.create_dataset("x", ElementType::kFloat64, {2});
  x.put({{0}, {1}}, Memory(&one, 1));
  std::vector<std::string> messages;
  const auto refused = [&](const std::function<void()>& call) {
    try {
      call();
      messages.emplace_back("no error");
    } catch (const Error& error) {
      messages.emplace_back(error.what());
    }
  };
  file.progress([&](const Progress&) {
    refused([&] { file.flush(); });
    refused([&] { file.commit(); });
    refused([&] { file.abandon(); });
    refused([&] { x.put({{1}, {1}}, Memory(&one, 1)); });
    refused([&] { file.create_dataset("y", ElementType::kFloat64, {2}); });
    refused([&] { file.progress({}); });
  });
  file.flush();
  EXPECT_GE(messages.size(), 6U);
  for (const std::string& message : messages) {
    EXPECT_NE(message.find("/reported': a report of progress must not use its file"), std::string::npos) << message;
  }
  EXPECT_THROW(file.commit(), Error);  // the put is missing
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Threads, MayEndAFileInItsReport) {
  const std::vector<double> values(1000, 7);
  for (const bool commits : {true, false}) {
    const std::string path = kDirectory + "/ended_by_report" + (commits ? "_whole" : "");
    std::optional<File> file = File::create(path, {.sync = false});
    file->create_dataset("x", ElementType::kFloat64, {1000}).put({{0}, {1000}}, Memory(values));
    file->progress([&](const Progress&) { file.reset(); });
    commits ? file->commit() : file->flush();
    EXPECT_FALSE(file);
    EXPECT_EQ(std::filesystem::exists(path), commits);
  }
  EXPECT_EQ(File::open(kDirectory + "/ended_by_report_whole").read<double>("x"), values);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(kDirectory), {}), 1);
}

}  // namespace
}  // namespace stria
