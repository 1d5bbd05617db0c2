// Describes what a run writes: restart files, arrays for analysis, movie frames and horizontal
// averages, by one of three ways to the files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "run/convection_run.hpp"
#include "stria/distributed_array.hpp"

namespace stria::convection {

struct OutputOptions {
  std::string directory = ".";
  std::string base = "convection_";
  bool movie_floats = false;  ///< a number a cell in the movie, not a byte
  bool sync = true;           ///< library: files survive a power loss
  Hints hints;
};

/// Each call is collective and throws stria::Error on all ranks or on none.
class Output {
 public:
  virtual ~Output() = default;
  virtual void restart(const ConvectionRun& run) = 0;
  virtual void data(const ConvectionRun& run) = 0;
  virtual void movie(const ConvectionRun& run) = 0;
  virtual void averages(const ConvectionRun& run) = 0;
  /// Returns how many writes of each size this rank has made, where it makes them itself.
  virtual std::map<int64_t, int64_t> write_sizes() const { return {}; }
};

/// Makes one HDF5 file each; restart files hold all that a run needs to go on as if it had not
/// stopped, on any number of ranks.
std::unique_ptr<Output> make_library_output(const OutputOptions& options);
/// Makes the way of the paper's code: everybody sends to rank 0, which writes raw numbers in single
/// precision through a cache. To be compared with, not to be used: nothing reads these files.
std::unique_ptr<Output> make_gather_output(const Grid& grid, const OutputOptions& options);
/// Makes a file a process, of the same numbers; to be compared with, too.
std::unique_ptr<Output> make_separate_output(const Grid& grid, const OutputOptions& options);

/// Reads a restart file of the library: the run that wrote it, on this communicator's ranks.
/// Throws stria::Error. Collective: yes.
std::unique_ptr<ConvectionRun> read_restart(MPI_Comm comm, const std::string& path, const Hints& hints);
/// Returns the restart file of the highest step in a directory; "" when there is none. Collective:
/// no.
std::string latest_restart(const std::string& directory, const std::string& base);

/// An array under the name that it has in files.
struct NamedField {
  std::string name;
  Field field;
};
/// Returns the arrays for analysis. Collective: yes.
std::vector<NamedField> analysis_arrays(const ConvectionRun& run);
/// Returns how much warmer than the layer at rest the gas is: from 0, a quarter colder, to 255, a
/// quarter warmer; row by row.
std::vector<uint8_t> movie_bytes(const ConvectionRun& run);
std::vector<float> movie_floats(const ConvectionRun& run);

/// Returns a block without its ghosts in the global array.
ArrayPart part_of(const Grid& grid, int64_t ghosts);

/// Returns DIRECTORY/BASE KIND _ STEP EXTENSION
std::string output_path(const OutputOptions& options, const char* kind, int64_t step, const char* extension);

}  // namespace stria::convection
