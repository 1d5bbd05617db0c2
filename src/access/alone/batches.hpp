// List I/O in batches: each rank moves its own bytes by lists of file ranges, without messages
// to the others.
//
// Problem: memory and file hold pieces, and one request per piece is too many (Ching
// 2002, section 3).
// Method: a staging buffer of the cache's size is packed with the same rows of many variables, then
// written as one list of ranges while it is still in the cache.
// Cost: one copy of every byte into the buffer (none where memory is already as the file wants it),
// one request per batch and driver, and staging_bytes of memory. Best where a rank's pieces in the
// file are long and the storage is the node's own.
#pragma once

#include "access/context/context.hpp"

namespace stria::access {

/// Writes this rank's streams. Collective: no; the error is local.
Status write_batches(Context& context, std::span<const Lane> lanes, StreamSource& source, const WriteAids& aids = {});

/// Reads this rank's streams as far as the file goes. Collective: no; the error is local. After an
/// error, the bytes are those of the batches before it, in which all lanes advance together.
Moved read_batches(Context& context, std::span<const Lane> lanes, StreamSink& sink);

}  // namespace stria::access
