// Knows where a file lies until it has its name, and then: the paths of a new file under its
// temporary name, which may be staged at a place of its own first, or of an old one that grows.
//
// Every rank has the same, once rank 0 has followed the links of the file's name and the ranks have
// agreed on the place (placing.hpp). Nothing here touches the storage.
#pragma once

#include <string>

#include "access/request/hints.hpp"

namespace stria::file {

class FilePlace {
 public:
  /// `path` is as the storage knows it. `grows`: the file is there, and lies in its own place.
  FilePlace(const access::ResolvedHints& hints, const std::string& path, bool grows);

  /// Returns the file's own name, or the one to which its links lead once rank 0 has followed them.
  const std::string& path() const { return path_; }
  /// Notes where rank 0 has found that they lead.
  void follow(const std::string& path);
  /// Returns the name under which it is whole before it is at path(): where it is staged, or path()
  /// itself.
  const std::string& written_path() const { return written_path_; }
  /// Returns where the file is until it is published.
  const std::string& unpublished_path() const { return partial_path_; }

  /// Tells whether the file is to be written to a place of its own first.
  bool is_staged() const { return written_path_ != path_; }
  /// Tells whether it is, if that has room, and the ranks haven't agreed on that yet.
  bool awaits_agreement() const { return is_staged() && !is_agreed_; }
  /// The file can't be staged: it is written to its own place.
  void write_to_own() noexcept;
  /// Notes what rank 0 has found, on every rank, before the file is opened.
  void agree(bool is_staged) noexcept;

 private:
  std::string staging_place_;  // empty: it is written to its own place
  std::string path_;
  std::string written_path_;
  std::string partial_path_;
  std::string own_partial_path_;  // where it is staged
  bool grows_;
  bool is_agreed_ = false;
  bool is_own_ = false;  // it could have been staged, but isn't
};

}  // namespace stria::file
