#include "file/write_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "access/list_io.hpp"
#include "access/two_phase.hpp"
#include "base/byte_range.hpp"
#include "base/checked.hpp"
#include "base/hash.hpp"
#include "container/hdf5/paths.hpp"
#include "trace/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kWorthTurnsBytes = 1 << 20;

uint64_t combine(uint64_t seed, uint64_t value) {
  uint64_t both[2] = {seed, value};
  return hash_bytes(std::as_bytes(std::span(both)));
}

uint64_t hash_text(const std::string& text) {
  return hash_bytes(std::as_bytes(std::span(text.data(), text.size())));
}

uint64_t fingerprint(const container::DatasetSpec& spec) {
  uint64_t hash = hash_text(spec.path);
  hash = combine(hash, static_cast<uint64_t>(spec.element.kind) * 64 + static_cast<uint64_t>(spec.element.number));
  hash = combine(hash, static_cast<uint64_t>(spec.element.bytes) * 2 + (spec.element.big_endian ? 1 : 0));
  hash = combine(hash, static_cast<uint64_t>(spec.alignment_bytes));
  for (int64_t size : spec.dims) {
    hash = combine(hash, static_cast<uint64_t>(size));
  }
  return hash;
}

// The writeable form of a number of ours as an attribute of the dataset's type.
std::vector<std::byte> number_as(ElementType type, double value) {
  std::vector<std::byte> bytes(static_cast<size_t>(element_bytes(type)));
  PackOperand operand;
  operand.memory = reinterpret_cast<std::byte*>(&value);
  operand.type = Datatype::bytes(sizeof value);
  operand.memory_element = ElementType::kFloat64;
  operand.stored_element = type;
  auto packer = Packer::create({operand});
  if (packer.ok()) {
    PackPart part{0, 0, element_bytes(type), bytes.data()};
    packer->pack(std::span(&part, 1));
  }
  return bytes;
}

}  // namespace

std::string WriteSession::partial_path(const std::string& path) {
  size_t slash = path.find_last_of('/');
  size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".partial";
}

WriteSession::WriteSession(Environment environment, const std::string& path, const CreateOptions& options)
    : Session(std::move(environment), path), options_(options), partial_path_(partial_path(path)) {
  definitions_hash_ = combine(hints_hash(), (options.sync ? 2 : 0) + (options.checksums ? 1 : 0));
}

WriteSession::~WriteSession() {
  if (!finished_) {
    discard();
  }
}

Result<std::shared_ptr<WriteSession>> WriteSession::create(Environment environment, const std::string& path,
                                                           const CreateOptions& options) {
  std::shared_ptr<WriteSession> session(new WriteSession(std::move(environment), path, options));
  Status status;
  if (session->is_root()) {
    PhaseTimer timer(session->report_.phases, Phase::kOpen);
    status = session->create_partial();
  }
  status = session->comm().agree(status);
  if (!status.ok()) {
    return session->fail(status);
  }
  return session;
}

Status WriteSession::create_partial() {
  if (path_.empty() || path_.back() == '/') {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a file name", path_));
  }
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kCreate;
  open.exclusive_lock = true;
  STRIA_ASSIGN_OR_RETURN(created_, environment_.driver->open(partial_path_, open));
  STRIA_ASSIGN_OR_RETURN(writer_, container::Hdf5Writer::create());
  return Status();
}

void WriteSession::define(uint64_t fingerprint, Definition definition) {
  definitions_hash_ = combine(definitions_hash_, fingerprint);
  if (is_root()) {
    definitions_.push_back(std::move(definition));
  }
}

Result<int> WriteSession::create_dataset(const container::DatasetSpec& given, const DatasetOptions& options) {
  DatasetEntry entry;
  entry.spec = given;
  entry.spec.element.big_endian = options.big_endian;
  entry.value_range = options.value_range;
  auto path = container::h5::normal_path(given.path);
  Status status = path.ok() ? dataset_bytes(entry.spec).status() : path.status();
  entry.spec.path = path.ok() ? *path : given.path;
  if (status.ok() && (entry.spec.path.empty() || find(entry.spec.path).ok())) {
    status =
        Status(ErrorCode::kAlreadyExists, fmt::format("'{}': the dataset name '{}' is empty or taken", path_, entry.spec.path));
  }
  if (!status.ok()) {
    poison(status);
    return status;
  }
  int64_t hint_bytes = environment_.hints.alignment_bytes;
  entry.spec.alignment_bytes =
      options.alignment_bytes > 0 ? options.alignment_bytes : (entry.data_bytes() >= hint_bytes ? hint_bytes : 8);
  auto place = plan_place(entry.data_bytes(), entry.spec.alignment_bytes);
  if (!place.ok()) {
    poison(place.status());
    return place.status();
  }
  entry.data_offset = entry.spec.data_offset = *place;
  definitions_hash_ = combine(combine(definitions_hash_, fingerprint(entry.spec)), entry.value_range ? 1 : 0);
  value_ranges_.emplace_back();
  return add(std::move(entry));
}

void WriteSession::create_table(container::DatasetSpec spec, std::vector<std::byte> content) {
  auto path = container::h5::normal_path(spec.path);
  spec.path = path.ok() ? *path : spec.path;  // the writer says what is wrong with it
  table_sums_.push_back({spec.path, static_cast<int64_t>(content.size()), is_root() ? sum_of(content) : 0});
  define(fingerprint(spec), [spec = std::move(spec), content = std::move(content)](container::Hdf5Writer& writer) {
    return writer.create_table(spec, content);
  });
}

void WriteSession::set_attribute(container::AttributeSpec attribute) {
  define(combine(hash_text(attribute.object_path), hash_text(attribute.name)),
         [attribute = std::move(attribute)](container::Hdf5Writer& writer) { return writer.write_attribute(attribute); });
}

// Raw data lie one dataset behind the other: every rank can tell the place of each without asking.
Result<int64_t> WriteSession::plan_place(int64_t bytes, int64_t alignment_bytes) {
  if (bytes == 0) {
    return int64_t{-1};
  }
  int64_t begin = 0;
  int64_t end = 0;
  if (!checked_add(planned_end_, alignment_bytes - 1, &begin) ||
      !checked_add(align_down(begin, alignment_bytes), bytes, &end)) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}': the file would be larger than 2^63 bytes", path_));
  }
  planned_end_ = end;
  return align_down(begin, alignment_bytes);
}

// Rank 0 makes the HDF5 objects, all of them at once, while the others write already.
Status WriteSession::build_metadata() {
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  STRIA_RETURN_IF_ERROR(writer_->plan(planned_end_));
  for (const DatasetEntry& dataset : datasets_) {
    STRIA_RETURN_IF_ERROR(writer_->create_dataset(dataset.spec).status());
  }
  for (const RowTable& table : row_tables_) {
    container::DatasetSpec spec;
    spec.path = table.path(static_cast<size_t>(&table - row_tables_.data()));
    spec.element = container::ElementSpec::of_number(ElementType::kUint64);
    spec.dims = {table.row_count, static_cast<int64_t>(table.datasets.size())};
    spec.data_offset = table.data_offset;
    STRIA_RETURN_IF_ERROR(writer_->create_dataset(spec).status());
  }
  for (const Definition& definition : definitions_) {
    STRIA_RETURN_IF_ERROR(definition(*writer_));
  }
  definitions_.clear();
  return Status();
}

Status WriteSession::flush() {
  return flush_pending(false);
}

Status WriteSession::flush_pending(bool last) {
  if (finished_) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' was committed or abandoned before", path_));
  }
  auto shape = agree_on_request(true, options_.sync, static_cast<int64_t>(definitions_hash_ >> 1));
  Status status = shape.ok() ? move(*shape, last) : shape.status();
  note_time();
  return status.ok() ? status : fail(status);
}

Status WriteSession::move(const access::RequestShape& shape, bool last) {
  storage::Capabilities capabilities = share_capabilities(is_root() ? created_->capabilities() : storage::Capabilities());
  access::Plan plan = access::make_plan(shape, capabilities, environment_.hints, comm());
  bool takes_turns = plan.method == access::Method::kListIo && capabilities.node_local_cache && comm().size() > 1 &&
                     shape.total_bytes >= kWorthTurnsBytes;
  NodeTurn* turn = takes_turns ? comm().node_turn() : nullptr;
  report_.method = access::method_name(plan.method);
  report_.reason = plan.reason;
  Status opened = is_root() && last ? build_metadata() : Status();
  if (opened.ok()) {
    opened = open_handles(plan);
  }
  if (opened.ok() && plan.direct && is_root()) {
    opened = reserve_space();
  }
  if (options_.checksums) {
    place_row_sums(datasets_);
  }
  auto set = or_out_of_memory([&] { return TransferSet::create(pending_, datasets_, {options_.checksums, true}); });
  Status status = opened.ok() ? set.status() : opened;
  if (plan.method == access::Method::kTwoPhase) {
    // The exchange needs everybody: agree before anyone stays away.
    STRIA_RETURN_IF_ERROR(comm().agree(status));
  }
  if (status.ok()) {
    status = transfer(plan, **set, turn);
  }
  STRIA_RETURN_IF_ERROR(comm().agree(status));
  keep_value_ranges(**set);
  keep_sums(**set);
  pending_.clear();
  return Status();
}

Status WriteSession::open_handles(const access::Plan& plan) {
  PhaseTimer timer(report_.phases, Phase::kOpen);
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  const auto& aggregators = plan.two_phase.aggregators;
  bool aggregates = std::find(aggregators.begin(), aggregators.end(), comm().rank()) != aggregators.end();
  bool writes = plan.method == access::Method::kListIo ? !pending_.empty() : aggregates;
  if (is_root()) {
    file_ = created_.get();
  } else if (file_ == nullptr && (writes || !pending_.empty())) {
    STRIA_ASSIGN_OR_RETURN(opened_file_, environment_.driver->open(partial_path_, open));
    file_ = opened_file_.get();
  }
  if (plan.direct && writes && direct_file_ == nullptr) {
    open.direct = true;
    auto direct = environment_.direct_driver->open(partial_path_, open);
    if (direct.ok()) {  // not offered: the cached handle does
      direct_file_ = std::move(*direct);
    }
  }
  return Status();
}

// Direct writes into space that is there already run side by side, and a full device is found before anything is moved.
Status WriteSession::reserve_space() {
  PhaseTimer timer(report_.phases, Phase::kOpen);
  int64_t end = 0;
  for (const DatasetEntry& dataset : datasets_) {
    end = std::max(end, dataset.extent().end);
  }
  Status status = created_->preallocate(end);
  return status.code() == ErrorCode::kUnsupported ? Status() : status;
}

Status WriteSession::transfer(const access::Plan& plan, TransferSet& set, NodeTurn* turn) {
  if (file_ == nullptr && plan.method == access::Method::kListIo) {
    return Status();  // nothing to write here
  }
  try {
    access::Context context{comm(), file_, direct_file_.get(), environment_.hints, report_.phases, turn};
    Status status = plan.method == access::Method::kTwoPhase
                        ? access::write_two_phase(context, plan.two_phase, set.lanes(), set)
                        : access::write_list_io(context, set.lanes(), set);
    if (status.ok()) {
      PhaseTimer timer(report_.phases, Phase::kPack);
      set.finish_sums();
    }
    return status;
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResourceExhausted, fmt::format("writing '{}': out of memory", path_));
  }
}

void WriteSession::keep_value_ranges(const TransferSet& set) {
  for (size_t i = 0; i < set.value_ranges().size(); ++i) {
    ValueRange& total = value_ranges_[static_cast<size_t>(pending_[i].dataset)];
    total.minimum = std::min(total.minimum, set.value_ranges()[i].minimum);
    total.maximum = std::max(total.maximum, set.value_ranges()[i].maximum);
  }
}

void WriteSession::keep_sums(const TransferSet& set) {
  for (size_t i = 0; i < pending_.size(); ++i) {
    const UnitHasher* hasher = set.sums(i);
    if (hasher == nullptr) {
      continue;
    }
    const Transfer& transfer = pending_[i];
    if (summed_by_rows(transfer, datasets_[static_cast<size_t>(transfer.dataset)])) {
      for (int64_t row = 0; row < hasher->unit_count(); ++row) {
        row_sums_.push_back({transfer.dataset, transfer.first_row + row, hasher->sums()[static_cast<size_t>(row)]});
      }
    } else if (hasher->unit_count() == 1) {
      encode_slab_sum({transfer.dataset, transfer.displacement, transfer.region, hasher->sums()[0]}, slab_records_);
    }
  }
}

void WriteSession::define_checksum_tables() {
  if (!options_.checksums) {
    return;
  }
  row_tables_ = place_row_sums(datasets_);
  for (RowTable& table : row_tables_) {
    int64_t bytes = table.row_count * static_cast<int64_t>(table.datasets.size() * sizeof(uint64_t));
    auto place = plan_place(bytes, sizeof(uint64_t));
    poison(place.status());
    table.data_offset = place.ok() ? *place : -1;
  }
  container::DatasetSpec names;
  names.path = std::string(kChecksumGroup) + "/datasets";
  container::DatasetSpec placement;
  placement.path = std::string(kChecksumGroup) + "/placement";
  // The numbers of the datasets: those with raw data, the tables, and last the two that are made here.
  std::vector<std::string> paths;
  for (const DatasetEntry& dataset : datasets_) {
    paths.push_back(dataset.spec.path);
  }
  for (const TableSum& table : table_sums_) {
    paths.push_back(table.path);
  }
  paths.insert(paths.end(), {names.path, placement.path});
  size_t longest = 1;
  for (const std::string& path : paths) {
    longest = std::max(longest, path.size());
  }
  names.element = container::ElementSpec::of_string(static_cast<int64_t>(longest), false);  // names may end in blanks
  names.dims = {static_cast<int64_t>(paths.size())};
  std::vector<std::byte> name_bytes(longest * paths.size());
  placement.element = container::ElementSpec::of_number(ElementType::kInt64);
  placement.dims = {static_cast<int64_t>(paths.size()), 2};
  std::vector<int64_t> places;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::memcpy(name_bytes.data() + i * longest, paths[i].data(), paths[i].size());
    bool by_rows = i < datasets_.size() && datasets_[i].checksum_group >= 0;
    places.push_back(by_rows ? datasets_[i].checksum_group : -1);
    places.push_back(by_rows ? datasets_[i].checksum_column : -1);
  }
  auto place_bytes = std::as_bytes(std::span(places));
  create_table(names, std::move(name_bytes));
  create_table(placement, {place_bytes.begin(), place_bytes.end()});
}

// Row sums go to their tables; slab sums are gathered, being few.
Status WriteSession::finish_checksums() {
  if (!options_.checksums) {
    return Status();
  }
  PhaseTimer timer(report_.phases, Phase::kCommit);
  for (RowSum& sum : row_sums_) {
    const DatasetEntry& dataset = datasets_[static_cast<size_t>(sum.table)];
    sum.index = sum.index * static_cast<int64_t>(row_tables_[static_cast<size_t>(dataset.checksum_group)].datasets.size()) +
                dataset.checksum_column;
    sum.table = dataset.checksum_group;
  }
  gather_slab_sums();
  return row_sums_.empty() ? Status() : write_row_sums(*file_, row_tables_, std::move(row_sums_));
}

void WriteSession::gather_slab_sums() {
  for (const auto& records : comm().gather(slab_records_, 0)) {
    all_slab_records_.insert(all_slab_records_.end(), records.begin(), records.end());
  }
}

void WriteSession::share_value_ranges() {
  std::vector<double> both;  // maxima, then negated minima: one reduction
  for (size_t i = 0; i < datasets_.size(); ++i) {
    if (datasets_[i].value_range) {
      both.push_back(value_ranges_[i].maximum);
      both.push_back(-value_ranges_[i].minimum);
    }
  }
  if (both.empty()) {
    return;
  }
  comm().all_reduce(std::span<double>(both), ReduceOp::kMax);
  size_t at = 0;
  for (size_t i = 0; i < datasets_.size(); ++i) {
    if (datasets_[i].value_range) {
      value_ranges_[i].maximum = both[at++];
      value_ranges_[i].minimum = -both[at++];
    }
  }
}

Status WriteSession::write_value_ranges() {
  for (size_t i = 0; i < datasets_.size(); ++i) {
    if (!datasets_[i].value_range || value_ranges_[i].minimum > value_ranges_[i].maximum) {
      continue;  // nothing was put
    }
    ElementType type = datasets_[i].stored_element();
    for (auto [name, value] :
         {std::pair("minimum", value_ranges_[i].minimum), std::pair("maximum", value_ranges_[i].maximum)}) {
      container::AttributeSpec attribute{
          datasets_[i].spec.path, name, container::ElementSpec::of_number(type), {1}, number_as(type, value)};
      STRIA_RETURN_IF_ERROR(writer_->write_attribute(attribute));
    }
  }
  return Status();
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

// After all data were handed over: checksums, attributes and metadata.
Status WriteSession::seal() {
  Status status = finish_checksums();
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  share_value_ranges();
  if (is_root() && status.ok()) {
    status = write_value_ranges();
    if (status.ok()) {
      status = write_image();
    }
  }
  return comm().agree(status);
}

// One rank a node makes the node's writes durable.
Status WriteSession::sync() {
  if (!options_.sync) {
    return Status();
  }
  PhaseTimer timer(report_.phases, Phase::kSync);
  bool first_of_node = comm().node_rank() == 0;
  Status status;
  if (first_of_node && file_ == nullptr) {
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    auto opened = environment_.driver->open(partial_path_, open);
    status = opened.status();
    if (opened.ok()) {
      opened_file_ = std::move(*opened);
      file_ = opened_file_.get();
    }
  }
  if (first_of_node && status.ok()) {
    status = file_->sync();
  }
  return comm().agree(status);
}

// Closes everywhere, then the file takes its name.
Status WriteSession::publish() {
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
  STRIA_RETURN_IF_ERROR(comm().agree(status));
  if (is_root()) {
    status = environment_.driver->rename(partial_path_, path_);
    published_ = status.ok();
  }
  if (published_) {
    status = settle();
  }
  return share_outcome(status);
}

// Rank 0, once the file has its name: what fails now costs no data, unless the power does too.
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
  int64_t outcome[2] = {static_cast<int64_t>(mine.code()), published_ ? 1 : 0};
  comm().broadcast(std::as_writable_bytes(std::span(outcome)), 0);
  published_ = outcome[1] != 0;
  if (outcome[0] == 0) {
    return Status();
  }
  std::vector<std::byte> text;
  if (is_root()) {
    auto bytes = std::as_bytes(std::span(mine.message().data(), mine.message().size()));
    text.assign(bytes.begin(), bytes.end());
  }
  comm().broadcast_bytes(text, 0);
  return Status(static_cast<ErrorCode>(outcome[0]), std::string(reinterpret_cast<const char*>(text.data()), text.size()))
      .with_context("rank 0");
}

Status WriteSession::commit() {
  if (finished_) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' was committed or abandoned before", path_));
  }
  define_checksum_tables();
  STRIA_RETURN_IF_ERROR(flush_pending(true));
  Status status = seal();
  if (status.ok()) {
    status = sync();
  }
  if (status.ok()) {
    status = publish();
  }
  if (!status.ok()) {
    return fail(status);
  }
  finished_ = true;
  note_time();
  return Status();
}

Status WriteSession::abandon() {
  if (!finished_) {
    discard();
  }
  return comm().agree(Status());
}

Status WriteSession::fail(const Status& status) {
  discard();
  const char* state = published_ ? "is complete and has its name, but may not survive a power loss" : "was not written";
  return status.with_context(fmt::format("'{}' {}", path_, state));
}

// Leaves nothing behind. Local: rank 0 removes the temporary file, which other ranks may still have open.
void WriteSession::discard() {
  finished_ = true;
  direct_file_.reset();
  opened_file_.reset();
  file_ = nullptr;
  if (created_ != nullptr) {
    // The outcome of the removal can't matter any more: the reason of the failure is what the caller needs.
    (void)environment_.driver->remove(partial_path_);
    created_.reset();
  }
}

}  // namespace stria::file
