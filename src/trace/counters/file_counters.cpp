#include "trace/counters/file_counters.hpp"

#include <algorithm>

#include "trace/events/ticks.hpp"

namespace stria::trace {

void CommonValues::add_other(int64_t value) {
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
  const std::lock_guard lock(lock_);
  at(counter) += value;
  changed_ = true;
}

void FileCounters::raise(Counter counter, int64_t value) {
  const std::lock_guard lock(lock_);
  at(counter) = std::max(at(counter), value);
  changed_ = true;
}

void FileCounters::call(Direction direction, int64_t bytes) {
  const bool puts = direction == Direction::kWrite;
  const std::lock_guard lock(lock_);
  at(puts ? Counter::kPuts : Counter::kGets) += 1;
  at(puts ? Counter::kBytesPut : Counter::kBytesGot) += bytes;
  changed_ = true;
}

void FileCounters::add_phases(const PhaseTimes& now, const PhaseTimes& before) {
  const std::lock_guard lock(lock_);
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    // These counters stand in the order of Phase.
    values_[static_cast<size_t>(Counter::kOpenNs) + phase] +=
        static_cast<int64_t>((now.seconds[phase] - before.seconds[phase]) * 1e9);
  }
  changed_ = true;
}

void FileCounters::piece(Stream& stream, int64_t begin, int64_t end) {
  const int64_t bytes = end - begin;
  if (bytes != stream.last_bytes) {
    stream.last_bytes = bytes;
    stream.bin = static_cast<size_t>(size_bin(bytes));
  }
  ++stream.sizes[stream.bin];
  ++stream.pieces;
  stream.bytes += bytes;
  sizes_.add(bytes);
  if (stream.last_end >= 0) {
    const int64_t stride = begin - stream.last_begin;
    stream.consecutive += begin == stream.last_end ? 1 : 0;
    stream.sequential += begin >= stream.last_end ? 1 : 0;
    stream.strided += stride == stream.last_stride ? 1 : 0;
    strides_.add(stride);
    stream.last_stride = stride;
  }
  const int64_t unit = at(Counter::kAlignmentBytes);
  stream.unaligned += unit > 0 && begin % unit != 0 ? 1 : 0;
  stream.highest_end = std::max(stream.highest_end, end);
  stream.last_begin = begin;
  stream.last_end = end;
}

void FileCounters::finish_request(Direction direction, int64_t ticks) {
  const std::lock_guard lock(lock_);
  Stream& stream = streams_[static_cast<size_t>(direction)];
  stream.longest_ticks = std::max(stream.longest_ticks, ticks);
  changed_ = true;
}

std::array<int64_t, kCounterCount> FileCounters::values() const {
  const std::lock_guard lock(lock_);
  std::array<int64_t, kCounterCount> values = values_;
  auto set = [&values](Counter counter, int64_t value) { values[static_cast<size_t>(counter)] = value; };
  for (const bool write : {false, true}) {
    const Stream& stream = streams_[static_cast<size_t>(write ? Direction::kWrite : Direction::kRead)];
    set(write ? Counter::kWriteRequests : Counter::kReadRequests, stream.requests);
    set(write ? Counter::kWritePieces : Counter::kReadPieces, stream.pieces);
    set(write ? Counter::kBytesWritten : Counter::kBytesRead, stream.bytes);
    set(write ? Counter::kMaxWriteEnd : Counter::kMaxReadEnd, stream.highest_end);
    set(write ? Counter::kConsecutiveWrites : Counter::kConsecutiveReads, stream.consecutive);
    set(write ? Counter::kSequentialWrites : Counter::kSequentialReads, stream.sequential);
    set(write ? Counter::kStridedWrites : Counter::kStridedReads, stream.strided);
    set(write ? Counter::kUnalignedWrites : Counter::kUnalignedReads, stream.unaligned);
    set(write ? Counter::kMaxPiecesOfWrite : Counter::kMaxPiecesOfRead, stream.most_pieces);
    set(write ? Counter::kMaxWriteNs : Counter::kMaxReadNs, ticks_to_ns(stream.longest_ticks));
    set(write ? Counter::kWriteRequestNs : Counter::kReadRequestNs, ticks_to_ns(stream.ticks));
    const auto bins = static_cast<size_t>(write ? Counter::kWriteSizes0 : Counter::kReadSizes0);
    std::copy(stream.sizes.begin(), stream.sizes.end(), values.begin() + bins);
  }
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
  const std::lock_guard lock(lock_);
  return std::exchange(changed_, false);
}

}  // namespace stria::trace
