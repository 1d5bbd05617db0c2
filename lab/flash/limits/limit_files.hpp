// The fastest known ways to get the FLASH pattern into files with plain system calls and no library
// at all. `contig` shows how fast the storage is, and `pack` what an ideal program reaches that
// must also pack. A library is judged by its distance from them. Every way opens its file, writes,
// syncs if asked, closes, and leaves the file for checking. None communicates: callers put a
// barrier before it and take the slowest rank.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "limits/one_pass.hpp"
#include "workload/unk.hpp"

namespace stria::flash {

/// Holds the seconds of one rank in each phase of a round.
struct LimitTimes {
  double open_s = 0;
  double pack_s = 0;  ///< or unpack
  double transfer_s = 0;
  double sync_s = 0;
  double close_s = 0;
};

/// Says where one rank's values lie in a file. Each variable has one run of all its blocks, in
/// order.
struct FileRuns {
  std::string path;
  std::vector<int64_t> variables;
  std::vector<int64_t> offsets_bytes;  ///< the offset of the run of `variables[n]`
  int64_t element_bytes = 8;           ///< 8: double, 4: float
  bool big_endian = false;
};

/// Reads the runs back and compares every value. Empty when all are right, else what is wrong.
/// Local to the rank.
std::string check_file_runs(const FileRuns& runs, const Unk& unk);

/// Says how a limit writes its file.
enum class LimitWay {
  kContig,       ///< already packed; one contiguous region per rank in one shared file
  kPackWhole,    ///< one pass into a buffer of the rank's whole size, then one run per variable
  kPackStaged,   ///< one pass, a cache-sized buffer at a time, each written while it is hot
  kFilePerRank,  ///< already packed; a file per rank
  kDirect,       ///< already packed; like kContig past the page cache (O_DIRECT)
};

/// Keeps the buffers of one rank across rounds. `unk` outlives it.
class LimitFiles {
 public:
  explicit LimitFiles(const Unk& unk, int64_t staging_bytes = kDefaultStagingBytes);

  /// Packs all blocks into the whole buffer, outside any timing. The ways that start from packed
  /// bytes need it once.
  Status prepare_packed();

  /// Writes a checkpoint's variables. With kFilePerRank, `path` gets the rank's first
  /// block as a suffix.
  Status write(LimitWay way, const std::string& path, bool sync, LimitTimes* times);

  /// Writes chosen variables as float, in one staged pass, one run per variable.
  Status write_plot(const std::vector<int64_t>& variables, const std::string& path, bool sync, LimitTimes* times);

  /// Reads what kPackWhole or kPackStaged wrote back into the blocks of `target`, through the
  /// staging buffer.
  Status read(const std::string& path, Unk* target, LimitTimes* times);

  /// Returns where the values lie after `write` or `write_plot`.
  FileRuns runs(LimitWay way, const std::string& path) const;
  FileRuns plot_runs(const std::vector<int64_t>& variables, const std::string& path) const;

  /// Returns all blocks packed: [variable][block][k][j][i]. \pre prepare_packed() succeeded
  const double* packed() const {
    assert(whole_ != nullptr);
    return whole_.get();
  }

  static constexpr int64_t kDefaultStagingBytes = int64_t{4} << 20;

 private:
  struct Free {
    void operator()(double* pointer) const { std::free(pointer); }
  };
  using Buffer = std::unique_ptr<double, Free>;

  static Buffer allocate(int64_t bytes);
  Status need_whole();
  Status need_staging(int64_t bytes);
  Status write_packed(LimitWay way, int descriptor, LimitTimes* times);
  Status write_staged(int descriptor, LimitTimes* times);
  int64_t run_bytes(int64_t element_bytes) const;
  int64_t staged_blocks(int64_t variables, int64_t element_bytes) const;

  const Unk& unk_;
  int64_t staging_limit_bytes_;
  int64_t staging_size_bytes_ = 0;
  Buffer whole_;
  Buffer staging_;
};

}  // namespace stria::flash
