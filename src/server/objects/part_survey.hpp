// Lists which parts of files a server has, as its directory says, and how some are: for `stria
// fsck`.
//
// The parts are read from the directory, page by page, while others come and go. A part that is
// there all the time is listed; one that comes or goes meanwhile may be.
// Cost: of a page, one folder to all of them, and three system calls for each part listed.
#pragma once

#include "server/objects/store_directory.hpp"
#include "stria/status.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

Result<wire::PartsListed> survey_parts(const ObjectPaths& paths, const wire::Parts& request);

}  // namespace stria::server
