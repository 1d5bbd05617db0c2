#include "limits/one_pass_rows.hpp"

namespace stria::flash {

void pack_row_portable(const double* cells, const Row& row, double* runs) {
  pack_row_from<2>(0, cells, row, runs);
}

void unpack_row_portable(const double* runs, const Row& row, double* cells) {
  unpack_row_from<2>(0, runs, row, cells);
}

}  // namespace stria::flash
