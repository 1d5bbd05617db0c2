// A file that grows: how it is opened, and what of it is read.
#include <fmt/format.h>

#include <algorithm>

#include "file/parts/parts_table.hpp"
#include "file/session/catalog_message.hpp"
#include "file/write/write_session.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

Result<std::shared_ptr<WriteSession>> WriteSession::append(Environment environment, const std::string& path,
                                                           const AppendOptions& options) {
  const std::shared_ptr<Comm> comm = environment.comm;
  const std::shared_ptr<RollCall> roll_call = begin_roll_call(*comm);
  const CreateOptions writing{.hints = options.hints, .sync = options.sync};
  auto made = or_out_of_memory([&]() -> Result<std::shared_ptr<WriteSession>> {
    return std::shared_ptr<WriteSession>(new WriteSession(std::move(environment), path, writing, roll_call, Kind::kGrowing));
  });
  if (!made.ok()) {
    return give_up_opening(*comm, *roll_call, Call::kAppend, made.status())
        .with_context(fmt::format("'{}' was not changed", path));
  }
  WriteSession& session = **made;
  session.finished_ = false;
  std::vector<std::byte> message;
  Status status = session.environment_.problem;
  if (session.is_root() && status.ok()) {
    status = or_out_of_memory([&] { return session.open_old(message); });
  }
  status = session.meet_and_share(Call::kAppend, status, message);
  if (status.ok()) {
    status = or_out_of_memory([&] { return session.take_old(message); });
    status = session.agree_on_open(Call::kAppend, status, session.file_.created());
  }
  session.note_time();
  if (!status.ok()) {
    return session.fail(status);
  }
  return made;
}

// Rank 0.
Status WriteSession::open_old(std::vector<std::byte>& message) {
  STRIA_RETURN_IF_ERROR(file_.open_old(path_));
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  STRIA_ASSIGN_OR_RETURN(old_, read_old_content(*file_.created()));
  const auto datasets = old_.catalog.datasets();
  if (old_.catalog.find(kPartsPath) &&
      std::any_of(datasets.begin(), datasets.end(), [](const DatasetEntry& entry) { return entry.is_virtual; })) {
    return Status(ErrorCode::kUnsupported, "its data lie in several files, which can't grow: 'stria join' makes one of them");
  }
  STRIA_RETURN_IF_ERROR(old_.growth->check());
  message = encode_old_content(old_);
  return file_.end_at(old_.end);
}

Status WriteSession::take_old(std::span<const std::byte> message) {
  if (!is_root()) {
    STRIA_ASSIGN_OR_RETURN(old_, decode_old_content(message));
  }
  environment_.format = &container::format_of(old_.format, path_);
  layout_ = environment_.format->make_layout();
  options_.checksums = old_.checksums.present;
  layout_->begin_behind(old_.end);
  report_.cleared_bytes = old_.left_behind_bytes;
  return Status();
}

Result<int> WriteSession::append_rows(const std::string& path, int64_t rows) {
  STRIA_RETURN_IF_ERROR(check_open());
  auto number = definitions_.append_rows(path, rows);
  return number.ok() ? number : refuse(number.status());
}

// All ranks know them.
Result<std::vector<Column>> WriteSession::read_columns(const std::string& path, int64_t& row_bytes) {
  STRIA_RETURN_IF_ERROR(check_open());
  const auto number = catalog_.find(path);
  const auto old = old_.catalog.find(path);
  if (!number && !old) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no dataset '{}'", path_, path));
  }
  const container::DatasetSpec& spec = number ? catalog_[*number].spec : old_.catalog[*old].spec;
  std::vector<Column> columns;
  STRIA_RETURN_IF_ERROR(list_columns(spec, columns));
  row_bytes = spec.element.bytes;
  return columns;
}

Result<int> WriteSession::update(const std::string& path) {
  STRIA_RETURN_IF_ERROR(check_open());
  if (is_netcdf(format())) {
    return refuse(Status(ErrorCode::kUnsupported,
                         fmt::format("update('{}'): elements of a classic netCDF file can't be overwritten", path)));
  }
  auto number = definitions_.update(path);
  return number.ok() ? number : refuse(number.status());
}

Status WriteSession::sum_updates(const Status& moved) {
  STRIA_RETURN_IF_ERROR(comm().agree(moved));
  if (!options_.checksums) {
    return Status();
  }
  PhaseTimer timer(report_.phases, Phase::kCommit);
  const Status summed = or_out_of_memory([&]() -> Status {
    std::vector<std::byte> records;
    STRIA_RETURN_IF_ERROR(file_.open({.writes = false, .has_data = true, .direct = false}));
    STRIA_RETURN_IF_ERROR(updating_.sum_again(*file_.cached(), comm(), records));
    gathering_.keep_records(records);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm().agree(summed));
  return is_root() ? or_out_of_memory([&] { return updating_.sum_tables(*file_.cached()); }) : Status();
}

Status WriteSession::fill_with_old(int dataset, int64_t chunk, std::span<std::byte> out) {
  if (old_file_ == nullptr) {
    storage::OpenOptions open;
    open.expected_number = identity_.expected_number();
    STRIA_ASSIGN_OR_RETURN(auto opened, environment_.driver->open(stored_path_, open));
    STRIA_RETURN_IF_ERROR(identity_.check(*opened));
    old_file_ = std::move(opened);
  }
  const auto old = old_.catalog.find(catalog_[dataset].spec.path);
  STRIA_ASSIGN_OR_RETURN(const auto bytes, old_chunks_.chunk(*old, chunk));
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return Status();
}

}  // namespace stria::file
