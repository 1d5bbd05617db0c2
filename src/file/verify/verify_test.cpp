// Tests how verify() and get() treat rows that were never put, lost sums, and files of older
// versions.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "access/random_case_test.hpp"
#include "comm/self/self_comm.hpp"
#include "container/chunks/filters/zfp_codec.hpp"
#include "container/hdf5/write/writer.hpp"
#include "file/session/session_case_test.hpp"

namespace stria::file::test {
namespace {

using access::test::content_of;
using access::test::set_content;

constexpr int64_t kRows = 12;
constexpr int64_t kColumns = 64;
const char* const kPath = "run.h5";

/// Puts rows [first, last) of a dataset of {kRows, kColumns} numbers that are all 1.5.
Status put_rows(WriteSession& session, int dataset, int64_t first, int64_t last) {
  static const std::vector<double> ones(static_cast<size_t>(kRows * kColumns), 1.5);
  return session.record(dataset, {{first, 0}, {last - first, kColumns}}, Memory(ones.data(), (last - first) * kColumns));
}

/// Writes datasets "full", "half" and "none" on so many ranks; `put` puts what it wants.
void write_rows(storage::MemoryDriver& memory, int ranks, const std::function<void(WriteSession&)>& put) {
  Setting setting;
  setting.ranks = ranks;
  on_ranks(setting, [&](Comm& comm) {
    access::ResolvedHints hints;
    hints.put_overlaps = access::Switch::kEnable;
    auto session = WriteSession::create(environment_of(comm, borrow(memory), hints), kPath, {}).value();
    for (const char* name : {"full", "half", "none"}) {
      container::DatasetSpec spec;
      spec.path = name;
      spec.dims = {kRows, kColumns};
      ASSERT_TRUE(create_dataset(*session, spec, {}).ok());
    }
    put(*session);
    const Status status = session->commit();
    ASSERT_TRUE(status.ok()) << status.message();
  });
}

/// Puts all of "full". Rank 0 puts the first half of "half", and a few columns of its last row.
void put_half(WriteSession& session) {
  if (session.file().comm().rank() == 0) {
    static const std::vector<double> ones(8, 1.5);
    ASSERT_TRUE(put_rows(session, 0, 0, kRows).ok());
    ASSERT_TRUE(put_rows(session, 1, 0, kRows / 2).ok());
    ASSERT_TRUE(session.record(1, {{kRows - 1, 0}, {1, 4}, {1, 16}}, Memory(ones.data(), 4)).ok());
  }
}

struct Verdict {
  Status status;
  std::vector<Damage> damages;
  std::vector<std::string> remarks;

  bool intact() const { return status.ok() && damages.empty(); }
  bool says(const std::string& text) const {
    return std::any_of(remarks.begin(), remarks.end(),
                       [&](const std::string& remark) { return remark.find(text) != std::string::npos; });
  }
};

Verdict verify_on(storage::MemoryDriver& memory, int ranks) {
  Setting setting;
  setting.ranks = ranks;
  std::vector<Verdict> verdicts(static_cast<size_t>(ranks));
  on_ranks(setting, [&](Comm& comm) {
    auto session = ReadSession::open(environment_of(comm, borrow(memory), {}), kPath, {});
    std::vector<std::string> remarks;
    auto found = session.ok() ? (*session)->verify(&remarks) : Result<std::vector<Damage>>(session.status());
    verdicts[static_cast<size_t>(comm.rank())] = {found.status(), found.ok() ? *found : std::vector<Damage>(), remarks};
  });
  for (const Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.status.message(), verdicts[0].status.message());
    EXPECT_EQ(verdict.damages.size(), verdicts[0].damages.size());
    EXPECT_EQ(verdict.remarks, verdicts[0].remarks);
  }
  return verdicts[0];
}

Status get_whole(storage::MemoryDriver& memory, const std::string& dataset, const OpenOptions& options,
                 std::vector<double>* values = nullptr) {
  auto comm = make_self_comm();
  auto session = ReadSession::open(environment_of(*comm, borrow(memory), {}), kPath, options);
  if (!session.ok()) {
    return session.status();
  }
  std::vector<double> numbers(static_cast<size_t>(kRows * kColumns), -1);
  Status status = (*session)->record(*(*session)->find(dataset), {{0, 0}, {kRows, kColumns}},
                                     Memory(numbers.data(), static_cast<int64_t>(numbers.size())));
  status = status.ok() ? (*session)->commit() : status;
  if (values != nullptr) {
    *values = numbers;
  }
  return status;
}

ByteRange place_of(storage::MemoryDriver& memory, const std::string& dataset) {
  auto file = memory.open(kPath, {}).value();
  auto info = container::open_file(*file).value()->dataset(dataset).value();
  return {info.data_offset, info.data_offset + dataset_bytes(info.spec).value()};
}

void overwrite(storage::MemoryDriver& memory, ByteRange range, std::byte value) {
  Bytes content = content_of(memory, kPath);
  std::fill(content.begin() + range.begin, content.begin() + range.end, value);
  set_content(memory, kPath, content);
}

TEST(Verify, WhatNobodyPutIsZeroAndSaid) {
  for (int ranks : {1, 3}) {
    storage::MemoryDriver memory;
    write_rows(memory, ranks, put_half);
    for (int readers : {1, 2, 5}) {
      const Verdict verdict = verify_on(memory, readers);
      ASSERT_TRUE(verdict.intact()) << verdict.status.message();
      EXPECT_TRUE(verdict.says("'none' has no checksum: nobody put it"));
      EXPECT_EQ(verdict.remarks.size(), 1u);
    }
    for (bool verify : {false, true}) {
      std::vector<double> values;
      for (const char* dataset : {"full", "half", "none"}) {
        ASSERT_TRUE(get_whole(memory, dataset, {.verify = verify}, &values).ok()) << dataset;
      }
      EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), 0.0);
    }
  }
}

TEST(Verify, ABitAmongWhatNobodyPutIsFound) {
  storage::MemoryDriver memory;
  write_rows(memory, 2, put_half);
  const Bytes intact = content_of(memory, kPath);
  const int64_t row_bytes = kColumns * 8;
  struct Case {
    const char* dataset;
    int64_t row;
    int64_t byte;
  };
  for (const Case& damage : {Case{"none", 0, 0}, Case{"none", 11, 511}, Case{"half", 6, 3}, Case{"half", 11, 8 * 5},
                             Case{"half", 11, 511}, Case{"half", 11, 8 * 16}, Case{"half", 2, 9}}) {
    set_content(memory, kPath, intact);
    const int64_t at = place_of(memory, damage.dataset).begin + damage.row * row_bytes + damage.byte;
    overwrite(memory, {at, at + 1}, std::byte{77});
    for (int readers : {1, 3}) {
      const Verdict verdict = verify_on(memory, readers);
      ASSERT_TRUE(verdict.status.ok());
      ASSERT_EQ(verdict.damages.size(), 1u) << damage.dataset << damage.row;
      EXPECT_EQ(verdict.damages[0].dataset, damage.dataset);
      EXPECT_EQ(verdict.damages[0].first_row, damage.row);
    }
    EXPECT_EQ(get_whole(memory, damage.dataset, {.verify = true}).code(), ErrorCode::kCorrupted);
    EXPECT_TRUE(get_whole(memory, damage.dataset, {}).ok());
  }
}

TEST(Verify, LostSumsAreNoLongerThoseOfRowsThatNobodyPut) {
  for (bool everything : {false, true}) {
    storage::MemoryDriver memory;
    write_rows(memory, 3, [&](WriteSession& session) {
      const int64_t rank = session.file().comm().rank();
      ASSERT_TRUE(put_rows(session, 0, rank * 4, rank * 4 + 4).ok());
      for (int dataset : {1, 2}) {
        ASSERT_TRUE(!everything || put_rows(session, dataset, rank * 4, rank * 4 + 4).ok());
      }
    });
    ASSERT_TRUE(verify_on(memory, 2).intact());
    const ByteRange table = place_of(memory, ".stria/rows_0");
    overwrite(memory, table, std::byte{0});
    // When a tail is lost, the data are lost too.
    overwrite(memory, place_of(memory, "full"), std::byte{0});
    const Verdict verdict = verify_on(memory, 2);
    ASSERT_TRUE(verdict.status.ok());
    ASSERT_FALSE(verdict.damages.empty());
    EXPECT_EQ(verdict.damages[0].dataset, ".stria/rows_0");
    const Status status = get_whole(memory, "full", {.verify = true});
    EXPECT_EQ(status.code(), ErrorCode::kCorrupted);
    EXPECT_NE(status.message().find(".stria/rows_0"), std::string::npos) << status.message();
    EXPECT_TRUE(get_whole(memory, "full", {}).ok());
  }
}

TEST(Verify, RowsThatTwoRanksPutAlikeAreNoDamage) {
  storage::MemoryDriver memory;
  write_rows(memory, 4, [&](WriteSession& session) { ASSERT_TRUE(put_rows(session, 0, 0, kRows).ok()); });
  const Verdict verdict = verify_on(memory, 2);
  ASSERT_TRUE(verdict.intact()) << verdict.status.message();
  EXPECT_TRUE(verdict.says("'.stria/rows_0', which holds checksums, has none itself"));
  EXPECT_TRUE(get_whole(memory, "full", {.verify = true}).ok());
  const int64_t at = place_of(memory, "full").begin;
  overwrite(memory, {at, at + 1}, std::byte{77});
  EXPECT_FALSE(verify_on(memory, 2).intact());
}

const std::vector<double> others(static_cast<size_t>(kRows* kColumns), -3);

// Puts elements more than once, each rank with a value of its own, by `put`.
void expect_repeats_are_no_damage(int ranks, const std::function<void(WriteSession&, const double*)>& put) {
  storage::MemoryDriver memory;
  std::vector<std::vector<double>> values;
  for (int value = 0; value < ranks; ++value) {
    values.emplace_back(static_cast<size_t>(kRows * kColumns), 1.5 + value);
  }
  write_rows(memory, ranks,
             [&](WriteSession& session) { put(session, values[static_cast<size_t>(session.file().comm().rank())].data()); });
  for (int readers : {1, 2, 3}) {
    const Verdict verdict = verify_on(memory, readers);
    EXPECT_TRUE(verdict.intact()) << verdict.status.message() << (verdict.damages.empty() ? "" : verdict.damages[0].dataset);
    EXPECT_TRUE(verdict.says("dataset 'half', rows")) << "no remark";
    EXPECT_TRUE(verdict.says("elements were put more than once"));
  }
  for (const char* name : {"full", "half"}) {
    const Status status = get_whole(memory, name, {.verify = true});
    EXPECT_TRUE(status.ok()) << status.message();
  }
  // What was put once is as safe as ever.
  const int64_t at = place_of(memory, "full").begin;
  overwrite(memory, {at, at + 1}, std::byte{77});
  const Verdict verdict = verify_on(memory, 2);
  ASSERT_EQ(verdict.damages.size(), 1U);
  EXPECT_EQ(verdict.damages[0].dataset, "full");
}

Status put_box(WriteSession& session, ByteRange rows, ByteRange columns, const double* values) {
  return session.record(1, {{rows.begin, columns.begin}, {rows.size(), columns.size()}},
                        Memory(values, rows.size() * columns.size()));
}

/// Rank 0 puts "full" once.
void put_full(WriteSession& session) {
  if (session.file().comm().rank() == 0) {
    ASSERT_TRUE(put_rows(session, 0, 0, kRows).ok());
  }
}

TEST(Verify, BoxesThatOverlapAreNoDamage) {
  for (int ranks : {1, 3}) {
    expect_repeats_are_no_damage(ranks, [](WriteSession& session, const double* values) {
      put_full(session);
      const int rank = session.file().comm().rank();
      ASSERT_TRUE(put_box(session, {1, 5}, {4 * rank, 4 * rank + 6}, values).ok());
      ASSERT_TRUE(put_box(session, {3, 7}, {4 * rank, 4 * rank + 6}, others.data()).ok());
    });
  }
}

TEST(Verify, RowsThatAreRepeatedAreNoDamage) {
  for (const bool flushes : {false, true}) {
    for (int ranks : {1, 3}) {
      expect_repeats_are_no_damage(ranks, [&](WriteSession& session, const double* values) {
        put_full(session);
        ASSERT_TRUE(put_box(session, {2, 9}, {0, kColumns}, values).ok());
        if (flushes) {
          ASSERT_TRUE(session.flush().ok());
        }
        ASSERT_TRUE(put_box(session, {4, 6}, {0, kColumns}, others.data()).ok());
        ASSERT_TRUE(put_box(session, {8, 9}, {3, 5}, others.data()).ok());
      });
    }
  }
}

TEST(Verify, DamagedChecksumsDontKeepTheDataFromBeingRead) {
  storage::MemoryDriver memory;
  write_rows(memory, 2, put_half);
  const Bytes intact = content_of(memory, kPath);
  for (const char* table : {"slabs", "seal", "datasets", "placement"}) {
    set_content(memory, kPath, intact);
    const int64_t at = place_of(memory, std::string(".stria/") + table).begin + 9;
    overwrite(memory, {at, at + 1}, std::byte{77});
    const Status status = get_whole(memory, "full", {.verify = true});
    EXPECT_FALSE(status.ok()) << table;
    EXPECT_NE(status.message().find("verify off"), std::string::npos) << status.message();
    EXPECT_TRUE(get_whole(memory, "full", {}).ok()) << table;
    const Verdict verdict = verify_on(memory, 3);
    EXPECT_FALSE(verdict.status.ok()) << table;
  }
}

TEST(Verify, MetadataThatNoLongerAreWhatTheyWereAreFound) {
  storage::MemoryDriver memory;
  write_rows(memory, 2, put_half);
  Bytes content = content_of(memory, kPath);
  // The headers of "none" and "half" have the same length. So when one is copied over the other,
  // its own sum is right.
  const std::string mark = "OHDR";
  std::vector<size_t> headers;
  for (size_t at = 0; at + 4 < 4096; ++at) {
    if (std::equal(mark.begin(), mark.end(), content.begin() + static_cast<std::ptrdiff_t>(at),
                   [](char a, std::byte b) { return static_cast<std::byte>(a) == b; })) {
      headers.push_back(at);
    }
  }
  ASSERT_GE(headers.size(), 3u);
  ASSERT_EQ(headers[2] - headers[1], headers[1] - headers[0]);
  std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(headers[1]), headers[1] - headers[0],
              content.begin() + static_cast<std::ptrdiff_t>(headers[2]));
  set_content(memory, kPath, content);
  const Verdict verdict = verify_on(memory, 2);
  ASSERT_TRUE(verdict.status.ok()) << verdict.status.message();
  EXPECT_TRUE(
      std::any_of(verdict.damages.begin(), verdict.damages.end(), [](const Damage& damage) { return damage.dataset.empty(); }));
}

/// Writes a file of an older version, without a seal: one dataset "full" of rows, with a table
/// of their sums.
void write_older(storage::MemoryDriver& memory, int64_t rows_put) {
  using container::ElementSpec;
  container::Hdf5Writer writer;
  container::DatasetSpec data;
  data.path = "full";
  data.dims = {kRows, kColumns};
  const int64_t data_offset = writer.create_dataset(data).value();
  const auto add = [&](const std::string& name, const ElementSpec& element, std::vector<int64_t> dims, const Bytes& bytes) {
    container::DatasetSpec spec;
    spec.path = ".stria/" + name;
    spec.element = element;
    spec.dims = std::move(dims);
    ASSERT_TRUE(writer.create_table(spec, bytes).ok());
  };
  const auto bytes_of = [](const auto& list) {
    const auto bytes = std::as_bytes(std::span(list));
    return Bytes(bytes.begin(), bytes.end());
  };
  const std::string paths[] = {"full", ".stria/datasets", ".stria/placement"};
  Bytes names(3 * 16);
  for (size_t i = 0; i < 3; ++i) {
    const auto text = std::as_bytes(std::span(paths[i].data(), paths[i].size()));
    std::copy(text.begin(), text.end(), names.begin() + static_cast<std::ptrdiff_t>(16 * i));
  }
  const Bytes placement = bytes_of(std::vector<int64_t>{0, 0, -1, -1, -1, -1});
  const std::vector<double> row(kColumns, 1.5);
  std::vector<uint64_t> sums(kRows, 0);
  std::fill_n(sums.begin(), rows_put, sum_of(std::as_bytes(std::span(row))));
  add("datasets", ElementSpec::of_string(16, false), {3}, names);
  add("placement", ElementSpec::of_number(ElementType::kInt64), {3, 2}, placement);
  add("rows_0", ElementSpec::of_number(ElementType::kUint64), {kRows, 1}, bytes_of(sums));
  Bytes records;
  encode_slab_sum({1, 0, Datatype::bytes(48), sum_of(names)}, records);
  encode_slab_sum({2, 0, Datatype::bytes(48), sum_of(placement)}, records);
  const Bytes slabs = with_own_sum(records);
  add("slabs", ElementSpec::of_number(ElementType::kUint8), {static_cast<int64_t>(slabs.size())}, slabs);
  const container::SparseImage image = writer.finish().value();
  Bytes content(static_cast<size_t>(image.file_bytes));
  for (const auto& extent : image.extents) {
    std::copy(extent.bytes.begin(), extent.bytes.end(), content.begin() + extent.offset);
  }
  for (int64_t i = 0; i < rows_put; ++i) {
    const Bytes bytes = bytes_of(row);
    std::copy(bytes.begin(), bytes.end(), content.begin() + data_offset + i * kColumns * 8);
  }
  set_content(memory, kPath, content);
}

/// Makes datasets {kRows, kColumns} in a group, one in one piece and one in chunks, and links to
/// them and to the group, of which some come first in the order of names.
void write_linked(storage::MemoryDriver& memory) {
  auto comm = make_self_comm();
  auto session = WriteSession::create(environment_of(*comm, borrow(memory), {}), kPath, {}).value();
  std::vector<double> values(static_cast<size_t>(kRows * kColumns));
  std::iota(values.begin(), values.end(), 1);
  for (const char* name : {"group/plain", "group/chunked"}) {
    container::DatasetSpec spec;
    spec.path = name;
    spec.dims = {kRows, kColumns};
    DatasetOptions options;
    if (spec.path == "group/chunked") {
      options.chunk = {kRows / 2, kColumns};
      options.filters = Filters::compress();
    }
    const int number = create_dataset(*session, spec, options).value();
    ASSERT_TRUE(session->record(number, {{0, 0}, {kRows, kColumns}}, Memory(values.data(), kRows * kColumns)).ok());
  }
  for (const auto& [path, target] : {std::pair("a_plain", "/group/plain"), std::pair("z_chunked", "group/chunked"),
                                     std::pair("again", "group"), std::pair("twice", "again")}) {
    ASSERT_TRUE(create_link(*session, {.path = path, .target = target}).ok());
  }
  ASSERT_TRUE(session->commit().ok());
}

TEST(Verify, DamageIsFoundThroughLinks) {
  const auto chunk_of = [](storage::MemoryDriver& memory) {
    auto file = memory.open(kPath, {}).value();
    const auto chunk = container::open_file(*file).value()->chunks("group/chunked").value()[1];
    return ByteRange{chunk.offset, chunk.offset + chunk.bytes};
  };
  for (const auto& [dataset, links] :
       {std::pair("plain", std::vector<std::string>{"a_plain", "/group/plain", "again/plain", "twice/plain"}),
        std::pair("chunked", std::vector<std::string>{"z_chunked", "again/chunked", "twice/chunked"})}) {
    storage::MemoryDriver memory;
    write_linked(memory);
    const Verdict before = verify_on(memory, 2);
    EXPECT_TRUE(before.intact()) << before.status.message();
    EXPECT_FALSE(before.says("another program")) << before.remarks[0];
    for (const std::string& link : links) {
      const Status status = get_whole(memory, link, {.verify = true});
      ASSERT_TRUE(status.ok()) << status.message();
    }
    const bool chunked = std::string(dataset) == "chunked";
    const ByteRange range = chunked ? chunk_of(memory) : place_of(memory, "group/plain");
    overwrite(memory, {range.end - 9, range.end - 8}, std::byte{0x5a});
    for (const std::string& link : links) {
      EXPECT_EQ(get_whole(memory, link, {.verify = true}).code(), ErrorCode::kCorrupted) << link;
    }
    const Verdict after = verify_on(memory, 2);
    ASSERT_EQ(after.damages.size(), 1U);
    EXPECT_EQ(after.damages[0].dataset, std::string("group/") + dataset);
  }
}

constexpr int64_t kChunkRows = 3;

/// Writes a dataset "chunked" of {kRows, kColumns} numbers, put by rows. A chunk has kChunkRows
/// rows, of so many columns.
void write_chunked(storage::MemoryDriver& memory, int64_t columns, const Filters& filters) {
  auto comm = make_self_comm();
  auto session = WriteSession::create(environment_of(*comm, borrow(memory), {}), kPath, {}).value();
  std::vector<double> values(static_cast<size_t>(kRows * kColumns));
  std::iota(values.begin(), values.end(), 1);
  container::DatasetSpec spec;
  spec.path = "chunked";
  spec.dims = {kRows, kColumns};
  const int number = create_dataset(*session, spec, {.chunk = {kChunkRows, columns}, .filters = filters}).value();
  ASSERT_TRUE(session->record(number, {{0, 0}, {kRows, kColumns}}, Memory(values.data(), kRows * kColumns)).ok());
  ASSERT_TRUE(session->commit().ok());
}

/// Changes a byte of the first chunk that begins at the row.
void damage_chunk_at(storage::MemoryDriver& memory, int64_t row, int64_t columns) {
  const auto chunks = container::open_file(*memory.open(kPath, {}).value()).value()->chunks("chunked").value();
  const int64_t at = chunks[static_cast<size_t>(row / kChunkRows * (kColumns / columns))].offset + 20;
  overwrite(memory, {at, at + 1}, std::byte{0x5a});
}

void expect_rows_damaged(storage::MemoryDriver& memory, const std::vector<int64_t>& first_rows) {
  for (const int readers : {1, 2, 5}) {
    const Verdict verdict = verify_on(memory, readers);
    ASSERT_EQ(verdict.damages.size(), first_rows.size()) << verdict.status.message();
    for (size_t i = 0; i < first_rows.size(); ++i) {
      EXPECT_EQ(verdict.damages[i].first_row, first_rows[i]);
      EXPECT_EQ(verdict.damages[i].last_row, first_rows[i] + kChunkRows);
    }
  }
}

TEST(Verify, OfADamagedChunkItsRowsAreNamedAndNoOthers) {
  for (const Filters& filters : {Filters::compress(), Filters{.zfp_rate = 16}}) {
    if (filters.zfp() && !container::ZfpCodec::available().ok()) {
      continue;
    }
    for (const int64_t columns : {kColumns, kColumns / 4}) {
      SCOPED_TRACE("chunks of " + std::to_string(columns) + " columns" + (filters.zfp() ? ", ZFP" : ""));
      for (int64_t row = 0; row < kRows; row += kChunkRows) {
        storage::MemoryDriver memory;
        write_chunked(memory, columns, filters);
        damage_chunk_at(memory, row, columns);
        expect_rows_damaged(memory, {row});
      }
      storage::MemoryDriver memory;
      write_chunked(memory, columns, filters);
      damage_chunk_at(memory, 0, columns);
      damage_chunk_at(memory, 2 * kChunkRows, columns);
      expect_rows_damaged(memory, {0, 2 * kChunkRows});
    }
  }
}

TEST(Verify, FilesOfOlderVersionsAreReadAndSayWhatTheyLack) {
  for (int64_t rows_put : {kRows, kRows / 2}) {
    storage::MemoryDriver memory;
    write_older(memory, rows_put);
    const Verdict verdict = verify_on(memory, 2);
    ASSERT_TRUE(verdict.intact()) << verdict.status.message();
    EXPECT_TRUE(verdict.says("an older version of Stria wrote it"));
    for (bool verify : {false, true}) {
      EXPECT_TRUE(get_whole(memory, "full", {.verify = verify}).ok());
    }
    // The loss of the table alone is noticed, because rows without a sum must be zero.
    overwrite(memory, place_of(memory, ".stria/rows_0"), std::byte{0});
    ASSERT_EQ(verify_on(memory, 2).damages.size(), 1u);
    EXPECT_EQ(get_whole(memory, "full", {.verify = true}).code(), ErrorCode::kCorrupted);
    write_older(memory, rows_put);
    const int64_t at = place_of(memory, "full").begin + 100;
    overwrite(memory, {at, at + 1}, std::byte{77});
    ASSERT_EQ(verify_on(memory, 2).damages.size(), 1u);
    EXPECT_EQ(get_whole(memory, "full", {.verify = true}).code(), ErrorCode::kCorrupted);
  }
}

}  // namespace
}  // namespace stria::file::test
