#include "peers/naive_pack.hpp"

namespace stria::bench {
namespace {

template <typename Visit>
void for_each_cell(const flash::Unk& unk, int64_t variable, Visit visit) {
  const int64_t side = unk.parameters().nxb;
  for (int64_t block = 0; block < unk.blocks(); ++block) {
    const int64_t first = unk.interior(block) - unk.data() + variable;
    for (int64_t k = 0; k < side; ++k) {
      for (int64_t j = 0; j < side; ++j) {
        const int64_t row = first + k * unk.stride_k() + j * unk.stride_j();
        for (int64_t i = 0; i < side; ++i) {
          visit(row + i * unk.stride_i());
        }
      }
    }
  }
}

}  // namespace

template <typename T>
void pack_one_variable(const flash::Unk& unk, int64_t variable, T* out) {
  const double* cells = unk.data();
  for_each_cell(unk, variable, [&](int64_t place) { *out++ = static_cast<T>(cells[place]); });
}

template void pack_one_variable(const flash::Unk&, int64_t, double*);
template void pack_one_variable(const flash::Unk&, int64_t, float*);

void unpack_one_variable(const double* in, int64_t variable, flash::Unk* unk) {
  double* cells = unk->data();
  for_each_cell(*unk, variable, [&](int64_t place) { cells[place] = *in++; });
}

}  // namespace stria::bench
