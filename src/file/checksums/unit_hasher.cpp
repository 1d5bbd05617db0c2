#include "file/checksums/unit_hasher.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::file {

UnitHasher::UnitHasher(int64_t stream_bytes, int64_t unit_bytes)
    : stream_bytes_(stream_bytes),
      unit_bytes_(unit_bytes),
      sums_(static_cast<size_t>((stream_bytes + unit_bytes - 1) / unit_bytes), 0) {
  STRIA_ASSERT(unit_bytes > 0 && stream_bytes >= 0, stream_bytes, unit_bytes);
}

int64_t UnitHasher::unit_end(int64_t unit) const {
  return std::min((unit + 1) * unit_bytes_, stream_bytes_);
}

void UnitHasher::set_sum(int64_t unit, uint64_t sum) {
  STRIA_ASSERT(unit >= 0 && unit < unit_count(), unit, unit_count());
  sums_[static_cast<size_t>(unit)] = sum == 0 ? 1 : sum;  // 0 means: not known
}

void UnitHasher::observe(int64_t begin, std::span<const std::byte> data) {
  STRIA_ASSERT(begin >= 0 && begin + static_cast<int64_t>(data.size()) <= stream_bytes_, begin, data.size(), stream_bytes_);
  while (!data.empty()) {
    int64_t unit = begin / unit_bytes_;
    auto bytes = static_cast<size_t>(std::min<int64_t>(unit_end(unit) - begin, static_cast<int64_t>(data.size())));
    observe_within_unit(unit, begin, data.first(bytes));
    begin += static_cast<int64_t>(bytes);
    data = data.subspan(bytes);
  }
}

void UnitHasher::observe_within_unit(int64_t unit, int64_t begin, std::span<const std::byte> data) {
  int64_t end = begin + static_cast<int64_t>(data.size());
  bool from_start = begin == unit_begin(unit);
  bool to_end = end == unit_end(unit);
  if (from_start && to_end) {
    set_sum(unit, hash_bytes(data));
    return;
  }
  if (from_start) {
    if (partial_ == nullptr) {
      partial_ = std::make_unique<StreamingHash>();
    }
    partial_->reset();
  } else if (begin != next_) {
    return;  // out of order: the unit stays incomplete
  }
  partial_->update(data);
  next_ = to_end ? -1 : end;
  if (to_end) {
    set_sum(unit, partial_->digest());
  }
}

void UnitHasher::leave_out(int64_t begin, int64_t end) {
  STRIA_ASSERT(begin >= 0 && begin <= end && end <= stream_bytes_, begin, end, stream_bytes_);
  STRIA_ASSERT(begin % unit_bytes_ == 0 && (end % unit_bytes_ == 0 || end == stream_bytes_), begin, end, unit_bytes_,
               stream_bytes_);
  left_out_.resize(sums_.size());
  for (int64_t unit = begin / unit_bytes_; unit_begin(unit) < end; ++unit) {
    left_out_[static_cast<size_t>(unit)] = true;
  }
}

std::vector<int64_t> UnitHasher::torn_units() const {
  std::vector<int64_t> torn;
  for (size_t unit = 0; unit < sums_.size(); ++unit) {
    if (sums_[unit] == 0 && !is_left_out(static_cast<int64_t>(unit))) {
      torn.push_back(static_cast<int64_t>(unit));
    }
  }
  return torn;
}

}  // namespace stria::file
