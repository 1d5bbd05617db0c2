#include "access/plan/server_costs.hpp"

#include <algorithm>

#include "access/request/overlap.hpp"
#include "base/check.hpp"
#include "datatype/node.hpp"

namespace stria::access {

namespace {

constexpr int64_t kServerBlockBytes = 4096;
// More pieces of a rank cost no more, so that sums over all ranks stay exact.
constexpr int64_t kMostPieces = int64_t{1} << 38;

/// The prices count in bytes that could be exchanged meanwhile.
struct Prices {
  int64_t block;  ///< a block that is moved in part
  int64_t piece;  ///< a piece of a datatype
};
constexpr Prices kToWrite{1536, 40};
constexpr Prices kToRead{512, 16};
constexpr int64_t kListedPiece = 128;
// What a piece of a read costs when it is exchanged: the aggregator picks it out, and the rank puts
// it into its place. Those of a write are collected while the servers still write the round before.
constexpr int64_t kExchangedReadPiece = 12;
// An exchanged byte costs so many times as much between nodes as in a node's memory: it takes a way
// that is as long as the one to the servers.
constexpr int64_t kExchangeBetweenNodes = 8;

}  // namespace

IndependentShape shape_of(std::span<const Lane> lanes, bool write) {
  IndependentShape shape{.write = write, .bytes = total_bytes(lanes), .piece_count = piece_count(lanes)};
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      shape.span_bytes += hull_of(stream).size();
      shape.list_entries += stream.file_type.node().list_entries;
    }
  }
  STRIA_ASSERT(shape.span_bytes >= 0 && shape.list_entries >= 0, shape.span_bytes, shape.list_entries);
  return shape;
}

int64_t server_cost_bytes(const IndependentShape& shape, const storage::Capabilities& capabilities) {
  if (!capabilities.native_types || capabilities.node_local_cache) {
    return 0;
  }
  const Prices& prices = shape.write ? kToWrite : kToRead;
  STRIA_ASSERT(shape.bytes >= 0 && shape.piece_count >= 0 && shape.span_bytes >= 0, shape.bytes, shape.piece_count);
  const int64_t pieces = std::min(shape.piece_count, kMostPieces);
  // A piece touches a part of the block with its first byte; and the longer it is, the likelier one
  // with its last byte.
  const int64_t ends_elsewhere = std::min(pieces, shape.bytes / kServerBlockBytes);
  const int64_t blocks = std::min(pieces + ends_elsewhere, shape.span_bytes / kServerBlockBytes + 1);
  return blocks * prices.block + pieces * (is_described_shortly(shape) ? prices.piece : kListedPiece);
}

// Each byte of the file passes the servers once through aggregators, however many ranks have it.
bool is_cheap_for_servers(const RequestShape& shape, bool on_one_node) {
  const int64_t bytes = shape.hull_bytes > 0 ? std::min(shape.hull_bytes, shape.total_bytes) : shape.total_bytes;
  const int64_t pieces_cost = shape.write ? 0 : std::min(shape.piece_count, kMostPieces) * kExchangedReadPiece;
  return shape.server_cost_bytes > 0 &&
         shape.server_cost_bytes / (on_one_node ? 1 : kExchangeBetweenNodes) <= bytes + pieces_cost;
}

}  // namespace stria::access
