// The public API while names change: a file that is being written or read stays the same, and
// another program's file that has its name meanwhile stays whole.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

using test::error_of;

// Each rank has some hundred kilobytes, so that direct writes have whole blocks.
constexpr int64_t kRows = 40000;

class FileNamesTest : public test::FileTest {
 protected:
  /// Collective, so that names change while no rank is at work.
  template <typename Change>
  void alone(const Change& change) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      change();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  static std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<double> values(int generation) const {
    std::vector<double> mine(kRows);
    std::iota(mine.begin(), mine.end(), static_cast<double>(1000000 * generation + kRows * rank_));
    return mine;
  }

  void put(File& file, const char* name, const std::vector<double>& mine) const {
    Dataset dataset = file.create_dataset(name, ElementType::kFloat64, {kRows * ranks_});
    dataset.put({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
  }

  void write(const std::string& path, int generation, const Hints& hints = {}) const {
    File file = File::create(MPI_COMM_WORLD, path, {.hints = hints});
    const std::vector<double> mine = values(generation);
    put(file, "values", mine);
    file.commit();
  }

  std::vector<double> read(File& file, const char* name) const {
    std::vector<double> mine(kRows);
    file.dataset(name).get({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
    file.commit();
    return mine;
  }

  const std::string stranger_ = std::string(3000, 's');
  void make_stranger(const std::string& at) const { std::ofstream(at) << stranger_; }
};

TEST_F(FileNamesTest, ARelativeNameOutlivesAChangeOfDirectory) {
  const auto before = std::filesystem::current_path();
  const std::string first = path("first"), second = path("second");
  alone([&] {
    std::filesystem::create_directory(first);
    std::filesystem::create_directory(second);
  });
  const std::vector<Hints> methods = {{{"stria_method", "list_io"}},
                                      {{"stria_method", "two_phase"}},
                                      {{"stria_method", "list_io"}, {"stria_direct", "enable"}},
                                      {{"stria_driver", "uring"}}};
  int generation = 0;
  for (const Hints& hints : methods) {
    std::filesystem::current_path(first);
    const std::vector<double> mine = values(++generation);
    {
      File file = File::create(MPI_COMM_WORLD, "run.h5", {.hints = hints});
      put(file, "values", mine);
      alone([&] { make_stranger(second + "/.run.h5.partial"); });
      std::filesystem::current_path(second);
      file.commit();
    }
    EXPECT_FALSE(std::filesystem::exists(second + "/run.h5"));
    EXPECT_TRUE(content_of(second + "/.run.h5.partial") == stranger_);
    std::filesystem::current_path(first);
    File file = File::open(MPI_COMM_WORLD, "run.h5", {.hints = hints});
    std::filesystem::current_path(second);
    EXPECT_TRUE(read(file, "values") == mine);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  {
    std::filesystem::current_path(first);
    File dropped = File::create(MPI_COMM_WORLD, "run.h5");
    std::filesystem::current_path(second);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(std::filesystem::exists(first + "/.run.h5.partial")) << "a dropped file leaves nothing behind";
  EXPECT_TRUE(content_of(second + "/.run.h5.partial") == stranger_);
  std::filesystem::current_path(before);
}

TEST_F(FileNamesTest, ATemporaryNameThatMeansAnotherFileIsNotCommitted) {
  write(path(), 1);
  const std::string old = content_of(path());
  const std::string partial = path(".run.h5.partial"), moved = path("moved");
  for (const char* method : {"list_io", "two_phase"}) {
    for (const bool commits : {true, false}) {
      File file = File::create(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", method}}});
      const std::vector<double> mine = values(2);
      put(file, "values", mine);
      alone([&] {
        std::filesystem::rename(partial, moved);
        make_stranger(partial);
      });
      if (commits) {
        const std::string text = error_of([&] { file.commit(); }, ErrorCode::kIo);
        EXPECT_NE(text.find(".run.h5.partial"), std::string::npos) << text;
      } else {
        file.abandon();
      }
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_TRUE(content_of(partial) == stranger_);
      EXPECT_TRUE(content_of(path()) == old);
      alone([&] {
        std::filesystem::remove(partial);
        std::filesystem::remove(moved);
      });
    }
  }
}

TEST_F(FileNamesTest, AFileThatIsReplacedWhileItIsReadIsNotMixedWithTheNewOne) {
  write(path(), 1);
  File old = File::open(MPI_COMM_WORLD, path());
  write(path(), 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (ranks_ == 1) {
    EXPECT_TRUE(read(old, "values") == values(1)) << "what is open stays open";
  } else {
    const std::string text = error_of([&] { read(old, "values"); }, ErrorCode::kIo);
    EXPECT_NE(text.find("means another file"), std::string::npos) << text;
  }
  File fresh = File::open(MPI_COMM_WORLD, path());
  EXPECT_TRUE(read(fresh, "values") == values(2));
}

}  // namespace
}  // namespace stria
