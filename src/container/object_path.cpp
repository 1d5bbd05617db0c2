#include "container/object_path.hpp"

namespace stria::container {

Result<std::string> normal_path(const std::string& path) {
  const size_t begin = path.find_first_not_of('/');
  if (begin == std::string::npos) {
    return std::string();
  }
  const std::string inner = path.substr(begin, path.find_last_not_of('/') - begin + 1);
  const Status bad(ErrorCode::kInvalidArgument, "'" + path + "' can't name an object of a file");
  if (inner.find('\0') != std::string::npos) {
    return bad;
  }
  for (size_t at = 0; at <= inner.size();) {
    const size_t end = std::min(inner.find('/', at), inner.size());
    const std::string part = inner.substr(at, end - at);
    if (part.empty() || part == ".") {
      return bad;
    }
    at = end + 1;
  }
  return inner;
}

}  // namespace stria::container
