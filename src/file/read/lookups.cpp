// What a file that is read has, by name.
//
// Problem: a file may have a hundred thousand datasets, of which a program wants one.
// Method: where one process reads, and no sums are compared on the way, each dataset is looked up
// when it is first asked for; what needs all of them reads the catalog then. Ranks that share a
// file have the whole catalog, so that they look datasets up without a message. Datasets keep their
// numbers when the catalog is completed.
// Cost: opening takes the root of the file; a lookup, one object.
#include <fmt/format.h>

#include "container/object_path.hpp"
#include "file/define/names.hpp"
#include "file/parts/parts_table.hpp"
#include "file/read/read_session.hpp"
#include "file/session/catalog_message.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

using ObjectKind = container::Reader::ObjectKind;

// Files whose data are in parts have a table of these in the catalog.
Result<bool> ReadSession::may_be_lazy() const {
  if (comm().size() > 1 || options_.verify || is_netcdf(format_)) {
    return false;
  }
  STRIA_ASSIGN_OR_RETURN(const ObjectKind parts, reader_->kind_of(kPartsPath));
  return parts == ObjectKind::kNone;
}

Status ReadSession::complete() {
  if (!is_lazy_) {
    return Status();
  }
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  return or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(read_whole_catalog().status());
    is_lazy_ = false;
    return take_sums();
  });
}

Result<bool> ReadSession::has_checksums() {
  STRIA_RETURN_IF_ERROR(complete());
  return checksums_.present;
}

Result<std::vector<std::string>> ReadSession::dataset_paths() {
  STRIA_RETURN_IF_ERROR(complete());
  return catalog_.content_paths();
}

Result<int> ReadSession::find(const std::string& dataset_path) {
  if (!is_lazy_ || catalog_.find(dataset_path)) {
    return Session::find(dataset_path);
  }
  STRIA_RETURN_IF_ERROR(check_open());
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  return or_out_of_memory([&]() -> Result<int> {
    STRIA_ASSIGN_OR_RETURN(const ObjectKind kind, reader_->kind_of(dataset_path));
    if (kind != ObjectKind::kDataset) {
      return Session::find(dataset_path);  // which says that there is none
    }
    STRIA_ASSIGN_OR_RETURN(const std::string path, container::normal_path(dataset_path));
    STRIA_ASSIGN_OR_RETURN(DatasetEntry entry, read_entry(*reader_, path));
    return catalog_.add(std::move(entry));
  });
}

Result<bool> ReadSession::has_group(const std::string& path) {
  STRIA_RETURN_IF_ERROR(check_open());
  if (!is_lazy_) {
    return catalog_.has_group(path);
  }
  return or_out_of_memory([&]() -> Result<bool> {
    STRIA_ASSIGN_OR_RETURN(const ObjectKind kind, reader_->kind_of(path));
    return kind == ObjectKind::kGroup;
  });
}

Result<std::vector<std::string>> ReadSession::members(const std::string& group) {
  STRIA_ASSIGN_OR_RETURN(const bool is_there, has_group(group));
  if (!is_there) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no group '{}'", path_, group));
  }
  if (!is_lazy_) {
    return catalog_.members(group);
  }
  return or_out_of_memory([&]() -> Result<std::vector<std::string>> {
    STRIA_ASSIGN_OR_RETURN(std::vector<std::string> names, reader_->names_in(group));
    STRIA_ASSIGN_OR_RETURN(const std::string path, container::normal_path(group));
    std::erase_if(names, [&](const std::string& name) { return path.empty() && name == kOwnGroup; });
    return names;
  });
}

Result<std::pair<std::string, std::string>> ReadSession::link_to_file(const std::string& path) {
  STRIA_RETURN_IF_ERROR(check_open());
  std::pair<std::string, std::string> found;
  if (!is_lazy_) {
    if (const auto* const link = catalog_.link_to_file(path)) {
      found = {link->target, link->file};
    }
    return found;
  }
  return or_out_of_memory([&]() -> Result<std::pair<std::string, std::string>> {
    STRIA_ASSIGN_OR_RETURN(container::LinkSpec link, reader_->link_to_file(path));
    if (!link.file.empty()) {
      found = {std::move(link.target), std::move(link.file)};
    }
    return found;
  });
}

}  // namespace stria::file
