// A rank's own reads and writes in regions: multiple requests, list I/O, data sieving and the
// hybrid of the two.
//
// Problem: many small pieces.
// Methods: one request per piece; lists (Ching 2002); data sieving (Thakur 1995; Ching 2002,
// section 4.1). Sieving reads a window from the first piece to the last at once, and picks out the
// pieces. To write, it reads the window, changes it and writes it back, under a lock that covers
// only this window. Within one request the hybrid sieves where pieces are dense, and lists where
// they are sparse (region.hpp). Streams are moved one after another.
// Cost: a copy between window and packed bytes, and one between packed bytes and memory unless
// memory is itself packed; a staging buffer and a window.
#pragma once

#include "access/context/context.hpp"
#include "access/plan/plan.hpp"

namespace stria::access {

/// Moves this rank's streams. Collective: no; the error is local.
Moved read_regions(Context& context, std::span<const Lane> lanes, StreamSink& sink, const RegionMethod& method);
Moved write_regions(Context& context, std::span<const Lane> lanes, StreamSource& source, const RegionMethod& method);

}  // namespace stria::access
