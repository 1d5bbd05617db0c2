#include "run/rank_zero.hpp"

#include <algorithm>
#include <vector>

#include "access/request/message_tags.hpp"
#include "access/request/overlap.hpp"

namespace stria::simulate {

namespace {

using access::Lane;
using access::Stream;

constexpr int64_t kStretchBytes = 64 << 10;
constexpr int64_t kCacheBytes = 1 << 20;

class RankZero {
 public:
  RankZero(RunShared& shared, Comm& comm) : shared_(shared), comm_(comm) {
    if (shared.hints.collective_buffer_bytes > 0) {
      cache_bytes_ = shared.hints.collective_buffer_bytes;
    }
  }

  Status run(const bench::Workload& workload) {
    const FilePlaces places = place_arrays(workload, 0, 1);
    std::vector<std::vector<Lane>> calls;
    for (size_t call = 0; call < workload.calls.size(); ++call) {
      calls.push_back(lanes_of(workload, places, call, call + 1));
      tell_of(calls.back());
    }
    Status mine = open();
    comm_.barrier();
    for (const std::vector<Lane>& lanes : calls) {
      for (const Lane& lane : lanes) {
        mine.update(comm_.rank() == 0 ? gather(lane.hull) : answer(lane));
      }
    }
    mine.update(flush());
    return comm_.agree(mine);
  }

 private:
  // Every process knows how arrays are divided, so that telling takes no time.
  void tell_of(std::span<const Lane> lanes) {
    for (const Lane& lane : lanes) {
      for (const Stream& stream : lane.streams) {
        access::for_each_piece(access::Overlap{&stream, 0, stream.size()}, [&](ByteRange piece, int64_t) {
          shared_.owners.push_back({piece.begin, piece.size(), comm_.rank()});
        });
      }
    }
  }

  Status open() {
    if (comm_.rank() != 0) {
      return {};
    }
    storage::OpenOptions options{.mode = storage::OpenOptions::Mode::kCreateNew};
    STRIA_ASSIGN_OR_RETURN(file_, shared_.driver.open(kFilePath, options));
    shared_.outcome.open_s = shared_.clock.free_at();
    return {};
  }

  // Gathers gathers the stretches of an array, one after the other.
  Status gather(ByteRange array) {
    auto& owners = shared_.owners;
    if (next_owner_ == 0) {
      std::sort(owners.begin(), owners.end(), [](const OwnedPiece& a, const OwnedPiece& b) { return a.offset < b.offset; });
    }
    for (int64_t at = array.begin; at < array.end; at += kStretchBytes) {
      const int64_t end = std::min(at + kStretchBytes, array.end);
      for (; next_owner_ < owners.size() && owners[next_owner_].offset < end; ++next_owner_) {
        take(owners[next_owner_]);
      }
      STRIA_RETURN_IF_ERROR(append(end - at));
    }
    return {};
  }

  void take(const OwnedPiece& piece) {
    const Nodes& nodes = shared_.machine.nodes;
    if (piece.rank != 0) {
      const std::byte please{1};
      comm_.wait(*comm_.send(std::span(&please, 1), piece.rank, access::kGoTag));
      comm_.wait(*comm_.receive(shared_.nowhere(piece.bytes), piece.rank, access::kWriteDataTag));
    }
    shared_.clock.charge(nodes.piece_s + static_cast<double>(piece.bytes) / nodes.pack_rate);
  }

  Status answer(const Lane& lane) {
    for (const Stream& stream : lane.streams) {
      access::for_each_piece(access::Overlap{&stream, 0, stream.size()}, [&](ByteRange piece, int64_t) {
        std::byte please{};
        comm_.wait(*comm_.receive(std::span(&please, 1), 0, access::kGoTag));
        comm_.wait(*comm_.send(shared_.nowhere(piece.size()), 0, access::kWriteDataTag));
      });
    }
    return {};
  }

  Status append(int64_t bytes) {
    shared_.clock.charge(static_cast<double>(bytes) / shared_.machine.nodes.memory_rate);
    cached_bytes_ += bytes;
    while (cached_bytes_ >= cache_bytes_) {
      STRIA_RETURN_IF_ERROR(write(cache_bytes_));
    }
    return {};
  }

  Status flush() { return file_ == nullptr || cached_bytes_ == 0 ? Status() : write(cached_bytes_); }

  Status write(int64_t bytes) {
    const storage::WriteSegment segment{written_bytes_, shared_.nowhere(bytes).data(), bytes};
    cached_bytes_ -= bytes;
    written_bytes_ += bytes;
    return file_->write(std::span(&segment, 1));
  }

  RunShared& shared_;
  Comm& comm_;
  int64_t cache_bytes_ = kCacheBytes;
  int64_t cached_bytes_ = 0;
  int64_t written_bytes_ = 0;
  size_t next_owner_ = 0;  ///< rank 0: in RunShared::owners
  std::unique_ptr<storage::File> file_;
};

}  // namespace

Status write_through_rank_zero(RunShared& shared, Comm& comm, const bench::Workload& workload) {
  if (shared.options.carries_data || shared.options.reads) {
    return Status(ErrorCode::kUnsupported,
                  "the way of rank 0 is a pattern of writes without bytes: it can't be verified or read");
  }
  return RankZero(shared, comm).run(workload);
}

}  // namespace stria::simulate
