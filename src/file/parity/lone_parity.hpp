// Parity that one process makes by itself, of a file in one piece: for commits in the background.
//
// Method: the ranks' way (parity_writer.hpp), with one rank.
// Cost: the whole file is read, and its parity written, at once: no rate limits that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "file/parity/parity_writer.hpp"

namespace stria::file {

class LoneParity {
 public:
  /// `path` is the file's, as `driver` knows it; `hints` say where parity lies. `renews`: the file
  /// is valid before its parity is made.
  LoneParity(std::shared_ptr<storage::Driver> driver, access::ResolvedHints hints, std::string path, int parities, bool renews);
  LoneParity(const LoneParity&) = delete;
  LoneParity& operator=(const LoneParity&) = delete;

  bool renews() const { return renews_; }
  /// Makes the parity of what lies at `present_path`.
  Status make(const std::string& present_path, int64_t file_bytes, bool sync);
  /// When the file is valid.
  void note_published() noexcept { writer_.note_published(file()); }
  void discard() noexcept { writer_.discard(file()); }

 private:
  StoredFile file() const { return {.environment = environment_, .path = path_}; }

  Environment environment_;
  const std::string path_;
  const int parities_;
  const bool renews_;
  ParityWriter writer_;
};

}  // namespace stria::file
