#include "access/plan/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "access/plan/aggregators.hpp"
#include "access/plan/axes_costs.hpp"
#include "access/plan/server_costs.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

constexpr int64_t kLongPieceBytes = 16 << 10;
// Where the choice is between a request a piece and windows that the node shares (measured:
// docs/hints.md).
constexpr int64_t kLongBesideWindowsBytes = 8 << 10;
constexpr int64_t kLongBesideWindowsOnDiskBytes = 64 << 10;
// Windows are walked one after the other: what spans more than so many times its bytes is better
// found by description.
constexpr int64_t kMostSpanOfWindows = 16;
// Ranks that sieve by themselves read what lies between their pieces, other ranks' bytes too: of
// more than so many times their own bytes, an exchange saves more than it costs.
constexpr int64_t kMostSpanOfSieving = 8;
constexpr int64_t kWorthDirectBytes = 32 << 20;
constexpr int64_t kWorthReservingBytes = 4 << 20;
// A collective buffer that stays in a processor's cache, of one lane or of several, until it is
// written. Lanes of which less than this part is moved have rounds with few bytes, which only cost.
constexpr int64_t kCachedBufferBytes = 1 << 20;
constexpr int64_t kCachedLaneBytes = 128 << 10;
constexpr int64_t kMostSpanOfShortRounds = 4;
// One of two ranks aggregates: more only wait for each other, and so many fill the memory's speed.
// But two do at least: what one aggregator writes alone takes longer than what two pack.
constexpr int kRanksAnAggregator = 2;
constexpr int kLeastAggregatorsOfANode = 2;
constexpr int kMostAggregatorsOfANode = 8;

bool is_sound(const RequestShape& shape) {
  return shape.total_bytes >= 0 && shape.piece_count >= 0 && shape.hull_bytes >= 0 && shape.lane_count >= 0 &&
         shape.server_cost_bytes >= 0 && shape.span_bytes >= 0 && shape.region_bytes >= 0;
}

bool is_sound(const IndependentShape& shape) {
  return shape.bytes >= 0 && shape.piece_count >= 0 && shape.span_bytes >= 0 && shape.list_entries >= 0;
}

bool is_sound(const ThroughAggregators& plan) {
  return !plan.aggregators.empty() && plan.unit_bytes >= 1 && plan.buffer_bytes >= 1 && plan.stripe_count >= 1;
}

// Returns one aggregator a node, or one a stripe where there are more; where stripes are dealt out,
// a number that leaves every aggregator with the stripes of one server, or every server with one
// aggregator.
int default_aggregator_count(const Comm& comm, const storage::Capabilities& capabilities, bool dealt) {
  int stripes = capabilities.stripe_count;
  STRIA_ASSERT(stripes >= 1, stripes);
  int wanted = std::min(std::max(comm.node_count(), stripes), comm.size());
  if (!dealt || wanted % stripes == 0) {
    return wanted;
  }
  if (wanted > stripes) {
    return wanted - wanted % stripes;
  }
  while (stripes % wanted != 0) {
    --wanted;
  }
  return wanted;
}

// Some node has several ranks, and there are others to send to.
bool gathering_pays(const Comm& comm) {
  return comm.node_count() > 1 && comm.node_count() < comm.size();
}

// Tells whether ranks of a node speak through one of them, and why; nothing of one node.
std::string gathering_reason(const ThroughAggregators& plan, const RequestShape& shape, const Comm& comm) {
  if (comm.node_count() == 1) {
    return "";
  }
  if (plan.gather_on_nodes) {
    return "; ranks of a node speak through one of them to each aggregator elsewhere";
  }
  if (shape.described) {
    return "; ranks speak for themselves: every rank knows all requests";
  }
  return std::string("; ranks speak for themselves: ") + (plan.shared_memory ? "one a node" : "hint stria_shared_memory");
}

bool is_dense(const RequestShape& shape) {
  return shape.hull_bytes / kMostSpanOfWindows <= shape.total_bytes;
}

// A request that makes a file grow costs more where that takes blocks of a disk.
bool has_long_pieces(const RequestShape& shape, const storage::Capabilities& capabilities) {
  int64_t long_bytes = kLongPieceBytes;
  if (shape.windows && is_dense(shape)) {
    long_bytes = shape.write && capabilities.reserving_pays ? kLongBesideWindowsOnDiskBytes : kLongBesideWindowsBytes;
  }
  return shape.piece_count == 0 || shape.total_bytes / shape.piece_count >= long_bytes;
}

// Tells whether the ranks have one stretch each, of a length at which nodes hardly disturb each
// other: nothing is interleaved that an exchange could join. Nodes with caches of their own write
// whole pages, which aggregators divide.
bool are_single_stretches(const RequestShape& shape, const storage::Capabilities& capabilities, int rank_count) {
  const int64_t unit = shape.write ? capabilities.lock_unit_bytes : 1;
  return !capabilities.caches_apart && shape.piece_count <= rank_count && shape.total_bytes >= unit * shape.piece_count;
}

// Applies rule 1: what hints decide alone; kAutomatic when they don't.
Method hinted_method(const RequestShape& shape, const ResolvedHints& hints, std::string& reason) {
  Switch collective = shape.write ? hints.collective_write : hints.collective_read;
  if (hints.method != Method::kAutomatic) {
    reason = "hint stria_method";
    return hints.method;
  }
  if (collective != Switch::kAutomatic) {
    reason = shape.write ? "hint romio_cb_write" : "hint romio_cb_read";
    return collective == Switch::kEnable ? Method::kTwoPhase : Method::kListIo;
  }
  return Method::kAutomatic;
}

// What a request costs, in bytes that could be moved meanwhile: a system call on a node's own
// storage, a round trip to a server.
constexpr int64_t kLocalRequestBytes = 4 << 10;
constexpr int64_t kRemoteRequestBytes = 64 << 10;
// Where a list is one request, another piece in it costs what its description and a copy
// of its own do.
constexpr int64_t kListedPieceBytes = 128;
// Where requests are cheap, a longer window only leaves the processor's cache before its pieces
// are picked out.
constexpr int64_t kCachedWindowBytes = 512 << 10;

// An entry of a datatype's list takes as many bytes on the way as so many of a list of pieces.
constexpr int64_t kEntriesOfAPiece = 2;

}  // namespace

bool is_described_shortly(const IndependentShape& shape) {
  return shape.list_entries * kEntriesOfAPiece <= shape.piece_count;
}

int64_t request_cost_bytes(const storage::Capabilities& capabilities) {
  if (!capabilities.node_local_cache) {
    return capabilities.native_list ? kListedPieceBytes : kRemoteRequestBytes;
  }
  return kLocalRequestBytes;
}

namespace {

RegionMethod region_method_of(Method method, const IndependentShape& shape, const storage::Capabilities& capabilities,
                              const ResolvedHints& hints) {
  RegionMethod regions;
  regions.window_bytes = shape.write ? hints.write_window_bytes : hints.read_window_bytes;
  if (!shape.write && capabilities.node_local_cache) {
    regions.window_bytes = std::min(regions.window_bytes, kCachedWindowBytes);
  }
  regions.rule.write = shape.write;
  regions.rule.request_bytes = request_cost_bytes(capabilities);
  switch (method) {
    case Method::kMultiple:
      regions.rule.kind = JoinRule::Kind::kNever;
      break;
    case Method::kDataSieving:
      regions.rule.kind = JoinRule::Kind::kAlways;
      break;
    case Method::kHybrid:
      regions.rule.kind = JoinRule::Kind::kCheap;
      break;
    default:
      regions.rule.kind = JoinRule::Kind::kTouching;
  }
  regions.one_request_per_region = method == Method::kMultiple || method == Method::kDataSieving;
  return regions;
}

Method choose_independent(const IndependentShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints,
                          bool may_sieve_writes, std::string& reason) {
  if (hints.method == Method::kDatatypeIo && !capabilities.native_types) {
    reason = "hint stria_method, but the storage takes no datatypes";
    return Method::kListIo;
  }
  const bool described_shortly = capabilities.native_types && is_described_shortly(shape);
  if (hints.method == Method::kHybrid && described_shortly && shape.span_bytes != shape.bytes) {
    reason = "hint stria_method, and the storage takes datatypes";
    return Method::kDatatypeIo;
  }
  if (hints.method != Method::kAutomatic && hints.method != Method::kTwoPhase) {
    reason = "hint stria_method";
    return hints.method;
  }
  Switch sieve = shape.write ? hints.sieve_writes : hints.sieve_reads;
  if (shape.span_bytes == shape.bytes) {
    reason = "contiguous";
    return Method::kListIo;
  }
  if (sieve != Switch::kAutomatic) {
    reason = shape.write ? "hint romio_ds_write" : "hint romio_ds_read";
    return sieve == Switch::kEnable ? Method::kHybrid : Method::kListIo;
  }
  if (described_shortly) {
    reason = "the storage takes datatypes";
    return Method::kDatatypeIo;
  }
  if (capabilities.native_list) {
    reason = "the storage takes lists";
    return Method::kListIo;
  }
  if (shape.write && !may_sieve_writes) {
    reason = "nothing would keep other writers out of a sieved window";
    return Method::kListIo;
  }
  reason = fmt::format("pieces of {} bytes on average, {} % of what they span",
                       shape.bytes / std::max<int64_t>(shape.piece_count, 1),
                       static_cast<int>(100.0 * static_cast<double>(shape.bytes) / static_cast<double>(shape.span_bytes)));
  return Method::kHybrid;
}

}  // namespace

IndependentPlan plan_independent(const IndependentShape& shape, const storage::Capabilities& capabilities,
                                 const ResolvedHints& hints, bool may_sieve_writes) {
  STRIA_ASSERT(is_sound(shape), shape.bytes, shape.piece_count, shape.span_bytes, shape.list_entries);
  IndependentPlan plan;
  plan.method = choose_independent(shape, capabilities, hints, may_sieve_writes, plan.reason);
  plan.regions = region_method_of(plan.method, shape, capabilities, hints);
  STRIA_ASSERT(plan.regions.window_bytes >= 1 && plan.regions.rule.request_bytes >= 0, plan.regions.window_bytes);
  return plan;
}

bool sieves_reads(const IndependentShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints) {
  // A longer piece is sooner read by a request of its own, straight to its place, than copied.
  const bool are_short = shape.piece_count > 0 && shape.bytes / shape.piece_count < request_cost_bytes(capabilities);
  return !shape.write && are_short && capabilities.node_local_cache &&
         plan_independent(shape, capabilities, hints, false).method == Method::kHybrid;
}

storage::Striping striping_of(const ResolvedHints& hints) {
  return {hints.striping_unit_bytes, hints.striping_factor, hints.first_server};
}

storage::Capabilities with_hints(storage::Capabilities capabilities, const ResolvedHints& hints) {
  if (!capabilities.striped_as_told) {
    capabilities.stripe_bytes = hints.striping_unit_bytes > 0 ? hints.striping_unit_bytes : capabilities.stripe_bytes;
    capabilities.stripe_count = hints.striping_factor > 0 ? hints.striping_factor : capabilities.stripe_count;
  }
  if (hints.mimic_stripe_count > 0) {
    capabilities.stripe_count = hints.mimic_stripe_count;
    capabilities.stripe_bytes = hints.mimic_stripe_bytes;
    capabilities.lock_unit_bytes = hints.mimic_stripe_bytes;
  }
  capabilities.stripe_bytes = std::max<int64_t>(capabilities.stripe_bytes, 0);
  capabilities.stripe_count = std::max(capabilities.stripe_count, 1);
  return capabilities;
}

namespace {

// Tells whether windows serve: on one node whose ranks share memory, where nobody has asked for
// aggregators.
bool windows_serve(const RequestShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints,
                   const ThroughAggregators& through, const Comm& comm) {
  return shape.windows && is_dense(shape) && comm.node_count() == 1 && capabilities.node_local_cache && through.shared_memory &&
         through.stripe_count == 1 && hints.aggregator_count == 0 && hints.aggregator_places.empty();
}

// Servers take a rank's batches in as few requests as those of an aggregator of its node, without a
// copy, fresh buffers or a wait between them.
bool lists_serve(const RequestShape& shape, const storage::Capabilities& capabilities, const Comm& comm) {
  return shape.in_lockstep && !capabilities.node_local_cache && capabilities.native_list && comm.node_count() == 1 &&
         shape.total_bytes >= kListedPieceBytes * shape.piece_count;
}

// What lies between a rank's own pieces is little more than they are, or no other rank's, so that
// each byte is read once at most.
bool sieving_serves(const RequestShape& shape, const ResolvedHints& hints) {
  const bool close = shape.span_bytes / kMostSpanOfSieving <= shape.total_bytes;
  return !shape.write && shape.span_bytes > 0 && (close || shape.span_bytes <= shape.region_bytes) &&
         hints.sieve_reads != Switch::kDisable;
}

// Applies rules 2 to 10.
Method choose_collective(const RequestShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints,
                         const Comm& comm, std::string& reason) {
  if (comm.size() == 1) {
    reason = "one rank";
    return Method::kListIo;
  }
  // What several nodes reach without a server between them are containers on one machine.
  const bool local = capabilities.node_local_cache;
  if (local && shape.apart && !is_dense(shape)) {
    reason = "each rank has a region of its own, far from the others";
    return Method::kListIo;
  }
  if (lists_serve(shape, capabilities, comm)) {
    reason = "servers take lists of the one node's pieces";
    return Method::kListIo;
  }
  if (is_cheap_for_servers(shape, comm.node_count() == 1)) {
    reason = "servers look at each rank's pieces for less than an exchange costs";
    return Method::kListIo;
  }
  if (local && sieving_serves(shape, hints)) {
    reason = "each rank reads what lies between its pieces";
    return Method::kListIo;
  }
  if (!has_long_pieces(shape, capabilities)) {
    reason = "pieces are short";
    return Method::kTwoPhase;
  }
  if (local) {
    reason = "storage of the node's own takes long pieces as they are";
    return Method::kListIo;
  }
  const bool one_stretch = are_single_stretches(shape, capabilities, comm.size());
  reason = one_stretch ? "each rank has one long stretch" : "several nodes share the file";
  return one_stretch ? Method::kListIo : Method::kTwoPhase;
}

}  // namespace

bool goes_at_once(const RequestShape& own, const storage::Capabilities& of_storage, const ResolvedHints& hints) {
  const storage::Capabilities capabilities = with_hints(of_storage, hints);
  std::string reason;
  const Method hinted = hinted_method(own, hints, reason);
  if (own.total_bytes == 0 || hinted != Method::kAutomatic) {
    return own.total_bytes > 0 && hinted != Method::kTwoPhase;
  }
  if (!own.windows) {
    return own.apart && (capabilities.node_local_cache ||
                         (has_long_pieces(own, capabilities) && are_single_stretches(own, capabilities, 1)));
  }
  if (!capabilities.node_local_cache) {
    return own.write && is_cheap_for_servers(own, true);
  }
  return own.apart || has_long_pieces(own, capabilities);
}

bool reads_at_once(const RequestShape& own, const storage::Capabilities& of_storage, const ResolvedHints& hints) {
  const storage::Capabilities capabilities = with_hints(of_storage, hints);
  std::string reason;
  return own.total_bytes > 0 && capabilities.node_local_cache && hinted_method(own, hints, reason) == Method::kAutomatic &&
         (sieving_serves(own, hints) || has_long_pieces(own, capabilities));
}

ThroughAggregators plan_aggregators(const storage::Capabilities& of_storage, const ResolvedHints& hints, const Comm& comm) {
  const storage::Capabilities capabilities = with_hints(of_storage, hints);
  ThroughAggregators plan;
  using Domains = ResolvedHints::Domains;
  bool striped = capabilities.stripe_bytes > 0 && capabilities.stripe_count > 1;
  bool dealt = striped && (hints.domains == Domains::kAutomatic || hints.domains == Domains::kStriped);
  plan.aggregators = choose_aggregators(comm, hints, default_aggregator_count(comm, capabilities, dealt), dealt);
  plan.stripe_count = dealt ? capabilities.stripe_count : 1;
  if (dealt) {
    plan.unit_bytes = capabilities.stripe_bytes;
  } else if (hints.domains == Domains::kEven) {
    plan.unit_bytes = 1;
  } else {
    plan.unit_bytes = std::max<int64_t>({capabilities.stripe_bytes, capabilities.block_bytes, capabilities.lock_unit_bytes, 1});
  }
  if (hints.collective_buffer_bytes > 0) {
    plan.buffer_bytes = hints.collective_buffer_bytes;
  }
  plan.shared_memory = hints.shared_memory != Switch::kDisable;
  plan.gather_on_nodes = plan.shared_memory && gathering_pays(comm);
  STRIA_ASSERT(is_sound(plan), plan.aggregators.size(), plan.unit_bytes, plan.buffer_bytes, plan.stripe_count);
  return plan;
}

StorageUse plan_storage(const RequestShape& shape, const storage::Capabilities& of_storage, const ResolvedHints& hints) {
  const storage::Capabilities capabilities = with_hints(of_storage, hints);
  const bool can_direct = shape.write && capabilities.direct_align_bytes > 0 && hints.direct != Switch::kDisable;
  const bool wants_direct = hints.direct == Switch::kEnable || (shape.durable && shape.total_bytes >= kWorthDirectBytes);
  StorageUse use;
  use.direct = can_direct && wants_direct;
  use.reserve = shape.write && (use.direct || (capabilities.reserving_pays && shape.total_bytes >= kWorthReservingBytes));
  return use;
}

namespace {

// Where all ranks reach the storage through one page cache, a round costs little more than its
// bytes. What is written past that cache leaves the processor's cache anyway, and long requests
// suit the device.
bool short_rounds_pay(const RequestShape& shape, const storage::Capabilities& capabilities, const ResolvedHints& hints,
                      const Comm& comm) {
  return capabilities.node_local_cache && capabilities.stripe_count == 1 && comm.node_count() == 1 &&
         hints.shared_memory != Switch::kDisable && shape.hull_bytes / kMostSpanOfShortRounds <= shape.total_bytes &&
         !plan_storage(shape, capabilities, hints).direct;
}

// Buffers that stay in the cache, and several aggregators that fill and write them.
void shorten_rounds(ThroughAggregators& through, const RequestShape& shape, const ResolvedHints& hints, const Comm& comm) {
  const int count = (comm.size() + kRanksAnAggregator - 1) / kRanksAnAggregator;
  through.aggregators =
      choose_aggregators(comm, hints, std::clamp(count, kLeastAggregatorsOfANode, kMostAggregatorsOfANode), false);
  if (hints.collective_buffer_bytes == 0) {
    const int64_t bytes = std::max(kCachedBufferBytes, shape.lane_count * kCachedLaneBytes);
    through.buffer_bytes = std::min(through.buffer_bytes, bytes);
  }
}

// Tells whether a grid of nodes can pay at all: only then do the ranks find out of each other
// whether it does. Where stripes are dealt out, aggregators that follow each other have no stretch
// of the file.
Switch axes_of(const ThroughAggregators& through, const RequestShape& shape, const ResolvedHints& hints, const Comm& comm) {
  if (through.stripe_count > 1 || hints.axes != Switch::kAutomatic) {
    return through.stripe_count > 1 ? Switch::kDisable : hints.axes;
  }
  const AxesShape most = most_scattered(shape.write, comm.size(), comm.node_count(),
                                        static_cast<int64_t>(through.aggregators.size()), shape.total_bytes);
  return !shape.described && rows_that_pay(most) > 0 ? Switch::kAutomatic : Switch::kDisable;
}

}  // namespace

int64_t usual_buffer_bytes(const storage::Capabilities& of_storage, const ResolvedHints& hints, const Comm& comm) {
  ThroughAggregators through = plan_aggregators(of_storage, hints, comm);
  const RequestShape dense{};
  if (short_rounds_pay(dense, with_hints(of_storage, hints), hints, comm)) {
    shorten_rounds(through, dense, hints, comm);
  }
  return through.buffer_bytes;
}

Plan make_plan(const RequestShape& shape, const storage::Capabilities& of_storage, const ResolvedHints& hints,
               const Comm& comm) {
  STRIA_ASSERT(is_sound(shape), shape.total_bytes, shape.piece_count, shape.hull_bytes, shape.lane_count);
  const storage::Capabilities capabilities = with_hints(of_storage, hints);
  Plan plan;
  Method method = hinted_method(shape, hints, plan.reason);
  if (method == Method::kAutomatic) {
    method = choose_collective(shape, capabilities, hints, comm, plan.reason);
  }
  if (method != Method::kTwoPhase) {
    plan.way = Alone{.method = method, .in_batches = shape.in_lockstep && method == Method::kListIo};
    return plan;
  }
  ThroughAggregators through = plan_aggregators(of_storage, hints, comm);
  through.gather_on_nodes = through.gather_on_nodes && !shape.described;
  plan.reason += gathering_reason(through, shape, comm);
  if (windows_serve(shape, capabilities, hints, through, comm)) {
    plan.way = ThroughWindows();
    return plan;
  }
  if (short_rounds_pay(shape, capabilities, hints, comm)) {
    shorten_rounds(through, shape, hints, comm);
  }
  through.axes = axes_of(through, shape, hints, comm);
  STRIA_ASSERT(is_sound(through), through.aggregators.size(), through.unit_bytes, through.buffer_bytes, through.stripe_count);
  plan.way = std::move(through);
  return plan;
}

}  // namespace stria::access
