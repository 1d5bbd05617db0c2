#include "mpiio/types/type_contents.hpp"

#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/check.hpp"

namespace stria::mpiio {

#if MPI_VERSION >= 4
namespace {

// Constructors with MPI_Count arguments give them all in one list: [first, first + n) of it are
// integers of the namesake, the rest addresses.
void place_large_counts(TypeContents& contents, const std::vector<MPI_Count>& large) {
  if (large.empty()) {
    return;
  }
  std::size_t integer_count = large.size();
  switch (contents.combiner) {
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
      integer_count = 2;
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      integer_count = static_cast<std::size_t>(large[0]) + 1;
      break;
    case MPI_COMBINER_RESIZED:
      integer_count = 0;
      break;
    default:
      break;
  }
  // The sizes of arrays come after the numbers of dimensions, and before what is an int in
  // both namesakes.
  std::size_t place = 0;
  if (contents.combiner == MPI_COMBINER_SUBARRAY) {
    place = 1;
  } else if (contents.combiner == MPI_COMBINER_DARRAY) {
    place = 3;
  }
  contents.integers.insert(contents.integers.begin() + static_cast<std::ptrdiff_t>(place), large.begin(),
                           large.begin() + static_cast<std::ptrdiff_t>(integer_count));
  contents.addresses.insert(contents.addresses.end(), large.begin() + static_cast<std::ptrdiff_t>(integer_count), large.end());
}

}  // namespace
#endif

bool is_basic(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

int combiner_of(MPI_Datatype type) {
  STRIA_ASSERT(type != MPI_DATATYPE_NULL);
  int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large = 0;
  MPI_Count types = 0;
  MPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner);
#else
  int integers = 0;
  int addresses = 0;
  int types = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
  return combiner;
}

void HeldType::free() {
  if (type_ != MPI_DATATYPE_NULL && !is_basic(combiner_of(type_))) {
    MPI_Type_free(&type_);
  }
  type_ = MPI_DATATYPE_NULL;
}

TypeContents contents_of(MPI_Datatype type) {
  STRIA_ASSERT(combiner_of(type) != MPI_COMBINER_NAMED);
  TypeContents contents;
#if MPI_VERSION >= 4
  MPI_Count integer_count = 0;
  MPI_Count address_count = 0;
  MPI_Count large_count = 0;
  MPI_Count type_count = 0;
  MPI_Type_get_envelope_c(type, &integer_count, &address_count, &large_count, &type_count, &contents.combiner);
  std::vector<MPI_Count> large(static_cast<std::size_t>(large_count));
#else
  int integer_count = 0;
  int address_count = 0;
  int type_count = 0;
  MPI_Type_get_envelope(type, &integer_count, &address_count, &type_count, &contents.combiner);
#endif
  std::vector<int> integers(static_cast<std::size_t>(integer_count));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(address_count));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(type_count));
#if MPI_VERSION >= 4
  MPI_Type_get_contents_c(type, integer_count, address_count, large_count, type_count, integers.data(), addresses.data(),
                          large.data(), types.data());
#else
  MPI_Type_get_contents(type, integer_count, address_count, type_count, integers.data(), addresses.data(), types.data());
#endif
  contents.integers.assign(integers.begin(), integers.end());
  if constexpr (std::is_same_v<MPI_Aint, int64_t>) {
    contents.addresses = std::move(addresses);  // a long list is not held twice
  } else {
    contents.addresses.assign(addresses.begin(), addresses.end());
  }
  for (MPI_Datatype held : types) {
    contents.types.emplace_back(held);
  }
#if MPI_VERSION >= 4
  place_large_counts(contents, large);
#endif
  return contents;
}

}  // namespace stria::mpiio
