// The parity of a commit: of a new file before it gets its name, of one that grows when that is
// done.
//
// A file that grows overwrites what its old parity is of, so that this goes before the first byte
// moves. A program that is killed in between leaves a file without parity, and none with a wrong
// one.
#pragma once

#include <memory>
#include <string>

#include "file/parity/parity_writer.hpp"
#include "file/parts/parts.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

class ParityStage {
 public:
  /// All must outlive this. `parts` is null where the file is in one piece.
  ParityStage(Environment& environment, const std::string& path, const NewFile& file, const Parts* parts)
      : environment_(environment), path_(path), file_(file), parts_(parts), writer_(environment, path) {}

  /// Makes the parity of a new file of which all bytes are written. `mine` is what has become of
  /// them; `file_bytes` counts on rank 0. Collective: yes; the same outcome everywhere.
  Status protect(const Status& mine, int64_t file_bytes, bool sync);
  /// Before a file that grows is changed: removes its parity. Collective: yes; the same outcome
  /// everywhere.
  Status begin_growing();
  /// When the file is valid, or its commit goes on in the background: marks the parity of a new
  /// file, makes that of one that grows anew, or leaves both to the background. Where that fails, a
  /// warning says that there is none. Collective: yes.
  void end(NewFile& file, int64_t file_bytes, bool sync);
  void discard() noexcept { writer_.discard(); }

 private:
  Result<std::vector<ParityFile>> files(int64_t file_bytes) const;
  Status leave_to_background(NewFile& file);
  Status renew(int64_t file_bytes, bool sync);

  Environment& environment_;
  const std::string& path_;
  const NewFile& file_;
  const Parts* parts_;
  ParityWriter writer_;
  bool has_begun_ = false;
  int64_t renewed_count_ = 0;  // of parity files that one which grows has had
};

}  // namespace stria::file
