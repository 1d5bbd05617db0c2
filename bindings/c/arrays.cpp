// Distributed arrays.
#include "handles.hpp"
#include "stria/distributed_array.hpp"

using stria::c::given;
using stria::c::guarded;
using stria::c::text;

namespace {

std::vector<int64_t> list(const int64_t* values, int rank) {
  return values == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(values, values + rank);
}

// What can't be described is refused by the library, on every rank at the next collective call.
stria::DistributedArray described(const stria_array* array) {
  const stria_array& a = given(array, "array");
  if (a.rank < 0 || (a.order != STRIA_ORDER_C && a.order != STRIA_ORDER_FORTRAN)) {
    stria::c::refuse(a.rank < 0 ? "the array's rank is negative" : "the array's order is neither C's nor Fortran's");
  }
  const auto order = a.order == STRIA_ORDER_C ? stria::Order::kC : stria::Order::kFortran;
  return {a.data,
          stria::c::element(a.element),
          {list(a.shape, a.rank), list(a.start, a.rank), list(a.count, a.rank), list(a.ghosts_before, a.rank),
           list(a.ghosts_after, a.rank), order}};
}

// An error in a description fails the next collective call, as every error does in what a rank
// passes.
template <typename Move>
int move(stria_file* file, const Move& take) {
  return guarded([&] {
    stria::File& of = given(file, "file").file;
    try {
      take(of);
    } catch (const stria::Error& error) {
      stria::c::Refusal::fail_next_call(of, error);
      throw;
    }
  });
}

}  // namespace

int stria_put_array(stria_file* file, const char* path, int element, const stria_array* array, const stria_options* options) {
  return move(file, [&](stria::File& of) {
    of.put(text(path), described(array), stria::c::element(element), stria::c::dataset_options(options));
  });
}

int stria_get_array(stria_file* file, const char* path, const stria_array* array) {
  return move(file, [&](stria::File& of) { of.get(text(path), described(array)); });
}
