#include "container/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "base/checked.hpp"

namespace stria::container {

namespace {

// Sizes and offsets below this add up without overflow.
constexpr int64_t kMaxBytes = int64_t{1} << 62;

}  // namespace

bool ElementSpec::is_integer() const {
  return kind == Kind::kNumber && meaning == Meaning::kNumber && number != ElementType::kByte &&
         number != ElementType::kFloat32 && number != ElementType::kFloat64;
}

bool ElementSpec::is_swapped() const {
  return kind == Kind::kNumber && bytes > 1 && big_endian != (std::endian::native == std::endian::big);
}

ElementSpec ElementSpec::of_number(ElementType type) {
  ElementSpec spec;
  spec.kind = Kind::kNumber;
  spec.number = type;
  spec.bytes = element_bytes(type);
  return spec;
}

ElementSpec ElementSpec::of_filled_string(int64_t bytes) {
  ElementSpec spec = of_string(bytes, false);
  spec.c_declared = true;
  return spec;
}

ElementSpec ElementSpec::of_string(int64_t bytes, bool space_padded) {
  ElementSpec spec;
  spec.kind = Kind::kString;
  spec.bytes = bytes;
  spec.space_padded = space_padded;
  return spec;
}

ElementSpec ElementSpec::of_reference(int64_t bytes) {
  ElementSpec spec;
  spec.kind = Kind::kReference;
  spec.bytes = bytes;
  return spec;
}

ElementSpec ElementSpec::of_compound(int64_t bytes, std::vector<Member> members) {
  ElementSpec spec;
  spec.kind = Kind::kCompound;
  spec.bytes = bytes;
  spec.members = std::move(members);
  return spec;
}

int64_t ElementSpec::array_size() const {
  return std::accumulate(array_dims.begin(), array_dims.end(), int64_t{1}, std::multiplies<>());
}

Result<ElementSpec> ElementSpec::of_array(ElementSpec element, std::vector<int64_t> dims) {
  ElementSpec spec;
  spec.kind = Kind::kArray;
  spec.bytes = element.bytes;
  for (const int64_t length : dims) {
    if (length < 1 || !checked_multiply(spec.bytes, length, &spec.bytes) || spec.bytes >= kMaxBytes) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("an array of {} elements of {} bytes", fmt::join(dims, " x "), element.bytes));
    }
  }
  spec.members.push_back({"", 0, std::move(element)});
  spec.array_dims = std::move(dims);
  return spec;
}

ElementSpec ElementSpec::of_complex(ElementSpec part) {
  part.meaning = Meaning::kNumber;
  return of_compound(2 * part.bytes, {{"r", 0, part}, {"i", part.bytes, part}});
}

Result<int64_t> dataset_bytes(const DatasetSpec& spec) {
  int64_t bytes = spec.element.bytes;
  if (bytes < 0) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': elements of {} bytes", spec.path, bytes));
  }
  // Empty dimensions count as if they weren't, since rows have a size even where there are none.
  int64_t most = std::max<int64_t>(bytes, 1);
  for (int64_t size : spec.dims) {
    if (size < 0) {
      return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': a dimension of {} is negative", spec.path, size));
    }
    if (!checked_multiply(most, std::max<int64_t>(size, 1), &most) || most >= kMaxBytes) {
      return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': its size passes 2^62 bytes", spec.path));
    }
    bytes *= size;
  }
  return bytes;
}

}  // namespace stria::container
