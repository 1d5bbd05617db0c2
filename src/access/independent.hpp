// A rank's own reads and writes in spans: multiple requests, list I/O, data sieving and the hybrid of the two.
//
// Problem: many small pieces. Methods: a request a piece; lists (Ching 2002); data sieving (Thakur 1995; Ching 2002, section
// 4.1): a window from the first piece to the last is read at once and the pieces are picked out of it, or read, changed and
// written back under a lock that covers that window only. The hybrid sieves where pieces are dense and lists where they are
// sparse, within one request (span.hpp). Streams are moved one after another. Cost: a copy between window and packed bytes, and
// one between packed bytes and memory unless memory is packed itself; memory: a staging buffer and a window.
#pragma once

#include "access/request.hpp"
#include "access/span.hpp"

namespace stria::access {

/// How pieces become requests.
struct SpanMethod {
  JoinRule rule;
  int64_t window_bytes = 512 << 10;  ///< ind_rd_buffer_size or ind_wr_buffer_size
  bool one_request_a_span = false;   ///< else a batch of spans is one list
};

/// Moves this rank's streams. Collective: no; the error is local.
Moved read_spans(Context& context, std::span<const Lane> lanes, StreamSink& sink, const SpanMethod& method);
Moved write_spans(Context& context, std::span<const Lane> lanes, StreamSource& source, const SpanMethod& method);

}  // namespace stria::access
