// Describes what a file says of itself: read by rank 0, and told to the others as one message.
//
// Problem: a file may have a hundred thousand datasets, of which a program wants one.
// Method: where one process reads, and no sums are compared on the way, each dataset is looked up
// when it is first asked for (lookups.hpp); what needs all of them reads the catalog then. Ranks
// that share a file have the whole catalog, so that they look datasets up without a message.
// Datasets keep their numbers when the catalog is completed.
// Cost: opening takes the root of the file; a lookup, one object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "file/checksums/checksum_index.hpp"
#include "file/define/catalog.hpp"
#include "file/read/read_file.hpp"
#include "file/verify/row_sums.hpp"
#include "file/verify/sum_records.hpp"

namespace stria::file {

/// The sums of a file, and what was read of them so far.
struct FileSums {
  ChecksumIndex index;
  SumRecords records;  ///< the records of the catalog and the index
  RowSums rows;
  bool has_chunk_sums = false;  ///< they are loaded where the file has some
};

struct Content {
  Format format = Format::kHdf5;
  Catalog catalog{};
  bool is_whole = true;  ///< false: the catalog has what was asked for
  ChecksumIndex sums{};
  std::vector<std::string> remarks{};  ///< what its reader has to say of the file
  std::vector<std::byte> parts{};      ///< the table of parts; empty: there are none
  int64_t file_bytes = 0;              ///< with those of the parts
};

/// A file that was found, and its content.
struct FileWithContent {
  ReadFile file;
  Content content;
  /// Where parts and parity lie that are not beside it; empty: all are.
  std::vector<std::string> placed{};
  std::string remark{};  ///< why one that may be staged is passed by; a sentence for people
};

/// Finds the file, on rank 0, opens it and reads what it has; by its parity where it is damaged.
/// `verify`: the program wants no data that differ from their sums.
Result<FileWithContent> open_on_root(OpenFile& file, bool verify);
/// Returns what rank 0 tells the others.
std::vector<std::byte> encode_opened(const FileWithContent& opened);
/// The other ranks decode what rank 0 has sent; the file isn't open there, and has no reader.
Result<FileWithContent> decode_opened(const OpenFile& file, bool verify, std::span<const std::byte> message);

/// Reads the catalog whole, where datasets have been looked up one by one; they keep their numbers.
/// `content` has the size of the file itself. Rank 0.
Status read_whole(OpenFile& file, ReadFile& source, Content& content);
/// Tells the catalog of the sums. Local.
Result<FileSums> attach_sums(const OpenFile& file, bool verify, ChecksumIndex index, Catalog& catalog);

}  // namespace stria::file
