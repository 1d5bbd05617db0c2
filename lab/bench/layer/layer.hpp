// The ways to a file. Each moves the same bytes between the same memory and the same arrays.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stria/hints.hpp"
#include "workload/workload.hpp"

namespace stria::bench {

/// Says how a layer is used. A layer ignores what it has no use for.
struct LayerOptions {
  /// The file's path. A rank's own file has the rank's number behind it; of several files, each
  /// has its number.
  std::string path;
  Hints hints;
  bool collective = true;            ///< MPI-IO: its collective calls
  std::string method = "automatic";  ///< the method of posix; of the other layers a hint
  int64_t list_regions = 64;         ///< posix: regions per list
  bool sync = false;                 ///< survive a power loss
  bool checksums = true;             ///< library
};

/// Says what a transfer did on this rank.
struct Told {
  std::map<std::string, double> phases;  ///< seconds, by name
  int64_t requests = -1;                 ///< to the layer below; -1: unknown
  int64_t request_bytes = -1;
  std::string method;
  std::string reason;
};

/// One rank's workload and its memory. `owner` is the rank whose part of the arrays it is; another
/// rank than this one where ranks read each other's.
struct Job {
  const Workload& workload;
  int owner = 0;
  std::byte* memory = nullptr;
};

class Layer {
 public:
  virtual ~Layer() = default;
  /// Makes what needs no file, before the time begins. To be called before the first write() or
  /// read() of a job, whose workload and memory then stay. Throws stria::Error. Collective: yes.
  virtual void prepare(const Job& /*job*/) {}
  /// Makes the file or files, and writes. Throws stria::Error. Collective: yes.
  virtual Told write(const Job& job) = 0;
  /// Opens and reads. Throws stria::Error. Collective: yes.
  virtual Told read(const Job& job) = 0;
  /// Returns where the arrays' bytes lie in the file, for a check that doesn't use this layer; -1:
  /// not in one piece, or nowhere. Collective: no.
  virtual std::vector<int64_t> places(const Job& job) = 0;
};

std::unique_ptr<Layer> make_library_layer(MPI_Comm comm, const LayerOptions& options);
std::unique_ptr<Layer> make_mpiio_layer(MPI_Comm comm, const LayerOptions& options);
std::unique_ptr<Layer> make_posix_layer(MPI_Comm comm, const LayerOptions& options);

/// Returns the path of the job's file number `index`.
std::string path_of(const LayerOptions& options, const Job& job, int index = 0);

/// Returns the places in a plain file.
std::vector<int64_t> plain_places(const Workload& workload);

}  // namespace stria::bench
