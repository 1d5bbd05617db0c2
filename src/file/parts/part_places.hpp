// Knows where the parts and the parity of a file lie that are kept apart from it.
//
// Problem: a disk that is lost takes all that lies on it, and every program finds the parts of a
// file beside it.
// Method: the directories of the hint stria_part_places take turns. A part has its whole path as
// its name there, as a file has that is staged, and a link beside the file leads to it. So HDF5
// reads the file, and what lists, removes or repairs parts finds them. A link is made before what
// it leads to and goes after it: nothing lies in a place to which no link leads.
// Cost: one more name for each part.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/driver.hpp"

namespace stria::file {

/// Returns where the part lies whose name beside the file is `path`: in the place whose turn it is.
/// Without places, and in a store, it is `path` itself.
std::string placed_path(const std::vector<std::string>& places, size_t turn, const std::string& path);
/// Returns the name beside its file of what has this name in a place; nothing for other names.
std::optional<std::string> path_of_placed(const std::string& name);
/// Returns where a part lies by its link, or `path` itself.
std::string real_path(storage::Driver& driver, const std::string& path);
/// Makes the link from `path` to where the part lies, and removes what may lie there without a
/// link. Nothing where `real` is `path` itself.
Status begin_placed(storage::Driver& driver, const std::string& path, const std::string& real);
/// Removes a part or parity file, and then its link. Where its place fails both stay.
Status remove_placed(storage::Driver& driver, const std::string& path);

}  // namespace stria::file
