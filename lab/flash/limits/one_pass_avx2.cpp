#include "limits/one_pass_rows.hpp"

namespace stria::flash {

void pack_row_avx2(const double* cells, const Row& row, double* runs) {
  pack_row_from<4>(0, cells, row, runs);
}

void unpack_row_avx2(const double* runs, const Row& row, double* cells) {
  unpack_row_from<4>(0, runs, row, cells);
}

}  // namespace stria::flash
