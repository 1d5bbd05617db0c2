#include "store/moves/part_mover.hpp"

#include <algorithm>
#include <thread>

#include "storage/striped/call.hpp"
#include "wire/region.hpp"
#include "wire/tree.hpp"
#include "wire/trust/ticket.hpp"

namespace stria::tool {

namespace {

using wire::MoveStep;

constexpr int64_t kCopyBytes = int64_t{4} << 20;  // at once
// What clients wait for at the end is at most this, unless they change more each time.
constexpr int64_t kLittleBytes = int64_t{8} << 20;
constexpr int kMostPasses = 12;
constexpr int kMostHolds = 20;
constexpr std::chrono::milliseconds kBetweenHolds{100};
// A move that others have ended is begun anew so often at most, and as long as a client waits for a
// server where nothing was copied meanwhile.
constexpr int kMostAttempts = 20;
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr std::chrono::milliseconds kLongestPause{1000};
constexpr std::chrono::seconds kMostHaste{1};

/// Takes a reply's data, of which there may be fewer than asked for.
class PartSink : public storage::ReplySink {
 public:
  PartSink(ByteRange range, std::byte* data) : range_(range), data_(data) {}
  Result<std::span<const iovec>> places(std::span<const std::byte> reply) override {
    STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(reply));
    bytes = std::clamp<int64_t>(extent.local_bytes - range_.begin, 0, range_.size());
    place_ = {data_, static_cast<size_t>(bytes)};
    return bytes == 0 ? std::span<const iovec>() : std::span<const iovec>(&place_, 1);
  }
  int64_t bytes = 0;

 private:
  ByteRange range_;
  std::byte* data_;
  iovec place_{};
};

uint64_t part_at(uint64_t file, const wire::ServerPlace& server) {
  return wire::part_number(file, server.second);
}

/// Returns a request for a range of the slot's own bytes, which is not empty.
std::vector<std::byte> transfer_of(const wire::MoveBegun& move, uint64_t part, ByteRange range) {
  std::vector<std::byte> body;
  wire::Writer writer(body);
  wire::Transfer{part, move.ticket, move.layout, move.slot}.put(writer);
  const int64_t begin = move.layout.place_of(move.slot, range.begin);
  wire::encode_range(writer, {begin, move.layout.place_of(move.slot, range.end - 1) + 1});
  return body;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte value) { return value == std::byte{0}; });
}

}  // namespace

void Throttle::moved(int64_t bytes) {
  bytes_ += bytes;
  if (bytes_per_second_ > 0) {
    const std::chrono::duration<double> due(static_cast<double>(bytes_) / static_cast<double>(bytes_per_second_));
    const auto until = begin_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(due);
    begin_ += std::max(std::chrono::steady_clock::now() - kMostHaste - until, std::chrono::steady_clock::duration(0));
    std::this_thread::sleep_until(until);
  }
}

Result<std::vector<std::byte>> PartMover::ask_server(const wire::ServerPlace& server, wire::Kind kind,
                                                     std::vector<std::byte> body) {
  STRIA_ASSIGN_OR_RETURN(storage::Store::Borrowed link, storage::Store::borrow(store_, server.address));
  storage::Call call;
  call.link = link.link();
  call.kind = kind;
  call.body = std::move(body);
  STRIA_RETURN_IF_ERROR(storage::run_calls({&call, 1}));
  return std::move(call.reply);
}

Result<wire::PartMoved> PartMover::step(const wire::MoveBegun& move, MoveStep step, uint64_t since, int64_t modified_ns) {
  const bool at_target = step == MoveStep::kReceive || step == MoveStep::kOpen;
  const wire::ServerPlace& server = at_target ? move.to : move.from;
  const wire::MovePart request{part_at(file_, server), move.ticket, step, since, modified_ns};
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_server(server, wire::Kind::kMovePart, wire::encode(request)));
  return wire::decode<wire::PartMoved>(reply);
}

Status PartMover::read(const wire::MoveBegun& move, ByteRange range, int64_t& bytes) {
  STRIA_ASSIGN_OR_RETURN(storage::Store::Borrowed link, storage::Store::borrow(store_, move.from.address));
  PartSink sink(range, buffer_.data());
  storage::Call call;
  call.link = link.link();
  call.kind = wire::Kind::kRead;
  call.body = transfer_of(move, part_at(file_, move.from), range);
  call.sink = &sink;
  STRIA_RETURN_IF_ERROR(storage::run_calls({&call, 1}));
  bytes = sink.bytes;
  return {};
}

Status PartMover::write(const wire::MoveBegun& move, ByteRange range) {
  STRIA_ASSIGN_OR_RETURN(storage::Store::Borrowed link, storage::Store::borrow(store_, move.to.address));
  const iovec data{buffer_.data(), static_cast<size_t>(range.size())};
  storage::Call call;
  call.link = link.link();
  call.kind = wire::Kind::kWrite;
  call.body = transfer_of(move, part_at(file_, move.to), range);
  call.data = {&data, 1};
  STRIA_RETURN_IF_ERROR(storage::run_calls({&call, 1}));
  copied_end_ = std::max(copied_end_, range.end);
  return {};
}

Status PartMover::resize(const wire::MoveBegun& move, int64_t bytes) {
  const wire::LocalFile request{part_at(file_, move.to), move.ticket, bytes};
  return ask_server(move.to, wire::Kind::kResize, wire::encode(request)).status();
}

Result<int64_t> PartMover::allocated_bytes(const wire::MoveBegun& move, const wire::ServerPlace& server) {
  const wire::ExtentsOf question{{{part_at(file_, server), move.ticket}}};
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_server(server, wire::Kind::kExtents, wire::encode(question)));
  STRIA_ASSIGN_OR_RETURN(const auto told, wire::decode<wire::Extents>(reply));
  const bool known = told.entries.size() == 1 && told.entries[0].error == ErrorCode::kOk;
  return known ? told.entries[0].allocated_bytes : 0;
}

/// A part without holes has none afterwards: a client that has preallocated it relies on its space.
Status PartMover::reserve(const wire::MoveBegun& move, int64_t bytes) {
  const auto there = allocated_bytes(move, move.from);
  const auto here = allocated_bytes(move, move.to);
  if (!there.ok() || !here.ok() || *there < bytes || *here >= bytes) {
    return {};  // a server of an earlier version doesn't say
  }
  const wire::LocalFile request{part_at(file_, move.to), move.ticket, bytes};
  const Status reserved = ask_server(move.to, wire::Kind::kReserve, wire::encode(request)).status();
  return reserved.code() == ErrorCode::kNoSpace ? reserved : Status();
}

/// `skips_zeros`: the target has nothing of it yet.
Status PartMover::copy(const wire::MoveBegun& move, ByteRange range, bool skips_zeros) {
  buffer_.resize(static_cast<size_t>(kCopyBytes));
  for (int64_t begin = range.begin; begin < range.end; begin += kCopyBytes) {
    const ByteRange wanted{begin, std::min(range.end, begin + kCopyBytes)};
    int64_t bytes = 0;
    STRIA_RETURN_IF_ERROR(read(move, wanted, bytes));
    if (bytes > 0 && !(skips_zeros && all_zero({buffer_.data(), static_cast<size_t>(bytes)}))) {
      STRIA_RETURN_IF_ERROR(write(move, {begin, begin + bytes}));
    }
    copied_bytes_ += bytes;
    moved_(bytes);
    throttle_.moved(bytes);
    if (bytes < wanted.size()) {
      return {};  // it was cut meanwhile, of which its server tells
    }
  }
  return {};
}

/// The target is to have nothing beyond the part's end. Where a client has cut the part and writes
/// behind the cut later, the server tells of what was written alone, and what lies between is zero.
Status PartMover::cut(const wire::MoveBegun& move, int64_t end) {
  if (copied_end_ > end) {
    STRIA_RETURN_IF_ERROR(resize(move, end));
    copied_end_ = end;
  }
  return {};
}

Status PartMover::copy_changed(const wire::MoveBegun& move, const wire::PartMoved& changed) {
  STRIA_RETURN_IF_ERROR(cut(move, changed.extent.local_bytes));
  for (const ByteRange& range : changed.changed) {
    const ByteRange present = intersect(range, {0, changed.extent.local_bytes});
    STRIA_RETURN_IF_ERROR(present.empty() ? Status() : copy(move, present, false));
  }
  return {};
}

/// Clients that hold locks, or are in the midst of a request, come first.
Status PartMover::hold(const wire::MoveBegun& move, uint64_t since, wire::PartMoved& last) {
  for (int attempt = 1;; ++attempt) {
    auto held = step(move, MoveStep::kHold, since);
    if (held.ok()) {
      last = std::move(*held);
      return {};
    }
    if (held.status().code() != ErrorCode::kAborted || wire::is_move_over(held.status()) || attempt == kMostHolds) {
      return held.status();
    }
    std::this_thread::sleep_for(kBetweenHolds);
  }
}

/// Afterwards the part is held, and `last` says how it is.
Status PartMover::copy_part(const wire::MoveBegun& move, wire::PartMoved& last) {
  STRIA_RETURN_IF_ERROR(step(move, MoveStep::kReceive, 0).status());
  copied_end_ = 0;
  STRIA_ASSIGN_OR_RETURN(wire::PartMoved now, step(move, MoveStep::kFollow, 0));
  STRIA_RETURN_IF_ERROR(copy(move, {0, now.extent.local_bytes}, true));
  const auto bytes_of = [](const wire::PartMoved& changed) {
    int64_t bytes = 0;
    for (const ByteRange& range : changed.changed) {
      bytes += intersect(range, {0, changed.extent.local_bytes}).size();
    }
    return bytes;
  };
  for (int pass = 0; pass < kMostPasses; ++pass) {
    STRIA_ASSIGN_OR_RETURN(now, step(move, MoveStep::kFollow, now.changes));
    STRIA_RETURN_IF_ERROR(copy_changed(move, now));
    if (bytes_of(now) < kLittleBytes) {
      break;
    }
  }
  STRIA_RETURN_IF_ERROR(hold(move, now.changes, last));
  const Status outcome = finish(move, last);
  if (!outcome.ok()) {
    static_cast<void>(step(move, MoveStep::kRelease, 0));
  }
  return outcome;
}

/// Clients wait meanwhile.
Status PartMover::finish(const wire::MoveBegun& move, const wire::PartMoved& last) {
  STRIA_RETURN_IF_ERROR(copy_changed(move, last));
  if (last.extent.local_bytes != copied_end_) {
    STRIA_RETURN_IF_ERROR(resize(move, last.extent.local_bytes));
  }
  STRIA_RETURN_IF_ERROR(reserve(move, last.extent.local_bytes));
  const auto part = wire::encode(wire::LocalFile{part_at(file_, move.to), move.ticket, 0});
  STRIA_RETURN_IF_ERROR(ask_server(move.to, wire::Kind::kSync, part).status());
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_server(move.to, wire::Kind::kExtent, part));
  STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(reply));
  if (extent.local_bytes != last.extent.local_bytes) {
    return Status(ErrorCode::kIo, "server " + move.to.address + " hasn't got the whole part");
  }
  return {};
}

PartMover::Attempt PartMover::move_once(const wire::MoveBegin& request) {
  const auto reply = store_->ask_manager(wire::Kind::kMoveBegin, wire::encode(request));
  const auto move = reply.ok() ? wire::decode<wire::MoveBegun>(*reply) : Result<wire::MoveBegun>(reply.status());
  if (!move.ok()) {
    return {move.status()};
  }
  // The server knows of no such move, or the ticket is another manager's.
  const auto was_ended = [](const Status& outcome) {
    return outcome.code() == ErrorCode::kNotFound || wire::is_move_over(outcome) || wire::is_foreign_ticket(outcome);
  };
  const auto this_move = wire::encode(wire::MoveOf{file_, move->ticket});
  wire::PartMoved last;
  const Status copied = copy_part(*move, last);
  if (!copied.ok()) {
    static_cast<void>(store_->ask_manager(wire::Kind::kMoveAbort, this_move));
    return {copied, was_ended(copied)};
  }
  // Where no answer comes nobody but the manager knows where the part is: its servers ask.
  const Status committed = store_->ask_manager(wire::Kind::kMoveCommit, this_move).status();
  if (!committed.ok()) {
    return {committed, was_ended(committed)};
  }
  const auto synced = store_->ask_manager(wire::Kind::kSyncNames, wire::encode(wire::Path{"/"}));
  // The servers hear of it by themselves, too; this spares clients a second.
  static_cast<void>(step(*move, MoveStep::kOpen, 0, last.extent.modified_ns));
  static_cast<void>(step(*move, MoveStep::kGone, 0));
  return {synced.status()};
}

Status PartMover::move(const wire::MoveBegin& request) {
  file_ = request.file;
  auto deadline = storage::Clock::time_point();
  auto pause = kFirstPause;
  bool was_ended = false;
  for (int attempt = 1;; ++attempt) {
    const int64_t before = copied_bytes_;
    const Attempt done = move_once(request);
    const auto now = storage::Clock::now();
    if (copied_bytes_ > before || !was_ended) {
      deadline = now + storage::server_patience();
      pause = kFirstPause;
    }
    // Afterwards the target has something to remove first, or a server hasn't heard of the manager.
    was_ended = done.was_ended || (was_ended && done.outcome.code() == ErrorCode::kAborted);
    if (!was_ended) {
      return done.outcome;
    }
    if (attempt == kMostAttempts || now > deadline) {
      return Status(ErrorCode::kAborted, "its move was interrupted again and again: " + done.outcome.message());
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace stria::tool
