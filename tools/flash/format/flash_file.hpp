// The FLASH checkpoint and plot file, version 9 (and 10, the "experimental" layout of Latham 2012),
// written and read with Stria.
//
// The writer only says what lies where; one commit moves everything. docs/formats/flash.md says
// what readers of such files look for, and how netCDF files differ.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "format/block_table.hpp"
#include "stria/file.hpp"

namespace stria::flash {

/// unk(var, i, j, k, block) as it lies in memory, that is double [block][k][j][i][var]
/// with guard cells.
struct CellArray {
  double* data = nullptr;
  int64_t cells[3] = {8, 8, 8};   ///< interior cells along x, y, z
  int64_t guards[3] = {4, 4, 4};  ///< on each side
  /// The names of all variables in the order of the array, four letters each.
  std::vector<std::string> names;

  int64_t total(int d) const { return cells[d] + 2 * guards[d]; }
};

/// When and on which machine a file is made. Like everything that a file says of itself, it is the
/// same on every rank.
struct Origin {
  std::string time, machine;
};

/// Names and values in the order in which they are stored. `real_scalars` begin with "time":
/// readers rely on it.
struct ScalarLists {
  Origin origin;  ///< the origin of what is written; not read back
  std::vector<std::pair<std::string, int64_t>> integer_scalars, integer_parameters, logical_scalars, logical_parameters;
  std::vector<std::pair<std::string, double>> real_scalars, real_parameters;
  std::vector<std::pair<std::string, std::string>> string_scalars, string_parameters;
};

enum class FileLayout { kStandard, kExperimental };

/// Says how a checkpoint keeps its variables.
struct CheckpointForm {
  FileLayout layout = FileLayout::kStandard;
  Filters filters{};
  bool named = false;  ///< HDF5: dimensions have names, for xarray; in netCDF they always have
};

/// Returns the names of simulation output, numbered as FLASH numbers them.
std::string checkpoint_name(const std::string& base, int number, Format format = Format::kHdf5);
std::string plot_name(const std::string& base, int number, Format format = Format::kHdf5);
std::string corner_plot_name(const std::string& base, int number, Format format = Format::kHdf5);

/// Returns the name of an HDF5 file's dataset in a file of this format.
std::string stored_name(Format format, const std::string& name);

/// Records a checkpoint: every variable as double, and all lists. The caller keeps `blocks` and
/// `cells` until the commit, and makes the commit. Collective: as File::create_dataset.
void put_checkpoint(File& file, const BlockTable& blocks, const CellArray& cells, const ScalarLists& scalars,
                    const CheckpointForm& form);

/// Throws kInvalidArgument or kUnsupported where such a checkpoint can't be written whatever it
/// holds, so that nobody computes in vain. Collective: no; all ranks find the same.
void check_form(const CheckpointForm& form, Format format, const Hints& hints);

/// Records a plot file: the chosen variables at cell centres, single precision. Collective: as
/// put_checkpoint.
void put_plot(File& file, const BlockTable& blocks, const CellArray& cells, const ScalarLists& scalars,
              const std::vector<int>& variables);

/// Computes the corner values of some variables of a local block, each into its own `corners`:
/// (nx+1)(ny+1)(nz+1) values (nz+1 only in 3-D), x fastest.
using CornerFunction = void (*)(const void* context, int64_t block, std::span<const int> variables, float* const* corners);

/// Writes a plot file of corner values, a bounded number of blocks at a time. The caller only makes
/// the commit. Collective: yes.
void put_corner_plot(File& file, const BlockTable& blocks, const CellArray& cells, const ScalarLists& scalars,
                     const std::vector<int>& variables, CornerFunction corners, const void* context);

/// Holds what a file says of itself; read before its blocks.
struct FlashHeader {
  int dim = 0;
  int64_t cells[3] = {0, 0, 0};
  int64_t global_count = 0;
  std::vector<std::string> names;
  ScalarLists scalars;
  bool experimental = false;
};

/// Reads the header. When the file is HDF5 but not a FLASH file, kFormat says what is missing.
/// Collective: yes.
Result<FlashHeader> read_header(File& file);

/// Records a read of the blocks [first_block, first_block + count) into the interiors of `cells`,
/// whose names say which variables. The caller commits. Collective: as File::dataset.
void get_cells(File& file, const FlashHeader& header, int64_t first_block, int64_t count, const CellArray& cells);

/// Says where a file keeps one variable: a dataset {blocks, z, y, x} of its own, or one entry of
/// {blocks, z, y, x, variables}.
struct StoredVariable {
  std::string dataset;
  Hyperslab cells;  ///< the cells of all blocks, this variable alone
};

/// Finds a variable of either layout by name. kInvalidArgument lists the names in the file.
/// Collective: no.
Result<StoredVariable> find_variable(const File& file, const FlashHeader& header, const std::string& name);

/// Returns the memory of one variable's interior cells of `count` blocks, in the file's order.
Memory interior_memory(const CellArray& cells, int variable, int64_t count);

}  // namespace stria::flash
