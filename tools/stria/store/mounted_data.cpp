#include "store/mounted_data.hpp"

#include <time.h>

#include <algorithm>
#include <optional>
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

}  // namespace

/// Holds what the handles of one file have together.
struct SharedBytes {
  std::mutex mutex;
  std::vector<std::pair<storage::File*, bool>> handles;  // true: the handle may write
  PrivateMemory memory;                                  // the memory of what is fetched
  std::unique_ptr<storage::SmallRequests> small;         // null: the mount's memory is used up
  Clock::time_point kept_since;                          // while something is kept
  timespec kept_since_time = {};                         // the same
  Status late;                                           // the last error that came late
  uint64_t late_count = 0;
  struct stat noted = {};  // what the servers told, with what was written here since
  Clock::time_point noted_at;
  bool has_noted = false;
  std::optional<storage::FileState> state;  // what servers told, if nothing was written here since
  Clock::time_point state_at;
  std::optional<mode_t> mode;    // mode as the servers told, and nobody has changed it here since
  int64_t written_end = 0;       // end of what was written here since the file was opened or cut
  Clock::time_point written_at;  // the last of it

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
      state.reset();
      note_late(small->write_out());
    }
  }
  /// Must be called before others change the file or its attributes.
  void settle() {
    write_out();
    has_noted = false;
    if (small != nullptr) {
      small->forget();
    }
  }
  /// Must be called after a write that ends there.
  void note_written(int64_t end) {
    extend(&noted, end);
    written_end = std::max(written_end, end);
    written_at = Clock::now();
    state.reset();
  }
  /// Puts what is kept over what the servers have told. They may have told it just before they got
  /// what was written a moment ago.
  void add_kept(struct stat* details) const {
    if (Clock::now() - written_at < MountedFiles::kLongestKept + MountedFiles::kLifetime) {
      details->st_size = std::max<off_t>(details->st_size, written_end);
    }
    if (small != nullptr && small->keeps()) {
      extend(details, small->kept_end());
      if (is_later(kept_since_time, details->st_mtim)) {
        details->st_mtim = kept_since_time;
      }
      if (is_later(kept_since_time, details->st_ctim)) {
        details->st_ctim = kept_since_time;
      }
    }
  }
  static void extend(struct stat* details, int64_t end) {
    details->st_size = std::max<off_t>(details->st_size, end);
    details->st_blocks = std::max<blkcnt_t>(details->st_blocks, (end + 511) / 512);
  }
};

namespace {

using storage::FetchedPages;

Result<int64_t> read_by_handle(const SharedBytes& shared, std::span<const storage::ReadSegment> list) {
  return shared.handle_that(false)->read(list);
}

/// Null where there is no memory.
std::unique_ptr<FetchedPages> begin_to_fetch(SharedBytes& shared, int64_t stripe_bytes) {
  const FetchedPages::Shape shape = FetchedPages::shape_for(stripe_bytes, kFetchedBytes);
  auto memory = PrivateMemory::allocate(FetchedPages::memory_bytes(shape));
  if (!memory.ok()) {
    return nullptr;
  }
  shared.memory = std::move(*memory);
  FetchedPages::prepare(shared.memory.bytes().data(), shape);
  FetchedPages::Options options{.memory = shared.memory.bytes().data(),
                                .most_window_bytes = kLongestWindowBytes,
                                .alone_bytes = kAloneBytes,
                                .lifetime_ns = std::chrono::nanoseconds(MountedFiles::kLifetime).count(),
                                .read = [&shared](auto list) { return read_by_handle(shared, list); }};
  return std::make_unique<FetchedPages>(std::move(options));
}

void begin_to_gather(SharedBytes& shared, int64_t stripe_bytes) {
  shared.small = std::make_unique<storage::SmallRequests>(storage::SmallRequests::Options{
      .stripe_bytes = stripe_bytes,
      .memory_bytes = kWrittenBytes,
      .largest_bytes = kLargestBytes,
      .make_fetched = [&shared, stripe_bytes] { return begin_to_fetch(shared, stripe_bytes); },
      .write = [&shared](std::span<const storage::WriteSegment> list) { return shared.handle_that(true)->write(list); },
      .read = [&shared](auto list) { return read_by_handle(shared, list); }});
}

}  // namespace

MountedFile::MountedFile(std::shared_ptr<SharedBytes> shared, std::unique_ptr<storage::File> file, MountedFiles& files)
    : shared_(std::move(shared)), file_(std::move(file)), files_(files), told_(shared_->late_count) {}

MountedFile::~MountedFile() {
  if (file_ != nullptr) {
    static_cast<void>(close().ok());
  }
}

Result<int64_t> MountedFile::read(std::span<const storage::ReadSegment> segments) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->small == nullptr || segments.size() != 1) {
    shared_->write_out();
    return file_->read(segments);
  }
  Status late;
  auto bytes = shared_->small->read(segments[0].offset, {segments[0].data, static_cast<size_t>(segments[0].bytes)}, late);
  shared_->note_late(late);
  return bytes;
}

// A program hears of an error as soon as there is one, and again when it syncs or closes.
Status MountedFile::write(std::span<const storage::WriteSegment> segments) {
  const std::lock_guard lock(shared_->mutex);
  files_.changes_.fetch_add(1);
  for (const storage::WriteSegment& segment : segments) {
    shared_->note_written(segment.offset + segment.bytes);
  }
  if (shared_->small == nullptr || segments.size() != 1) {
    shared_->settle();
    return file_->write(segments);
  }
  const bool has_kept = shared_->small->keeps();
  Status late;
  Status written = shared_->small->write(segments[0].offset, {segments[0].data, static_cast<size_t>(segments[0].bytes)}, late);
  shared_->note_late(late);
  if (!has_kept && shared_->small->keeps()) {
    shared_->kept_since = Clock::now();
    shared_->kept_since_time = wall_time();
    shared_->add_kept(&shared_->noted);
    files_.note_kept();
  }
  written.update(late);
  return written;
}

Result<int64_t> MountedFile::size() {
  const std::lock_guard lock(shared_->mutex);
  shared_->write_out();
  return file_->size();
}

Status MountedFile::resize(int64_t bytes) {
  const std::lock_guard lock(shared_->mutex);
  files_.changes_.fetch_add(1);
  shared_->settle();
  shared_->written_end = 0;
  shared_->state.reset();
  return file_->resize(bytes);
}

Status MountedFile::preallocate(int64_t bytes) {
  const std::lock_guard lock(shared_->mutex);
  files_.changes_.fetch_add(1);
  shared_->settle();
  shared_->state.reset();
  return file_->preallocate(bytes);
}

// Tells what this handle has not told yet.
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
  files_.note_kept();
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

bool MountedFile::may_have_privileges() {
  const std::lock_guard lock(shared_->mutex);
  return !shared_->mode || has_privileges(*shared_->mode);
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
  return add(std::move(file), options.mode != storage::OpenOptions::Mode::kRead);
}

Result<std::unique_ptr<MountedFile>> MountedFiles::add(std::unique_ptr<storage::File> file, bool writes) {
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
  shared->settle();  // another machine may have closed it meanwhile
  shared->state.reset();
  shared->written_end = 0;
  shared->handles.emplace_back(file.get(), writes);
  auto opened = std::make_unique<MountedFile>(shared, std::move(file), *this);
  return opened;
}

void MountedFiles::note_attributes(uint64_t number, const Changes& before, struct stat* details) {
  if (const auto shared = find(number)) {
    const std::lock_guard lock(shared->mutex);
    shared->add_kept(details);
    shared->noted = *details;
    shared->noted_at = Clock::now();
    shared->has_noted = changes().files == before.files;
  }
  note_mode(number, before, details->st_mode);
}

void MountedFiles::note_state(uint64_t number, const Changes& before, const storage::FileState& state) {
  const auto shared = find(number);
  if (shared == nullptr || !state.trouble.ok()) {
    return;
  }
  const std::lock_guard lock(shared->mutex);
  if (changes().files == before.files && (shared->small == nullptr || !shared->small->keeps())) {
    shared->state = state;
    shared->state_at = Clock::now();
  }
}

std::optional<storage::FileState> MountedFiles::told_state(uint64_t number) {
  const auto shared = find(number);
  if (shared == nullptr) {
    return std::nullopt;
  }
  const std::lock_guard lock(shared->mutex);
  return Clock::now() - shared->state_at <= kLifetime ? shared->state : std::nullopt;
}

void MountedFiles::note_mode(uint64_t number, const Changes& before, mode_t mode) {
  if (const auto shared = find(number)) {
    const std::lock_guard lock(shared->mutex);
    if (changes().modes == before.modes) {
      shared->mode = mode;
    }
  }
}

void MountedFiles::settle() {
  changes_.fetch_add(1);
  for (const auto& shared : all()) {
    const std::lock_guard lock(shared->mutex);
    shared->settle();
  }
}

void MountedFiles::forget_attributes() {
  changes_.fetch_add(1);
  for (const auto& shared : all()) {
    const std::lock_guard lock(shared->mutex);
    shared->has_noted = false;
  }
}

void MountedFiles::forget_modes() {
  mode_changes_.fetch_add(1);
  for (const auto& shared : all()) {
    const std::lock_guard lock(shared->mutex);
    shared->mode.reset();
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
    rest_();
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
