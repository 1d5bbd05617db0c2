#include "storage/rados/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "storage/rados/rados_path.hpp"

namespace stria::storage {

namespace {

constexpr size_t kExtentsOfAnOperation = 128;
constexpr int64_t kBytesOfAnOperation = 8 << 20;

/// Describes consecutive bytes of one object, in pieces of memory.
struct Extent {
  int64_t offset = 0;
  int64_t bytes = 0;
  size_t first_piece = 0;
  size_t piece_count = 0;
};

/// Says what one operation moves.
struct Batch {
  int64_t object = -1;
  int64_t bytes = 0;
  std::vector<Extent> extents;
  std::vector<iovec> pieces;

  std::span<const iovec> pieces_of(const Extent& extent) const {
    return std::span(pieces).subspan(extent.first_piece, extent.piece_count);
  }
};

/// Cuts runs at the objects' ends, and collects what goes into one operation.
class Batches {
 public:
  template <typename Send>
  static void cut(const RunList& list, int64_t object_bytes, const Send& send) {
    STRIA_CHECK(object_bytes > 0, object_bytes);
    Batches batches;
    for (const Run& run : list.runs) {
      std::span<const iovec> pieces = std::span(list.pieces).subspan(run.first_piece, run.piece_count);
      size_t skipped = 0;  // the bytes of the first piece to skip
      for (int64_t done = 0; done < run.bytes;) {
        const int64_t offset = run.offset + done;
        const int64_t object = offset / object_bytes;
        if (!batches.has_room(object)) {
          send(std::exchange(batches.current_, {}));
        }
        batches.current_.object = object;
        const int64_t bytes =
            std::min({run.bytes - done, object_bytes - offset % object_bytes, kBytesOfAnOperation - batches.current_.bytes});
        batches.add(offset % object_bytes, bytes, pieces, skipped);
        done += bytes;
      }
    }
    if (!batches.current_.extents.empty()) {
      send(std::move(batches.current_));
    }
  }

 private:
  bool has_room(int64_t object) const {
    return current_.extents.empty() || (current_.object == object && current_.extents.size() < kExtentsOfAnOperation &&
                                        current_.bytes < kBytesOfAnOperation);
  }

  void add(int64_t offset, int64_t bytes, std::span<const iovec>& pieces, size_t& skipped) {
    Extent extent{offset, bytes, current_.pieces.size(), 0};
    STRIA_ASSERT(bytes > 0, bytes);
    for (size_t left = static_cast<size_t>(bytes); left > 0;) {
      STRIA_CHECK(!pieces.empty(), bytes, left);
      const size_t now = std::min(left, pieces.front().iov_len - skipped);
      current_.pieces.push_back({static_cast<std::byte*>(pieces.front().iov_base) + skipped, now});
      ++extent.piece_count;
      left -= now;
      skipped += now;
      if (skipped == pieces.front().iov_len) {
        pieces = pieces.subspan(1);
        skipped = 0;
      }
    }
    current_.extents.push_back(extent);
    current_.bytes += bytes;
  }

  Batch current_;
};

/// A batch that is being read. Extents whose memory is in pieces are read into `scattered` first.
struct ReadBatch {
  explicit ReadBatch(Batch of) : batch(std::move(of)), got(batch.extents.size()), outcome(batch.extents.size()) {}

  char* memory_of(size_t index) {
    const Extent& extent = batch.extents[index];
    if (extent.piece_count == 1) {
      return static_cast<char*>(batch.pieces[extent.first_piece].iov_base);
    }
    scattered.emplace_back(index, std::vector<char>(static_cast<size_t>(extent.bytes)));
    return scattered.back().second.data();
  }

  // What the object doesn't have is zeros.
  void fill(const Extent& extent, size_t present, const char* from) const {
    for (const iovec& piece : batch.pieces_of(extent)) {
      const size_t here = std::min(present, piece.iov_len);
      if (from != nullptr && here > 0) {
        std::memcpy(piece.iov_base, from, here);
        from += here;
      }
      std::memset(static_cast<char*>(piece.iov_base) + here, 0, piece.iov_len - here);
      present -= here;
    }
  }

  int land(int result) {
    if (result < 0 && result != -ENOENT) {
      return result;
    }
    auto next_scattered = scattered.begin();
    for (size_t i = 0; i < batch.extents.size(); ++i) {
      const bool is_scattered = next_scattered != scattered.end() && next_scattered->first == i;
      const char* from = is_scattered ? (next_scattered++)->second.data() : nullptr;
      fill(batch.extents[i], result < 0 ? 0 : got[i], from);
    }
    return 0;
  }

  Batch batch;
  std::vector<size_t> got;
  std::vector<int> outcome;
  std::vector<std::pair<size_t, std::vector<char>>> scattered;
};

void add_write(Flight& flight, const FileObjects& objects, const Batch& batch) {
  const Librados& rados = objects.pool.rados();
  const std::string object = data_object(objects.file, batch.object);
  // Each call of librados copies what it is given.
  std::vector<char> gathered;
  const auto start = [&](rados_completion_t completion) {
    const rados_write_op_t operation = rados.create_write_op();
    for (const Extent& extent : batch.extents) {
      const auto pieces = batch.pieces_of(extent);
      const char* data = static_cast<const char*>(pieces.front().iov_base);
      if (pieces.size() > 1) {
        gathered.clear();
        for (const iovec& piece : pieces) {
          const char* begin = static_cast<const char*>(piece.iov_base);
          gathered.insert(gathered.end(), begin, begin + piece.iov_len);
        }
        data = gathered.data();
      }
      rados.write_op_write(operation, data, static_cast<size_t>(extent.bytes), static_cast<uint64_t>(extent.offset));
    }
    const int started = rados.aio_write_op_operate(operation, objects.pool.io(), completion, object.c_str(), nullptr, 0);
    rados.release_write_op(operation);
    return started;
  };
  flight.add(object, start, nullptr);
}

void add_read(Flight& flight, const FileObjects& objects, Batch batch) {
  const Librados& rados = objects.pool.rados();
  const std::string object = data_object(objects.file, batch.object);
  const auto reading = std::make_shared<ReadBatch>(std::move(batch));
  const auto start = [&](rados_completion_t completion) {
    const rados_read_op_t operation = rados.create_read_op();
    for (size_t i = 0; i < reading->batch.extents.size(); ++i) {
      const Extent& extent = reading->batch.extents[i];
      rados.read_op_read(operation, static_cast<uint64_t>(extent.offset), static_cast<size_t>(extent.bytes),
                         reading->memory_of(i), &reading->got[i], &reading->outcome[i]);
    }
    const int started = rados.aio_read_op_operate(operation, objects.pool.io(), completion, object.c_str(), 0);
    rados.release_read_op(operation);
    return started;
  };
  flight.add(object, start, [reading](int result) { return reading->land(result); });
}

}  // namespace

void add_writes(Flight& flight, const FileObjects& objects, const RunList& list) {
  Batches::cut(list, objects.object_bytes, [&](const Batch& batch) { add_write(flight, objects, batch); });
}

void add_reads(Flight& flight, const FileObjects& objects, const RunList& list) {
  Batches::cut(list, objects.object_bytes, [&](Batch batch) { add_read(flight, objects, std::move(batch)); });
}

}  // namespace stria::storage
