// The end of a write: what rank 0 makes of the file, and how it gets its name.
//
// Problem: a small file takes as long as its agreements do. Method: there are two, and little is left to do between them. Every
// rank sends rank 0 what it gathered while packing as soon as its last bytes are packed, and writes its row sums together with
// them; rank 0 finishes the metadata meanwhile. Then every rank sends rank 0 its outcome, once its handles are closed; rank 0
// renames and tells the outcome. Only durable files on several nodes need more: each node is synced once all its ranks have
// written.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "container/hdf5/writer.hpp"
#include "datatype/convert.hpp"
#include "file/outcome_message.hpp"
#include "file/write_session.hpp"
#include "trace/phase_timer.hpp"

namespace stria::file {

namespace {

// The writeable form of a number of ours as an attribute of the dataset's type.
std::vector<std::byte> number_as(ElementType type, double value) {
  std::vector<std::byte> bytes(static_cast<size_t>(element_bytes(type)));
  convert_elements(ElementType::kFloat64, reinterpret_cast<const std::byte*>(&value), type, bytes.data(), 1);
  return bytes;
}

// The failure of the lowest rank; one that gave up because of another speaks only when nobody knows more.
void keep_first(Status& first, const Status& status, int rank) {
  if (!status.ok() && (first.ok() || (first.code() == ErrorCode::kAborted && status.code() != ErrorCode::kAborted))) {
    first = status.with_context(fmt::format("rank {}", rank));
  }
}

// The parts of all ranks, or the first failure.
Result<std::vector<std::vector<std::byte>>> open_parts(std::span<const std::vector<std::byte>> messages) {
  std::vector<std::vector<std::byte>> parts;
  Status failure;
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    auto part = decode_outcome(messages[rank]);
    keep_first(failure, part.status(), static_cast<int>(rank));
    if (part.ok()) {
      parts.push_back(std::move(*part));
    }
  }
  STRIA_RETURN_IF_ERROR(failure);
  return parts;
}

}  // namespace

// Rank 0: all objects of the file; what the ranks gather while packing comes later.
Status WriteSession::build_metadata() {
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  writer_.emplace();
  STRIA_RETURN_IF_ERROR(writer_->plan(planned_end_));
  for (const DatasetEntry& dataset : datasets_) {
    STRIA_RETURN_IF_ERROR(build_dataset(dataset));
  }
  for (size_t i = 0; i < row_tables_.size(); ++i) {
    STRIA_RETURN_IF_ERROR(build_row_table(i));
  }
  for (const Definition& definition : definitions_) {
    STRIA_RETURN_IF_ERROR(definition(*writer_));
  }
  return Status();
}

Status WriteSession::build_dataset(const DatasetEntry& dataset) {
  STRIA_RETURN_IF_ERROR(writer_->create_dataset(dataset.spec).status());
  return dataset.value_range ? reserve_value_range(dataset) : Status();
}

Status WriteSession::build_row_table(size_t number) {
  const RowTable& table = row_tables_[number];
  container::DatasetSpec spec;
  spec.path = table.path(number);
  spec.element = container::ElementSpec::of_number(ElementType::kUint64);
  spec.dims = {table.row_count, static_cast<int64_t>(table.datasets.size())};
  spec.data_offset = table.data_offset;
  return writer_->create_dataset(spec).status();
}

// The attributes stand next to their dataset before their values are known.
Status WriteSession::reserve_value_range(const DatasetEntry& dataset) {
  ElementType type = dataset.stored_element();
  std::array<int, 2> places{};
  for (size_t i : {0, 1}) {
    const char* name = i == 0 ? "minimum" : "maximum";
    container::AttributeSpec attribute{
        dataset.spec.path, name, container::ElementSpec::of_number(type), {1}, number_as(type, 0)};
    STRIA_ASSIGN_OR_RETURN(places[i], writer_->reserve_attribute(attribute));
  }
  range_attributes_.push_back(places);
  return Status();
}

Status WriteSession::commit() {
  if (finished_) {
    return already_finished();
  }
  poison(or_out_of_memory([&] {
    define_checksum_tables();
    return Status();
  }));
  auto shape = agree_on_pending();
  Status status = shape.status();
  if (shape.ok()) {
    status = complete(move(*shape, true));
  }
  note_time();
  if (!status.ok()) {
    return fail(status);
  }
  finished_ = true;
  return Status();
}

// After this rank's data were handed over, or failed to be.
Status WriteSession::complete(Status mine) {
  mine = hand_in(mine);
  if (mine.ok()) {
    mine = write_sums();
  }
  if (options_.sync && comm().node_size() < comm().size()) {
    mine = sync_other_nodes(mine);
  }
  Status closed = close_handles();
  mine = mine.ok() ? closed : mine;
  finish_parts();
  Status made = is_root() && mine.ok() ? or_out_of_memory([&] { return write_image(); }) : Status();
  Status outcome = collect(mine);
  if (is_root() && outcome.ok()) {
    outcome = made.ok() ? or_out_of_memory([&] { return finish_file(); }) : made;
    outcome = outcome.with_context("rank 0");
  }
  outcome = share_outcome(outcome);
  // Nobody waits for their memory any more.
  direct_file_.reset();
  opened_file_.reset();
  if (published_) {
    created_.reset();
  }
  return outcome;
}

// Sends rank 0 what was gathered, or why there is nothing, unless that was done before. Returns what this rank's outcome is
// now.
Status WriteSession::hand_in(const Status& mine) {
  if (parts_.started()) {
    return mine;
  }
  PhaseTimer timer(report_.phases, Phase::kCommit);
  auto message = or_out_of_memory([&]() -> Result<std::vector<std::byte>> {
    if (!mine.ok()) {
      return encode_outcome(mine, {});
    }
    lay_out_sums();
    return encode_outcome(mine, gathered_part());
  });
  parts_.start(comm(), message.ok() ? std::move(*message) : encode_outcome(message.status(), {}));
  return mine.ok() ? message.status() : mine;
}

// Row sums go to their tables; slab sums to rank 0.
void WriteSession::lay_out_sums() {
  for (RowSum& sum : row_sums_) {
    const DatasetEntry& dataset = datasets_[static_cast<size_t>(sum.table)];
    sum.index = sum.index * static_cast<int64_t>(row_tables_[static_cast<size_t>(dataset.checksum_group)].datasets.size()) +
                dataset.checksum_column;
    sum.table = dataset.checksum_group;
  }
  row_sum_bytes_ = lay_out_row_sums(row_tables_, std::move(row_sums_));
}

// Those that were not written together with the last of the data.
Status WriteSession::write_sums() {
  if (row_sum_bytes_.segments.empty()) {
    return Status();
  }
  PhaseTimer timer(report_.phases, Phase::kCommit);
  return or_out_of_memory([&] { return file_->write(row_sum_bytes_.segments); });
}

// One rank a node makes the node's writes durable; on rank 0's own node that is rank 0, when the metadata are written too.
Status WriteSession::sync_other_nodes(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kSync);
  if (!comm().agree(mine).ok()) {
    return mine.ok() ? Status(ErrorCode::kAborted, "another rank could not write") : mine;
  }
  if (comm().node_rank() != 0 || is_root()) {
    return Status();
  }
  if (file_ == nullptr) {
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    STRIA_ASSIGN_OR_RETURN(opened_file_, environment_.driver->open(partial_path_, open));
    file_ = opened_file_.get();
  }
  return file_->sync();
}

// All but rank 0's handle, under whose lock the file is.
Status WriteSession::close_handles() {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  Status status;
  if (direct_file_ != nullptr) {
    status = direct_file_->close();
  }
  if (opened_file_ != nullptr) {
    Status closed = opened_file_->close();
    status = status.ok() ? closed : status;
  }
  file_ = nullptr;
  return status;
}

// What the commit gathers of this rank: the ranges of values, then the slab sums.
std::vector<std::byte> WriteSession::gathered_part() const {
  std::vector<ValueRange> ranges;
  for (size_t i = 0; i < datasets_.size(); ++i) {
    if (datasets_[i].value_range) {
      ranges.push_back(value_ranges_[i]);
    }
  }
  auto bytes = std::as_bytes(std::span(ranges));
  std::vector<std::byte> part(bytes.begin(), bytes.end());
  part.insert(part.end(), slab_records_.begin(), slab_records_.end());
  return part;
}

void WriteSession::merge_part(std::span<const std::byte> part) {
  for (size_t i = 0; i < datasets_.size(); ++i) {
    if (datasets_[i].value_range) {
      ValueRange range;
      std::memcpy(&range, part.data(), sizeof range);
      part = part.subspan(sizeof range);
      value_ranges_[i].minimum = std::min(value_ranges_[i].minimum, range.minimum);
      value_ranges_[i].maximum = std::max(value_ranges_[i].maximum, range.maximum);
    }
  }
  all_slab_records_.insert(all_slab_records_.end(), part.begin(), part.end());
}

void WriteSession::finish_parts() {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  parts_.finish();
}

// Rank 0: the metadata with what all ranks gathered.
Status WriteSession::assemble() {
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  return or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto messages, parts_.take());
    STRIA_ASSIGN_OR_RETURN(const auto parts, open_parts(messages));
    for (const std::vector<std::byte>& part : parts) {
      merge_part(part);
    }
    STRIA_RETURN_IF_ERROR(write_value_ranges());
    return make_image();
  });
}

// Rank 0, while others may still write their last bytes.
Status WriteSession::write_image() {
  STRIA_RETURN_IF_ERROR(assemble());
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  std::vector<storage::WriteSegment> segments;
  for (const auto& extent : image_.extents) {
    segments.push_back({extent.offset, extent.bytes.data(), static_cast<int64_t>(extent.bytes.size())});
  }
  return created_->write(segments);
}

// Brings every rank's outcome to rank 0, and there the first failure; the others don't hear of it yet.
Status WriteSession::collect(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  const auto message = reserve_.surely([&] { return encode_outcome(mine, {}); });
  Status failure;
  comm().gather(message, 0, [&](int rank, std::span<const std::byte> piece) {
    reserve_.surely([&] { keep_first(failure, decode_outcome(piece).status(), rank); });
  });
  return failure;
}

// Rank 0, when everything is written: size, sync, name.
Status WriteSession::finish_file() {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, created_->size());
  if (size_bytes != image_.file_bytes) {
    STRIA_RETURN_IF_ERROR(created_->resize(image_.file_bytes));
  }
  report_.file_bytes = image_.file_bytes;
  if (options_.sync) {
    PhaseTimer timer(report_.phases, Phase::kSync);
    STRIA_RETURN_IF_ERROR(created_->sync());
  }
  PhaseTimer timer(report_.phases, Phase::kCommit);
  STRIA_RETURN_IF_ERROR(environment_.driver->rename(partial_path_, path_));
  published_ = true;
  return settle();
}

Status WriteSession::write_value_ranges() {
  std::vector<std::pair<int, std::vector<std::byte>>> values;
  size_t reserved = 0;
  for (size_t i = 0; i < datasets_.size(); ++i) {
    if (!datasets_[i].value_range) {
      continue;
    }
    const std::array<int, 2>& places = range_attributes_[reserved++];
    const ValueRange& range = value_ranges_[i];
    if (range.minimum <= range.maximum) {  // else nothing was put
      ElementType type = datasets_[i].stored_element();
      values.emplace_back(places[0], number_as(type, range.minimum));
      values.emplace_back(places[1], number_as(type, range.maximum));
    }
  }
  return writer_->fill_attributes(values);
}

// Rank 0 has all tables, so that their sums join the gathered ones without a message.
void WriteSession::add_table_sums() {
  for (size_t i = 0; i < table_sums_.size(); ++i) {
    const TableSum& table = table_sums_[i];
    if (table.bytes > 0) {
      encode_slab_sum({static_cast<int>(datasets_.size() + i), 0, Datatype::bytes(table.bytes), table.sum}, all_slab_records_);
    }
  }
}

Status WriteSession::make_image() {
  if (options_.checksums) {
    add_table_sums();
    all_slab_records_ = seal_slab_sums(std::move(all_slab_records_));
    container::DatasetSpec slabs;
    slabs.path = std::string(kChecksumGroup) + "/slabs";
    slabs.element = container::ElementSpec::of_number(ElementType::kUint8);
    slabs.dims = {static_cast<int64_t>(all_slab_records_.size())};
    STRIA_RETURN_IF_ERROR(writer_->create_table(slabs, all_slab_records_));
  }
  STRIA_ASSIGN_OR_RETURN(image_, writer_->finish());
  return Status();
}

// Once the file has its name: what fails now costs no data, unless the power does too.
Status WriteSession::settle() {
  Status status = created_->close();
  if (status.ok() && options_.sync) {
    status = environment_.driver->sync_directory(path_);
  }
  return status;
}

// Rank 0's outcome, and whether the file has its name, on every rank.
Status WriteSession::share_outcome(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  int64_t outcome[2] = {mine.ok() ? 0 : 1, published_ ? 1 : 0};
  comm().broadcast(std::as_writable_bytes(std::span(outcome)), 0);
  published_ = outcome[1] != 0;
  if (outcome[0] == 0) {
    return Status();
  }
  std::vector<std::byte> message;
  if (is_root()) {
    message = encode_outcome(mine, {});
  }
  comm().broadcast_bytes(message, 0);
  return decode_outcome(message).status();
}

}  // namespace stria::file
