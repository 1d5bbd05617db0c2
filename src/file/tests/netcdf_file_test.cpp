// Classic netCDF files on simulated ranks: random shapes, records among them, compared with a naive
// reader of the bytes, and read back by other ranks.
#include <gtest/gtest.h>

#include <random>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "container/netcdf/naive_file_test.hpp"
#include "file/session/scarce_case_test.hpp"
#include "file/session/session_case_test.hpp"
#include "storage/fault/fault_driver.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;
using container::test::NaiveFile;

constexpr ElementType kClassic[] = {ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kFloat32,
                                    ElementType::kFloat64};
constexpr ElementType kAll[] = {ElementType::kUint8, ElementType::kUint16, ElementType::kUint32, ElementType::kInt64,
                                ElementType::kUint64};

/// A dataset whose values are a function of the element's number.
struct Made {
  std::string path;
  ElementType type;
  std::vector<int64_t> dims;
  DatasetOptions options{};
  bool by_columns = false;  ///< the ranks share the last dimension, not the first

  int64_t row_elements() const {
    int64_t count = 1;
    for (size_t i = 1; i < dims.size(); ++i) {
      count *= dims[i];
    }
    return count;
  }
  int64_t elements() const { return dims.empty() ? 1 : dims[0] * row_elements(); }
  double value(int64_t element) const { return static_cast<double>((element * 31 + static_cast<int64_t>(path.size())) % 101); }
};

struct Case {
  explicit Case(uint64_t seed_of_case) : seed(seed_of_case), random(seed) {
    const bool wide = pick(0, 2) == 0;
    format = wide ? Format::kCdf5 : pick(0, 1) == 0 ? Format::kCdf2 : Format::kNetcdf;
    const int64_t records = pick(0, 2) == 0 ? -1 : pick(0, 9);
    for (int64_t n = pick(1, 7); n > 0; --n) {
      Made made;
      made.path = "v" + std::string(static_cast<size_t>(n), 'x');
      made.type = wide && pick(0, 1) == 0 ? kAll[pick(0, 4)] : kClassic[pick(0, 4)];
      for (int64_t d = pick(0, 3); d > 0; --d) {
        made.dims.push_back(pick(1, 7));
      }
      if (records >= 0 && pick(0, 1) == 0) {
        made.dims.insert(made.dims.begin(), records);
        made.options.unlimited = true;
        has_records = true;
      }
      made.options.value_range = pick(0, 2) == 0;
      made.by_columns = made.dims.size() > 1 && pick(0, 2) == 0;
      datasets.push_back(made);
    }
    setting.seed = seed;
    setting.ranks = static_cast<int>(pick(1, 6));
    setting.ranks_per_node = static_cast<int>(pick(1, setting.ranks));
    setting.hints.method = pick(0, 2) == 0   ? access::Method::kListIo
                           : pick(0, 1) == 0 ? access::Method::kTwoPhase
                                             : access::Method::kAutomatic;
    setting.hints.alignment_bytes = pick(0, 1) == 0 ? 4096 : 1;
    setting.hints.collective_buffer_bytes = 64 << 10;
    setting.path = "run.nc";
    flush = pick(0, 1) == 0;
  }
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }

  uint64_t seed;
  std::mt19937_64 random;
  Format format;
  std::vector<Made> datasets;
  Setting setting;
  bool has_records = false;
  bool flush = false;
};

/// One put or get: a rank's rows or columns of a dataset, as doubles with a gap behind each. One
/// value without dimensions is the first rank's.
struct Part {
  Part(const Made& made, int number, const Comm& comm) : dataset(number), dims(made.dims) {
    slab = {std::vector<int64_t>(dims.size(), 0), dims};
    int64_t count = dims.empty() && comm.rank() > 0 ? 0 : 1;
    if (!dims.empty()) {
      const size_t shared = made.by_columns ? dims.size() - 1 : 0;
      slab.start[shared] = dims[shared] * comm.rank() / comm.size();
      slab.count[shared] = dims[shared] * (comm.rank() + 1) / comm.size() - slab.start[shared];
    }
    for (const int64_t length : slab.count) {
      count *= length;
    }
    numbers.resize(static_cast<size_t>(2 * count), -1);
  }
  /// Returns the number in the dataset of the part's element `i`.
  int64_t element(size_t i) const {
    int64_t left = static_cast<int64_t>(i);
    int64_t number = 0;
    int64_t step = 1;
    for (size_t dim = dims.size(); dim-- > 0;) {
      number += (slab.start[dim] + left % slab.count[dim]) * step;
      left /= slab.count[dim];
      step *= dims[dim];
    }
    return number;
  }
  Memory memory() {
    const auto count = static_cast<int64_t>(numbers.size()) / 2;
    return {numbers.data(), Datatype::hvector(count, 1, 16, Datatype::bytes(8)).value(), ElementType::kFloat64};
  }

  int dataset;
  std::vector<int64_t> dims;
  Hyperslab slab;
  std::vector<double> numbers;
};

Status write_case(const Case& one, Comm& comm, std::shared_ptr<storage::Driver> driver,
                  const std::function<Status(WriteSession&)>& commit = &WriteSession::commit) {
  CreateOptions options;
  options.format = one.format;
  Environment environment = environment_of(comm, std::move(driver), one.setting.hints);
  environment.format = &container::format_of(one.format, one.setting.path);
  STRIA_ASSIGN_OR_RETURN(auto session, WriteSession::create(std::move(environment), one.setting.path, options));
  std::vector<std::unique_ptr<Part>> parts;
  for (const Made& made : one.datasets) {
    container::DatasetSpec spec;
    spec.path = made.path;
    spec.element = container::ElementSpec::of_number(made.type);
    spec.dims = made.dims;
    STRIA_ASSIGN_OR_RETURN(const int number, create_dataset(*session, spec, made.options));
    parts.push_back(std::make_unique<Part>(made, number, comm));
    Part& part = *parts.back();
    for (size_t i = 0; i < part.numbers.size() / 2; ++i) {
      part.numbers[2 * i] = made.value(part.element(i));
    }
    if (!part.numbers.empty()) {
      STRIA_RETURN_IF_ERROR(session->record(number, part.slab, part.memory()));
    }
    if (one.flush && !one.has_records && parts.size() == 2) {
      STRIA_RETURN_IF_ERROR(session->flush());
    }
  }
  const double time = 2.5;
  const auto bytes = std::as_bytes(std::span(&time, 1));
  STRIA_RETURN_IF_ERROR(set_attribute(
      *session, {"/", "time", container::ElementSpec::of_number(ElementType::kFloat64), {}, {bytes.begin(), bytes.end()}}));
  if (one.flush && one.has_records) {
    STRIA_RETURN_IF_ERROR(session->flush());
  }
  return commit(*session);
}

// Returns what is wrong with what this rank reads; empty when nothing is.
std::string read_case(const Case& one, Comm& comm, std::shared_ptr<storage::Driver> driver) {
  auto session =
      ReadSession::open(environment_of(comm, std::move(driver), one.setting.hints), one.setting.path, {.verify = true});
  if (!session.ok()) {
    return session.status().message();
  }
  std::vector<std::unique_ptr<Part>> parts;
  for (const Made& made : one.datasets) {
    const auto number = (*session)->find(made.path);
    if (!number.ok() || (*session)->file().catalog[*number].spec.dims != made.dims ||
        (*session)->file().catalog[*number].stored_element() != made.type) {
      return made.path + " is not what was made";
    }
    parts.push_back(std::make_unique<Part>(made, *number, comm));
    if (parts.back()->numbers.empty()) {
      continue;
    }
    if (const Status status = (*session)->record(*number, parts.back()->slab, parts.back()->memory()); !status.ok()) {
      return status.message();
    }
  }
  if (const Status status = (*session)->commit(); !status.ok()) {
    return status.message();
  }
  for (size_t d = 0; d < parts.size(); ++d) {
    for (size_t i = 0; i < parts[d]->numbers.size() / 2; ++i) {
      if (parts[d]->numbers[2 * i] != one.datasets[d].value(parts[d]->element(i))) {
        return one.datasets[d].path + " has " + std::to_string(parts[d]->numbers[2 * i]);
      }
    }
  }
  const auto found = (*session)->verify();
  return found.ok() && found->empty() ? "" : "verify(): " + (found.ok() ? found->at(0).dataset : found.status().message());
}

void write_on_ranks(const Case& one, storage::MemoryDriver& memory) {
  on_ranks(one.setting, [&](Comm& comm) {
    const Status status = write_case(one, comm, borrow(memory));
    EXPECT_TRUE(status.ok()) << status.message();
  });
}

TEST(NetcdfFile, RandomShapesAreWhatANaiveReaderSees) {
  for (uint64_t seed = access::test::first_seed(), end = seed + static_cast<uint64_t>(access::test::case_count(120));
       seed < end; ++seed) {
    SCOPED_TRACE("STRIA_TEST_SEED=" + std::to_string(seed));
    const Case one(seed);
    storage::MemoryDriver memory;
    write_on_ranks(one, memory);
    ASSERT_FALSE(HasFailure());
    NaiveFile naive(content_of(memory, one.setting.path));
    for (const Made& made : one.datasets) {
      std::vector<double> expected;
      for (int64_t i = 0; i < made.elements(); ++i) {
        expected.push_back(made.value(i));
      }
      ASSERT_EQ(naive.values(made.path), expected) << made.path;
      ASSERT_EQ(naive.is_record(naive.variable(made.path)), made.options.unlimited);
      if (made.options.value_range && !expected.empty()) {
        const auto& attributes = naive.variable(made.path).attributes;
        ASSERT_EQ(attributes.size(), 2u);
        ASSERT_EQ(attributes[0].values[0], *std::min_element(expected.begin(), expected.end()));
        ASSERT_EQ(attributes[1].values[0], *std::max_element(expected.begin(), expected.end()));
      }
    }
    ASSERT_EQ(naive.attributes.size(), 1u);
    Case reading(seed + 5000);
    reading.datasets = one.datasets;
    reading.has_records = one.has_records;
    on_ranks(reading.setting, [&](Comm& comm) { EXPECT_EQ(read_case(reading, comm, borrow(memory)), ""); });
    ASSERT_FALSE(HasFailure());
  }
}

TEST(NetcdfFile, TheBytesDependOnlyOnWhatIsPut) {
  Case one(3);
  one.flush = false;
  for (Made& made : one.datasets) {
    made.by_columns = false;
  }
  storage::MemoryDriver alone;
  one.setting.ranks = one.setting.ranks_per_node = 1;
  write_on_ranks(one, alone);
  for (const int ranks : {2, 5}) {
    for (const auto method : {access::Method::kListIo, access::Method::kTwoPhase}) {
      storage::MemoryDriver memory;
      one.setting.ranks = ranks;
      one.setting.hints.method = method;
      write_on_ranks(one, memory);
      // Sums of parts of a dataset are those of the ranks' puts.
      const NaiveFile first(content_of(alone, one.setting.path));
      const NaiveFile second(content_of(memory, one.setting.path));
      ASSERT_EQ(first.header_bytes, second.header_bytes);
    }
  }
}

/// A file of whole rows, of which a byte is changed.
TEST(NetcdfFile, VerifyFindsADamagedByte) {
  Case one(1);
  one.datasets = {{"dens", ElementType::kFloat64, {6, 100}, {.value_range = true}},
                  {"pres", ElementType::kFloat32, {6, 3}, {}}};
  one.has_records = false;
  one.format = Format::kCdf1;
  storage::MemoryDriver memory;
  write_on_ranks(one, memory);
  const std::vector<std::byte> whole = content_of(memory, one.setting.path);
  const NaiveFile naive(whole);
  const auto damages_with = [&](int64_t at) {
    std::vector<std::byte> changed = whole;
    changed[static_cast<size_t>(at)] ^= std::byte{1};
    set_content(memory, one.setting.path, changed);
    auto comm = make_self_comm();
    auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), one.setting.path, {});
    if (!session.ok()) {
      return std::vector<Damage>{{session.status().message(), 0, 0}};
    }
    const auto found = (*session)->verify();
    return found.ok() ? *found : std::vector<Damage>{{found.status().message(), 0, 0}};
  };
  const auto in_data = damages_with(naive.variable("dens").begin + 3 * 800 + 5);
  ASSERT_EQ(in_data.size(), 1u);
  EXPECT_EQ(in_data[0].dataset, "dens");
  EXPECT_EQ(in_data[0].first_row, 3);
  EXPECT_EQ(in_data[0].last_row, 4);
  EXPECT_EQ(damages_with(naive.variable("pres").begin + 2).at(0).dataset, "pres");
  // These are the header, and the tables of sums.
  for (int64_t at = 8; at < naive.header_bytes; at += 7) {
    EXPECT_FALSE(damages_with(at).empty()) << at;
  }
  for (const char* table : {"stria_seal", "stria_slabs", "stria_placement", "stria_datasets", "stria_rows_0"}) {
    EXPECT_FALSE(damages_with(naive.variable(table).begin).empty()) << table;
  }
}

/// Returns a session of one process.
std::shared_ptr<WriteSession> begin(Comm& comm, storage::MemoryDriver& memory, const std::string& path) {
  Environment environment = environment_of(comm, borrow(memory), {});
  environment.format = &container::format_of(Format::kAutomatic, path);
  return WriteSession::create(std::move(environment), path, {}).value();
}

container::DatasetSpec numbers(const std::string& path) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.dims = {4};
  return spec;
}

// The disk is full after so many bytes of a rank; an old file of the name stays, and nothing else.
TEST(NetcdfFile, AFullOrBrokenDiskLeavesTheOldFile) {
  Case one(2);
  DatasetOptions of_records;
  of_records.unlimited = true;
  one.datasets = {{"dens", ElementType::kFloat64, {60, 100}, {}},
                  {"pres", ElementType::kFloat32, {60, 3}, of_records},
                  {"temp", ElementType::kFloat64, {60, 50}, of_records}};
  one.has_records = true;
  one.setting.ranks = one.setting.ranks_per_node = 3;
  const std::vector<std::byte> old(5, std::byte{7});
  for (const auto method : {access::Method::kListIo, access::Method::kTwoPhase}) {
    one.setting.hints.method = method;
    for (const char* rule : {"write:after=0:errno=ENOSPC", "write:after=9000:errno=ENOSPC", "rename:errno=ENOSPC",
                             "write:after=0:errno=EIO", "write:after=20000:errno=EIO", "sync:errno=EIO"}) {
      SCOPED_TRACE(rule);
      storage::MemoryDriver memory;
      set_content(memory, one.setting.path, old);
      on_ranks(one.setting, [&](Comm& comm) {
        auto script = storage::FaultScript::parse(rule, comm.rank()).value();
        const Status status = write_case(one, comm, std::make_shared<storage::FaultDriver>(borrow(memory), script));
        const bool is_full = std::string_view(rule).ends_with("ENOSPC");
        EXPECT_EQ(status.code(), is_full ? ErrorCode::kNoSpace : ErrorCode::kIo) << status.message();
      });
      EXPECT_EQ(content_of(memory, one.setting.path), old);
      EXPECT_EQ(memory.list_directory(".")->size(), 1u);
    }
  }
}

TEST(NetcdfFile, ThePathDecidesAndOneValueHasNoUnlimitedDimension) {
  storage::MemoryDriver memory;
  const auto comm = make_self_comm();
  const auto session = begin(*comm, memory, "a.nc");
  EXPECT_TRUE(is_netcdf(session->file().format()));
  ASSERT_TRUE(create_dataset(*session, numbers("x"), {.dimensions = {"x"}}).ok());
  ASSERT_TRUE(session->commit().ok());
  EXPECT_EQ(NaiveFile(content_of(memory, "a.nc")).dimensions.at(0).name, "x");
  const auto other = begin(*comm, memory, "a.h5");
  EXPECT_EQ(other->file().format(), Format::kHdf5);
  container::DatasetSpec one = numbers("x");
  one.dims.clear();
  for (const char* const path : {"b.h5", "b.nc"}) {
    const auto refused = create_dataset(*begin(*comm, memory, path), one, {.unlimited = true});
    EXPECT_EQ(refused.status().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(refused.status().message().find("one value has no unlimited dimension"), std::string::npos);
  }
}

// What is defined after a flush has the room that was kept then, and no more.
TEST(NetcdfFile, TheHeaderHasItsRoomAtTheFirstFlush) {
  const auto comm = make_self_comm();
  for (const size_t bytes : {60000u, 80000u}) {
    storage::MemoryDriver memory;
    const auto session = begin(*comm, memory, "a.nc");
    ASSERT_TRUE(create_dataset(*session, numbers("x"), {}).ok());
    ASSERT_TRUE(session->flush().ok());
    ASSERT_TRUE(create_dataset(*session, numbers("y"), {}).ok());
    const auto width = static_cast<int64_t>(bytes);
    ASSERT_TRUE(
        set_attribute(*session, {"y", "text", container::ElementSpec::of_string(width, false), {}, Bytes(bytes, std::byte{65})})
            .ok());
    const Status status = session->commit();
    EXPECT_EQ(status.ok(), bytes == 60000u) << status.message();
    EXPECT_EQ(*memory.exists("a.nc"), bytes == 60000u);
    if (!status.ok()) {
      EXPECT_NE(status.message().find("were kept for it at the first flush()"), std::string::npos) << status.message();
    }
  }
}

// Memory runs out on one rank, at any moment of the commit: all ranks end alike, without a file.
TEST(NetcdfFile, ScarceMemoryEndsACommitEverywhere) {
  Case one(4);
  DatasetOptions of_records;
  of_records.unlimited = true;
  one.datasets = {{"dens", ElementType::kFloat64, {6, 100}, {.value_range = true}},
                  {"even", ElementType::kFloat32, {6, 3}, of_records},
                  {"odd", ElementType::kInt8, {6, 3}, of_records}};
  one.has_records = true;
  one.flush = false;
  one.setting = lists_of_each_node();
  one.setting.path = "run.nc";
  std::unique_ptr<storage::MemoryDriver> memory;
  const auto commit = [](WriteSession& session) {
    access::test::Counting on(true);
    return session.commit();
  };
  fail_at_every_moment(
      [&](int64_t failing) {
        memory = std::make_unique<storage::MemoryDriver>();
        return run_once(one.setting, failing, [&](Comm& comm) { return write_case(one, comm, borrow(*memory), commit); });
      },
      [&](const Status& status) {
        ASSERT_TRUE(status.code() == ErrorCode::kResourceExhausted || status.code() == ErrorCode::kNoSpace) << status.message();
        ASSERT_FALSE(*memory->exists(one.setting.path));
      });
}

}  // namespace
}  // namespace stria::file::test
