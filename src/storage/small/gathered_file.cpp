#include "storage/small/gathered_file.hpp"

#include <algorithm>
#include <utility>

#include "comm/private_memory.hpp"
#include "storage/small/small_requests.hpp"

namespace stria::storage {

namespace {

// Half of the memory each is for what is written and for what is fetched.
constexpr int64_t kParts = 2;
constexpr int64_t kLongestWindowBytes = 4 << 20;

class GatheredFile final : public File {
 public:
  GatheredFile(std::unique_ptr<File> file, PrivateMemory memory, FetchedPages::Shape shape, int64_t written_bytes)
      : file_(std::move(file)), memory_(std::move(memory)) {
    const auto read = [this](std::span<const ReadSegment> list) { return file_->read(list); };
    FetchedPages::prepare(memory_.bytes().data(), shape);
    FetchedPages::Options fetching{.memory = memory_.bytes().data(),
                                   .most_window_bytes = std::min(kLongestWindowBytes, shape.page_bytes * shape.page_count / 2),
                                   .read = read};
    small_ = std::make_unique<SmallRequests>(
        SmallRequests::Options{.stripe_bytes = file_->capabilities().stripe_bytes,
                               .memory_bytes = written_bytes,
                               .fetched = std::make_unique<FetchedPages>(std::move(fetching)),
                               .write = [this](std::span<const WriteSegment> list) { return file_->write(list); },
                               .read = read});
  }

  const std::string& path() const override { return file_->path(); }
  const Capabilities& capabilities() const override { return file_->capabilities(); }
  Result<Identity> identity() override { return file_->identity(); }
  const File& plain() const override { return file_->plain(); }

  Status write(std::span<const WriteSegment> segments) override {
    if (segments.size() != 1) {
      Status late = settle();
      late.update(file_->write(segments));
      return late;
    }
    Status late;
    Status written = small_->write(segments[0].offset, {segments[0].data, static_cast<size_t>(segments[0].bytes)}, late);
    late_.update(late);
    written.update(late);
    return written;
  }
  Result<int64_t> read(std::span<const ReadSegment> segments) override {
    if (segments.size() != 1) {
      STRIA_RETURN_IF_ERROR(settle());
      return file_->read(segments);
    }
    Status late;
    auto bytes = small_->read(segments[0].offset, {segments[0].data, static_cast<size_t>(segments[0].bytes)}, late);
    late_.update(late);
    return bytes.ok() && !late.ok() ? Result<int64_t>(late) : std::move(bytes);
  }

  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override {
    STRIA_RETURN_IF_ERROR(settle());
    return file_->lock(range, mode);
  }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override {
    STRIA_RETURN_IF_ERROR(settle());
    return file_->try_lock(range, mode);
  }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return file_->is_locked_elsewhere(range); }
  Status refresh(ByteRange range) override {
    STRIA_RETURN_IF_ERROR(settle());
    return file_->refresh(range);
  }
  Status hand_over(ByteRange range) override {
    STRIA_RETURN_IF_ERROR(settle());
    return file_->hand_over(range);
  }
  Result<int64_t> size() override {
    STRIA_RETURN_IF_ERROR(settle());
    return file_->size();
  }
  Status resize(int64_t bytes) override {
    STRIA_RETURN_IF_ERROR(settle());
    return file_->resize(bytes);
  }
  Status preallocate(int64_t bytes) override {
    STRIA_RETURN_IF_ERROR(settle());
    return file_->preallocate(bytes);
  }
  Status sync() override {
    static_cast<void>(settle().ok());  // late_ has it
    Status synced = std::exchange(late_, Status());
    synced.update(file_->sync());
    return synced;
  }
  Status close() override {
    static_cast<void>(settle().ok());  // late_ has it
    Status closed = std::exchange(late_, Status());
    closed.update(file_->close());
    return closed;
  }

 private:
  Status settle() {
    Status late = small_->write_out();
    small_->forget();
    late_.update(late);
    return late;
  }

  std::unique_ptr<File> file_;
  PrivateMemory memory_;  // the memory of what is fetched
  std::unique_ptr<SmallRequests> small_;
  Status late_;  // the first error that came late and that neither sync nor close has told
};

}  // namespace

std::unique_ptr<File> gather_small(std::unique_ptr<File> file, int64_t memory_bytes) {
  const int64_t part_bytes = memory_bytes / kParts;
  if (part_bytes < SmallRequests::kLeastMemoryBytes) {
    return file;
  }
  const auto shape = FetchedPages::shape_for(file->capabilities().stripe_bytes, part_bytes);
  auto memory = PrivateMemory::allocate(FetchedPages::memory_bytes(shape));
  if (!memory.ok()) {
    return file;
  }
  return std::make_unique<GatheredFile>(std::move(file), std::move(*memory), shape, part_bytes);
}

}  // namespace stria::storage
