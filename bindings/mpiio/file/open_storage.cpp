#include "mpiio/file/open_storage.hpp"

#include <utility>

#include "base/check.hpp"
#include "storage/coherent/coherent_file.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"

namespace stria::mpiio {

using Mode = storage::OpenOptions::Mode;

OpenStorage::OpenStorage(const FileName& name, AccessMode mode, bool several_threads, bool sole_writer)
    : path_(storage::absolute_path(name.path)),
      named_nfs_(name.named_nfs),
      mode_(mode),
      several_threads_(several_threads),
      sole_writer_(sole_writer) {}

std::unique_ptr<storage::File> OpenStorage::for_all_nodes(std::unique_ptr<storage::File> opened) const {
  return storage::make_coherent(std::move(opened), named_nfs_);
}

Outcome OpenStorage::choose_driver(const std::string& name, int rank) {
  STRIA_ASSIGN_OR_RETURN(driver_, storage::make_driver(name, rank));
  return {};
}

Outcome OpenStorage::open_as(const std::string& path, const storage::OpenOptions& options) {
  auto opened = driver_->open(path, options);
  STRIA_MPIIO_RETURN_IF_ERROR(opened.status());
  handle_ = for_all_nodes(std::move(*opened));
  return {};
}

Outcome OpenStorage::open(uint64_t expected_number) {
  storage::OpenOptions options;
  options.mode = mode_.storage_mode();
  options.sole_writer = sole_writer_;
  options.expected_number = expected_number;
  return open_as(path_, options);
}

Outcome OpenStorage::open_or_create(const storage::Striping& striping) {
  storage::OpenOptions made;
  made.mode = Mode::kCreateNew;
  made.sole_writer = sole_writer_;
  made.striping = striping;
  if (mode_.must_create()) {
    return open_as(path_, made);
  }
  Outcome outcome = open();
  for (int attempt = 0; attempt < 10 && mode_.creates(); ++attempt) {
    if (outcome.error_class() != MPI_ERR_NO_SUCH_FILE) {
      return outcome;
    }
    // A link to a file that is still to come is followed, as open() does.
    outcome = open_as(driver_->follow_links(path_), made);
    if (outcome.error_class() != MPI_ERR_FILE_EXISTS) {
      return outcome;
    }
    outcome = open();
  }
  return outcome;
}

storage::File* OpenStorage::background() {
  const std::lock_guard lock(background_mutex_);
  if (background_ == nullptr) {
    storage::OpenOptions options;
    options.mode = mode_.storage_mode();
    options.sole_writer = sole_writer_;
    auto opened = driver_->open_again(*handle_, options);
    if (!opened.ok()) {
      // The system may have no /proc, or the file's owner may have withdrawn every right.
      return nullptr;
    }
    background_ = for_all_nodes(std::move(*opened));
  }
  return background_.get();
}

Outcome OpenStorage::size(int64_t& bytes) {
  const auto turn = hold();
  STRIA_ASSIGN_OR_RETURN(bytes, handle().size());
  return {};
}

storage::Identity OpenStorage::identity() {
  STRIA_ASSERT(is_open(), path_);
  const auto identity = handle_->identity();
  return identity.ok() ? *identity : storage::Identity();
}

namespace {

// How many files of this process have something to settle.
std::atomic<int> keeping_files{0};

}  // namespace

bool OpenStorage::any_keeps_small() {
  return keeping_files.load(std::memory_order_acquire) > 0;
}

void OpenStorage::note_small(bool keeps) {
  if (keeps != keeps_small_.load(std::memory_order_relaxed)) {
    keeps_small_.store(keeps, std::memory_order_release);
    keeping_files.fetch_add(keeps ? 1 : -1);
  }
}

void OpenStorage::note_access(const Status& late) {
  note_small(small_->keeps());
  if (!late.ok()) {
    late_(late);
  }
}

void OpenStorage::gather(storage::SmallRequests::Options options, std::function<void(const Status&)> late) {
  STRIA_ASSERT(is_open(), path_);
  small_ = std::make_unique<storage::SmallRequests>(std::move(options));
  late_ = std::move(late);
}

Status OpenStorage::write_small(int64_t offset, std::span<const std::byte> data) {
  STRIA_ASSERT(gathers(), path_);
  Status late;
  Status written = small_->write(offset, data, late);
  note_access(late);
  return written;
}

Result<int64_t> OpenStorage::read_small(int64_t offset, std::span<std::byte> data) {
  STRIA_ASSERT(gathers(), path_);
  Status late;
  auto bytes = small_->read(offset, data, late);
  note_access(late);
  return bytes;
}

void OpenStorage::settle() {
  if (!keeps_small()) {
    return;
  }
  const Status late = small_->write_out();
  small_->forget();
  note_access(late);
}

Outcome OpenStorage::close_background() {
  if (background_ == nullptr) {
    return {};
  }
  const Outcome closed = background_->close();
  background_.reset();
  return closed;
}

Outcome OpenStorage::close() {
  settle();
  small_.reset();
  const Outcome closed = handle_->close();
  handle_.reset();
  return closed;
}

void OpenStorage::drop() {
  small_.reset();
  note_small(false);
  background_.reset();
  handle_.reset();
}

Outcome OpenStorage::remove_name() {
  STRIA_ASSERT(is_open(), path_);
  const auto named = driver_->identity(path_);
  const auto open = handle_->identity();
  if (named.status().code() == ErrorCode::kNotFound || (named.ok() && open.ok() && *named != *open)) {
    return {};
  }
  Outcome removed = driver_->remove(path_);
  return removed.error_class() == MPI_ERR_NO_SUCH_FILE ? Outcome() : removed;
}

}  // namespace stria::mpiio
