// Classic netCDF files that get more records, compared with a naive reader: by random ranks, killed
// after any byte, or without power; and what can't be added.
#include <gtest/gtest.h>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "container/netcdf/naive_file_test.hpp"
#include "file/session/session_case_test.hpp"
#include "file/write/mortal_driver_test.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;
using container::test::NaiveFile;

constexpr const char* kPath = "run.nc";

/// A file of one or two datasets of records, and one of another kind.
struct Kind {
  Format format = Format::kNetcdf;
  bool single = false;  ///< one dataset of records, whose rows have no padding
  bool checksums = true;
  double fill_value = 0;

  std::vector<std::string> records() const {
    return single ? std::vector<std::string>{"b"} : std::vector<std::string>{"a", "b"};
  }
};

int64_t columns_of(const std::string& path) {
  return path == "a" ? 5 : 3;
}

double value(const std::string& path, int64_t row, int64_t column) {
  return static_cast<double>((path == "a" ? 100 : 7) + 10 * row + column);
}

container::DatasetSpec spec_of(const std::string& path, int64_t rows) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.dims = {rows, columns_of(path)};
  spec.element = container::ElementSpec::of_number(path == "b" ? ElementType::kInt8 : ElementType::kFloat64);
  return spec;
}

container::AttributeSpec step(int32_t value) {
  container::AttributeSpec spec{"/", "step", container::ElementSpec::of_number(ElementType::kInt32), {}, Bytes(4)};
  std::memcpy(spec.value.data(), &value, 4);
  return spec;
}

/// Puts rows, each by one of the ranks.
Status put_rows(WriteSession& session, int number, const std::string& path, ByteRange rows, std::vector<double>& values) {
  const int64_t columns = columns_of(path);
  values.resize(static_cast<size_t>(rows.size() * columns));
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    double* const at = values.data() + (row - rows.begin) * columns;
    for (int64_t column = 0; column < columns; ++column) {
      at[column] = value(path, row, column);
    }
    if (row % session.file().comm().size() == session.file().comm().rank()) {
      STRIA_RETURN_IF_ERROR(session.record(number, {{row, 0}, {1, columns}}, Memory(at, columns)));
    }
  }
  return Status();
}

void write_new(const Kind& kind, int64_t rows, storage::MemoryDriver& memory) {
  const auto comm = make_self_comm();
  Environment environment = environment_of(*comm, borrow(memory), {});
  environment.format = &container::format_of(kind.format, kPath);
  const CreateOptions options{.checksums = kind.checksums, .format = kind.format};
  const auto session = WriteSession::create(std::move(environment), kPath, options).value();
  ASSERT_TRUE(set_attribute(*session, step(1)).ok());
  std::vector<std::vector<double>> kept(3);
  for (size_t i = 0; i < kind.records().size(); ++i) {
    const std::string path = kind.records()[i];
    DatasetOptions record{.unlimited = true};
    if (kind.fill_value != 0) {
      record.fill_value = kind.fill_value;
    }
    const int number = create_dataset(*session, spec_of(path, rows), record).value();
    ASSERT_TRUE(put_rows(*session, number, path, {0, rows}, kept[i]).ok());
  }
  const int fixed = create_dataset(*session, spec_of("fixed", 2), {}).value();
  ASSERT_TRUE(put_rows(*session, fixed, "fixed", {0, 2}, kept[2]).ok());
  const Status status = session->commit();
  ASSERT_TRUE(status.ok()) << status.message();
}

/// Adds rows, and perhaps sets the attribute, on one rank of many.
Status add(const Kind& kind, ByteRange rows, Comm& comm, std::shared_ptr<storage::Driver> driver, int32_t new_step = 0) {
  STRIA_ASSIGN_OR_RETURN(const auto session, WriteSession::append(environment_of(comm, std::move(driver), {}), kPath, {}));
  std::vector<std::vector<double>> kept(2);
  for (size_t i = 0; i < kind.records().size(); ++i) {
    const std::string path = kind.records()[i];
    STRIA_ASSIGN_OR_RETURN(const int number, append_rows(*session, path, rows.size()));
    STRIA_RETURN_IF_ERROR(put_rows(*session, number, path, rows, kept[i]));
  }
  if (new_step != 0) {
    STRIA_RETURN_IF_ERROR(set_attribute(*session, step(new_step)));
  }
  return session->commit();
}

Status add_on(int ranks, const Kind& kind, ByteRange rows, storage::Driver& driver, int32_t new_step = 0) {
  Setting setting;
  setting.ranks = ranks;
  setting.ranks_per_node = 1 + (ranks - 1) / 2;
  Status status;
  on_ranks(setting, [&](Comm& comm) {
    const Status own = add(kind, rows, comm, borrow(driver), new_step);
    status = comm.rank() == 0 ? own : status;
  });
  return status;
}

/// Empty when the file has so many records, and the attribute, and all values are right.
std::string wrong_in(const Kind& kind, int64_t rows, int32_t expected_step, storage::MemoryDriver& memory) {
  NaiveFile naive(content_of(memory, kPath));
  if (naive.records != rows || naive.attributes[0].values[0] != expected_step) {
    return std::to_string(naive.records) + " records";
  }
  for (const std::string& path : kind.records()) {
    const std::vector<double> values = naive.values(path);
    for (int64_t i = 0; i < rows * columns_of(path); ++i) {
      if (values[static_cast<size_t>(i)] != value(path, i / columns_of(path), i % columns_of(path))) {
        return path + " at " + std::to_string(i);
      }
    }
  }
  return naive.values("fixed")[5] == value("fixed", 1, 2) ? "" : "fixed";
}

/// Returns what verify() says, remarks too.
std::vector<std::string> findings_of(storage::MemoryDriver& memory) {
  const auto comm = make_self_comm();
  std::vector<std::string> said;
  const auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), kPath, {}).value();
  for (const Damage& damage : session->verify(&said).value()) {
    said.push_back("damage of " + damage.dataset);
  }
  return said;
}

TEST(NetcdfGrowing, RecordsFollowThoseThatTheFileHas) {
  int ranks = 0;
  for (const Format format : {Format::kCdf1, Format::kCdf2, Format::kCdf5}) {
    for (const bool single : {false, true}) {
      for (const int64_t rows : {0, 1, 4}) {
        ranks = ranks % 4 + 1;
        SCOPED_TRACE(std::to_string(rows) + " rows on " + std::to_string(ranks) + " ranks");
        const Kind kind{.format = format, .single = single, .checksums = rows != 1};
        storage::MemoryDriver memory;
        write_new(kind, rows, memory);
        const Bytes before = content_of(memory, kPath);
        ASSERT_EQ(wrong_in(kind, rows, 1, memory), "");
        ASSERT_EQ(add_on(ranks, kind, {rows, rows + 3}, memory).message(), "");
        ASSERT_EQ(wrong_in(kind, rows + 3, 1, memory), "");
        ASSERT_EQ(add_on(1, kind, {rows + 3, rows + 4}, memory).message(), "");
        ASSERT_EQ(wrong_in(kind, rows + 4, 1, memory), "");
        // All but the number of records stays as it is; what pads the last record means nothing.
        const Bytes after = content_of(memory, kPath);
        const NaiveFile naive(before);
        const int64_t end = naive.variable(kind.records()[0]).begin + rows * naive.record_bytes();
        for (int64_t at = format == Format::kCdf5 ? 12 : 8; at < std::min(end, static_cast<int64_t>(before.size())); ++at) {
          ASSERT_EQ(before[static_cast<size_t>(at)], after[static_cast<size_t>(at)]) << at;
        }
        for (const std::string& said : kind.checksums ? findings_of(memory) : std::vector<std::string>()) {
          EXPECT_EQ(said.find("damage"), std::string::npos) << said;
        }
      }
    }
  }
}

/// Does the same to a file that may have what a killed program has left. Without checksums these
/// could be another one's records, and the error says how to cut them off.
Status add_after_trouble(int ranks, const Kind& kind, ByteRange rows, storage::MemoryDriver& memory, int32_t step) {
  const std::string told = "truncate -s ";
  const Status status = add_on(ranks, kind, rows, memory, step);
  const size_t at = status.message().find(told);
  if (at == std::string::npos) {
    return status;
  }
  Bytes bytes = content_of(memory, kPath);
  bytes.resize(std::stoul(status.message().substr(at + told.size())));
  set_content(memory, kPath, bytes);
  return add_on(ranks, kind, rows, memory, step);
}

// The records and the attribute are there together or not at all.
TEST(NetcdfGrowing, KillsCostNothing) {
  const Kind kind{.format = Format::kCdf5, .checksums = false};
  const auto killed_after = [&](int64_t bytes, storage::MemoryDriver& memory) {
    write_new(kind, 2, memory);
    Life life{.bytes_left = bytes};
    MortalDriver mortal(memory, life);
    static_cast<void>(add_on(2, kind, {2, 5}, mortal, 9));
    return bytes - life.bytes_left;
  };
  storage::MemoryDriver unharmed{{.track_unsynced = true}};
  const int64_t all = killed_after(Life::kForever, unharmed);
  int seen_new = 0;
  for (int64_t at = 0; at <= all; ++at) {
    SCOPED_TRACE(at);
    storage::MemoryDriver memory{{.track_unsynced = true}};
    killed_after(at, memory);
    if (at % 2 == 0) {
      memory.crash(static_cast<uint64_t>(at));  // without power, too
    }
    const bool is_new = wrong_in(kind, 5, 9, memory).empty();
    seen_new += is_new ? 1 : 0;
    ASSERT_TRUE(is_new || wrong_in(kind, 2, 1, memory).empty()) << wrong_in(kind, 2, 1, memory);
    const int64_t rows = is_new ? 5 : 2;
    ASSERT_EQ(add_after_trouble(3, kind, {rows, rows + 2}, memory, 11).message(), "");
    ASSERT_EQ(wrong_in(kind, rows + 2, 11, memory), "");
  }
  EXPECT_GT(seen_new, 0);
  EXPECT_LT(seen_new, all);
}

// A full disk, or one that fails, after any byte. The program lives, and says so.
TEST(NetcdfGrowing, TroubleOfTheStorageCostsNothing) {
  for (const bool checksums : {false, true}) {
    const Kind kind{.format = Format::kCdf5, .checksums = checksums};
    const int32_t new_step = checksums ? 0 : 9;
    Life unharmed{.bytes_left = Life::kForever};
    storage::MemoryDriver whole;
    write_new(kind, 2, whole);
    MortalDriver counting(whole, unharmed);
    ASSERT_EQ(add_on(2, kind, {2, 5}, counting, new_step).message(), "");
    int failures = 0;
    for (int64_t at = 0; at < Life::kForever - unharmed.bytes_left; ++at) {
      SCOPED_TRACE(at);
      storage::MemoryDriver memory;
      write_new(kind, 2, memory);
      Life life{.bytes_left = at, .reason = at % 2 == 0 ? ErrorCode::kNoSpace : ErrorCode::kIo};
      MortalDriver mortal(memory, life);
      const Status status = add_on(2, kind, {2, 5}, mortal, new_step);
      failures += status.ok() ? 0 : 1;
      if (!status.ok()) {
        ASSERT_EQ(status.code(), life.reason) << status.message();
        ASSERT_NE(status.message().find(kPath), std::string::npos) << status.message();
      }
      // Where only the last sync has failed, the records are there.
      const bool is_new = wrong_in(kind, 5, checksums ? 1 : 9, memory).empty();
      ASSERT_TRUE(is_new || !status.ok());
      ASSERT_TRUE(is_new || wrong_in(kind, 2, 1, memory).empty()) << wrong_in(kind, 2, 1, memory);
      const int64_t rows = is_new ? 5 : 2;
      ASSERT_EQ(add_after_trouble(3, kind, {rows, rows + 2}, memory, 0).message(), "");
      ASSERT_EQ(wrong_in(kind, rows + 2, is_new && !checksums ? 9 : 1, memory), "");
      for (const std::string& said : checksums ? findings_of(memory) : std::vector<std::string>()) {
        ASSERT_EQ(said.find("damage"), std::string::npos) << said;
      }
    }
    EXPECT_GT(failures, 0);
  }
}

TEST(NetcdfGrowing, WhatNobodyPutsIsTheFillValue) {
  const Kind kind{.fill_value = -9};
  storage::MemoryDriver memory;
  write_new(kind, 1, memory);
  const auto comm = make_self_comm();
  const auto session = WriteSession::append(environment_of(*comm, borrow(memory), {}), kPath, {}).value();
  const int a = append_rows(*session, "a", 2).value();
  ASSERT_TRUE(append_rows(*session, "b", 2).ok());
  const std::vector<double> one = {5};
  ASSERT_TRUE(session->record(a, {{2, 1}, {1, 1}}, Memory(one.data(), 1)).ok());
  ASSERT_EQ(session->commit().message(), "");
  NaiveFile naive(content_of(memory, kPath));
  EXPECT_EQ(naive.values("a"), (std::vector<double>{100, 101, 102, 103, 104, -9, -9, -9, -9, -9, -9, 5, -9, -9, -9}));
  EXPECT_EQ(naive.values("b"), (std::vector<double>{7, 8, 9, -9, -9, -9, -9, -9, -9}));
}

TEST(NetcdfGrowing, WhatCannotBeAddedIsRefusedAndNothingChanges) {
  using Try = std::function<Status(WriteSession&)>;
  const auto refusal = [](const Kind& kind, const Try& attempt) {
    storage::MemoryDriver memory;
    write_new(kind, 2, memory);
    const Bytes before = content_of(memory, kPath);
    const auto comm = make_self_comm();
    const auto session = WriteSession::append(environment_of(*comm, borrow(memory), {}), kPath, {}).value();
    Status status = attempt(*session);
    status = status.ok() ? session->commit() : status;
    EXPECT_FALSE(session->commit().ok());
    EXPECT_EQ(content_of(memory, kPath), before) << status.message();
    return status.message();
  };
  const auto has = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const Kind plain{.checksums = false};
  has(refusal(plain, [](WriteSession& s) { return create_dataset(s, spec_of("new", 2), {}).status(); }), "no new datasets");
  has(refusal(plain, [](WriteSession& s) { return create_table(s, spec_of("new", 1), Bytes(24)); }), "no new datasets");
  has(refusal(plain, [](WriteSession& s) { return update(s, "fixed").status(); }), "can't be overwritten");
  has(refusal(plain, [](WriteSession& s) { return append_rows(s, "fixed", 1).status(); }), "fixed number of rows");
  has(refusal(plain, [](WriteSession& s) { return append_rows(s, "b", 1).status(); }), "'b' would have 3 rows and 'a' 2");
  has(refusal(plain,
              [](WriteSession& s) {
                const std::vector<double> old(5);
                return s.record(append_rows(s, "a", 1).value(), {{1, 0}, {1, 5}}, Memory(old.data(), 5));
              }),
      "in the file already");
  const auto set = [](const char* name, int64_t bytes) {
    return [=](WriteSession& s) {
      container::AttributeSpec attribute = step(2);
      attribute.name = name;
      attribute.value.resize(static_cast<size_t>(bytes));
      attribute.dims = bytes == 4 ? std::vector<int64_t>() : std::vector<int64_t>{bytes / 4};
      return set_attribute(s, std::move(attribute));
    };
  };
  has(refusal(plain, set("other", 4)), "same type and length");
  has(refusal(plain, set("step", 8)), "same type and length");
  has(refusal({}, set("step", 4)), "checksums guard its header");
}

TEST(NetcdfGrowing, FilesThatCannotGrowSaySo) {
  const auto refusal = [](const Kind& kind, const std::function<void(Bytes&)>& change) {
    storage::MemoryDriver memory;
    write_new(kind, 2, memory);
    Bytes bytes = content_of(memory, kPath);
    change(bytes);
    set_content(memory, kPath, bytes);
    const auto comm = make_self_comm();
    const auto session = WriteSession::append(environment_of(*comm, borrow(memory), {}), kPath, {});
    EXPECT_FALSE(session.ok());
    EXPECT_EQ(content_of(memory, kPath), bytes);
    return session.status().message();
  };
  const auto streaming = [](Bytes& bytes) { std::fill_n(bytes.begin() + 4, 4, std::byte{0xff}); };
  EXPECT_NE(refusal({}, streaming).find("doesn't say how many records"), std::string::npos);
  const auto cut = [](Bytes& bytes) { bytes.resize(bytes.size() - 20); };
  EXPECT_NE(refusal({}, cut).find("cut short"), std::string::npos);
}

// An attribute far behind in the header is one that no single write changes.
TEST(NetcdfGrowing, AnAttributeBehindTheFirstSectorStays) {
  storage::MemoryDriver memory;
  const auto comm = make_self_comm();
  Environment environment = environment_of(*comm, borrow(memory), {});
  environment.format = &container::format_of(Format::kNetcdf, kPath);
  const auto made = WriteSession::create(std::move(environment), kPath, {.checksums = false}).value();
  container::AttributeSpec text{"/", "text", container::ElementSpec::of_string(600, false), {}, Bytes(600, std::byte{'x'})};
  ASSERT_TRUE(set_attribute(*made, text).ok());
  ASSERT_TRUE(set_attribute(*made, step(1)).ok());
  ASSERT_TRUE(made->commit().ok());
  const Bytes before = content_of(memory, kPath);
  const auto session = WriteSession::append(environment_of(*comm, borrow(memory), {}), kPath, {}).value();
  ASSERT_TRUE(set_attribute(*session, step(2)).ok());
  const Status status = session->commit();
  EXPECT_EQ(status.code(), ErrorCode::kUnsupported);
  EXPECT_NE(status.message().find("within the first 512"), std::string::npos) << status.message();
  EXPECT_EQ(content_of(memory, kPath), before);
}

}  // namespace
}  // namespace stria::file::test
