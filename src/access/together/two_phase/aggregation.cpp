#include "access/together/two_phase/aggregation.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

// The lists of a round have an entry for each stream and window that meet. So many bytes for them
// are set aside.
constexpr size_t kReserveBytes = 1 << 20;
constexpr size_t kReserveBytesPerStream = 256;

// Returns the most that one side can bring, or want, in a round. Streams of a lane may overlap,
// where a rank reads bytes twice.
int64_t most_bytes(std::span<const LaneDescription> description, int64_t buffer_bytes) {
  int64_t all_bytes = 0;
  int64_t most_streams = 0;
  for (const LaneDescription& lane : description) {
    most_streams = std::max(most_streams, static_cast<int64_t>(lane.streams.size()));
    for (const Stream& stream : lane.streams) {
      all_bytes += stream.size();
    }
  }
  return most_streams > all_bytes / buffer_bytes ? all_bytes : most_streams * buffer_bytes;
}

}  // namespace

Aggregation::Aggregation(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, const Options& options)
    : context_(context),
      plan_(plan),
      gathered_(options.gathered),
      lanes_(lanes),
      delegates_(context.comm, memory_, {.reads = options.reads, .kept = options.kept}),
      contacts_(context, plan, lanes, memory_, delegates_),
      buffers_(context, plan, lanes, options.kept),
      lists_(contacts_, memory_, mailbox_, lanes.size()) {}

Status Aggregation::prepare() {
  PhaseTimer timer(context_.times, Phase::kExchange);
  memory_.attempt([&] {
    domains_.emplace(lanes_, static_cast<int>(plan_.aggregators.size()), buffers_.asked_bytes(), plan_.unit_bytes,
                     plan_.stripe_count);
    buffers_.number_node_ranks();
    contacts_.describe_own(gathered_ != nullptr);
  });
  const bool serves = is_aggregator() && !memory_.ran_out();
  const Status allocated = buffers_.allocate(memory_, serves, serves ? domains_->buffer_bytes() : 0);
  STRIA_CHECK(!allocated.ok() || !serves || buffers_.bytes_of(context_.comm.rank()) >= domains_->buffer_bytes(),
              domains_->buffer_bytes());
  const FileDomains* domains = domains_ ? &*domains_ : nullptr;
  const Status exchanged = gathered_ == nullptr ? contacts_.exchange(domains) : contacts_.take(domains, *gathered_);
  Status incoming = allocate_arrivals();
  for (const Status& status : {memory_.status(), allocated, exchanged}) {
    if (!status.ok()) {
      incoming = status;
    }
  }
  Status agreed = context_.comm.agree(incoming);
  if (!agreed.ok()) {
    buffers_.forget();
  }
  return agreed;
}

// Takes the memory that the rounds will need, while ranks can still agree on a lack of it.
Status Aggregation::allocate_arrivals() {
  if (!domains_) {
    return Status();
  }
  int64_t longest_bytes = 0;
  int64_t all_bytes = 0;
  for (int aggregator : contacts_.met()) {
    const bool elsewhere = !contacts_.shares_memory(contacts_.rank_of(aggregator));
    const int64_t bytes = elsewhere ? most_bytes(contacts_.mine(), domains_->buffer_bytes()) : 0;
    longest_bytes = std::max(longest_bytes, bytes);
    all_bytes += bytes;
  }
  int64_t together_bytes = 0;  // the bytes of those with one speaker
  const Contributor* before = nullptr;
  for (const Contributor& other : contacts_.contributors()) {
    const int64_t bytes = contacts_.shares_memory(other.rank) ? 0 : most_bytes(other.lanes, domains_->buffer_bytes());
    together_bytes = before != nullptr && before->speaker == other.speaker ? together_bytes + bytes : bytes;
    longest_bytes = std::max(longest_bytes, together_bytes);
    all_bytes += bytes;
    before = &other;
  }
  Status allocated;
  memory_.attempt([&] {
    memory_.set_aside(kReserveBytes + kReserveBytesPerStream * contacts_.stream_count());
    allocated = arrivals_.allocate(contacts_.met().size() + contacts_.contributors().size(), longest_bytes, all_bytes);
  });
  STRIA_RETURN_IF_ERROR(allocated);
  return lists_.allocate(*domains_);
}

Share Aggregation::share_with(int other_rank, std::vector<Window> windows, std::span<const LaneDescription> description) const {
  Share share;
  share.rank = other_rank;
  share.own = other_rank == context_.comm.rank();
  share.shared = contacts_.shares_memory(other_rank);
  share.windows = std::move(windows);
  share.collect(description);
  return share;
}

std::vector<Share> Aggregation::my_shares(int round) {
  return memory_.surely([&] {
    std::vector<Share> shares;
    for (int a : contacts_.met()) {
      Share share = share_with(contacts_.rank_of(a), domains_->windows_of(a, round), contacts_.mine());
      share.speaker = delegates_.speaker(a);
      if (share.bytes > 0 && !lists_.withholds(share.rank)) {
        shares.push_back(std::move(share));
      }
    }
    return shares;
  });
}

std::vector<Share> Aggregation::contributors(int round) {
  return memory_.surely([&] {
    std::vector<Share> shares;
    if (!is_aggregator()) {
      return shares;
    }
    const std::vector<Window> windows = my_windows(round);
    for (const Contributor& other : contacts_.contributors()) {
      Share share = share_with(other.rank, windows, other.by_round ? other.pieces : other.lanes);
      share.speaker = other.speaker;
      share.repeats = other.repeats;
      // More than the parts have where they could not be taken in.
      share.bytes = other.by_round ? other.bytes : share.bytes;
      if (share.bytes > 0) {
        shares.push_back(std::move(share));
      }
    }
    return shares;
  });
}

std::vector<Load> Aggregation::loads(int round) {
  return memory_.surely([&] { return delegates_.loads(*domains_, round); });
}

bool Aggregation::is_carried(const Share& share, std::span<const Load> loads) const {
  return std::any_of(loads.begin(), loads.end(), [&](const Load& load) { return rank_of(load) == share.rank; });
}

std::vector<int> Aggregation::met_ranks() {
  return memory_.surely([&] {
    std::vector<int> ranks;
    for (int a : contacts_.met()) {
      ranks.push_back(contacts_.rank_of(a));
    }
    return ranks;
  });
}

std::vector<int> Aggregation::contributor_ranks() {
  return memory_.surely([&] {
    std::vector<int> ranks;
    for (const Contributor& other : contacts_.contributors()) {
      ranks.push_back(other.rank);
    }
    return ranks;
  });
}

// Windows of a lane come by increasing offset. So of a single stream, the first missing bytes are
// those that are met first.
void Aggregation::miss_rounds(int aggregator_rank, int done_rounds, MovedPrefix& moved) {
  const auto place = std::find(plan_.aggregators.begin(), plan_.aggregators.end(), aggregator_rank);
  STRIA_CHECK(place != plan_.aggregators.end() && done_rounds >= 0, aggregator_rank, done_rounds);
  const auto aggregator = static_cast<int>(place - plan_.aggregators.begin());
  done_rounds = std::min(done_rounds, lists_.first_withheld(aggregator_rank, done_rounds));
  const bool single = stream_count(contacts_.mine()) == 1;
  memory_.surely([&] {
    Share share;
    for (int round = done_rounds; round < round_count() && !(single && share.bytes > 0); ++round) {
      share.parts.clear();
      domains_->windows(aggregator, round, share.windows);
      share.collect(contacts_.mine());
      for (const auto& [w, overlap] : share.parts) {
        moved.miss(*overlap.stream, overlap.begin);
      }
    }
  });
}

bool Aggregation::is_parted(const Parted& parted) const {
  const int me = context_.comm.rank();
  const auto is_gone = [me](int rank, const std::set<int>& gone) { return rank == me || gone.contains(rank); };
  const auto is_closed = [&](const NodeDelegates::Served& served) {
    return std::all_of(served.members.begin(), served.members.end(), [&](const NodeDelegates::Member* member) {
      return member->rank == me || parted.carried.contains({contacts_.rank_of(served.aggregator), member->rank});
    });
  };
  const auto met = contacts_.met();
  const auto contributors = contacts_.contributors();
  return std::all_of(met.begin(), met.end(), [&](int a) { return is_gone(contacts_.rank_of(a), parted.aggregators); }) &&
         std::all_of(contributors.begin(), contributors.end(),
                     [&](const Contributor& c) { return is_gone(c.speaker, parted.speakers); }) &&
         std::all_of(delegates_.served().begin(), delegates_.served().end(), is_closed);
}

}  // namespace stria::access
