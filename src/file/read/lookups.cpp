#include "file/read/lookups.hpp"

#include <fmt/format.h>

#include "base/out_of_memory.hpp"
#include "container/object_path.hpp"
#include "file/define/names.hpp"

namespace stria::file {

using ObjectKind = container::Reader::ObjectKind;

Result<bool> has_checksums(ReadSession& session) {
  STRIA_RETURN_IF_ERROR(session.complete());
  return session.sums().present;
}

Result<std::vector<std::string>> dataset_paths(ReadSession& session) {
  STRIA_RETURN_IF_ERROR(session.complete());
  return session.file().catalog.content_paths();
}

Result<bool> has_group(ReadSession& session, const std::string& path) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  if (session.is_complete()) {
    return session.file().catalog.has_group(path);
  }
  return or_out_of_memory([&]() -> Result<bool> {
    STRIA_ASSIGN_OR_RETURN(const ObjectKind kind, session.source().reader->kind_of(path));
    return kind == ObjectKind::kGroup;
  });
}

Result<std::vector<std::string>> members(ReadSession& session, const std::string& group) {
  STRIA_ASSIGN_OR_RETURN(const bool is_there, has_group(session, group));
  if (!is_there) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no group '{}'", session.file().path, group));
  }
  if (session.is_complete()) {
    return session.file().catalog.members(group);
  }
  return or_out_of_memory([&]() -> Result<std::vector<std::string>> {
    STRIA_ASSIGN_OR_RETURN(std::vector<std::string> names, session.source().reader->names_in(group));
    STRIA_ASSIGN_OR_RETURN(const std::string path, container::normal_path(group));
    std::erase_if(names, [&](const std::string& name) { return path.empty() && name == kOwnGroup; });
    return names;
  });
}

Result<std::pair<std::string, std::string>> link_to_file(ReadSession& session, const std::string& path) {
  STRIA_RETURN_IF_ERROR(session.file().meetings.check_open());
  std::pair<std::string, std::string> found;
  if (session.is_complete()) {
    if (const auto* const link = session.file().catalog.link_to_file(path)) {
      found = {link->target, link->file};
    }
    return found;
  }
  return or_out_of_memory([&]() -> Result<std::pair<std::string, std::string>> {
    STRIA_ASSIGN_OR_RETURN(container::LinkSpec link, session.source().reader->link_to_file(path));
    if (!link.file.empty()) {
      found = {std::move(link.target), std::move(link.file)};
    }
    return found;
  });
}

}  // namespace stria::file
