#include "trace/file_counters.hpp"

#include <algorithm>

namespace stria::trace {

void CommonValues::add(int64_t value) {
  if (candidates_[last_].value == value && candidates_[last_].count > 0) {
    ++candidates_[last_].count;
    return;
  }
  size_t least = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].count > 0 && candidates_[i].value == value) {
      ++candidates_[i].count;
      last_ = i;
      return;
    }
    least = candidates_[i].count < candidates_[least].count ? i : least;
  }
  candidates_[least].value = value;
  ++candidates_[least].count;
  last_ = least;
}

std::array<std::pair<int64_t, int64_t>, 4> CommonValues::top() const {
  std::array<Candidate, 16> sorted = candidates_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Candidate& a, const Candidate& b) { return a.count > b.count; });
  std::array<std::pair<int64_t, int64_t>, 4> best;
  for (size_t i = 0; i < best.size(); ++i) {
    best[i] = {sorted[i].count > 0 ? sorted[i].value : 0, sorted[i].count};
  }
  return best;
}

void FileCounters::add(Counter counter, int64_t value) {
  const std::lock_guard lock(mutex_);
  at(counter) += value;
  changed_ = true;
}

void FileCounters::raise(Counter counter, int64_t value) {
  const std::lock_guard lock(mutex_);
  at(counter) = std::max(at(counter), value);
  changed_ = true;
}

void FileCounters::add_phases(const PhaseTimes& now, const PhaseTimes& before) {
  const std::lock_guard lock(mutex_);
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    // These counters stand in the order of Phase.
    values_[static_cast<size_t>(Counter::kOpenNs) + phase] +=
        static_cast<int64_t>((now.seconds[phase] - before.seconds[phase]) * 1e9);
  }
  changed_ = true;
}

void FileCounters::piece(Direction direction, int64_t begin, int64_t end) {
  const bool write = direction == Direction::kWrite;
  Stream& stream = streams_[write ? 1 : 0];
  const int64_t bytes = end - begin;
  ++values_[static_cast<size_t>(write ? Counter::kWriteSizes0 : Counter::kReadSizes0) + static_cast<size_t>(size_bin(bytes))];
  sizes_.add(bytes);
  if (stream.last_end >= 0) {
    const int64_t stride = begin - stream.last_begin;
    at(write ? Counter::kConsecutiveWrites : Counter::kConsecutiveReads) += begin == stream.last_end ? 1 : 0;
    at(write ? Counter::kSequentialWrites : Counter::kSequentialReads) += begin >= stream.last_end ? 1 : 0;
    at(write ? Counter::kStridedWrites : Counter::kStridedReads) += stride == stream.last_stride ? 1 : 0;
    strides_.add(stride);
    stream.last_stride = stride;
  }
  const int64_t unit = at(Counter::kAlignmentBytes);
  at(write ? Counter::kUnalignedWrites : Counter::kUnalignedReads) += unit > 0 && begin % unit != 0 ? 1 : 0;
  int64_t& highest = at(write ? Counter::kMaxWriteEnd : Counter::kMaxReadEnd);
  highest = std::max(highest, end);
  stream.last_begin = begin;
  stream.last_end = end;
}

void FileCounters::finish_request(Direction direction, int64_t pieces, int64_t bytes, int64_t ns) {
  const bool write = direction == Direction::kWrite;
  ++at(write ? Counter::kWriteRequests : Counter::kReadRequests);
  at(write ? Counter::kWritePieces : Counter::kReadPieces) += pieces;
  at(write ? Counter::kBytesWritten : Counter::kBytesRead) += bytes;
  int64_t& most = at(write ? Counter::kMaxPiecesOfWrite : Counter::kMaxPiecesOfRead);
  most = std::max(most, pieces);
  int64_t& slowest = at(write ? Counter::kMaxWriteNs : Counter::kMaxReadNs);
  slowest = std::max(slowest, ns);
  changed_ = true;
}

std::array<int64_t, kCounterCount> FileCounters::values() const {
  const std::lock_guard lock(mutex_);
  std::array<int64_t, kCounterCount> values = values_;
  auto place = [&values](Counter first, const CommonValues& common) {
    auto slot = static_cast<size_t>(first);
    for (const auto& [value, count] : common.top()) {
      values[slot++] = value;
      values[slot++] = count;
    }
  };
  place(Counter::kCommonSize1, sizes_);
  place(Counter::kCommonStride1, strides_);
  return values;
}

bool FileCounters::take_changed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(changed_, false);
}

}  // namespace stria::trace
