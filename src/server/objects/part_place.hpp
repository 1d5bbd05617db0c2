// Describes how the file of a part is striped, noted beside the part's checksums.
//
// Problem: only the manager's names say of how many servers a file is, and in which order. Where
// the names are lost, or older than the file, its parts are a heap of bytes. Method: the first page
// of the checksums has room for it (docs/formats/store.md). It is noted when data first come for a
// part, since data say it. Cost: a system call when a part is made, and one when it is opened.
#pragma once

#include <string>

#include "stria/status.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

/// Returns what the file of checksums notes; not known where it notes nothing, or something
/// damaged.
wire::Striped noted_place(const std::string& sums_path);

/// Returns the same of one that is open.
wire::Striped noted_place(int sums_descriptor);

/// Notes it.
Status note_place(int sums_descriptor, const std::string& sums_path, const wire::Striped& place);

}  // namespace stria::server
