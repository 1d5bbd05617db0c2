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

Outcome OpenStorage::close_background() {
  if (background_ == nullptr) {
    return {};
  }
  const Outcome closed = background_->close();
  background_.reset();
  return closed;
}

Outcome OpenStorage::close() {
  gathered_.end();
  const Outcome closed = handle_->close();
  handle_.reset();
  return closed;
}

void OpenStorage::drop() {
  gathered_.drop();
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
