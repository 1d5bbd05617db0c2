// What a program calls a file.
#pragma once

#include <string>
#include <string_view>

namespace stria::mpiio {

struct FileName {
  /// ROMIO lets programs name the kind of file system before the path; but for NFS which one it is
  /// makes no difference here.
  explicit FileName(std::string_view name);

  std::string path;        ///< without the prefix, as the program wrote it
  bool named_nfs = false;  ///< the program says that it lies on NFS
};

}  // namespace stria::mpiio
