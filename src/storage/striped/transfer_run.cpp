#include "storage/striped/transfer_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "datatype/cursor.hpp"
#include "storage/messages.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

namespace {

// A request describes at most this many pieces of memory at once.
constexpr size_t kMostPieces = 1 << 20;
constexpr int64_t kWindowPieces = 1 << 18;

/// Returns how many ranges a request lists. STRIA_LIST_RANGES makes it fewer, such as the 64 of
/// Ching 2002.
int64_t most_ranges() {
  static const int64_t most = [] {
    const char* text = std::getenv("STRIA_LIST_RANGES");
    const int64_t asked = text == nullptr ? 0 : std::atoll(text);
    return asked > 0 ? std::min<int64_t>(asked, wire::kMaxListRanges) : int64_t{wire::kMaxListRanges};
  }();
  return most;
}

}  // namespace

struct TransferRun::Slot : ReplySink {
  /// A stretch of a read within a stripe.
  struct Piece {
    int64_t local = 0;  // where it is among the slot's bytes
    std::byte* data = nullptr;
    int64_t bytes = 0;
  };

  TransferRun* run = nullptr;
  int64_t number = 0;
  std::vector<ByteRange> ranges;  // the ranges of the file
  std::vector<iovec> memory;      // the memory of the slot's bytes of those ranges, in order
  int64_t file_end = 0;           // where the last of those bytes ends in the file
  int64_t local_bytes = 0;        // reads: the end of the slot's bytes
  std::vector<Piece> pieces;      // reads: only if a slot has fewer bytes than asked for
  std::vector<iovec> existing;    // reads: what the slot has of them

  int64_t memory_bytes() const {
    int64_t bytes = 0;
    for (const iovec& piece : memory) {
      bytes += static_cast<int64_t>(piece.iov_len);
    }
    return bytes;
  }

  /// Memory of bytes of which the last one ends at `end` in the file.
  void add_memory(int64_t end, std::byte* data, int64_t bytes) {
    STRIA_ASSERT(0 < bytes && bytes <= end, bytes, end, number);
    file_end = std::max(file_end, end);
    if (!memory.empty()) {
      iovec& last = memory.back();
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == data) {
        last.iov_len += static_cast<size_t>(bytes);
        return;
      }
    }
    memory.push_back({data, static_cast<size_t>(bytes)});
  }

  bool is_short() const { return local_bytes < run->layout_.below(number, file_end); }
  int64_t available(const Piece& piece) const { return std::clamp<int64_t>(local_bytes - piece.local, 0, piece.bytes); }

  Result<std::span<const iovec>> places(std::span<const std::byte> reply) override {
    STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(reply));
    local_bytes = extent.local_bytes;
    if (!is_short()) {
      return std::span<const iovec>(memory);
    }
    run->keep_pieces();
    STRIA_ASSERT(std::accumulate(pieces.begin(), pieces.end(), int64_t{0},
                                 [](int64_t sum, const Piece& piece) { return sum + piece.bytes; }) == memory_bytes(),
                 pieces.size(), memory_bytes(), number);
    existing.clear();
    for (const Piece& piece : pieces) {
      if (const int64_t bytes = available(piece); bytes > 0) {
        existing.push_back({piece.data, static_cast<size_t>(bytes)});
      }
    }
    return std::span<const iovec>(existing);
  }

  void clear() {
    ranges.clear();
    memory.clear();
    pieces.clear();
    file_end = 0;
  }
};

namespace {

/// Whether the slot's server finds so many of its bytes in a request, unless it refuses that.
[[maybe_unused]] bool server_finds(std::span<const std::byte> body, int64_t bytes) {
  wire::Reader reader(body);
  wire::Transfer transfer;
  transfer.get(reader);
  const auto region = wire::Region::decode(reader);
  if (!region.ok()) {
    return true;
  }
  int64_t found = 0;
  for (wire::SlotWalk walk(*region, transfer.layout, transfer.slot); !walk.done();) {
    int64_t looks = INT64_MAX;
    const PieceRow row = walk.next(&looks);
    found += row.count > 0 ? row.bytes() : 0;
  }
  return found == bytes;
}

}  // namespace

TransferRun::TransferRun(SlotServers& servers, StripedLocks& locks, const std::string& path)
    : servers_(servers), locks_(locks), path_(path), layout_(servers.layout()) {
  slots_.resize(static_cast<size_t>(layout_.slot_count));
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].run = this;
    slots_[i].number = static_cast<int64_t>(i);
  }
}

TransferRun::~TransferRun() = default;

/// Most ranges lie in the same stripe as the one before, and need no division.
void TransferRun::enter_stripe(int64_t offset) {
  if (!stripe_.contains(offset)) {
    stripe_.begin = align_down(offset, layout_.stripe_bytes);
    stripe_.end = stripe_.begin + layout_.stripe_bytes;
    stripe_slot_ = static_cast<size_t>(layout_.slot_of(offset));
  }
}

/// Cuts the memory of a range at the stripes: visit(slot, offset, memory, bytes).
template <typename Visit>
void TransferRun::each_piece(ByteRange range, std::byte* memory, Visit visit) {
  while (!range.empty()) {
    enter_stripe(range.begin);
    const int64_t bytes = std::min(range.end, stripe_.end) - range.begin;
    visit(slots_[stripe_slot_], range.begin, memory, bytes);
    range.begin += bytes;
    memory += bytes;
  }
}

/// Does the same for the bytes of a datatype, of which the pieces of a row in a stripe are
/// neighbours in memory: visit(slot, row, memory).
template <typename Visit>
void TransferRun::each_row(const TypeWindow& region, std::byte* data, Visit visit) {
  Cursor cursor(region.type, region.displacement);
  cursor.seek(region.window.begin);
  while (cursor.stream_position() < region.window.end) {
    const int64_t left = region.window.end - cursor.stream_position();
    std::byte* const memory = data + region.window.size() - left;
    PieceRow row = cursor.row();
    if (row.count > 1 && row.stride > 0 && row.piece_bytes <= left) {
      enter_stripe(row.begin);
      const int64_t room = stripe_.end - row.begin - row.piece_bytes;
      row.count = room < row.stride ? 1 : std::min({row.count, room / row.stride + 1, left / row.piece_bytes});
      if (row.count > 1) {
        visit(slots_[stripe_slot_], row, memory);
        cursor.advance_row(row.count);
        continue;
      }
    }
    const ByteRange piece{row.begin, row.begin + std::min(row.piece_bytes, left)};
    each_piece(piece, memory, [&](Slot& slot, int64_t offset, std::byte* part, int64_t bytes) {
      visit(slot, PieceRow{offset, bytes, 0, 1}, part);
    });
    cursor.advance(piece.size());
  }
}

/// Notes the pieces of the batch, for all slots at once, when one of them has fewer bytes than it
/// was asked for.
void TransferRun::keep_pieces() {
  if (has_pieces_) {
    return;
  }
  STRIA_CHECK(reads_);
  has_pieces_ = true;
  const auto keep = [this](Slot& slot, int64_t offset, std::byte* data, int64_t bytes) {
    slot.pieces.push_back({layout_.below(slot.number, offset), data, bytes});
  };
  if (region_ != nullptr) {
    each_row(*region_, region_data_, [&](Slot& slot, const PieceRow& row, std::byte* data) {
      for (int64_t i = 0; i < row.count; ++i) {
        keep(slot, row.begin + i * row.stride, data + i * row.piece_bytes, row.piece_bytes);
      }
    });
  }
  for (const ReadSegment& segment : batch_) {
    each_piece({segment.offset, segment.offset + segment.bytes}, segment.data, keep);
  }
}

void TransferRun::add_range(Slot& slot, ByteRange range) {
  if (!reads_ && !slot.ranges.empty() && slot.ranges.back().end == range.begin) {
    slot.ranges.back().end = range.end;
    return;
  }
  slot.ranges.push_back(range);
  batch_ranges_ = std::max(batch_ranges_, static_cast<int64_t>(slot.ranges.size()));
}

// A range goes whole to each server that it touches. Neighbouring ranges are joined.
void TransferRun::add(ByteRange range, std::byte* memory) {
  if (range.empty()) {
    return;
  }
  enter_stripe(range.begin);
  if (range.end <= stripe_.end) {
    add_range(slots_[stripe_slot_], range);
  } else {
    const int64_t first = range.begin / layout_.stripe_bytes;
    const int64_t last = std::min((range.end - 1) / layout_.stripe_bytes, first + layout_.slot_count - 1);
    for (int64_t stripe = first; stripe <= last; ++stripe) {
      add_range(slots_[static_cast<size_t>(stripe % layout_.slot_count)], range);
    }
  }
  each_piece(range, memory,
             [](Slot& slot, int64_t offset, std::byte* data, int64_t bytes) { slot.add_memory(offset + bytes, data, bytes); });
}

Status TransferRun::run_batch() {
  std::vector<Store::Borrowed> links;
  std::vector<Call> calls;
  for (Slot& slot : slots_) {
    if (slot.memory.empty()) {
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, servers_.borrow(slot.number));
    links.push_back(std::move(link));
    Call& call = calls.emplace_back(servers_.call_to(links.back(), reads_ ? wire::Kind::kRead : wire::Kind::kWrite, {}));
    wire::Writer writer(call.body);
    wire::Transfer{servers_.part(slot.number), {}, layout_, slot.number}.put(writer);
    if (region_ != nullptr) {
      wire::encode_type(writer, region_->type, region_->displacement, region_->window);
    } else if (slot.ranges.size() == 1) {
      wire::encode_range(writer, slot.ranges[0]);
    } else {
      wire::encode_list(writer, slot.ranges);
    }
    if (call.body.size() > wire::kMaxBodyBytes) {
      return Status(ErrorCode::kUnsupported, "the datatype's description is longer than a message");
    }
    STRIA_ASSERT(server_finds(call.body, slot.memory_bytes()), slot.memory_bytes(), slot.number, layout_.slot_count,
                 layout_.stripe_bytes, slot.ranges.size());
    call.sink = reads_ ? &slot : nullptr;
    call.data = reads_ ? std::span<const iovec>() : std::span<const iovec>(slot.memory);
  }
  return calls.empty() ? Status() : run_calls(calls);
}

// Bytes that a slot doesn't have are zero where they lie before the end of the file.
Status TransferRun::settle_short_reads() {
  for (const Slot& slot : slots_) {
    if (slot.memory.empty() || !slot.is_short()) {
      continue;
    }
    if (known_bytes_ < 0) {
      STRIA_ASSIGN_OR_RETURN(known_bytes_, servers_.file_bytes());
    }
    for (const Slot::Piece& piece : slot.pieces) {
      const int64_t here = slot.available(piece);
      const int64_t in_file = std::clamp(known_bytes_ - layout_.place_of(slot.number, piece.local), here, piece.bytes);
      std::memset(piece.data + here, 0, static_cast<size_t>(in_file - here));
      missing_bytes_ += piece.bytes - in_file;
    }
  }
  return {};
}

Status TransferRun::flush() {
  bool again = false;
  Status outcome = servers_.follow([&]() -> Status {
    if (again && !reads_) {
      STRIA_RETURN_IF_ERROR(locks_.renew_notes());  // where the part is now
    }
    again = true;
    return run_batch();
  });
  if (outcome.ok() && reads_) {
    outcome = settle_short_reads();
  }
  for (Slot& slot : slots_) {
    slot.clear();
  }
  has_pieces_ = false;
  batch_ranges_ = 0;
  return outcome;
}

Status TransferRun::write(std::span<const WriteSegment> segments) {
  size_t pieces = 0;
  for (const WriteSegment& segment : segments) {
    // The memory is only read.
    add({segment.offset, segment.offset + segment.bytes}, const_cast<std::byte*>(segment.data));
    if (batch_ranges_ >= most_ranges() || ++pieces == kMostPieces) {
      STRIA_RETURN_IF_ERROR(flush().with_context(describe("write", path_, segment.offset, segment.bytes)));
      pieces = 0;
    }
  }
  const WriteSegment none;
  const WriteSegment& last = segments.empty() ? none : segments.back();
  return flush().with_context(describe("write", path_, last.offset, last.bytes));
}

Result<int64_t> TransferRun::read(std::span<const ReadSegment> segments) {
  reads_ = true;
  int64_t total = 0;
  size_t begin = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    const ReadSegment& segment = segments[i];
    total += segment.bytes;
    add({segment.offset, segment.offset + segment.bytes}, segment.data);
    batch_ = segments.subspan(begin, i + 1 - begin);
    if (batch_ranges_ >= most_ranges() || batch_.size() == kMostPieces) {
      STRIA_RETURN_IF_ERROR(flush().with_context(describe("read", path_, segment.offset, segment.bytes)));
      begin = i + 1;
      batch_ = {};
    }
  }
  const ReadSegment none;
  const ReadSegment& last = segments.empty() ? none : segments.back();
  STRIA_RETURN_IF_ERROR(flush().with_context(describe("read", path_, last.offset, last.bytes)));
  STRIA_CHECK(0 <= missing_bytes_ && missing_bytes_ <= total, missing_bytes_, total);
  return total - missing_bytes_;
}

// The client walks the rows to find the memory of each server's bytes. Each server walks them to
// find its own.
Status TransferRun::move_window(const TypeWindow& region, std::byte* data) {
  STRIA_ASSERT(0 <= region.window.begin && region.window.end <= region.type.size(), region.window.begin, region.window.end,
               region.type.size());
  region_ = &region;
  region_data_ = data;
  each_row(region, data,
           [](Slot& slot, const PieceRow& row, std::byte* memory) { slot.add_memory(row.end(), memory, row.bytes()); });
  const Status outcome = flush();
  region_ = nullptr;
  return outcome;
}

/// Cuts the window so that neither the request nor the list of memory passes its limit.
template <typename Part>
Status TransferRun::each_window(const TypeWindow& region, Part part) {
  const int64_t piece_bytes = std::max<int64_t>(region.type.size() / std::max<int64_t>(region.type.piece_count(), 1), 1);
  const int64_t most = std::min(wire::kMaxWindowBytes, piece_bytes * kWindowPieces);
  for (int64_t begin = region.window.begin; begin < region.window.end; begin += most) {
    STRIA_RETURN_IF_ERROR(part(ByteRange{begin, std::min(region.window.end, begin + most)}));
  }
  return {};
}

Status TransferRun::write_type(const TypeWindow& region, const std::byte* data) {
  return each_window(region, [&](ByteRange window) {
    auto* from = const_cast<std::byte*>(data) + (window.begin - region.window.begin);  // only read
    return move_window({region.type, region.displacement, window}, from).with_context(describe("write", path_));
  });
}

Result<int64_t> TransferRun::read_type(const TypeWindow& region, std::byte* data) {
  reads_ = true;
  STRIA_RETURN_IF_ERROR(each_window(region, [&](ByteRange window) {
    return move_window({region.type, region.displacement, window}, data + (window.begin - region.window.begin))
        .with_context(describe("read", path_));
  }));
  return region.window.size() - missing_bytes_;
}

}  // namespace stria::storage
