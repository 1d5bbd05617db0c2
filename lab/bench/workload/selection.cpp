#include "workload/selection.hpp"

#include <functional>
#include <numeric>

namespace stria::bench {

int64_t product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Selection Selection::box(std::vector<int64_t> dims, std::vector<int64_t> start, std::vector<int64_t> size) {
  const std::vector<int64_t> ones(dims.size(), 1);
  std::vector<int64_t> stride = size;
  return {std::move(dims), std::move(start), ones, std::move(stride), std::move(size)};
}

Selection Selection::strided(int64_t length, int64_t start, int64_t count, int64_t stride, int64_t block) {
  return {{length}, {start}, {count}, {stride}, {block}};
}

Selection Selection::whole(std::vector<int64_t> dims) {
  std::vector<int64_t> zeros(dims.size(), 0);
  std::vector<int64_t> size = dims;
  return box(std::move(dims), std::move(zeros), std::move(size));
}

int64_t Selection::elements() const {
  return places.empty() ? product(count) * product(block) : static_cast<int64_t>(places.size());
}

bool Selection::is_box() const {
  for (size_t d = 0; d < count.size(); ++d) {
    if (count[d] != 1 && stride[d] != block[d]) {
      return false;
    }
  }
  return places.empty();
}

// Innermost dimensions that are taken whole make the runs of the dimension before them longer.
Runs::Runs(const Selection& selection) : selection_(selection) {
  if (!selection.places.empty()) {
    elements_ = 1;
    left_ = selection.elements();
    find_offset();
    return;
  }
  Selection& s = selection_;
  const size_t rank = s.dims.size();
  row_elements_.assign(rank, 1);
  for (size_t d = rank; d-- > 1;) {
    row_elements_[d - 1] = row_elements_[d] * s.dims[d];
  }
  for (size_t d = 0; d < rank; ++d) {
    if (s.stride[d] == s.block[d] || s.count[d] == 1) {
      s.block[d] *= s.count[d];
      s.count[d] = 1;
    }
  }
  outer_ = rank - 1;
  while (outer_ > 0 && s.count[outer_] == 1 && s.block[outer_] == s.dims[outer_]) {
    --outer_;
  }
  elements_ = s.block[outer_] * row_elements_[outer_];
  for (size_t d = 0; d <= outer_; ++d) {
    steps_.push_back(d == outer_ ? s.count[d] : s.along(d));
  }
  index_.assign(outer_ + 1, 0);
  left_ = elements_ == 0 ? 0 : product(steps_);
  find_offset();
}

void Runs::find_offset() {
  const Selection& s = selection_;
  if (!s.places.empty()) {
    offset_ = done() ? 0 : s.places[s.places.size() - static_cast<size_t>(left_)];
    return;
  }
  offset_ = 0;
  for (size_t d = 0; d <= outer_; ++d) {
    const int64_t i = index_[d];
    const int64_t place = d == outer_ ? i * s.stride[d] : i / s.block[d] * s.stride[d] + i % s.block[d];
    offset_ += (s.start[d] + place) * row_elements_[d];
  }
}

void Runs::next() {
  --left_;
  if (!selection_.places.empty()) {
    find_offset();
    return;
  }
  if (++index_[outer_] < steps_[outer_]) {
    offset_ += selection_.stride[outer_] * row_elements_[outer_];
    return;
  }
  for (size_t d = outer_ + 1; d-- > 0;) {
    if (d < outer_ && ++index_[d] < steps_[d]) {
      break;
    }
    index_[d] = 0;
  }
  find_offset();
}

}  // namespace stria::bench
