// Chunks that several ranks of a node want: each is read and decoded once.
//
// Problem: ranks that get columns of a dataset, or all of it, want the same chunks. Each of them
// would read and inflate all of these.
// Method: the ranks find out which chunks they share, as they do for puts. The node has a table of
// decoded chunks in shared memory. A rank that wants a chunk copies it from there. Where no rank
// has decoded it, this one does so, into one of its own places. Where another rank is about to,
// this one decodes a later chunk meanwhile that it will want, so that all processors are at work. A
// place is free again when every rank has taken its chunk.
// Invariant: the table only saves work. A chunk that failed to decode, or had to give way, is
// decoded by each rank that wants it, which thus meets the error itself. A rank waits only for one
// that decodes, and such a rank waits for none.
// Cost: three sums over the ranks and two sparse exchanges. Where chunks are shared: 8 MB of shared
// memory per rank, two chunks at least, and a copy of each chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "comm/node_mutex.hpp"
#include "file/chunks/chunk_numbers.hpp"

namespace stria::file {

class NodeChunks {
 public:
  using Decode = std::function<Status(const ChunkOfDataset& chunk, std::span<std::byte> out)>;

  /// The gets of all ranks must have so many bytes to be worth the cost.
  static constexpr int64_t kWorthBytes = 4 << 20;

  /// Creates the chunks that `gets` share on this node. Null, on all ranks, where no node shares
  /// any, or where memory is scarce. The comm must outlive it. Collective: yes; so is the
  /// destructor.
  static std::unique_ptr<NodeChunks> create(Comm& comm, const Catalog& catalog, std::span<const Transfer> gets);
  ~NodeChunks() = default;
  NodeChunks(const NodeChunks&) = delete;
  NodeChunks& operator=(const NodeChunks&) = delete;

  /// Gives the chunk's bytes to `out`, which has its size; by `decode` if need be, which is also
  /// called for other chunks that this rank will want. Returns the outcome of decoding this chunk.
  /// Local; may wait for a rank that decodes it.
  Status take(const ChunkOfDataset& chunk, std::span<std::byte> out, const Decode& decode);

 private:
  /// Chunks of this rank that as many ranks of its node want.
  struct Wanted {
    ByteRange chunks;
    int rank_count = 0;
    int64_t before = 0;  ///< this rank's shared chunks in front of these

    /// Returns the chunk's position among this rank's shared chunks.
    size_t position(int64_t id) const { return static_cast<size_t>(before + id - chunks.begin); }
  };
  enum class Found { kNothing, kDecoded, kUnderWay, kClaimed };
  struct Place;
  struct Look {
    Place* place = nullptr;
    Found found = Found::kNothing;
  };
  struct State;

  NodeChunks(Comm& comm, const Catalog& catalog) : comm_(comm), numbers_(catalog) {}
  void keep_those_of_node(const std::vector<SharedChunks>& shared);
  int64_t largest_chunk() const;
  Status allocate(int64_t place_bytes);

  const Wanted* find_wanted(int64_t id) const;
  bool fits(int64_t id) const;
  Place* places() const;
  Place* own_places() const;
  std::span<std::byte> bytes_in(const Place& place, size_t bytes) const;

  Place* find_place(const MutexLock& held, int64_t id) const;
  Place* find_room(const MutexLock& held, int64_t age) const;
  void claim(const MutexLock& held, Place& place, const Wanted& wanted, int64_t id);

  Look look_for(const Wanted& wanted, int64_t id);
  Status fill(Place& place, const ChunkOfDataset& chunk, const Decode& decode);
  void copy_out(Place& place, const Wanted& wanted, int64_t id, std::span<std::byte> out);
  Place* claim_ahead(const Wanted& from, int64_t id);
  bool decode_ahead(const Wanted& from, int64_t id, const Decode& decode);

  Comm& comm_;
  ChunkNumbers numbers_;
  std::vector<Wanted> wanted_;  // ascending
  std::vector<bool> taken_;     // by position
  std::shared_ptr<SharedBuffer> memory_;
  State* state_ = nullptr;
  int64_t table_bytes_ = 0;
  int64_t place_bytes_ = 0;
  int places_a_rank_ = 0;
  bool goes_ahead_ = true;
};

}  // namespace stria::file
