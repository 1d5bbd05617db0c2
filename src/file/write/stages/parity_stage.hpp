// The parity of a commit: of a new file before it gets its name, of one that grows when that is
// done.
//
// A file that grows overwrites what its old parity is of, so that this goes before the first byte
// moves. A program that is killed in between leaves a file without parity, and none with a wrong
// one.
#pragma once

#include <cstdint>

#include "file/parity/parity_writer.hpp"
#include "file/parts/parts.hpp"
#include "file/session/open_file.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

/// What is written of a new file, before it gets its name.
struct WrittenFile {
  const Parts* parts = nullptr;  ///< null: it is in one piece
  Status outcome;                ///< what has become of it on this rank
  int64_t bytes = 0;             ///< the bytes of the file itself, on rank 0
  bool sync = false;             ///< it is durable
};

/// Says what was made of it so far.
class ParityStage {
 public:
  /// Makes the parity of a new file of which all bytes are written. Collective: yes; the same
  /// outcome everywhere.
  Status protect(OpenFile& file, NewFile& target, const WrittenFile& written);
  /// Removes the parity of a file that grows, before the file is changed. Collective: yes; the same
  /// outcome everywhere.
  Status begin_growing(OpenFile& file);
  /// When the file is valid, or its commit goes on in the background: marks the parity of a new
  /// file, makes that of one that grows anew, or leaves both to the background. Where that fails, a
  /// warning says that there is none. Collective: yes.
  void end(OpenFile& file, NewFile& target, bool sync);
  void discard(const StoredFile& file) noexcept { writer_.discard(file); }

 private:
  Status leave_to_background(const OpenFile& file, NewFile& target) const;
  Status renew(OpenFile& file, NewFile& target, bool sync);

  ParityWriter writer_;
  bool has_begun_ = false;
  int64_t renewed_count_ = 0;  // the parity files that one which grows has had
};

}  // namespace stria::file
