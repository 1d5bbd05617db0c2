// The raw data of datasets in chunks, for readers of raw data.
//
// Problem: libhdf5 inflates with zlib, one chunk at a time under one lock.
// Method: the index of a dataset's chunks is read once. A chunk is read and inflated when bytes of
// it are wanted, and kept for a while, because the runs of a wide dataset come back to it.
// Cost: 24 bytes a chunk; decoded chunks: those of one row and the next one, at least 4 MB, at most
// 64 MB or one chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "container/chunks/chunk_grid.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/container.hpp"
#include "container/formats/lazy_reader.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/chunks/node_chunks.hpp"
#include "file/define/catalog.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Says from where chunks are read, for the time of one call. Their index comes from the reader.
struct ChunkSource {
  const std::string& path;  ///< for messages
  const Catalog& catalog;
  storage::File& file;
  container::LazyReader& reader;
};

/// What is known of a file's chunks, and those that are kept. Each call names the file, which is
/// the same up to forget_content(). Everything here is local.
class ChunkReader {
 public:
  /// The bytes of each chunk are compared with these sums from now on.
  void compare_with(ChunkSums sums) { sums_ = std::move(sums); }
  /// Chunks that ranks of the node share are taken from there; null ends it.
  void share(NodeChunks* shared) { shared_ = shared; }
  bool has_sums(const std::string& dataset_path) const { return sums_ && sums_->count(dataset_path) != 0; }
  /// Returns the raw data from byte `byte` to the end of its run, until the next call. kCorrupted
  /// names dataset and rows, which are then those of damaged_rows().
  Result<std::span<std::byte>> from(const ChunkSource& source, int dataset, int64_t byte);
  /// A place in a chunk, and what follows it there.
  struct InChunk {
    std::span<std::byte> data;   ///< to the end of the chunk, until the next call
    int64_t run_bytes = 0;       ///< bytes that follow each other in the raw data too
    int64_t row_step_bytes = 0;  ///< to the same place of the next row
    int64_t row_count = 0;       ///< from this row to the last of the chunk
  };
  Result<InChunk> place_in_chunk(const ChunkSource& source, int dataset, int64_t byte);
  /// Reads the chunk that begins at byte `byte` of the raw data straight into `out`, which has its
  /// size; false, and nothing is read, where none begins there or it isn't one run.
  Result<bool> whole_into(const ChunkSource& source, int dataset, int64_t byte, std::span<std::byte> out);
  /// Returns all of a chunk, likewise.
  Result<std::span<std::byte>> chunk(const ChunkSource& source, int dataset, int64_t number);
  /// Returns the rows that the last error kCorrupted concerns.
  ByteRange damaged_rows() const { return damaged_rows_; }
  /// Returns the chunks that the file has, by number. They stay.
  Result<std::span<const container::StoredChunk>> index(const ChunkSource& source, int dataset);
  /// Returns the bytes of all chunks in the file.
  Result<int64_t> stored_bytes(const ChunkSource& source, int dataset);

  /// Forgets what was read of the file, which is read in another way from now on.
  void forget_content() {
    cuts_.clear();
    unreadable_.clear();
    kept_by_number_.clear();
    kept_.clear();
    kept_dataset_ = -1;
    sums_.reset();
  }

 private:
  struct Cut {
    container::ChunkGrid grid;
    std::vector<container::StoredChunk> index;
    const std::vector<uint64_t>* sums = nullptr;  // where there are some
  };
  struct Decoded {
    int64_t chunk = 0;
    std::vector<std::byte> bytes;
  };
  using Kept = std::list<Decoded>;  // used last first

  Result<const Cut*> cut(const ChunkSource& source, int dataset);
  static Result<Cut> read_cut(const ChunkSource& source, int dataset);
  Status fetch(const ChunkSource& source, const ChunkOfDataset& wanted, const Cut& cut, std::span<std::byte> out);
  Status decode(const ChunkSource& source, const ChunkOfDataset& wanted, const Cut& cut, std::span<std::byte> out);
  Status corrupted(const ChunkSource& source, int dataset, ByteRange rows, const Status& why);

  NodeChunks* shared_ = nullptr;
  container::FilterPipeline pipeline_;
  std::optional<ChunkSums> sums_;
  std::map<int, Cut> cuts_;
  std::map<int, Status> unreadable_;  // why a dataset has no cut
  int kept_dataset_ = -1;
  Kept kept_;
  Kept spare_;  // only their memory counts
  std::unordered_map<int64_t, Kept::iterator> kept_by_number_;
  std::vector<std::byte> stored_;
  ByteRange damaged_rows_;
};

}  // namespace stria::file
