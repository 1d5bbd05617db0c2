#include "access/shared_file_test.hpp"

#include <algorithm>
#include <vector>

#include "datatype/cursor.hpp"

namespace stria::access::test {

namespace {

class TableLock : public storage::RangeLock {
 public:
  using Place = std::list<std::pair<ByteRange, storage::LockMode>>::iterator;
  TableLock(LockTable& table, Place place) : table_(table), place_(place) {}
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
  ~TableLock() override { table_.held.erase(place_); }

 private:
  LockTable& table_;
  Place place_;
};

template <typename Segment, typename Byte>
std::vector<Segment> segments_of(const storage::TypeWindow& region, Byte* data) {
  std::vector<Segment> segments;
  Cursor cursor(region.type, region.displacement);
  cursor.seek(region.window.begin);
  for (int64_t left = region.window.size(); left > 0;) {
    const int64_t bytes = std::min(cursor.piece().size(), left);
    segments.push_back({cursor.piece().begin, data, bytes});
    data += bytes;
    left -= bytes;
    if (left > 0) {
      cursor.advance(bytes);
    }
  }
  return segments;
}

}  // namespace

SharedFile::SharedFile(std::unique_ptr<storage::File> file, Comm& comm, LockTable& table, bool native_list)
    : file_(std::move(file)), comm_(comm), table_(table), capabilities_(file_->capabilities()) {
  capabilities_.native_list = native_list;
  capabilities_.native_types = native_list;
}

// A message to the rank itself takes a random number of turns.
void SharedFile::let_others_run() {
  constexpr int kTag = 77;
  std::byte nothing{};
  auto sent = comm_.send(std::span(&nothing, 1), comm_.rank(), kTag);
  auto received = comm_.receive(std::span(&nothing, 1), comm_.rank(), kTag);
  comm_.wait(*sent);
  comm_.wait(*received);
}

Status SharedFile::write(std::span<const storage::WriteSegment> segments) {
  let_others_run();
  return file_->write(segments);
}

Result<int64_t> SharedFile::read(std::span<const storage::ReadSegment> segments) {
  let_others_run();
  return file_->read(segments);
}

Status SharedFile::write_type(const storage::TypeWindow& region, const std::byte* data) {
  return write(segments_of<storage::WriteSegment>(region, data));
}

Result<int64_t> SharedFile::read_type(const storage::TypeWindow& region, std::byte* data) {
  return read(segments_of<storage::ReadSegment>(region, data));
}

Result<std::unique_ptr<storage::RangeLock>> SharedFile::lock(ByteRange range, storage::LockMode mode) {
  const auto is_in_the_way = [&](const auto& other) {
    bool shared = mode == storage::LockMode::kShared && other.second == storage::LockMode::kShared;
    return !shared && !intersect(range, other.first).empty();
  };
  // The driver is asked too, for its faults; its own lock is given back at once.
  STRIA_RETURN_IF_ERROR(file_->lock({range.begin, range.begin}, mode).status());
  while (std::any_of(table_.held.begin(), table_.held.end(), is_in_the_way)) {
    let_others_run();
  }
  table_.held.emplace_front(range, mode);
  return std::unique_ptr<storage::RangeLock>(std::make_unique<TableLock>(table_, table_.held.begin()));
}

}  // namespace stria::access::test
