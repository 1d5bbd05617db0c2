#include "stria/distributed_array.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "file/opening/calls.hpp"

namespace stria {

using file::live;

namespace {

Status wrong(const std::string& what) {
  return Status(ErrorCode::kInvalidArgument, what);
}

int64_t layers(const std::vector<int64_t>& ghosts, size_t dimension) {
  return ghosts.empty() ? 0 : ghosts[dimension];
}

bool is_empty(const ArrayPart& part) {
  return std::any_of(part.count.begin(), part.count.end(), [](int64_t count) { return count == 0; });
}

std::vector<int64_t> in_dataset(const ArrayPart& part, std::vector<int64_t> values) {
  if (part.order == Order::kFortran) {
    std::reverse(values.begin(), values.end());
  }
  return values;
}

Status check_lengths(const ArrayPart& part) {
  const auto has_wrong_length = [&](const char* name, const std::vector<int64_t>& list, bool may_be_empty) {
    if (list.size() == part.shape.size() || (may_be_empty && list.empty())) {
      return Status();
    }
    return wrong(fmt::format("`{}` has {} entries, `shape` {}", name, list.size(), part.shape.size()));
  };
  STRIA_RETURN_IF_ERROR(has_wrong_length("start", part.start, false));
  STRIA_RETURN_IF_ERROR(has_wrong_length("count", part.count, false));
  STRIA_RETURN_IF_ERROR(has_wrong_length("ghosts_before", part.ghosts_before, true));
  return has_wrong_length("ghosts_after", part.ghosts_after, true);
}

// \pre check_lengths()
Status check_dimension(const ArrayPart& part, size_t d) {
  STRIA_ASSERT(check_lengths(part).ok() && d < part.shape.size(), d, part.shape.size());
  const int64_t start = part.start[d];
  const int64_t count = part.count[d];
  const int64_t before = layers(part.ghosts_before, d);
  const int64_t after = layers(part.ghosts_after, d);
  if (std::min({part.shape[d], start, count, before, after}) < 0) {
    return wrong(fmt::format("dimension {}: a size, a place or a number of ghosts is negative", d));
  }
  int64_t end = 0;
  if (!checked_add(start, count, &end) || end > part.shape[d]) {
    return wrong(fmt::format("dimension {}: the box begins at {} and has {} elements, which passes the array's end at {}", d,
                             start, count, part.shape[d]));
  }
  int64_t wide = 0;
  if (!checked_add(count, before, &wide) || !checked_add(wide, after, &wide)) {
    return wrong(fmt::format("dimension {}: the box with its ghosts has more than 2^63 elements", d));
  }
  return Status();
}

// Describes which bytes of memory are the box.
Result<Datatype> interior(const DistributedArray& array) {
  const ArrayPart& part = array.part;
  if (is_empty(part)) {
    return Datatype();
  }
  const Datatype one = Datatype::bytes(element_bytes(array.element));
  if (part.shape.empty()) {
    return one;
  }
  std::vector<int64_t> wide(part.count.size());
  std::vector<int64_t> before(part.count.size());
  for (size_t d = 0; d < wide.size(); ++d) {
    before[d] = layers(part.ghosts_before, d);
    wide[d] = before[d] + part.count[d] + layers(part.ghosts_after, d);
  }
  return Datatype::subarray(wide, part.count, before, part.order, one);
}

}  // namespace

Status DistributedArray::check() const {
  STRIA_RETURN_IF_ERROR(check_lengths(part));
  for (size_t d = 0; d < part.shape.size(); ++d) {
    STRIA_RETURN_IF_ERROR(check_dimension(part, d));
  }
  if (data == nullptr && !is_empty(part)) {
    return wrong("this rank has elements of the array, but no memory for them");
  }
  return interior(*this).status();
}

std::vector<int64_t> DistributedArray::dims() const {
  STRIA_ASSERT(check().ok(), check());
  return in_dataset(part, part.shape);
}

Hyperslab DistributedArray::slab() const {
  STRIA_ASSERT(check().ok(), check());
  if (is_empty(part)) {
    return {std::vector<int64_t>(part.shape.size(), 0), std::vector<int64_t>(part.shape.size(), 0)};
  }
  return {in_dataset(part, part.start), in_dataset(part, part.count)};
}

Memory DistributedArray::memory() const {
  STRIA_ASSERT(check().ok(), check());
  return Memory(data, interior(*this).value(), element);
}

void File::put(const std::string& path, const DistributedArray& array) {
  put(path, array, array.element);
}

void File::put(const std::string& path, const DistributedArray& array, ElementType stored, const DatasetOptions& options) {
  if (const Status status = array.check(); !status.ok()) {
    live(session_)->file().meetings.refuse(status.with_context(fmt::format("put('{}')", path))).throw_if_error();
  }
  create_dataset(path, stored, array.dims(), options).put(array.slab(), array.memory());
}

void File::get(const std::string& path, const DistributedArray& array) {
  Dataset stored = dataset(path);
  Status status = array.check();
  if (status.ok() && stored.dims() != array.dims()) {
    status = wrong(fmt::format("the dataset has the shape {}, the array in its order {}", fmt::join(stored.dims(), " x "),
                               fmt::join(array.dims(), " x ")));
  }
  if (!status.ok()) {
    live(session_)->file().meetings.refuse(status.with_context(fmt::format("get('{}')", path))).throw_if_error();
  }
  stored.get(array.slab(), array.memory());
}

}  // namespace stria
