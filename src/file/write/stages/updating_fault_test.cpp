// File::update where the program is killed, the disk is full or fails: what isn't updated stays,
// and checksums tell of what may be half of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "file/write/growing_case_test.hpp"
#include "file/write/mortal_driver_test.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;

constexpr int64_t kRows = 20;
constexpr int64_t kColumns = 90;
constexpr const char* kAll[] = {"g/a", "b", "g/c", "short", "chunked", "growing"};
constexpr const char* kUpdated[] = {"g/a", "short", "chunked", "growing"};

bool is_updated(const std::string& path) {
  return std::find(std::begin(kUpdated), std::end(kUpdated), path) != std::end(kUpdated);
}

std::vector<double> numbers(int64_t count, double base) {
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = base + 0.25 * static_cast<double>(i);
  }
  return values;
}

std::vector<int64_t> dims_of(const std::string& path) {
  return path == "short" ? std::vector<int64_t>{300} : std::vector<int64_t>{kRows, kColumns};
}

int64_t count_of(const std::string& path) {
  return path == "short" ? 300 : kRows * kColumns;
}

class UpdatingFault : public ::testing::Test {
 protected:
  UpdatingFault() {
    Setting setting;
    on_ranks(setting, [&](Comm& comm) {
      auto session = WriteSession::create(environment_of(comm, borrow(memory_), {}), kGrowingPath, {}).value();
      std::vector<std::vector<double>> kept;
      for (const std::string path : kAll) {
        container::DatasetSpec spec;
        spec.path = path;
        spec.dims = dims_of(path);
        DatasetOptions options{.value_range = true};
        if (path == "chunked" || path == "growing") {
          options.chunk = {3, 40};
        }
        if (path == "growing") {
          spec.dims[0] = kUnlimited;
        }
        int number = create_dataset(*session, spec, options).value();
        if (path == "growing") {
          number = append_rows(*session, path, kRows).value();
        }
        put_all(*session, number, path, 1, comm, kept);
      }
      ASSERT_EQ(session->commit().message(), "");
    });
  }

  /// Each rank puts its share of the first dimension.
  static void put_all(WriteSession& session, int number, const std::string& path, double base, const Comm& comm,
                      std::vector<std::vector<double>>& kept) {
    std::vector<int64_t> dims = dims_of(path);
    const int64_t row_elements = count_of(path) / dims[0];
    const int64_t first = dims[0] * comm.rank() / comm.size();
    dims[0] = dims[0] * (comm.rank() + 1) / comm.size() - first;
    std::vector<double> all = numbers(count_of(path), base);
    kept.emplace_back(all.begin() + first * row_elements, all.begin() + (first + dims[0]) * row_elements);
    std::vector<int64_t> start(dims.size(), 0);
    start[0] = first;
    ASSERT_EQ(session.record(number, {start, dims}, Memory(kept.back().data(), dims[0] * row_elements)).message(), "");
  }

  /// Overwrites some datasets, and adds one. Returns the outcome of rank 0.
  Status update(Life& life, int ranks) {
    MortalDriver driver(memory_, life);
    Setting setting;
    setting.ranks = ranks;
    Status outcome;
    on_ranks(setting, [&](Comm& comm) {
      auto session = WriteSession::append(environment_of(comm, borrow(driver), {}), kGrowingPath, {});
      Status status = session.status();
      std::vector<std::vector<double>> kept;
      if (status.ok()) {
        for (const std::string path : kUpdated) {
          put_all(**session, file::update(**session, path).value(), path, 1000, comm, kept);
        }
        container::DatasetSpec spec;
        spec.path = "added";
        spec.dims = {5};
        status = create_dataset(**session, spec, {.fill_value = 3.0}).status();
        status.update((*session)->commit());
      }
      outcome = comm.rank() == 0 ? status : outcome;
    });
    return outcome;
  }

  /// Returns what is wrong: other datasets must be as they were, each element of an updated one the
  /// old or the new one, and where there is a new one beside an old one, checksums must tell.
  std::string wrong() {
    const std::shared_ptr<Comm> comm = make_self_comm();
    auto opened = ReadSession::open(environment_of(*comm, borrow(memory_), {}), kGrowingPath, {});
    if (!opened.ok()) {
      return opened.status().message();
    }
    const auto damages = (*opened)->verify();
    if (!damages.ok()) {
      return damages.status().message();
    }
    std::set<std::string> damaged;
    for (const Damage& damage : *damages) {
      damaged.insert(damage.dataset);
    }
    bool tables_are_damaged = false;
    for (const std::string& path : damaged) {
      const bool is_own = path.starts_with(".stria/");
      tables_are_damaged = tables_are_damaged || is_own;
      if (!is_own && !is_updated(path)) {
        return "damage in '" + path + "'";
      }
    }
    // A damaged chunk isn't read any more after verify().
    const auto reading = ReadSession::open(environment_of(*comm, borrow(memory_), {}), kGrowingPath, {}).value();
    for (const std::string path : kAll) {
      std::vector<double> values(static_cast<size_t>(count_of(path)), -1);
      const int number = reading->find(path).value();
      Status status = reading->record(number, {std::vector<int64_t>(dims_of(path).size(), 0), dims_of(path)},
                                      Memory(values.data(), count_of(path)));
      status.update(reading->flush());
      if (!status.ok()) {
        return status.message();
      }
      const std::vector<double> before = numbers(count_of(path), 1);
      const std::vector<double> after = numbers(count_of(path), 1000);
      if (values != before && (!is_updated(path) || values != after) && damaged.count(path) == 0 && !tables_are_damaged) {
        return "'" + path + "' has changed, and verify() doesn't tell";
      }
      if (!is_updated(path) && values != before) {
        return "'" + path + "' has changed";
      }
    }
    return "";
  }

  storage::MemoryDriver memory_{{.track_unsynced = true}};
};

int64_t bytes_of_an_update(storage::MemoryDriver& memory, const std::function<Status(Life&)>& update) {
  const Bytes before = content_of(memory, kGrowingPath);
  Life life{.bytes_left = Life::kForever};
  EXPECT_TRUE(update(life).ok());
  set_content(memory, kGrowingPath, before);
  return Life::kForever - life.bytes_left;
}

TEST_F(UpdatingFault, OthersStayAndSumsTellWhateverFails) {
  const Bytes before = content_of(memory_, kGrowingPath);
  std::mt19937_64 random(3);
  int changed = 0;
  for (const int ranks : {1, 3}) {
    const int64_t all = bytes_of_an_update(memory_, [&](Life& life) { return update(life, ranks); });
    for (int kill = 0; kill < 12; ++kill) {
      const int64_t at = kill < 2 ? all - 1 - kill : std::uniform_int_distribution<int64_t>(0, all)(random);
      SCOPED_TRACE("ranks " + std::to_string(ranks) + ", byte " + std::to_string(at) + " of " + std::to_string(all));
      Life life{.bytes_left = at,
                .dead = false,
                .refused_superblocks = 0,
                .reason = kill % 3 == 0 ? ErrorCode::kNoSpace : ErrorCode::kIo,
                .failures_left = kill % 3 == 2 ? 1 : Life::kForever};
      const Status status = update(life, ranks);
      if (at < all) {
        EXPECT_EQ(status.code(), life.reason) << status.message();
      }
      EXPECT_EQ(wrong(), "");
      changed += content_of(memory_, kGrowingPath) != before ? 1 : 0;
      set_content(memory_, kGrowingPath, before);
    }
  }
  EXPECT_GT(changed, 10);
}

// What can't be carried out is known before anything is overwritten.
TEST_F(UpdatingFault, NothingIsOverwrittenWhereTheRestCannotBe) {
  const Bytes before = content_of(memory_, kGrowingPath);
  Setting setting;
  setting.ranks = 3;
  on_ranks(setting, [&](Comm& comm) {
    auto session = WriteSession::append(environment_of(comm, borrow(memory_), {}), kGrowingPath, {}).value();
    std::vector<std::vector<double>> kept;
    put_all(*session, file::update(*session, "g/a").value(), "g/a", 1000, comm, kept);
    container::AttributeSpec attribute{"nowhere", "a", container::ElementSpec::of_number(ElementType::kInt8), {}, {}};
    attribute.value.resize(1);
    ASSERT_TRUE(set_attribute(*session, attribute).ok());
    const Status status = session->commit();
    EXPECT_EQ(status.code(), ErrorCode::kNotFound) << status.message();
    EXPECT_NE(status.message().find("was not changed"), std::string::npos) << status.message();
  });
  EXPECT_EQ(content_of(memory_, kGrowingPath), before);
}

}  // namespace
}  // namespace stria::file::test
