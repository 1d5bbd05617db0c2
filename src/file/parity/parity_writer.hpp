// The parity of a file that is being committed: files beside it from which lost bytes of it, or of
// its parts, are made again.
//
// Problem: a disk or a node that is lost takes a part of every file with it.
// Method: when all bytes of the parts and of the file itself are written, under its temporary name,
// each rank takes some of the stripes, reads their units back (from the page cache, as a rule),
// and writes their parity and sums. The heads come last, so that parity which isn't complete is
// nothing; then the file gets its name, and then parity is marked as that of a file with a name.
// Parity has a generation, as parts have, so that the old file keeps its own until it is replaced.
// Cost: two agreements and a broadcast; each byte is read once; members + parities units of memory
// on a rank.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "file/parity/parity_head.hpp"
#include "file/session/environment.hpp"

namespace stria::file {

/// A file that the parity is made of: where its bytes are now, and the name that it will have.
struct ParityFile {
  std::string path;
  std::string name;
  int64_t bytes = 0;  ///< on rank 0
};

/// Keeps what was made, and what was removed before that. Each call gets the same file.
class ParityWriter {
 public:
  /// Makes so many parity files of `files`, which are `file` and its parts as they lie now: of each
  /// as one member, or of a single one in stretches.
  /// `generation` of their parts; 0: the next one. Collective: yes; the same outcome everywhere.
  Status make(const StoredFile& file, const std::vector<ParityFile>& files, int parities, int64_t generation, bool sync);
  /// Rank 0, when the file has its name: says so in the parity, and removes that of other
  /// generations.
  void note_published(const StoredFile& file) noexcept;
  /// Removes what this has made, unless the file has its name. On rank 0.
  void discard(const StoredFile& file) noexcept;

  /// Returns, on rank 0, how many parity files the file has; 0: none. Those that are made next lie
  /// in the same places.
  Result<int> find_old(const StoredFile& file);
  /// Does the same, and removes them all.
  Result<int> remove_all(const StoredFile& file);
  /// The places, on rank 0, of the parity that find_old() or remove_all() has found.
  const std::vector<std::string>& removed_places() const { return places_; }

 private:
  /// Returns the paths of the parity that there is, and notes its places.
  Result<std::vector<std::string>> list_old(const StoredFile& file);
  Result<std::vector<std::byte>> begin(const StoredFile& file, const std::vector<ParityFile>& files, int parities,
                                       int64_t generation);
  Status take(std::span<const std::byte> message, const std::string& path);
  Status choose_servers(const StoredFile& file, const std::vector<ParityFile>& files);
  Status create_files(const StoredFile& file);
  Status encode_share(const Environment& environment, const std::vector<ParityFile>& files, bool sync) const;
  Status write_heads(const StoredFile& file, bool sync) const;
  std::string path_of(int number, const std::string& path) const;
  /// Opens one that was made to write to it.
  Result<std::unique_ptr<storage::File>> open_made(int number, storage::Driver& driver) const;

  ParityHead head_;
  std::vector<std::string> real_paths_;  // the paths of each parity file
  std::vector<uint64_t> numbers_;        // Identity::number of each, where it is known
  std::vector<int> servers_;             // rank 0: of a store, for each; -1: the storage's choice
  std::vector<std::string> places_;      // rank 0: those of the old parity
  bool is_made_ = false;                 // rank 0 has created some of them
};

}  // namespace stria::file
