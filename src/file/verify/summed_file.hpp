// A file and what it says of its sums, as one operation sees them; the reading of its bytes.
#pragma once

#include <optional>
#include <string>

#include "access/failure/abort_signal.hpp"
#include "base/byte_range.hpp"
#include "base/hash.hpp"
#include "container/formats/lazy_reader.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/define/catalog.hpp"
#include "file/verify/sum_records.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

class RowSums;

/// All of it outlives the operation.
struct SummedFile {
  const std::string& path;  ///< for messages
  const Catalog& catalog;
  const ChecksumIndex& sums;
  const SumRecords& records;  ///< the records of these two
  storage::File& file;
  container::LazyReader& reader;
  ChunkReader& chunks;
  RowSums& rows;
  access::AbortSignal* signal;  ///< null: nobody tells of failures

  ChunkSource chunk_source() const { return {path, catalog, file, reader}; }
};

/// Returns kCorrupted: the file ends before its `what`.
Status cut_short(const SummedFile& from, const char* what);
/// Returns the dataset that a record is of, if the file has it.
std::optional<int> dataset_of(const SummedFile& from, const SlabSum& slab);
/// Reads a dataset's raw data that lie in one piece, or in rows among others, into `out`.
Status read_raw(const SummedFile& from, const DatasetEntry& entry, ByteRange range, std::byte* out);
/// Hashes a region of the file, or of the raw data `of` a dataset in one piece or in rows.
Status hash_into(const SummedFile& from, const Datatype& region, int64_t displacement, StreamingHash& hash,
                 const DatasetEntry* of = nullptr);
/// Returns the sum of a range of the file's bytes; never 0.
Result<uint64_t> hash_range(const SummedFile& from, ByteRange range);
/// Reads the sums of stored chunks; nothing where the file has none that hold for it. `superblock`
/// is the range of bytes that another program rewrites when it changes the metadata, and so may
/// have moved chunks.
Result<std::optional<ChunkSums>> read_chunk_sums(const SummedFile& from, ByteRange superblock);

}  // namespace stria::file
