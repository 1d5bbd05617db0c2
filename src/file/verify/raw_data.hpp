// Raw data of a dataset, wherever they lie, read to be compared with sums.
//
// Problem: what a chunk holds that can't be decoded is lost, however many runs of it are wanted.
// Method: such a chunk is damage once, and reads as zeros: so no row is named that lies in other
// chunks alone.
// Cost: reading what is asked for, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "container/chunks/chunk_grid.hpp"
#include "file/verify/findings.hpp"
#include "file/verify/summed_file.hpp"

namespace stria::file {

/// Serves one operation. Everything here is local; damages are of chunks that can't be decoded.
class RawData {
 public:
  explicit RawData(const SummedFile& from) : from_(from) {}

  Status read(int dataset, ByteRange range, std::byte* out, std::vector<Damage>& found);
  /// Returns the sum of a region; never 0.
  Result<uint64_t> hash(int dataset, const Datatype& region, int64_t displacement, std::vector<Damage>& found);
  /// Returns the sum of each row; never 0.
  Result<std::vector<uint64_t>> hash_rows(int dataset, int64_t first_row, int64_t row_count, std::vector<Damage>& found);
  /// Returns the beginning of a range of a dataset in chunks, as far as it lies in one piece in a
  /// chunk. It stays until the next call.
  Result<std::span<const std::byte>> from_chunk(int dataset, ByteRange range, std::vector<Damage>& found);

 private:
  std::span<const std::byte> zeros(int64_t most_bytes);
  std::span<const std::byte> zeros_of_bad_chunk(int dataset, ByteRange range);

  /// Chunks that can't be read.
  struct BadChunks {
    int dataset = -1;
    container::ChunkGrid grid;
    std::set<int64_t> numbers;
  };

  const SummedFile from_;
  std::optional<BadChunks> bad_chunks_;  // the chunks of the dataset in which one was met last
  std::vector<std::byte> zeros_;
};

}  // namespace stria::file
