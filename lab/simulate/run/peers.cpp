#include "run/peers.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "access/request/message_tags.hpp"
#include "access/request/overlap.hpp"

namespace stria::simulate {

namespace {

using access::Lane;
using access::Stream;

constexpr int kRanksAnAggregator = 32;  // Blue Gene's default (Latham 2012, 6)
constexpr int64_t kBufferBytes = 16 << 20;
constexpr double kBytesOfOffsets = 16;  // Every rank tells them to all others.

/// The domains of one call. Even ones are as long as each other; those of whole blocks are dealt
/// out as ROMIO on Blue Gene does it, where the later aggregators get the blocks that are left.
struct Domains {
  ByteRange whole;
  int64_t unit = 1;
  int64_t buffer_bytes = kBufferBytes;
  int aggregators = 1;

  int64_t first_block() const { return whole.begin / unit; }
  int64_t blocks() const { return align_up(whole.end, unit) / unit - first_block(); }
  /// Blocks of an early aggregator.
  int64_t few() const { return blocks() / aggregators; }
  /// Returns how many aggregators are early.
  int64_t early() const { return aggregators - blocks() % aggregators; }
  int64_t boundary(int aggregator) const {
    const int64_t before = aggregator * few() + std::max<int64_t>(aggregator - early(), 0);
    return std::clamp((first_block() + before) * unit, whole.begin, whole.end);
  }
  /// Returns the aggregator whose domain has a byte.
  int at(int64_t offset) const {
    const int64_t block = offset / unit - first_block(), before = early() * few();
    return static_cast<int>(block < before ? block / few() : early() + (block - before) / (few() + 1));
  }
  int64_t rounds() const {
    int64_t longest = 0;
    for (int a = 0; a < aggregators; ++a) {
      longest = std::max(longest, boundary(a + 1) - boundary(a));
    }
    return (longest + buffer_bytes - 1) / buffer_bytes;
  }
  ByteRange window(int aggregator, int64_t round) const {
    const int64_t begin = boundary(aggregator) + round * buffer_bytes;
    return {begin, std::min(begin + buffer_bytes, boundary(aggregator + 1))};
  }
};

int64_t bytes_in(const Stream& stream, ByteRange window) {
  return window.empty() || intersect(access::hull_of(stream), window).empty()
             ? 0
             : access::position_of(stream, window.end) - access::position_of(stream, window.begin);
}

// Aggregators lie evenly among the ranks. Where forwarders serve short runs of ranks, they take
// turns: each gives as many aggregators as any other, as on Blue Gene.
std::vector<int> places_of(const Forwarders& forwarders, int count, int ranks) {
  std::vector<int> places;
  const int all = forwarders.run > 0 ? forwarder_count(forwarders, ranks) : 1;
  const int runs_of_one = forwarders.run > 0 ? ranks / forwarders.run / all : 0;
  const int of_one = (count - 1) / all + 1;
  for (int a = 0; a < count; ++a) {
    if (of_one > runs_of_one) {
      places.push_back(static_cast<int>(int64_t{a} * ranks / count));
    } else {
      places.push_back((a % all + a / all * runs_of_one / of_one * all) * forwarders.run);
    }
  }
  return places;
}

class RomioWrite {
 public:
  RomioWrite(RunShared& shared, Comm& comm, storage::File& file) : shared_(shared), comm_(comm), file_(file) {}

  Status run(std::span<const Lane> lanes) {
    domains_ = agree(lanes);
    const auto [found, is_first] = shared_.rounds.try_emplace(exchange_, 0);
    if (is_first) {
      found->second = domains_.rounds();
    }
    const int64_t rounds = found->second;
    for (int64_t round = 0; round < rounds; ++round) {
      announce(lanes, round);
      meet();
      STRIA_RETURN_IF_ERROR(exchange_and_write(round));
    }
    return {};
  }

 private:
  Domains agree(std::span<const Lane> lanes) {
    std::array<int64_t, 2> ends{INT64_MIN, 0};
    for (const Lane& lane : lanes) {
      const ByteRange hull = access::hull_of(lane);
      if (!hull.empty()) {
        ends = {std::max(ends[0], -hull.begin), std::max(ends[1], hull.end)};
      }
    }
    comm_.all_reduce(std::span<int64_t>(ends), ReduceOp::kMax);
    // The ranks exchange the offsets of all, and how many requests each has for each aggregator.
    shared_.clock.charge(kBytesOfOffsets * comm_.size() / shared_.machine.nodes.link_rate);
    meet();
    Domains domains;
    domains.whole = {std::min(-ends[0], ends[1]), ends[1]};
    const access::ResolvedHints& hints = shared_.hints;
    const bool even = hints.domains == access::ResolvedHints::Domains::kEven;
    domains.unit = even ? 1 : std::max<int64_t>(file_.capabilities().block_bytes, 1);
    domains.buffer_bytes = hints.collective_buffer_bytes > 0 ? hints.collective_buffer_bytes : kBufferBytes;
    const int usual = std::max(1, comm_.size() / kRanksAnAggregator);
    domains.aggregators = std::min(hints.aggregator_count > 0 ? hints.aggregator_count : usual, comm_.size());
    shared_.outcome.aggregators = domains.aggregators;
    place(domains.aggregators);
    return domains;
  }

  void place(int count) {
    if (static_cast<int>(shared_.aggregator_ranks.size()) == count) {
      return;  // by another rank
    }
    shared_.aggregator_ranks = places_of(shared_.machine.forwarders, count, comm_.size());
    shared_.aggregator_of_rank.clear();
    for (int a = 0; a < count; ++a) {
      shared_.aggregator_of_rank[rank_of(a)] = a;
    }
  }

  // Exchanges an all-to-all of a number for each pair.
  void meet() {
    shared_.clock.charge(shared_.machine.nodes.exchange_s * comm_.size());
    comm_.barrier();
  }

  int rank_of(int aggregator) const { return shared_.aggregator_ranks[static_cast<size_t>(aggregator)]; }

  // Windows that are met lie between the first and the last aggregator of this rank's bytes.
  void announce(std::span<const Lane> lanes, int64_t round) {
    sends_.clear();
    ++exchange_;
    std::map<int, int64_t> bytes_for;  // by aggregator
    for (const Lane& lane : lanes) {
      for (const Stream& stream : lane.streams) {
        const ByteRange hull = access::hull_of(stream);
        for (int a = domains_.at(hull.begin); a <= domains_.at(hull.end - 1); ++a) {
          bytes_for[a] += bytes_in(stream, domains_.window(a, round));
        }
      }
    }
    for (const auto& [aggregator, bytes] : bytes_for) {
      if (bytes > 0) {
        sends_.emplace_back(rank_of(aggregator), bytes);
        shared_.announced[{exchange_, rank_of(aggregator)}].emplace_back(comm_.rank(), bytes);
      }
    }
  }

  Status exchange_and_write(int64_t round) {
    std::vector<std::unique_ptr<CommRequest>> requests;
    std::vector<std::pair<int, int64_t>> senders;
    if (auto found = shared_.announced.extract({exchange_, comm_.rank()}); !found.empty()) {
      senders = std::move(found.mapped());
    }
    for (const auto& [from, bytes] : senders) {
      requests.push_back(comm_.receive(shared_.nowhere(bytes), from, access::kWriteDataTag));
    }
    for (const auto& [to, bytes] : sends_) {
      shared_.clock.charge(static_cast<double>(bytes) / shared_.machine.nodes.pack_rate);
      requests.push_back(comm_.send(shared_.nowhere(bytes), to, access::kWriteDataTag));
    }
    for (const auto& request : requests) {
      comm_.wait(*request);
    }
    if (senders.empty()) {
      return {};
    }
    const ByteRange window = domains_.window(shared_.aggregator_of_rank.at(comm_.rank()), round);
    const storage::WriteSegment segment{window.begin, shared_.nowhere(window.size()).data(), window.size()};
    return file_.write(std::span(&segment, 1));
  }

  RunShared& shared_;
  Comm& comm_;
  storage::File& file_;
  Domains domains_;
  int64_t exchange_ = 0;
  std::vector<std::pair<int, int64_t>> sends_;
};

}  // namespace

Status write_as_romio(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  if (shared.options.carries_data || shared.options.reads) {
    return Status(ErrorCode::kUnsupported, "ROMIO's way is a pattern of writes without bytes: it can't be verified or read");
  }
  const FilePlaces places = place_arrays(workload, kHeaderBytes, 1);
  STRIA_ASSIGN_OR_RETURN(const auto file, open_everywhere(shared, comm));
  RomioWrite write(shared, comm, *file);
  for (size_t call = 0; call < shared.most_calls; ++call) {
    shared.charge_call();
    STRIA_RETURN_IF_ERROR(write.run(lanes_of(workload, places, call, call + 1)));
  }
  shared.clock.settle();
  return {};
}

}  // namespace stria::simulate
