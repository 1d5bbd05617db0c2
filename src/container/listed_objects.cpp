// Describes what a Reader finds in its list of all objects, where its format has no quicker way.
#include <algorithm>

#include "container/container.hpp"
#include "container/object_path.hpp"

namespace stria::container {

Result<Reader::ObjectKind> Reader::kind_of(const std::string& path) const {
  const auto normal = normal_path(path);
  if (!normal.ok()) {
    return ObjectKind::kNone;
  }
  if (normal->empty()) {
    return ObjectKind::kGroup;
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> listed, list());
  const auto has = [&](const std::string& wanted) { return std::find(listed.begin(), listed.end(), wanted) != listed.end(); };
  return has(*normal) ? ObjectKind::kDataset : has(*normal + "/") ? ObjectKind::kGroup : ObjectKind::kNone;
}

Result<std::vector<std::string>> Reader::names_in(const std::string& group) const {
  STRIA_ASSIGN_OR_RETURN(const std::string normal, normal_path(group));
  const std::string prefix = normal.empty() ? "" : normal + "/";
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> listed, list());
  std::vector<std::string> names;
  for (const std::string& path : listed) {
    if (path.size() > prefix.size() && path.starts_with(prefix)) {
      const size_t end = path.find('/', prefix.size());
      if (end == std::string::npos || end == path.size() - 1) {
        names.push_back(path.substr(prefix.size(), end - prefix.size()));
      }
    }
  }
  return names;
}

}  // namespace stria::container
