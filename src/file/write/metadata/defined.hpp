// What a file that is written is to have, as its program says, and what it has already.
#pragma once

#include "file/define/definitions.hpp"
#include "file/session/open_file.hpp"
#include "file/write/metadata/places.hpp"
#include "file/write/old/old_file.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// The same on every rank, but for the contents of tables and what rank 0 alone knows of the old
/// file.
struct Defined {
  CreateOptions options;
  OldFile old;    ///< the content of a file that grows; nothing in a new one
  Places places;  ///< where the raw data go
  Definitions definitions;

  /// Returns what definitions in `file` change.
  Definitions::Target target(OpenFile& file) {
    return {.catalog = file.catalog, .layout = *places.layout(), .log = file.meetings.log(), .before = old.content().catalog};
  }
  /// Tells whether a commit of `file` has anything to do.
  bool changes(const OpenFile& file) const { return !file.grows() || file.catalog.size() > 0 || definitions.any(); }
};

}  // namespace stria::file
