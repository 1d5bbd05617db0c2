#include "access/together/axes/by_axes.hpp"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "access/failure/moved_prefix.hpp"
#include "access/together/axes/hop.hpp"
#include "access/together/axes/own_parcels.hpp"
#include "access/together/axes/relayed.hpp"
#include "access/together/exchange/aggregator_buffers.hpp"
#include "access/together/two_phase/two_phase.hpp"
#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

constexpr size_t kHopReserveBytes = 256 << 10;

/// One rank's side of an operation. A step that fails lets the rank go on with nothing to send, up
/// to the next agreement.
class MoveByAxes {
 public:
  MoveByAxes(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, Endpoint endpoint, const ByAxes& by)
      : context_(context), plan_(plan), lanes_(lanes), endpoint_(endpoint), by_(by) {}

  Moved run() {
    attempt([&] {
      grid_.emplace(context_.comm, plan_, by_.rows);
      const int64_t buffer_bytes = std::max<int64_t>(plan_.buffer_bytes / AggregatorBuffers::kTwins, 1);
      const FileDomains domains(lanes_, static_cast<int>(plan_.aggregators.size()), buffer_bytes, plan_.unit_bytes);
      own_.emplace(lanes_, domains, *grid_);
      relayed_.emplace(lanes_);
      of_relays_.emplace(plan_).gather_on_nodes = false;  // what a node relays lies at few ranks
      memory_.set_aside(kHopReserveBytes);
      return Status();
    });
    // A rank without a grid wouldn't know who waits for its messages.
    status_ = context_.comm.agree(status_);
    if (!status_.ok()) {
      return {.status = status_};
    }
    attempt([&] { return write_parcels(); });
    along_node_and_row();
    status_ = context_.comm.agree(status_);
    if (!status_.ok()) {
      return {.status = status_};
    }
    status_ = along_column();
    if (!status_.ok() || endpoint_.writes()) {
      return {.status = status_, .bytes = status_.ok() ? total_bytes(lanes_) : 0};
    }
    back_along_row_and_node();
    status_ = context_.comm.agree(status_);
    return {.status = status_, .bytes = status_.ok() ? taken_.bytes(lanes_) : 0};
  }

 private:
  template <typename Work>
  void attempt(Work&& work) {
    if (status_.ok()) {
      status_ = or_out_of_memory(work);
    }
  }

  int ranks() const { return context_.comm.size(); }

  // Writes each column's parcel, for the rank of this node that speaks to the column. All of them
  // are packed in one call.
  Status write_parcels() {
    struct Hole {
      const OwnParcel* parcel;
      int speaker;
      size_t at;
    };
    std::vector<Hole> holes;
    for (const auto& [column, parcel] : own_->by_column()) {
      const ParcelHeader header{.origin = context_.comm.rank(),
                                .column = column,
                                .description_bytes = static_cast<int64_t>(parcel.description.size()),
                                .payload_bytes = endpoint_.writes() ? parcel.bytes : 0};
      const int speaker = grid_->speaker(column);
      holes.push_back({&parcel, speaker, append_parcel(header, parcel.description, outbox_[speaker])});
    }
    if (!endpoint_.writes()) {
      return {};
    }
    const PhaseTimer timer(context_.times, Phase::kPack);
    std::vector<StreamPart> parts;
    for (const Hole& hole : holes) {
      std::byte* at = outbox_[hole.speaker].data() + hole.at;
      for (const Overlap& overlap : hole.parcel->overlaps) {
        parts.push_back({.stream_id = overlap.stream->stream_id, .begin = overlap.begin, .end = overlap.end, .packed = at});
        at += overlap.end - overlap.begin;
      }
      STRIA_CHECK(at - outbox_[hole.speaker].data() == static_cast<std::ptrdiff_t>(hole.at) + hole.parcel->bytes, hole.at,
                  hole.parcel->bytes, hole.speaker);
    }
    if (!parts.empty()) {
      endpoint_.source().pack(parts);
    }
    return {};
  }

  // Sends what is in the outbox, unless something has failed; `arrived_` becomes what came.
  void travel_along(const Hop& hop) {
    if (!status_.ok()) {
      outbox_.clear();
    }
    travel(context_.comm, memory_, hop, outbox_, arrived_);
    status_ = status_.ok() ? memory_.status() : status_;
  }

  // A rank sends to the speakers of its node, or they to it.
  Hop on_node(bool there) const {
    const std::span<const int> all = grid_->is_speaker() ? grid_->node_ranks() : std::span<const int>();
    return there ? Hop{grid_->speakers(), all} : Hop{all, grid_->speakers()};
  }
  Hop on_row(bool there) const { return there ? Hop{grid_->relays(), grid_->row()} : Hop{grid_->row(), grid_->relays()}; }

  template <typename Next>
  void pass_on_to(Next&& next) {
    attempt([&] { return pass_on(arrived_, ranks(), grid_->column_count(), outbox_, next); });
  }

  void along_node_and_row() {
    const PhaseTimer timer(context_.times, Phase::kExchange);
    const auto relay = [&](const ParcelHeader& header) { return grid_->relay(static_cast<int>(header.column)); };
    travel_along(on_node(true));
    pass_on_to(relay);
    travel_along(on_row(true));
    attempt([&] { return relayed_->take(arrived_, ranks(), grid_->column_count(), endpoint_.writes()); });
  }

  Status along_column() {
    if (!endpoint_.writes()) {
      return context_.comm.agree(
          read_two_phase(context_, *of_relays_, relayed_->lanes(), *relayed_, {.kept = by_.kept}).status);
    }
    if (by_.direct_file != nullptr) {
      return context_.comm.agree(
          write_two_phase(context_, *of_relays_, relayed_->lanes(), *relayed_, {.direct_file = by_.direct_file}));
    }
    return write_two_phase_agreed(context_, *of_relays_, relayed_->lanes(), *relayed_, {.kept = by_.kept}).status;
  }

  void back_along_row_and_node() {
    {
      const PhaseTimer timer(context_.times, Phase::kExchange);
      attempt([&] {
        arrived_.clear();
        relayed_->answer(outbox_);
        return Status();
      });
      travel_along(on_row(false));
      pass_on_to([](const ParcelHeader& header) { return static_cast<int>(header.origin); });
      travel_along(on_node(false));
    }
    attempt([&] { return unpack(); });
  }

  // What the file has no more is not unpacked.
  Status unpack() {
    const PhaseTimer timer(context_.times, Phase::kUnpack);
    std::vector<StreamPart> parts;
    size_t answers = 0;
    for (auto& [from, message] : arrived_) {
      STRIA_ASSIGN_OR_RETURN(const std::vector<Parcel> parcels, parcels_of(message, ranks(), grid_->column_count()));
      for (const Parcel& parcel : parcels) {
        const auto own = own_->by_column().find(static_cast<int>(parcel.header.column));
        if (own == own_->by_column().end() || parcel.header.payload_bytes != own->second.bytes ||
            parcel.description.size() != own->second.overlaps.size() * sizeof(int64_t)) {
          return {ErrorCode::kFormat, "a parcel between ranks answers another question"};
        }
        list_parts(own->second, parcel, parts);
        ++answers;
      }
    }
    if (answers != own_->by_column().size()) {
      return {ErrorCode::kAborted, "another rank could not answer"};
    }
    if (!parts.empty()) {
      endpoint_.sink().unpack(parts);
    }
    return {};
  }

  void list_parts(const OwnParcel& own, const Parcel& parcel, std::vector<StreamPart>& parts) {
    std::byte* at = parcel.payload.data();
    for (size_t i = 0; i < own.overlaps.size(); ++i) {
      const Overlap& overlap = own.overlaps[i];
      int64_t got = 0;
      std::memcpy(&got, parcel.description.data() + i * sizeof got, sizeof got);
      STRIA_CHECK(0 <= got && got <= overlap.end - overlap.begin, got, overlap.begin, overlap.end, parcel.header.column);
      const int64_t end = std::min(overlap.end, overlap.begin + got);
      if (overlap.begin < end) {
        parts.push_back({.stream_id = overlap.stream->stream_id, .begin = overlap.begin, .end = end, .packed = at});
      }
      if (end < overlap.end) {
        taken_.miss(*overlap.stream, end);
      }
      at += overlap.end - overlap.begin;
    }
    STRIA_CHECK(at - parcel.payload.data() == static_cast<std::ptrdiff_t>(parcel.payload.size()), parcel.payload.size());
  }

  Context& context_;
  const ThroughAggregators& plan_;
  std::span<const Lane> lanes_;
  Endpoint endpoint_;
  const ByAxes& by_;
  MemoryReserve memory_;
  Status status_;
  std::optional<ThroughAggregators> of_relays_;
  std::optional<AxesGrid> grid_;
  std::optional<OwnParcels> own_;
  std::optional<Relayed> relayed_;
  Outbox outbox_;
  Comm::Messages arrived_;  // what relays write lies here
  MovedPrefix taken_;
};

}  // namespace

Moved move_by_axes(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, Endpoint endpoint,
                   const ByAxes& by) {
  return MoveByAxes(context, plan, lanes, endpoint, by).run();
}

}  // namespace stria::access
