#include "storage/striped/transfer_run.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "datatype/cursor.hpp"
#include "storage/messages.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

namespace {

// At most this many pieces of memory are described at once.
constexpr size_t kMaxPieces = 1 << 20;
constexpr int64_t kWindowPieces = 1 << 18;

}  // namespace

struct TransferRun::Slot : ReplySink {
  int64_t number = 0;
  wire::Layout layout;
  bool reads = false;
  std::vector<ByteRange> ranges;  // of the file
  std::vector<iovec> memory;      // of the slot's bytes of those ranges, in order
  std::vector<int64_t> local;     // reads: where each piece is among the slot's bytes
  std::vector<iovec> existing;    // reads: what the slot has of them
  int64_t local_bytes = 0;        // reads: the end of the slot's bytes

  void add_piece(int64_t offset, std::byte* data, int64_t bytes) {
    if (!reads && !memory.empty()) {
      iovec& last = memory.back();
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == data) {
        last.iov_len += static_cast<size_t>(bytes);
        return;
      }
    }
    memory.push_back({data, static_cast<size_t>(bytes)});
    if (reads) {
      local.push_back(layout.below(number, offset));
    }
  }

  int64_t available(size_t piece) const {
    return std::clamp<int64_t>(local_bytes - local[piece], 0, static_cast<int64_t>(memory[piece].iov_len));
  }

  Result<std::span<const iovec>> places(std::span<const std::byte> reply) override {
    STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(reply));
    local_bytes = extent.local_bytes;
    existing.clear();
    for (size_t i = 0; i < memory.size(); ++i) {
      if (const int64_t bytes = available(i); bytes > 0) {
        existing.push_back({memory[i].iov_base, static_cast<size_t>(bytes)});
      }
    }
    return std::span<const iovec>(existing);
  }

  void clear() {
    ranges.clear();
    memory.clear();
    local.clear();
  }
};

TransferRun::TransferRun(StripedFile& file) : file_(file), layout_(file.layout_) {
  slots_.resize(static_cast<size_t>(layout_.slot_count));
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].number = static_cast<int64_t>(i);
    slots_[i].layout = layout_;
  }
}

TransferRun::~TransferRun() = default;

// Cuts the memory at the stripes.
void TransferRun::add_pieces(ByteRange range, std::byte* memory) {
  while (!range.empty()) {
    const int64_t stripe_end = align_down(range.begin, layout_.stripe_bytes) + layout_.stripe_bytes;
    const int64_t bytes = std::min(range.end, stripe_end) - range.begin;
    slots_[static_cast<size_t>(layout_.slot_of(range.begin))].add_piece(range.begin, memory, bytes);
    range.begin += bytes;
    memory += bytes;
  }
}

// A range goes whole to each server that it touches. Neighbouring ranges are joined.
void TransferRun::add(ByteRange range, std::byte* memory) {
  if (range.empty()) {
    return;
  }
  const int64_t first = range.begin / layout_.stripe_bytes;
  const int64_t last = std::min((range.end - 1) / layout_.stripe_bytes, first + layout_.slot_count - 1);
  for (int64_t stripe = first; stripe <= last; ++stripe) {
    auto& ranges = slots_[static_cast<size_t>(stripe % layout_.slot_count)].ranges;
    if (!reads_ && !ranges.empty() && ranges.back().end == range.begin) {
      ranges.back().end = range.end;
    } else {
      ranges.push_back(range);
      batch_ranges_ = std::max(batch_ranges_, static_cast<int64_t>(ranges.size()));
    }
  }
  add_pieces(range, memory);
}

Status TransferRun::run_batch() {
  std::vector<Store::Borrowed> links;
  std::vector<Call> calls;
  for (Slot& slot : slots_) {
    if (slot.memory.empty()) {
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, Store::borrow(file_.store_, file_.servers_[static_cast<size_t>(slot.number)]));
    links.push_back(std::move(link));
    Call& call = calls.emplace_back(file_.call_to(links.back(), reads_ ? wire::Kind::kRead : wire::Kind::kWrite, {}));
    wire::Writer writer(call.body);
    wire::Transfer{file_.file_, {}, layout_, slot.number}.put(writer);
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
    call.sink = reads_ ? &slot : nullptr;
    call.data = reads_ ? std::span<const iovec>() : std::span<const iovec>(slot.memory);
  }
  return calls.empty() ? Status() : run_calls(calls);
}

// Bytes that a slot doesn't have are zero where they lie before the end of the file.
Status TransferRun::settle_short_reads() {
  for (const Slot& slot : slots_) {
    for (size_t i = 0; i < slot.memory.size(); ++i) {
      const auto bytes = static_cast<int64_t>(slot.memory[i].iov_len);
      const int64_t here = slot.available(i);
      if (here == bytes) {
        continue;
      }
      if (known_bytes_ < 0) {
        STRIA_ASSIGN_OR_RETURN(known_bytes_, file_.file_bytes());
      }
      const int64_t place = layout_.place_of(slot.number, slot.local[i]);
      const int64_t in_file = std::clamp(known_bytes_ - place, here, bytes);
      std::memset(static_cast<std::byte*>(slot.memory[i].iov_base) + here, 0, static_cast<size_t>(in_file - here));
      missing_bytes_ += bytes - in_file;
    }
  }
  return {};
}

Status TransferRun::flush() {
  Status outcome = run_batch();
  if (outcome.ok() && reads_) {
    outcome = settle_short_reads();
  }
  for (Slot& slot : slots_) {
    slot.clear();
  }
  batch_ranges_ = 0;
  return outcome;
}

Status TransferRun::write(std::span<const WriteSegment> segments) {
  size_t pieces = 0;
  for (const WriteSegment& segment : segments) {
    // Only read.
    add({segment.offset, segment.offset + segment.bytes}, const_cast<std::byte*>(segment.data));
    if (batch_ranges_ == wire::kMaxListRanges || ++pieces == kMaxPieces) {
      STRIA_RETURN_IF_ERROR(flush().with_context(describe("write", file_.path_, segment.offset, segment.bytes)));
      pieces = 0;
    }
  }
  const WriteSegment none;
  const WriteSegment& last = segments.empty() ? none : segments.back();
  return flush().with_context(describe("write", file_.path_, last.offset, last.bytes));
}

Result<int64_t> TransferRun::read(std::span<const ReadSegment> segments) {
  reads_ = true;
  for (Slot& slot : slots_) {
    slot.reads = true;
  }
  int64_t total = 0;
  size_t pieces = 0;
  for (const ReadSegment& segment : segments) {
    total += segment.bytes;
    add({segment.offset, segment.offset + segment.bytes}, segment.data);
    if (batch_ranges_ == wire::kMaxListRanges || ++pieces == kMaxPieces) {
      STRIA_RETURN_IF_ERROR(flush().with_context(describe("read", file_.path_, segment.offset, segment.bytes)));
      pieces = 0;
    }
  }
  const ReadSegment none;
  const ReadSegment& last = segments.empty() ? none : segments.back();
  STRIA_RETURN_IF_ERROR(flush().with_context(describe("read", file_.path_, last.offset, last.bytes)));
  return total - missing_bytes_;
}

// The client walks the pieces to find the memory of each server's bytes. Each server walks them
// to find its own.
Status TransferRun::add_window(const TypeWindow& region, std::byte* data) {
  Cursor cursor(region.type, region.displacement);
  cursor.seek(region.window.begin);
  region_ = &region;
  while (cursor.stream_position() < region.window.end) {
    ByteRange piece = cursor.piece();
    piece.end = std::min(piece.end, piece.begin + region.window.end - cursor.stream_position());
    add_pieces(piece, data + (cursor.stream_position() - region.window.begin));
    cursor.advance(piece.size());
  }
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
    return add_window({region.type, region.displacement, window}, from).with_context(describe("write", file_.path_));
  });
}

Result<int64_t> TransferRun::read_type(const TypeWindow& region, std::byte* data) {
  reads_ = true;
  for (Slot& slot : slots_) {
    slot.reads = true;
  }
  STRIA_RETURN_IF_ERROR(each_window(region, [&](ByteRange window) {
    return add_window({region.type, region.displacement, window}, data + (window.begin - region.window.begin))
        .with_context(describe("read", file_.path_));
  }));
  return region.window.size() - missing_bytes_;
}

}  // namespace stria::storage
