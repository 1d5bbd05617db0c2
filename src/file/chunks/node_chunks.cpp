#include "file/chunks/node_chunks.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kFree = -1;
constexpr int64_t kBytesARank = 8 << 20;
constexpr int64_t kLargestChunk = 32 << 20;  // larger ones are left to each rank
constexpr int64_t kFewestPlaces = 2;
constexpr int64_t kMostPlacesARank = 16;  // a search looks at those of all ranks
constexpr int kLooksAhead = 64;           // chunks that are looked for while a rank waits
constexpr int64_t kStaleTurns = 4;        // claims, in rooms, before a chunk yields to one ahead
constexpr int64_t kPageBytes = 4096;

// Tells whether memory sufficed.
template <typename Work>
bool has_done(Work&& work) {
  return or_out_of_memory([&] {
           work();
           return Status();
         })
      .ok();
}

}  // namespace

/// Has room for a chunk in a rank's memory.
struct NodeChunks::Place {
  int64_t id = kFree;       ///< the id of the chunk
  bool is_decoded = false;  ///< false: a rank is about to
  int takers = 0;           ///< ranks that have not taken it yet
  int readers = 0;          ///< ranks that copy it just now
  int64_t claimed = 0;      ///< when; the claims of the node count
};

/// Holds what the node shares. The places follow it, those of each rank together.
struct NodeChunks::State {
  pthread_mutex_t mutex;
  std::atomic<uint32_t> outcomes;  ///< changes when a chunk has been decoded, or could not be
  int64_t claims;
};

// Each step ends alike on all ranks, because the next one takes all of them. Scarce memory is no
// error here: the ranks then decode by themselves.
std::unique_ptr<NodeChunks> NodeChunks::create(Comm& comm, const Catalog& catalog, std::span<const Transfer> gets) {
  if (comm.node_count() == comm.size() || !catalog.has_packed()) {
    return nullptr;
  }
  std::unique_ptr<NodeChunks> made;
  ChunkRanges touched;
  const bool has_looked = has_done([&] {
    made.reset(new NodeChunks(comm, catalog));
    touched = made->numbers_.touched(gets);
  });
  int64_t failures_and_ranges[] = {has_looked ? 0 : 1, static_cast<int64_t>(touched.size())};
  comm.all_reduce(failures_and_ranges, ReduceOp::kSum);
  if (failures_and_ranges[0] > 0 || failures_and_ranges[1] == 0) {
    return nullptr;
  }
  const auto shared = find_shared_chunks(comm, touched, made->numbers_.count());
  if (!shared.ok()) {
    return nullptr;
  }
  const bool has_kept = has_done([&] { made->keep_those_of_node(*shared); });
  int64_t failure_and_largest[] = {has_kept ? 0 : 1, made->largest_chunk()};
  comm.all_reduce(failure_and_largest, ReduceOp::kMax);
  if (failure_and_largest[0] > 0 || failure_and_largest[1] == 0) {
    return nullptr;
  }
  const Status allocated = made->allocate(failure_and_largest[1]);
  return comm.agree(allocated).ok() ? std::move(made) : nullptr;
}

void NodeChunks::keep_those_of_node(const std::vector<SharedChunks>& shared) {
  const std::span<const int> nodes = comm_.node_of_rank();
  const int own = nodes[static_cast<size_t>(comm_.rank())];
  int64_t before = 0;
  for (const SharedChunks& some : shared) {
    const auto count =
        std::count_if(some.ranks.begin(), some.ranks.end(), [&](int rank) { return nodes[static_cast<size_t>(rank)] == own; });
    if (count > 1) {
      wanted_.push_back({some.chunks, static_cast<int>(count), before});
      before += some.chunks.size();
    }
  }
  taken_.resize(static_cast<size_t>(before));
}

// Returns the bytes of the largest chunk that is shared; 0 without any.
int64_t NodeChunks::largest_chunk() const {
  int64_t largest = 0;
  for (const Wanted& wanted : wanted_) {
    const int last = numbers_.chunk(wanted.chunks.end - 1).dataset;
    for (int dataset = numbers_.chunk(wanted.chunks.begin).dataset; dataset <= last; ++dataset) {
      const int64_t bytes = numbers_.has_chunks(dataset) ? numbers_.grid(dataset).chunk_bytes() : 0;
      largest = std::max(largest, bytes <= kLargestChunk ? bytes : 0);
    }
  }
  return largest;
}

Status NodeChunks::allocate(int64_t place_bytes) {
  place_bytes_ = place_bytes;
  places_a_rank_ = static_cast<int>(std::clamp(kBytesARank / place_bytes, kFewestPlaces, kMostPlacesARank));
  const auto count = static_cast<size_t>(comm_.node_size() * places_a_rank_);
  table_bytes_ = align_up(static_cast<int64_t>(sizeof(State) + count * sizeof(Place)), kPageBytes);
  const bool is_first = comm_.node_rank() == 0;
  STRIA_ASSIGN_OR_RETURN(memory_, comm_.allocate_shared(places_a_rank_ * place_bytes_ + (is_first ? table_bytes_ : 0)));
  state_ = reinterpret_cast<State*>(memory_->part(0).data());
  if (is_first) {
    new (state_) State{};
    init_node_mutex(&state_->mutex);
    for (size_t i = 0; i < count; ++i) {
      new (places() + i) Place{};
    }
  }
  return Status();
}

NodeChunks::Place* NodeChunks::places() const {
  return reinterpret_cast<Place*>(state_ + 1);
}

NodeChunks::Place* NodeChunks::own_places() const {
  return places() + comm_.node_rank() * places_a_rank_;
}

std::span<std::byte> NodeChunks::bytes_in(const Place& place, size_t bytes) const {
  const auto number = static_cast<int>(&place - places());
  const int rank = number / places_a_rank_;
  STRIA_ASSERT(number >= 0 && rank < comm_.node_size() && static_cast<int64_t>(bytes) <= place_bytes_, number, bytes,
               place_bytes_);
  const int64_t offset = (rank == 0 ? table_bytes_ : 0) + number % places_a_rank_ * place_bytes_;
  return memory_->part(rank).subspan(static_cast<size_t>(offset), bytes);
}

bool NodeChunks::fits(int64_t id) const {
  return numbers_.grid(numbers_.chunk(id).dataset).chunk_bytes() <= place_bytes_;
}

// Null where this rank shares it with none.
const NodeChunks::Wanted* NodeChunks::find_wanted(int64_t id) const {
  const auto wanted = std::upper_bound(wanted_.begin(), wanted_.end(), id,
                                       [](int64_t number, const Wanted& each) { return number < each.chunks.end; });
  return wanted != wanted_.end() && wanted->chunks.contains(id) ? &*wanted : nullptr;
}

NodeChunks::Place* NodeChunks::find_place(const MutexLock& held, int64_t id) const {
  STRIA_ASSERT(held.is_of(&state_->mutex));
  Place* const end = places() + comm_.node_size() * places_a_rank_;
  Place* const found = std::find_if(places(), end, [&](const Place& place) { return place.id == id; });
  return found != end ? found : nullptr;
}

// One of this rank's that is free; else the first that it claimed, if that is `age` claims of the
// node ago and nobody copies from it just now. Null without one.
NodeChunks::Place* NodeChunks::find_room(const MutexLock& held, int64_t age) const {
  STRIA_ASSERT(held.is_of(&state_->mutex));
  Place* oldest = nullptr;
  for (Place* place = own_places(); place < own_places() + places_a_rank_; ++place) {
    if (place->id == kFree) {
      return place;
    }
    const bool may_go = place->is_decoded && place->readers == 0 && state_->claims - place->claimed >= age;
    if (may_go && (oldest == nullptr || place->claimed < oldest->claimed)) {
      oldest = place;
    }
  }
  return oldest;
}

void NodeChunks::claim(const MutexLock& held, Place& place, const Wanted& wanted, int64_t id) {
  STRIA_ASSERT(held.is_of(&state_->mutex));
  STRIA_CHECK(place.id == kFree || (place.is_decoded && place.readers == 0), place.id, place.readers, id);
  place = {.id = id, .is_decoded = false, .takers = wanted.rank_count, .readers = 0, .claimed = ++state_->claims};
}

// The place is this rank's, and claimed. Others may take the chunk once it has come.
Status NodeChunks::fill(Place& place, const ChunkOfDataset& chunk, const Decode& decode) {
  const auto bytes = static_cast<size_t>(numbers_.grid(chunk.dataset).chunk_bytes());
  const Status decoded = or_out_of_memory([&] { return decode(chunk, bytes_in(place, bytes)); });
  {
    const MutexLock lock(&state_->mutex);
    place.is_decoded = decoded.ok();
    place.id = decoded.ok() ? place.id : kFree;
  }
  state_->outcomes.fetch_add(1);
  comm_.wake(state_->outcomes);
  return decoded;
}

// This rank is one of the place's readers.
void NodeChunks::copy_out(Place& place, const Wanted& wanted, int64_t id, std::span<std::byte> out) {
  std::memcpy(out.data(), bytes_in(place, out.size()).data(), out.size());
  const MutexLock lock(&state_->mutex);
  STRIA_CHECK(place.id == id && place.is_decoded && place.readers > 0, place.id, id, place.readers);
  place.takers -= taken_[wanted.position(id)] ? 0 : 1;
  taken_[wanted.position(id)] = true;
  if (--place.readers == 0 && place.takers <= 0) {
    place.id = kFree;
  }
}

// Counts this rank among the readers of what it finds or claims.
NodeChunks::Look NodeChunks::look_for(const Wanted& wanted, int64_t id) {
  const MutexLock lock(&state_->mutex);
  Place* place = find_place(lock, id);
  if (place != nullptr) {
    place->readers += place->is_decoded ? 1 : 0;
    return {place, place->is_decoded ? Found::kDecoded : Found::kUnderWay};
  }
  // What this rank has taken before, others have perhaps, too.
  place = taken_[wanted.position(id)] ? nullptr : find_room(lock, 0);
  if (place == nullptr) {
    return {};
  }
  claim(lock, *place, wanted, id);
  place->readers = 1;
  return {place, Found::kClaimed};
}

// Claims room for the next chunk that this rank will want and no rank has decoded; or null.
NodeChunks::Place* NodeChunks::claim_ahead(const Wanted& from, int64_t id) {
  const MutexLock lock(&state_->mutex);
  const Wanted* wanted = &from;
  for (int looks = 0; looks < kLooksAhead; ++looks) {
    if (++id == wanted->chunks.end) {
      if (++wanted == wanted_.data() + wanted_.size()) {
        return nullptr;
      }
      id = wanted->chunks.begin;
    }
    if (!taken_[wanted->position(id)] && fits(id) && find_place(lock, id) == nullptr) {
      Place* const place = find_room(lock, kStaleTurns * comm_.node_size() * places_a_rank_);
      if (place != nullptr) {
        claim(lock, *place, *wanted, id);
      }
      return place;
    }
  }
  return nullptr;
}

bool NodeChunks::decode_ahead(const Wanted& from, int64_t id, const Decode& decode) {
  Place* const place = claim_ahead(from, id);
  if (place != nullptr) {
    goes_ahead_ = fill(*place, numbers_.chunk(place->id), decode).ok();
  }
  return place != nullptr;
}

Status NodeChunks::take(const ChunkOfDataset& chunk, std::span<std::byte> out, const Decode& decode) {
  const int64_t id = numbers_.id_of(chunk);
  STRIA_CHECK(static_cast<int64_t>(out.size()) == numbers_.grid(chunk.dataset).chunk_bytes(), chunk.dataset, out.size());
  const Wanted* const wanted = find_wanted(id);
  if (wanted == nullptr || !fits(id)) {
    return decode(chunk, out);
  }
  for (;;) {
    const uint32_t seen = state_->outcomes.load();
    const auto [place, found] = look_for(*wanted, id);
    switch (found) {
      case Found::kNothing:
        return decode(chunk, out);
      case Found::kUnderWay:
        if (!goes_ahead_ || !decode_ahead(*wanted, id, decode)) {
          const trace::WaitTimer timer;
          comm_.wait_while(state_->outcomes, seen);
        }
        break;
      case Found::kClaimed:
        STRIA_RETURN_IF_ERROR(fill(*place, chunk, decode));
        [[fallthrough]];
      case Found::kDecoded:
        copy_out(*place, *wanted, id, out);
        return Status();
    }
  }
}

}  // namespace stria::file
