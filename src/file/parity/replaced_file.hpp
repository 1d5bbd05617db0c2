// What lies beside a file only because of it, its parts and its parity, when another file replaces
// it.
//
// Problem: a new file without parts or parity leaves those of the old one, which nothing names any
// more. They take room, and by the old parity the new file would be called damaged.
// Method: it is found before the new file gets the name, and removed afterwards. Parts are those
// that the old file's table names. Parts of another name stay: the old file was a copy, or had been
// renamed, and others may need them. What lies on a disk that isn't seen here, such as another
// node's, stays with its link. A new file with parts, or parity, removes those of other generations
// itself (parts.hpp, parity_writer.hpp), and nothing of that kind is looked for.
// Cost: on one rank, a question whether there is a file; where one is replaced, a listing of the
// directory. The old file's metadata are read where there are parts of its name.
#pragma once

#include <string>
#include <vector>

#include "storage/driver.hpp"

namespace stria::file {

class ReplacedFile {
 public:
  /// What the new file has itself.
  struct Successor {
    bool has_parts = false;
    bool has_parity = false;
  };
  /// Finds what the file of this name, if there is one, has beside it that its successor doesn't
  /// see to. What can't be read counts as nothing. Local.
  static ReplacedFile find(storage::Driver& driver, const std::string& path, Successor successor) noexcept;
  /// Removes it, once another file has the name. What can't be removed stays. Local.
  void remove(storage::Driver& driver) noexcept;

 private:
  std::vector<std::string> beside_;  // the paths
};

}  // namespace stria::file
