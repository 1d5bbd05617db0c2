// The end of a write: what rank 0 makes of the file, and how it gets its name.
//
// Problem: a small file takes as long as its agreements do. Method: there are two. Every rank sends rank 0 one message, with
// its outcome and what it gathered while packing, when its data and sums are written and its handles closed; rank 0 finishes
// the metadata, writes them, renames, and tells the outcome. Only durable files on several nodes need more: each node is synced
// once all its ranks have written.
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

// The parts of all ranks, or the failure of the lowest; one that gave up because of another speaks only when nobody knows more.
Result<std::vector<std::vector<std::byte>>> open_parts(std::span<const std::vector<std::byte>> messages) {
  std::vector<std::vector<std::byte>> parts;
  Status aborted;
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    auto part = decode_outcome(messages[rank]);
    if (part.ok()) {
      parts.push_back(std::move(*part));
      continue;
    }
    Status status = part.status().with_context(fmt::format("rank {}", rank));
    if (status.code() != ErrorCode::kAborted) {
      return status;
    }
    aborted = aborted.ok() ? status : aborted;
  }
  if (!aborted.ok()) {
    return aborted;
  }
  return parts;
}

}  // namespace

// Rank 0 makes the HDF5 objects while the others write already: what is left of them.
Status WriteSession::build_metadata() {
  while (build_a_little()) {
  }
  return build_status_;
}

// One step; false when there is nothing more to do.
bool WriteSession::build_a_little() {
  const size_t steps = 1 + datasets_.size() + row_tables_.size() + definitions_.size();
  if (built_ == steps || !build_status_.ok()) {
    return false;
  }
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  build_status_ = or_out_of_memory([&] { return build_next(); });
  ++built_;
  return true;
}

Status WriteSession::build_next() {
  if (built_ == 0) {
    auto objects = static_cast<int64_t>(datasets_.size() + definitions_.size());
    STRIA_ASSIGN_OR_RETURN(writer_, container::Hdf5Writer::create(objects));
    return writer_->plan(planned_end_);
  }
  size_t step = built_ - 1;
  if (step < datasets_.size()) {
    return build_dataset(datasets_[step]);
  }
  step -= datasets_.size();
  return step < row_tables_.size() ? build_row_table(step) : definitions_[step - row_tables_.size()](*writer_);
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

// The attributes are there, next to their dataset, before their values are known.
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
  define_checksum_tables();
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
  if (mine.ok()) {
    mine = write_sums();
  }
  if (options_.sync && comm().node_size() < comm().size()) {
    mine = sync_other_nodes(mine);
  }
  Status closed = close_handles();
  Status outcome = collect(mine.ok() ? closed : mine);
  if (is_root() && outcome.ok()) {
    outcome = finish_file();
    outcome = outcome.ok() ? outcome : outcome.with_context("rank 0");
  }
  return share_outcome(outcome);
}

// Row sums go to their tables; slab sums, being few, to rank 0.
Status WriteSession::write_sums() {
  if (row_sums_.empty()) {
    return Status();
  }
  PhaseTimer timer(report_.phases, Phase::kCommit);
  for (RowSum& sum : row_sums_) {
    const DatasetEntry& dataset = datasets_[static_cast<size_t>(sum.table)];
    sum.index = sum.index * static_cast<int64_t>(row_tables_[static_cast<size_t>(dataset.checksum_group)].datasets.size()) +
                dataset.checksum_column;
    sum.table = dataset.checksum_group;
  }
  return write_row_sums(*file_, row_tables_, std::move(row_sums_));
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
  direct_file_.reset();
  opened_file_.reset();
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

// Brings every rank's outcome and part to rank 0, and there the first failure; the others don't hear of it yet.
Status WriteSession::collect(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  const auto messages = comm().gather(encode_outcome(mine, gathered_part()), 0);
  STRIA_ASSIGN_OR_RETURN(const auto parts, open_parts(messages));
  for (const std::vector<std::byte>& part : parts) {
    merge_part(part);
  }
  return Status();
}

// Rank 0: metadata, sync, name.
Status WriteSession::finish_file() {
  {
    PhaseTimer timer(report_.phases, Phase::kMetadata);
    STRIA_RETURN_IF_ERROR(write_value_ranges());
    STRIA_RETURN_IF_ERROR(write_image());
  }
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

Status WriteSession::write_image() {
  if (options_.checksums) {
    add_table_sums();
    all_slab_records_ = seal_slab_sums(std::move(all_slab_records_));
    container::DatasetSpec slabs;
    slabs.path = std::string(kChecksumGroup) + "/slabs";
    slabs.element = container::ElementSpec::of_number(ElementType::kUint8);
    slabs.dims = {static_cast<int64_t>(all_slab_records_.size())};
    STRIA_RETURN_IF_ERROR(writer_->create_table(slabs, all_slab_records_));
  }
  STRIA_ASSIGN_OR_RETURN(container::SparseImage image, writer_->finish());
  std::vector<storage::WriteSegment> segments;
  for (const auto& extent : image.extents) {
    segments.push_back({extent.offset, extent.bytes.data(), static_cast<int64_t>(extent.bytes.size())});
  }
  STRIA_RETURN_IF_ERROR(created_->write(segments));
  report_.file_bytes = image.file_bytes;
  STRIA_ASSIGN_OR_RETURN(int64_t size_bytes, created_->size());
  return size_bytes == image.file_bytes ? Status() : created_->resize(image.file_bytes);
}

// Once the file has its name: what fails now costs no data, unless the power does too.
Status WriteSession::settle() {
  Status status = created_->close();
  created_.reset();
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
