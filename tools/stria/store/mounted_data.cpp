#include "store/mounted_data.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

#include "comm/private_memory.hpp"
#include "storage/small/small_requests.hpp"

namespace stria::tool {

namespace {

using Clock = std::chrono::steady_clock;

// A file has so much memory for what is fetched, and as much for what is written.
constexpr int64_t kFetchedBytes = 4 << 20;
constexpr int64_t kWrittenBytes = 4 << 20;
constexpr int64_t kLongestWindowBytes = 1 << 20;
// A read that follows none fetches the page around it, because the kernel asks for a few kilobytes.
constexpr int64_t kAloneBytes = 64 << 10;
// The kernel reads ahead in pieces of so much, and libraries write chunks again and again.
constexpr int64_t kLargestBytes = 128 << 10;

timespec wall_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

bool is_later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

}  // namespace

/// What the handles of one file have together.
struct SharedBytes {
  std::mutex mutex;
  std::vector<std::pair<storage::File*, bool>> handles;  // and whether they may write
  PrivateMemory memory;                                  // of what is fetched
  std::unique_ptr<storage::SmallRequests> small;         // null: the mount's memory is used up
  Clock::time_point kept_since;                          // while something is kept
  Status late;                                           // the last error that came late
  uint64_t late_count = 0;
  struct stat noted = {};  // as the servers told, with what was written here since
  Clock::time_point noted_at;
  bool has_noted = false;

  storage::File* handle_that(bool writes) const {
    for (const auto& [handle, may_write] : handles) {
      if (may_write || !writes) {
        return handle;
      }
    }
    return nullptr;
  }
  void note_late(const Status& status) {
    if (!status.ok()) {
      late = status;
      ++late_count;
    }
  }
  void write_out() {
    if (small != nullptr && small->keeps()) {
      note_late(small->write_out());
    }
  }
  /// After a write that ends there.
  void note_written(int64_t end) {
    noted.st_size = std::max<off_t>(noted.st_size, end);
    noted.st_blocks = std::max<blkcnt_t>(noted.st_blocks, (end + 511) / 512);
  }
};

namespace {

void begin_to_gather(SharedBytes& shared, int64_t stripe_bytes) {
  using storage::FetchedPages;
  const FetchedPages::Shape shape = FetchedPages::shape_for(stripe_bytes, kFetchedBytes);
  auto memory = PrivateMemory::allocate(FetchedPages::memory_bytes(shape));
  if (!memory.ok()) {
    return;
  }
  shared.memory = std::move(*memory);
  FetchedPages::prepare(shared.memory.bytes().data(), shape);
  const auto read = [&shared](std::span<const storage::ReadSegment> list) { return shared.handle_that(false)->read(list); };
  FetchedPages::Options options{.memory = shared.memory.bytes().data(),
                                .most_window_bytes = kLongestWindowBytes,
                                .alone_bytes = kAloneBytes,
                                .lifetime_ns = std::chrono::nanoseconds(MountedFiles::kLifetime).count(),
                                .read = read};
  shared.small = std::make_unique<storage::SmallRequests>(storage::SmallRequests::Options{
      .stripe_bytes = stripe_bytes,
      .memory_bytes = kWrittenBytes,
      .largest_bytes = kLargestBytes,
      .fetched = std::make_unique<FetchedPages>(std::move(options)),
      .write = [&shared](std::span<const storage::WriteSegment> list) { return shared.handle_that(true)->write(list); },
      .read = read});
}

}  // namespace

MountedFile::MountedFile(std::shared_ptr<SharedBytes> shared, std::unique_ptr<storage::File> file, MountedFiles& files)
    : shared_(std::move(shared)), file_(std::move(file)), files_(files) {}

MountedFile::~MountedFile() {
  if (file_ != nullptr) {
    static_cast<void>(close().ok());
  }
}

Result<int64_t> MountedFile::read(int64_t offset, std::span<std::byte> data) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->small == nullptr) {
    const storage::ReadSegment segment{offset, data.data(), static_cast<int64_t>(data.size())};
    return file_->read({&segment, 1});
  }
  Status late;
  auto bytes = shared_->small->read(offset, data, late);
  shared_->note_late(late);
  return bytes;
}

// A program hears of an error as soon as there is one, and again when it syncs or closes.
Status MountedFile::write(int64_t offset, std::span<const std::byte> data) {
  const std::lock_guard lock(shared_->mutex);
  files_.changes_.fetch_add(1);
  shared_->note_written(offset + static_cast<int64_t>(data.size()));
  if (shared_->small == nullptr) {
    const storage::WriteSegment segment{offset, data.data(), static_cast<int64_t>(data.size())};
    return file_->write({&segment, 1});
  }
  const bool has_kept = shared_->small->keeps();
  Status late;
  Status written = shared_->small->write(offset, data, late);
  shared_->note_late(late);
  if (!has_kept && shared_->small->keeps()) {
    shared_->kept_since = Clock::now();
    if (const timespec now = wall_time(); is_later(now, shared_->noted.st_mtim)) {
      shared_->noted.st_mtim = shared_->noted.st_ctim = now;
    }
    files_.note_kept();
  }
  written.update(late);
  return written;
}

Status MountedFile::resize(int64_t bytes) {
  const std::lock_guard lock(shared_->mutex);
  files_.changes_.fetch_add(1);
  shared_->write_out();
  shared_->has_noted = false;
  Status resized = file_->resize(bytes);
  if (shared_->small != nullptr) {
    shared_->small->forget();
  }
  return resized;
}

// What this handle has not told yet.
Status MountedFile::tell() {
  return std::exchange(told_, shared_->late_count) != shared_->late_count ? shared_->late : Status();
}

Status MountedFile::flush() {
  const std::lock_guard lock(shared_->mutex);
  shared_->write_out();
  return tell();
}

Status MountedFile::sync() {
  const std::lock_guard lock(shared_->mutex);
  shared_->write_out();
  Status synced = file_->sync();
  synced.update(tell());
  return synced;
}

Status MountedFile::close() {
  const std::lock_guard lock(shared_->mutex);
  shared_->write_out();
  Status closed = file_->close();
  closed.update(tell());
  std::erase_if(shared_->handles, [this](const auto& handle) { return handle.first == file_.get(); });
  file_.reset();
  return closed;
}

bool MountedFile::attributes(struct stat* details) {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->has_noted || Clock::now() - shared_->noted_at > MountedFiles::kLifetime) {
    return false;
  }
  *details = shared_->noted;
  return true;
}

std::shared_ptr<SharedBytes> MountedFiles::find(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(number);
  return found == files_.end() ? nullptr : found->second.lock();
}

std::vector<std::shared_ptr<SharedBytes>> MountedFiles::all() {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<SharedBytes>> files;
  for (const auto& [number, file] : files_) {
    if (auto open = file.lock()) {
      files.push_back(std::move(open));
    }
  }
  return files;
}

Result<std::unique_ptr<MountedFile>> MountedFiles::open(storage::Driver& driver, const std::string& url,
                                                        const storage::OpenOptions& options) {
  STRIA_ASSIGN_OR_RETURN(auto file, driver.open(url, options));
  STRIA_ASSIGN_OR_RETURN(const storage::Identity identity, file->identity());
  std::shared_ptr<SharedBytes> shared;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(files_, [](const auto& entry) { return entry.second.expired(); });
    shared = files_[identity.number].lock();
    if (shared == nullptr) {
      shared = std::make_shared<SharedBytes>();
      if (static_cast<int64_t>(files_.size()) * (kFetchedBytes + kWrittenBytes) <= cache_bytes_) {
        begin_to_gather(*shared, file->capabilities().stripe_bytes);
      }
      files_[identity.number] = shared;
    }
  }
  const std::lock_guard lock(shared->mutex);
  shared->handles.emplace_back(file.get(), options.mode != storage::OpenOptions::Mode::kRead);
  shared->has_noted = false;
  if (shared->small != nullptr) {
    shared->small->forget();  // another machine may have closed it meanwhile
  }
  auto opened = std::make_unique<MountedFile>(shared, std::move(file), *this);
  return opened;
}

void MountedFiles::note_attributes(uint64_t number, uint64_t changes_before, struct stat* details) {
  const auto shared = find(number);
  if (shared == nullptr) {
    return;
  }
  const std::lock_guard lock(shared->mutex);
  const struct stat before = std::exchange(shared->noted, *details);
  if (shared->small != nullptr && shared->small->keeps()) {
    shared->note_written(shared->small->kept_end());
    if (is_later(before.st_mtim, shared->noted.st_mtim)) {
      shared->noted.st_mtim = shared->noted.st_ctim = before.st_mtim;
    }
  }
  shared->noted_at = Clock::now();
  shared->has_noted = changes() == changes_before;
  *details = shared->noted;
}

void MountedFiles::forget_attributes() {
  changes_.fetch_add(1);
  for (const auto& shared : all()) {
    const std::lock_guard lock(shared->mutex);
    shared->has_noted = false;
  }
}

void MountedFiles::note_kept() {
  const std::lock_guard lock(mutex_);
  if (!has_kept_) {
    has_kept_ = true;
    changed_.notify_one();
  }
}

void MountedFiles::start() {
  writer_ = std::thread([this] { run(); });
}

void MountedFiles::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_one();
  }
  if (writer_.joinable()) {
    writer_.join();
  }
  for (const auto& shared : all()) {
    const std::lock_guard lock(shared->mutex);
    shared->write_out();
  }
}

// Sleeps while nothing is kept.
void MountedFiles::run() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (!has_kept_) {
      changed_.wait(lock, [this] { return ends_ || has_kept_; });
      continue;
    }
    changed_.wait_for(lock, kLongestKept / 4, [this] { return ends_; });
    has_kept_ = false;
    lock.unlock();
    bool keeps = false;
    for (const auto& shared : all()) {
      const std::lock_guard file_lock(shared->mutex);
      if (shared->small != nullptr && shared->small->keeps() && Clock::now() - shared->kept_since >= kLongestKept) {
        shared->write_out();
      }
      keeps = keeps || (shared->small != nullptr && shared->small->keeps());
    }
    lock.lock();
    has_kept_ = has_kept_ || keeps;
  }
}

}  // namespace stria::tool
