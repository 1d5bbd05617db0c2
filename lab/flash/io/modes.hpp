// The ways of moving the benchmark's arrays, one object each.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/benchmark.hpp"
#include "limits/limit_files.hpp"
#include "workload/block_metadata.hpp"
#include "workload/unk.hpp"

namespace stria::flash {

/// The arrays of one rank, made once and used by every mode.
struct IoArrays {
  explicit IoArrays(MPI_Comm communicator, const IoOptions& run_options);
  /// Removes a file and its parts, on rank 0.
  void remove_file(const std::string& path) const;

  MPI_Comm comm;
  int rank = 0;
  const IoOptions& options;
  BlockPartition partition;
  Unk unk;
  BlockTable table;
  LimitFiles limits;
  std::set<std::string> hint_warnings;  ///< the warnings of all files so far
};

/// Counts the useful bytes of all variables in double.
int64_t checkpoint_bytes(const IoArrays& arrays);

class IoMode {
 public:
  virtual ~IoMode() = default;
  virtual std::string name() const = 0;
  virtual std::string kind() const { return "checkpoint"; }
  virtual int64_t useful_bytes() const = 0;
  /// Makes the file that a reading mode reads. Throws stria::Error. Collective: yes.
  virtual void prepare() {}
  /// Makes one timed round on this rank; phases go to `phases`, by name. Throws stria::Error.
  virtual void run(std::map<std::string, double>& phases) = 0;
  /// Waits for what goes on after a round, outside its time. Throws stria::Error.
  virtual void settle() {}
  /// Checks what the last round wrote or read; empty when all values are right, else what is wrong.
  /// Collective: yes.
  virtual std::string check() = 0;
  /// Removes what the last round left. Called on every rank after all are done.
  virtual void clean() {}
  virtual std::string file() const { return ""; }
  /// Returns the size of the last file that was written; 0: not known.
  virtual int64_t file_bytes() const { return 0; }
  virtual std::string method() const { return ""; }
  virtual std::string reason() const { return ""; }
};

/// Makes the modes that the options ask for, in the order of the report.
std::vector<std::unique_ptr<IoMode>> make_modes(IoArrays& arrays);

}  // namespace stria::flash
