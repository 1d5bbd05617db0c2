// The name that a program gives a file.
#pragma once

#include <string>
#include <string_view>

namespace stria::mpiio {

struct FileName {
  /// ROMIO lets programs name the kind of file system before the path. Here only NFS
  /// makes a difference.
  explicit FileName(std::string_view name);

  std::string path;        ///< without the prefix, as the program wrote it
  bool named_nfs = false;  ///< the program says that it lies on NFS
};

}  // namespace stria::mpiio
