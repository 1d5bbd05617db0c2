// Describes what a file that is read has, by name.
//
// Method: see content.hpp. What is damaged in the catalog of a file that is looked up by and by is
// an error here, at the first call that needs all of it. Everything here is local.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "container/container.hpp"
#include "file/define/catalog.hpp"
#include "file/read/read_session.hpp"

namespace stria::file {

Result<bool> has_checksums(ReadSession& session);
Result<std::vector<std::string>> dataset_paths(ReadSession& session);
Result<bool> has_group(ReadSession& session, const std::string& path);
Result<std::vector<std::string>> members(ReadSession& session, const std::string& group);
/// Returns the object and the file to which the link at `path` leads; empty where it leads to no
/// file.
Result<std::pair<std::string, std::string>> link_to_file(ReadSession& session, const std::string& path);

}  // namespace stria::file
