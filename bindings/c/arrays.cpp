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

// Like every error in what a rank passes, one in the description fails the file's next collective
// call: by an array that no file takes, or by a definition where the file is new.
void fail_next_transfer(stria::File& file, const std::string& path) {
  try {
    file.get(path, {nullptr, stria::ElementType::kByte, {.shape = {}, .start = {0}, .count = {}}});
  } catch (const stria::Error&) {
    stria::c::fail_next_call(file);
  }
}

template <typename Move>
int move(stria_file* file, const char* path, const Move& take) {
  return guarded([&] {
    stria::File& of = given(file, "file").file;
    try {
      take(of);
    } catch (const stria::Error&) {
      fail_next_transfer(of, text(path));
      throw;
    }
  });
}

}  // namespace

int stria_put_array(stria_file* file, const char* path, int element, const stria_array* array, const stria_options* options) {
  return move(file, path, [&](stria::File& of) {
    of.put(text(path), described(array), stria::c::element(element), stria::c::dataset_options(options));
  });
}

int stria_get_array(stria_file* file, const char* path, const stria_array* array) {
  return move(file, path, [&](stria::File& of) { of.get(text(path), described(array)); });
}
