#include "mpiio/file/file_name.hpp"

#include <array>

namespace stria::mpiio {

FileName::FileName(std::string_view name) : path(name) {
  constexpr std::string_view kNfs = "nfs:";
  constexpr std::array<std::string_view, 11> kPrefixes{
      "ufs:", kNfs, "xfs:", "lustre:", "gpfs:", "pvfs2:", "panfs:", "bgl:", "testfs:", "daos:", "gridftp:"};
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) {
      path = name.substr(prefix.size());
      named_nfs = prefix == kNfs;
      return;
    }
  }
}

}  // namespace stria::mpiio
