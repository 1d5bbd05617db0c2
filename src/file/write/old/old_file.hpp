// A file that grows, as it was before: opened and read by rank 0, told to all ranks, and read again
// where new rows end up in a chunk that has old ones, or elements of chunks are overwritten.
//
// Method: rank 0 reads what the file says of itself, once; the others get a message. A rank that
// needs such a chunk opens the file by itself, when it needs the first one, and makes sure that it
// is the same file.
// Cost: one message; on a rank with such chunks an open, and the index of each dataset's chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "container/formats/lazy_reader.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/session/environment.hpp"
#include "file/session/file_identity.hpp"
#include "file/write/old/old_content.hpp"
#include "file/write/target/new_file.hpp"
#include "stria/phases.hpp"

namespace stria::file {

/// Everything here is local.
class OldFile {
 public:
  /// Says what a rank opens it by.
  struct Place {
    std::shared_ptr<storage::Driver> driver;
    std::string path;  ///< the path as the storage knows it
    FileIdentity identity;
  };
  /// `path` is the name that the program knows.
  explicit OldFile(std::string path) : path_(std::move(path)) {}

  /// Opens, on rank 0, the file by `target`, which keeps it, and reads what it has. Returns what
  /// the other ranks are to take().
  Result<std::vector<std::byte>> open(OpenFile& file, NewFile& target);
  /// The other ranks take what rank 0 has sent.
  Status take(std::span<const std::byte> message);
  /// Every rank notes the place, when all know where it is.
  void note_place(Place place) { place_.emplace(std::move(place)); }
  /// Nothing before open() or take(), nor in a new file.
  const OldContent& content() const { return content_; }
  OldContent& content() { return content_; }

  /// The chunks of a dataset of content().catalog, as a ChunkReader gives them. The first call
  /// opens the file.
  Result<std::span<const container::StoredChunk>> chunk_index(int dataset);
  Result<std::span<std::byte>> chunk(int dataset, int64_t number);
  /// Returns the raw data from byte `byte` to the end of its run in a chunk, until the next call.
  Result<std::span<std::byte>> from_chunk(int dataset, int64_t byte);
  /// Fills a chunk with the rows that the file has.
  Status fill_chunk(const std::string& dataset_path, int64_t number, std::span<std::byte> out);
  /// Closes what rank 0 reads it by.
  void close() noexcept { content_.growth.reset(); }

 private:
  Result<ChunkSource> open_for_chunks();

  std::string path_;
  std::optional<Place> place_;
  OldContent content_;
  std::unique_ptr<storage::File> file_;  // for old chunks, where this rank needs some
  container::LazyReader reader_;
  ChunkReader chunks_;
};

}  // namespace stria::file
