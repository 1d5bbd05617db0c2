// A rank's own reads and writes by datatype: the storage gets the description of the pieces and
// finds them itself.
//
// Problem: a list grows with the pieces, 3 to 12 bytes each (Ching 2002: "the list is
// the overhead").
// Method: the request holds the file type, a window of its stream and the bytes of that window,
// for storage that takes these (storage::Capabilities::native_types). Streams are moved one
// after another.
// Cost: a copy between packed bytes and memory unless memory is itself packed; a staging buffer of
// staging_bytes.
#pragma once

#include "access/context/context.hpp"

namespace stria::access {

/// Moves this rank's streams. \pre context.file->capabilities().native_types. Collective: no; the
/// error is local.
Moved read_types(Context& context, std::span<const Lane> lanes, StreamSink& sink);
Moved write_types(Context& context, std::span<const Lane> lanes, StreamSource& source);

}  // namespace stria::access
