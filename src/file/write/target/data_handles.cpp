#include "file/write/target/data_handles.hpp"

#include <utility>

namespace stria::file {

Status DataHandles::open(const Use& use, const Place& place) {
  const Environment& environment = place.file.environment;
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  open.sole_writer = environment.comm->node_size() == 1;
  if (place.created != nullptr) {
    file_ = place.created;
  } else if (file_ == nullptr && (use.writes || use.has_data)) {
    open.expected_number = place.of_rank_0.expected_number();
    open.plain_only = !place.grows;
    STRIA_ASSIGN_OR_RETURN(opened_, environment.driver->open(place.file.path, open));
    open.plain_only = false;
    STRIA_RETURN_IF_ERROR(place.of_rank_0.check(*opened_));
    file_ = opened_.get();
  }
  if (place.staging != nullptr && file_ != nullptr) {
    staged_ = std::make_unique<StagedFile>(*file_, *place.staging);
  }
  if (parts_ != nullptr && file_ != nullptr && parted_ == nullptr) {
    parted_ = std::make_unique<storage::PartedFile>(*file_, environment.driver, parts_, open.mode);
    if (parts_->part_count() >= environment.comm->size()) {
      parted_->expect_no_other_writers();
    }
  }
  return use.direct && use.writes && direct() == nullptr ? open_direct(open, environment) : Status();
}

// Where that isn't offered, the cached handle is used.
Status DataHandles::open_direct(storage::OpenOptions open, const Environment& environment) {
  open.direct = true;
  direct_driver_ = environment.make_direct_driver ? environment.make_direct_driver() : environment.driver;
  if (parts_ != nullptr) {
    direct_parted_ = std::make_unique<storage::PartedFile>(*file_, environment.driver, parts_, open.mode);
    direct_parted_->write_past_cache(direct_driver_);
    return Status();
  }
  auto direct = direct_driver_->open_again(*file_, open);
  if (direct.ok()) {
    direct_file_ = std::move(*direct);
  }
  return Status();
}

Result<storage::File*> DataHandles::own(const Place& place) {
  if (file_ == nullptr) {
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    open.expected_number = place.of_rank_0.expected_number();
    STRIA_ASSIGN_OR_RETURN(opened_, place.file.environment.driver->open(place.file.path, open));
    file_ = opened_.get();
  }
  return file_;
}

Status DataHandles::close_parts(bool sync) {
  Status status;
  for (storage::PartedFile* const file : {direct_parted_.get(), parted_.get()}) {
    status.update(file == nullptr ? Status() : file->close_parts(sync));
  }
  return status;
}

Status DataHandles::close(bool own_too) {
  Status status;
  direct_parted_.reset();
  parted_.reset();
  if (direct_file_ != nullptr) {
    status.update(direct_file_->close());
  }
  if (own_too) {
    status.update(opened_ != nullptr ? opened_->close() : Status());
    file_ = nullptr;
  }
  return status;
}

void DataHandles::release(bool own_too) {
  direct_file_.reset();
  if (own_too) {
    opened_.reset();
  }
}

std::unique_ptr<storage::File> DataHandles::depart() noexcept {
  staged_.reset();
  file_ = nullptr;
  return std::move(opened_);
}

void DataHandles::discard() noexcept {
  staged_.reset();
  direct_parted_.reset();
  parted_.reset();
  direct_file_.reset();
  opened_.reset();
  file_ = nullptr;
}

}  // namespace stria::file
