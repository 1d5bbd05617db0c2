#include "report/counter_sums.hpp"

#include <algorithm>

#include "report/span_counters.hpp"
#include "trace/format/counter_view.hpp"

namespace stria::tool {

using trace::Counter;

CounterSums::CounterSums(const trace::TraceFile& trace) : rank_rows_(trace.ranks.size()), file_rows_(trace.files.size()) {
  const trace::CounterView view(trace);
  for (const trace::CounterSet& set : trace.counter_sets) {
    Row row{};
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = view.value(set, static_cast<Counter>(i));
    }
    add(set.rank, set.file, row);
  }
  has_request_times_ = total(Counter::kReadRequestNs) + total(Counter::kWriteRequestNs) > 0;
  if (total(Counter::kBytesRead) + total(Counter::kBytesWritten) + total(Counter::kOpens) == 0) {
    for (const trace::CounterSet& set : counters_of_spans(trace)) {
      Row row{};
      std::copy(set.values.begin(), set.values.end(), row.begin());
      add(set.rank, set.file, row);
    }
  }
  for (int file = 0; file < static_cast<int>(file_rows_.size()); ++file) {
    if (of_file(Counter::kOpens, file) + of_file(Counter::kBytesRead, file) + of_file(Counter::kBytesWritten, file) > 0) {
      files_.push_back(file);
    }
  }
}

void CounterSums::add(int rank, int file, const Row& row) {
  add_row(total_, row);
  add_row(rank_rows_[static_cast<size_t>(rank)], row);
  if (file >= 0) {
    add_row(file_rows_[static_cast<size_t>(file)], row);
  }
  opened_pairs_ += row[static_cast<size_t>(Counter::kOpens)] > 0;
  for (int common = 0; common < 4; ++common) {
    const size_t at = static_cast<size_t>(Counter::kCommonSize1) + 2 * static_cast<size_t>(common);
    if (row[at + 1] > 0) {
      sizes_[row[at]] += row[at + 1];
    }
  }
}

void CounterSums::add_row(Row& sum, const Row& row) {
  for (size_t i = 0; i < sum.size(); ++i) {
    sum[i] = trace::counter_is_sum(static_cast<Counter>(i)) ? sum[i] + row[i] : std::max(sum[i], row[i]);
  }
}

int64_t CounterSums::of_rank(Counter counter, int rank) const {
  return rank_rows_[static_cast<size_t>(rank)][static_cast<size_t>(counter)];
}

int64_t CounterSums::of_file(Counter counter, int file) const {
  return file_rows_[static_cast<size_t>(file)][static_cast<size_t>(counter)];
}

std::vector<int64_t> CounterSums::by_rank(Counter counter) const {
  std::vector<int64_t> values;
  for (const Row& row : rank_rows_) {
    values.push_back(row[static_cast<size_t>(counter)]);
  }
  return values;
}

int CounterSums::file_of_most(Counter one, Counter other) const {
  int most = -1;
  int64_t most_counted = 0;
  for (int file : files_) {
    const int64_t counted = of_file(one, file) + of_file(other, file);
    if (counted > most_counted) {
      most = file;
      most_counted = counted;
    }
  }
  return most;
}

std::vector<std::pair<int64_t, int64_t>> CounterSums::common_sizes() const {
  std::vector<std::pair<int64_t, int64_t>> sizes(sizes_.begin(), sizes_.end());
  std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sizes;
}

int64_t CounterSums::useful_bytes() const {
  const int64_t handed_over = total(Counter::kBytesPut) + total(Counter::kBytesGot);
  return handed_over > 0 ? handed_over : total(Counter::kBytesWritten) + total(Counter::kBytesRead);
}

int CounterSums::writers() const {
  const std::vector<int64_t> written = by_rank(Counter::kBytesWritten);
  return static_cast<int>(std::max<int64_t>(1, std::count_if(written.begin(), written.end(), [](int64_t b) { return b > 0; })));
}

}  // namespace stria::tool
