// The sums of records in classic netCDF files: each damaged record is named, those that other
// programs add are not taken for damage.
#include <gtest/gtest.h>

#include <numeric>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "container/netcdf/naive_file_test.hpp"
#include "file/session/session_case_test.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;
using container::test::NaiveFile;

constexpr const char* kPath = "run.nc";
constexpr int64_t kRecords = 6;

/// Returns a session of one process.
std::shared_ptr<WriteSession> begin(Comm& comm, storage::MemoryDriver& memory) {
  Environment environment = environment_of(comm, borrow(memory), {});
  environment.format = &container::format_of(Format::kAutomatic, kPath);
  return WriteSession::create(std::move(environment), kPath, {}).value();
}

container::DatasetSpec numbers(const std::string& path, std::vector<int64_t> dims) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.dims = std::move(dims);
  return spec;
}

/// "whole" is put by rows, "parts" and, before row 5, "odd" by columns; nobody puts more.
void write_records(storage::MemoryDriver& memory) {
  const auto comm = make_self_comm();
  const auto session = begin(*comm, memory);
  std::vector<double> values(static_cast<size_t>(kRecords) * 9);
  std::iota(values.begin(), values.end(), 1);
  const auto put = [&](int number, Hyperslab slab) {
    const int64_t count = slab.count[0] * slab.count[1];
    ASSERT_TRUE(session->record(number, slab, {values.data(), Datatype::bytes(8 * count), ElementType::kFloat64}).ok());
  };
  const int whole = *create_dataset(*session, numbers("whole", {kRecords, 9}), {.unlimited = true});
  const int parts = *create_dataset(*session, numbers("parts", {kRecords, 5}), {.unlimited = true});
  container::DatasetSpec bytes = numbers("odd", {kRecords, 3});
  bytes.element = container::ElementSpec::of_number(ElementType::kInt8);
  const int odd = *create_dataset(*session, bytes, {.unlimited = true});
  put(whole, {{0, 0}, {kRecords, 9}});
  for (int64_t column : {0, 2}) {
    put(parts, {{0, column}, {kRecords, column == 0 ? 2 : 3}});
    put(odd, {{0, column}, {kRecords - 1, column == 0 ? 2 : 1}});
  }
  const Status status = session->commit();
  ASSERT_TRUE(status.ok()) << status.message();
}

/// Returns what verify() finds, and its remarks; an error is a damage of its message.
std::vector<Damage> damages_of(storage::MemoryDriver& memory, std::vector<std::string>* remarks = nullptr) {
  auto comm = make_self_comm();
  auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), kPath, {});
  if (!session.ok()) {
    return {{session.status().message(), 0, 0}};
  }
  const auto found = (*session)->verify(remarks);
  return found.ok() ? *found : std::vector<Damage>{{found.status().message(), 0, 0}};
}

/// Gets a dataset whole, compared with its sums.
Status get_whole(storage::MemoryDriver& memory, const std::string& path) {
  auto comm = make_self_comm();
  STRIA_ASSIGN_OR_RETURN(auto session, ReadSession::open(environment_of(*comm, borrow(memory), {}), kPath, {.verify = true}));
  STRIA_ASSIGN_OR_RETURN(const int number, session->find(path));
  const std::vector<int64_t> dims = session->file().catalog[number].spec.dims;
  std::vector<double> values(static_cast<size_t>(dims[0] * dims[1]));
  const Memory into{values.data(), Datatype::bytes(8 * dims[0] * dims[1]), ElementType::kFloat64};
  STRIA_RETURN_IF_ERROR(session->record(number, {{0, 0}, dims}, into));
  return session->commit();
}

// Each byte of each record belongs to a dataset's row, or is padding.
TEST(NetcdfRecords, VerifyNamesTheDamagedRecord) {
  storage::MemoryDriver memory;
  write_records(memory);
  const std::vector<std::byte> good = content_of(memory, kPath);
  const NaiveFile naive(good);
  ASSERT_TRUE(damages_of(memory).empty()) << damages_of(memory)[0].dataset;
  const std::pair<const char*, int64_t> datasets[] = {{"whole", 72}, {"parts", 40}, {"odd", 3}};
  const int64_t record_bytes = 72 + 40 + 4;
  for (const auto& [path, row_bytes] : datasets) {
    const int64_t begin = naive.variable(path).begin;
    for (int64_t row = 0; row < kRecords; ++row) {
      for (int64_t byte = 0; byte<row_bytes; byte += row_bytes> 3 ? 13 : 1) {
        std::vector<std::byte> changed = good;
        changed[static_cast<size_t>(begin + row * record_bytes + byte)] ^= std::byte{16};
        set_content(memory, kPath, changed);
        const auto found = damages_of(memory);
        ASSERT_EQ(found.size(), 1u) << path << " " << row;
        EXPECT_EQ(found[0].dataset, path) << row;
        EXPECT_LE(found[0].first_row, row);
        EXPECT_GT(found[0].last_row, row);
        EXPECT_EQ(get_whole(memory, path).code(), ErrorCode::kCorrupted) << path << " " << row;
        EXPECT_TRUE(get_whole(memory, path == datasets[0].first ? "parts" : "whole").ok());
      }
    }
  }
  for (int64_t at = 8; at < naive.header_bytes; at += 5) {
    std::vector<std::byte> changed = good;
    changed[static_cast<size_t>(at)] ^= std::byte{1};
    set_content(memory, kPath, changed);
    EXPECT_FALSE(damages_of(memory).empty()) << at;
  }
}

// Another program changes the number of records in the header, and adds bytes behind the last one.
TEST(NetcdfRecords, RecordsThatOthersAddLeaveTheSumsTrue) {
  storage::MemoryDriver memory;
  write_records(memory);
  std::vector<std::byte> bytes = content_of(memory, kPath);
  const NaiveFile naive(bytes);
  const auto record_bytes = static_cast<size_t>(72 + 40 + 4);
  bytes.resize(static_cast<size_t>(naive.variable("whole").begin) + static_cast<size_t>(kRecords) * record_bytes);
  bytes.resize(bytes.size() + 2 * record_bytes, std::byte{9});
  bytes[7] = std::byte{kRecords + 2};
  set_content(memory, kPath, bytes);
  std::vector<std::string> remarks;
  const auto found = damages_of(memory, &remarks);
  ASSERT_TRUE(found.empty()) << found[0].dataset;
  ASSERT_EQ(remarks.size(), 3u) << remarks[0];
  EXPECT_EQ(remarks[0], "dataset 'whole': rows 6 to 7 have no checksums: they were added later");
  for (const char* path : {"whole", "parts", "odd"}) {
    EXPECT_TRUE(get_whole(memory, path).ok()) << get_whole(memory, path).message();
  }
  bytes[static_cast<size_t>(naive.variable("parts").begin) + 5 * record_bytes] ^= std::byte{1};
  set_content(memory, kPath, bytes);
  ASSERT_EQ(damages_of(memory).size(), 1u);
  EXPECT_EQ(damages_of(memory)[0].dataset, "parts");
}

TEST(NetcdfRecords, NothingFollowsTheirFirstFlush) {
  const auto comm = make_self_comm();
  for (const bool is_first : {true, false}) {
    storage::MemoryDriver memory;
    const auto session = begin(*comm, memory);
    ASSERT_TRUE(create_dataset(*session, numbers("x", {2, 3}), {.unlimited = is_first}).ok());
    ASSERT_TRUE(session->flush().ok());
    const auto refused = create_dataset(*session, numbers("y", {2, 3}), {.unlimited = !is_first});
    EXPECT_EQ(refused.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(refused.status().message().find("before the first flush()"), std::string::npos) << refused.status().message();
    EXPECT_FALSE(session->commit().ok());
  }
}

// The file has room for some parts of rows after a first flush, and no more.
TEST(NetcdfRecords, SumsThatDoNotFitAreGivenUp) {
  const auto comm = make_self_comm();
  constexpr int64_t kLength = 4000;
  std::vector<double> values(static_cast<size_t>(kLength), 3);
  for (const int64_t parts : {500, 3000}) {
    storage::MemoryDriver memory;
    const auto session = begin(*comm, memory);
    const int number = *create_dataset(*session, numbers("x", {2, kLength}), {.unlimited = true});
    const Memory row{values.data(), Datatype::bytes(8 * kLength), ElementType::kFloat64};
    ASSERT_TRUE(session->record(number, {{0, 0}, {1, kLength}}, row).ok());
    ASSERT_TRUE(session->flush().ok());
    for (int64_t i = 0; i < parts; ++i) {
      const Memory one{values.data(), Datatype::bytes(8), ElementType::kFloat64};
      ASSERT_TRUE(session->record(number, {{1, i}, {1, 1}}, one).ok());
    }
    const Status status = session->commit();
    ASSERT_TRUE(status.ok()) << status.message();
    const auto& warnings = session->file().environment.hint_warnings;
    ASSERT_EQ(warnings.size(), parts == 500 ? 0u : 1u);
    const auto found = damages_of(memory);
    if (parts == 500) {
      EXPECT_TRUE(found.empty());
      continue;
    }
    EXPECT_NE(warnings[0].find("gets no checksums"), std::string::npos);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].dataset.find("carries no checksums"), std::string::npos) << found[0].dataset;
    EXPECT_EQ(NaiveFile(content_of(memory, kPath)).variables.size(), 1u);
    EXPECT_EQ(NaiveFile(content_of(memory, kPath)).values("x")[static_cast<size_t>(kLength) + 2999], 3);
  }
}

}  // namespace
}  // namespace stria::file::test
