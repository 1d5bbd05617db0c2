#include "file/checksums/row_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/united_ranges.hpp"
#include "file/define/hidden_table.hpp"
#include "file/define/names.hpp"

namespace stria::file {

std::string RowTable::path(size_t number) {
  return fmt::format("{}/rows_{}", kOwnGroup, number);
}

container::DatasetSpec RowTable::spec(size_t number) const {
  container::DatasetSpec spec = hidden_table(path(number), container::ElementSpec::of_number(ElementType::kUint64),
                                             {row_count, static_cast<int64_t>(datasets.size())});
  spec.alignment_bytes = sizeof(uint64_t);
  spec.data_offset = data_offset;
  return spec;
}

std::vector<RowTable> place_row_sums(std::span<DatasetEntry> datasets) {
  std::vector<RowTable> tables;
  std::map<int64_t, int> table_of_rows;
  for (size_t i = 0; i < datasets.size(); ++i) {
    DatasetEntry& dataset = datasets[i];
    dataset.checksum_group = -1;
    // A table would have to get longer too; a dataset that is overwritten keeps its own.
    const bool has_others = dataset.spec.extendable || dataset.is_updated || dataset.is_lossy();
    // Tables lie before rows that are among others', so that their size must be known.
    const int64_t least_bytes = dataset.spec.unlimited ? 1 : kLeastRowBytes;
    if (dataset.row_bytes() < least_bytes || dataset.row_count() == 0 || has_others) {
      continue;
    }
    auto [found, added] = table_of_rows.emplace(dataset.row_count(), static_cast<int>(tables.size()));
    if (added) {
      tables.push_back({dataset.row_count(), {}, -1});
    }
    RowTable& table = tables[static_cast<size_t>(found->second)];
    dataset.checksum_group = found->second;
    dataset.checksum_column = static_cast<int>(table.datasets.size());
    table.datasets.push_back(static_cast<int>(i));
  }
  return tables;
}

namespace {

constexpr int64_t kSparsestPart = 4;

// Puts the sums in the order of the table, each once. A rank's rows of most datasets make a dense
// part of one table, so nothing has to be sorted.
bool put_in_order_densely(std::vector<RowSum>& sums, std::vector<RowSum>& repeated) {
  auto [least, most] =
      std::minmax_element(sums.begin(), sums.end(), [](const RowSum& a, const RowSum& b) { return a.index < b.index; });
  const int64_t first = least->index;
  const int64_t places = most->index - first + 1;
  const int table = sums.front().table;
  bool is_dense = places / kSparsestPart <= static_cast<int64_t>(sums.size()) &&
                  std::all_of(sums.begin(), sums.end(), [&](const RowSum& sum) { return sum.table == table; });
  if (!is_dense) {
    return false;
  }
  std::vector<uint64_t> dense(static_cast<size_t>(places), 0);  // no sum is 0
  for (const RowSum& sum : sums) {
    const uint64_t before = std::exchange(dense[static_cast<size_t>(sum.index - first)], sum.sum);
    if (before != 0 && before != sum.sum) {
      repeated.push_back(sum);
    }
  }
  sums.clear();
  for (int64_t i = 0; i < places; ++i) {
    if (dense[static_cast<size_t>(i)] != 0) {
      sums.push_back({table, first + i, dense[static_cast<size_t>(i)]});
    }
  }
  return true;
}

// The last sum counts of a row that was put again.
void put_in_order(std::vector<RowSum>& sums, std::vector<RowSum>& repeated) {
  if (sums.empty() || put_in_order_densely(sums, repeated)) {
    return;
  }
  const auto place = [](const RowSum& sum) { return std::tie(sum.table, sum.index); };
  std::stable_sort(sums.begin(), sums.end(), [&](const RowSum& a, const RowSum& b) { return place(a) < place(b); });
  size_t kept = 0;
  for (const RowSum& sum : sums) {
    if (kept == 0 || place(sums[kept - 1]) != place(sum)) {
      ++kept;
    } else if (sums[kept - 1].sum != sum.sum) {
      repeated.push_back(sum);
    }
    sums[kept - 1] = sum;
  }
  sums.resize(kept);
}

}  // namespace

uint64_t place_term(int64_t place, uint64_t sum) {
  const std::array<uint64_t, 2> both = {static_cast<uint64_t>(place), sum};
  return sum == 0 ? 0 : hash_bytes(std::as_bytes(std::span(both)));
}

RowSumBytes lay_out_row_sums(std::span<const RowTable> tables, std::vector<RowSum> sums) {
  std::vector<RowSum> repeated;
  put_in_order(sums, repeated);
  RowSumBytes bytes;
  bytes.values.reserve(sums.size());  // segments point into it
  bytes.shares.resize(tables.size());
  int last_table = -1;
  for (const RowSum& sum : sums) {
    STRIA_ASSERT(sum.table >= 0 && static_cast<size_t>(sum.table) < tables.size(), sum.table, tables.size());
    STRIA_ASSERT(sum.index >= 0 && tables[static_cast<size_t>(sum.table)].data_offset >= 0, sum.table, sum.index);
    bytes.values.push_back(sum.sum);
    TableShare& share = bytes.shares[static_cast<size_t>(sum.table)];
    share.sum += place_term(sum.index, sum.sum);
    if (sum.table == last_table && share.places.back().end == sum.index) {
      ++share.places.back().end;
      bytes.segments.back().bytes += kRowSumBytes;
    } else {
      share.places.push_back({sum.index, sum.index + 1});
      const int64_t offset = tables[static_cast<size_t>(sum.table)].data_offset + sum.index * kRowSumBytes;
      bytes.segments.push_back({offset, reinterpret_cast<const std::byte*>(&bytes.values.back()), kRowSumBytes});
    }
    last_table = sum.table;
  }
  for (const RowSum& sum : repeated) {
    bytes.shares[static_cast<size_t>(sum.table)].repeated.push_back({sum.index, sum.index + 1});
  }
  for (TableShare& share : bytes.shares) {
    share.repeated = united(std::move(share.repeated));
  }
  return bytes;
}

namespace {

void sort_by_place(std::vector<ByteRange>& places) {
  std::sort(places.begin(), places.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
}

// Adds the places that two of the shares have. Ranks that put all of the same have the same sums.
void add_common_places(std::vector<TableShare>& shares, std::vector<ByteRange>& common) {
  const auto key = [](const TableShare& share) {
    return std::tuple(share.sum, share.places.size(), share.places.empty() ? -1 : share.places.front().begin);
  };
  std::sort(shares.begin(), shares.end(), [&](const TableShare& a, const TableShare& b) { return key(a) < key(b); });
  const auto is_same = [](const TableShare& a, const TableShare& b) { return a.sum == b.sum && a.places == b.places; };
  shares.erase(std::unique(shares.begin(), shares.end(), is_same), shares.end());
  std::vector<ByteRange> places;
  for (const TableShare& share : shares) {
    places.insert(places.end(), share.places.begin(), share.places.end());
  }
  sort_by_place(places);
  int64_t end = 0;
  for (const ByteRange& range : places) {
    common.push_back({range.begin, std::min(range.end, end)});
    end = std::max(end, range.end);
  }
}

}  // namespace

TableSeal unite(std::vector<TableShare> shares, std::vector<ByteRange>* repeated) {
  TableSeal seal;
  std::vector<ByteRange> places;
  std::vector<ByteRange> again;
  for (const TableShare& share : shares) {
    seal.sum += share.sum;
    places.insert(places.end(), share.places.begin(), share.places.end());
    again.insert(again.end(), share.repeated.begin(), share.repeated.end());
  }
  sort_by_place(places);
  for (size_t i = 0; i < places.size() && seal.count != TableSeal::kUnknown; ++i) {
    const bool is_common = i > 0 && places[i].begin < places[i - 1].end;
    seal = is_common ? TableSeal{TableSeal::kUnknown, 0} : TableSeal{seal.count + places[i].size(), seal.sum};
  }
  if (repeated != nullptr) {
    if (seal.count == TableSeal::kUnknown) {
      add_common_places(shares, again);
    }
    *repeated = united(std::move(again));
  }
  return seal;
}

}  // namespace stria::file
