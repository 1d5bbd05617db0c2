// The few HDF5 calls that the modes share: handles that close themselves, the block lists, and
// where raw data lies.
#pragma once

#include <hdf5.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "peers/modes.hpp"

namespace stria::bench {

/// An HDF5 identifier that is released when it goes out of scope. Ends the job when HDF5
/// could not make it.
class Hdf5Id {
 public:
  Hdf5Id(hid_t id, herr_t (*release)(hid_t), const std::string& what) : id_(id), release_(release) {
    require(id >= 0, "HDF5: cannot " + what);
  }
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), release_(other.release_) {}
  Hdf5Id& operator=(Hdf5Id&&) = delete;
  ~Hdf5Id() { close(); }

  operator hid_t() const { return id_; }  // NOLINT: it stands for the identifier in every call

  void close() {
    if (id_ >= 0) {
      require(release_(id_) >= 0, "HDF5: cannot close");
      id_ = -1;
    }
  }

 private:
  hid_t id_;
  herr_t (*release_)(hid_t);
};

/// The rows of this rank in a dataset of all blocks, and the dataset's full shape.
struct BlockRows {
  BlockRows(const flash::BlockPartition& partition, const std::vector<int64_t>& entry_shape);

  Hdf5Id file_space() const;    ///< all blocks, this rank's rows selected
  Hdf5Id memory_space() const;  ///< this rank's rows alone

  std::vector<hsize_t> all, start, count;
};

/// Returns how H5Dwrite moves the bytes of a file that all ranks have open.
Hdf5Id transfer_list(bool collective);

/// Access by all ranks of `comm` through MPI-IO.
Hdf5Id mpio_access(MPI_Comm comm);

/// Selects the interior of one variable in the whole interleaved array.
Hdf5Id interleaved_space(const flash::Unk& unk, int64_t variable);

/// Creates a file, writes the block lists and then what `write_variables` writes, syncs if asked
/// and closes. Everything is packed before with Source::kOnePass. Collective: yes.
void write_hdf5_file(Round& r, hid_t transfer, Source source, const std::function<void(hid_t file)>& write_variables);

/// Opens a file, reads what `read_variables` reads, and closes it. Collective: yes.
void read_hdf5_file(Round& r, const std::function<void(hid_t file)>& read_variables);

/// Writes the block lists and the variables' names as FLASH does, one dataset each. Collective:
/// yes, over the file.
void write_hdf5_lists(hid_t file, hid_t transfer, const RankData& data);

/// Compares the lists in a file with this rank's. Empty, or which list differs. Not collective.
std::string check_hdf5_lists(const std::string& path, const RankData& data);

/// Finds where this rank's values of `variables` lie. Not collective.
flash::FileRuns hdf5_file_runs(const std::string& path, const RankData& data, const std::vector<int64_t>& variables,
                               int64_t element_bytes);

}  // namespace stria::bench
