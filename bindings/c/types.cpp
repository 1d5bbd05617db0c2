// Describes which bytes of memory are meant, by the constructors of stria::Datatype.
#include <span>

#include "handles.hpp"

using stria::Datatype;
using stria::c::given;
using stria::c::guarded;

namespace {

std::span<const int64_t> numbers(const int64_t* values, int64_t count) {
  if (count < 0 || (count > 0 && values == nullptr)) {
    stria::c::refuse(count < 0 ? "the number of blocks is negative" : "the list of blocks is NULL");
  }
  return {values, static_cast<size_t>(count)};
}

const Datatype& old_type(const stria_type* old) {
  return given(old, "old").type;
}

template <typename Make>
int make(stria_type** type, Make&& construct) {
  return guarded([&] { given(type, "type") = new stria_type{construct()}; });
}

// A type that is made of one of records is one of records too.
template <typename Make>
int make_of(const stria_type* old, stria_type** type, Make&& construct) {
  return guarded([&] { given(type, "type") = new stria_type{construct(), given(old, "old").columns}; });
}

}  // namespace

int stria_type_bytes(int64_t count, stria_type** type) {
  return make(type, [&] {
    if (count < 0 || count >= int64_t{1} << 62) {
      stria::c::refuse("a type of " + std::to_string(count) + " bytes can't be");
    }
    return Datatype::bytes(count);
  });
}

int stria_type_of(int element, stria_type** type) {
  return make(type, [&] { return Datatype::bytes(stria::element_bytes(stria::c::element(element))); });
}

int stria_type_contiguous(int64_t count, const stria_type* old, stria_type** type) {
  return make_of(old, type, [&] { return Datatype::contiguous(count, old_type(old)).value(); });
}

int stria_type_vector(int64_t count, int64_t block_length, int64_t stride, const stria_type* old, stria_type** type) {
  return make_of(old, type, [&] { return Datatype::vector(count, block_length, stride, old_type(old)).value(); });
}

int stria_type_hvector(int64_t count, int64_t block_length, int64_t stride_bytes, const stria_type* old, stria_type** type) {
  return make_of(old, type, [&] { return Datatype::hvector(count, block_length, stride_bytes, old_type(old)).value(); });
}

int stria_type_indexed(int64_t count, const int64_t* block_lengths, const int64_t* displacements, const stria_type* old,
                       stria_type** type) {
  return make_of(old, type, [&] {
    return Datatype::indexed(numbers(block_lengths, count), numbers(displacements, count), old_type(old)).value();
  });
}

int stria_type_hindexed(int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes, const stria_type* old,
                        stria_type** type) {
  return make_of(old, type, [&] {
    return Datatype::hindexed(numbers(block_lengths, count), numbers(displacements_bytes, count), old_type(old)).value();
  });
}

int stria_type_indexed_block(int64_t count, int64_t block_length, const int64_t* displacements, const stria_type* old,
                             stria_type** type) {
  return make_of(old, type,
                 [&] { return Datatype::indexed_block(block_length, numbers(displacements, count), old_type(old)).value(); });
}

int stria_type_hindexed_block(int64_t count, int64_t block_length, const int64_t* displacements_bytes, const stria_type* old,
                              stria_type** type) {
  return make_of(old, type, [&] {
    return Datatype::hindexed_block(block_length, numbers(displacements_bytes, count), old_type(old)).value();
  });
}

int stria_type_struct(int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes,
                      const stria_type* const* types, stria_type** type) {
  return make(type, [&] {
    const auto lengths = numbers(block_lengths, count);
    std::vector<Datatype> members;
    for (int64_t i = 0; i < count; ++i) {
      members.push_back(old_type((&given(types, "types"))[i]));
    }
    return Datatype::structure(lengths, numbers(displacements_bytes, count), members).value();
  });
}

int stria_type_subarray(int rank, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts, int order,
                        const stria_type* old, stria_type** type) {
  return make_of(old, type, [&] {
    if (order != STRIA_ORDER_C && order != STRIA_ORDER_FORTRAN) {
      stria::c::refuse("there is no order " + std::to_string(order) + "; see enum stria_order");
    }
    const auto in_order = order == STRIA_ORDER_C ? stria::Order::kC : stria::Order::kFortran;
    return Datatype::subarray(numbers(sizes, rank), numbers(subsizes, rank), numbers(starts, rank), in_order, old_type(old))
        .value();
  });
}

int stria_type_resized(const stria_type* old, int64_t lower_bound_bytes, int64_t extent_bytes, stria_type** type) {
  return make_of(old, type, [&] { return Datatype::resized(old_type(old), lower_bound_bytes, extent_bytes).value(); });
}

int64_t stria_type_size(const stria_type* type) {
  return type == nullptr ? 0 : type->type.size();
}

int64_t stria_type_extent(const stria_type* type) {
  return type == nullptr ? 0 : type->type.extent();
}

int64_t stria_type_lower_bound(const stria_type* type) {
  return type == nullptr ? 0 : type->type.lower_bound();
}

int64_t stria_type_true_lower_bound(const stria_type* type) {
  return type == nullptr ? 0 : type->type.true_lower_bound();
}

int64_t stria_type_true_extent(const stria_type* type) {
  return type == nullptr ? 0 : type->type.true_upper_bound() - type->type.true_lower_bound();
}

void stria_type_free(stria_type* type) {
  delete type;
}
