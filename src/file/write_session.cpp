#include "file/write_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "access/failure_news.hpp"
#include "access/list_io.hpp"
#include "access/transfer.hpp"
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
  Status status = session->environment_.problem;
  if (session->is_root() && status.ok()) {
    PhaseTimer timer(session->report_.phases, Phase::kOpen);
    status = session->create_partial();
  }
  status = session->agree_on_open(status, session->created_.get());
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

Status WriteSession::flush() {
  if (finished_) {
    return already_finished();
  }
  auto shape = agree_on_pending();
  Status status = shape.ok() ? comm().agree(move(*shape, false)) : shape.status();
  note_time();
  return status.ok() ? status : fail(status);
}

Status WriteSession::already_finished() const {
  return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' was committed or abandoned before", path_));
}

Result<access::RequestShape> WriteSession::agree_on_pending() {
  poison(set_reserve_aside());
  return agree_on_request(true, options_.sync, definitions_hash_);
}

Status WriteSession::move(const access::RequestShape& shape, bool last) {
  // Without a plan this rank would not know what the others expect of it.
  const auto plan = reserve_.surely([&] { return access::make_plan(shape, capabilities_, environment_.hints, comm()); });
  bool by_themselves = plan.method == access::Method::kListIo && capabilities_.node_local_cache && comm().size() > 1 &&
                       shape.total_bytes >= kWorthTurnsBytes;
  NodeTurn* node = by_themselves ? comm().node_turn() : nullptr;  // whose memory tells of failures too
  if (node != nullptr) {
    node->begin_operation();
  }
  NodeTurn* turn = capabilities_.parallel_writes ? nullptr : node;
  reserve_.attempt([&] { note_plan(plan); });
  std::optional<access::FailureNews> news;
  const bool all_on_node = node != nullptr && comm().node_size() == comm().size();
  if (plan.method != access::Method::kTwoPhase && !all_on_node && shape.total_bytes >= access::kWorthTellingBytes) {
    news.emplace(comm(), reserve_);
  }
  Status opened = reserve_.status();
  if (opened.ok() && is_root() && plan.reserve) {
    opened = or_out_of_memory([&] { return reserve_space(); });
  }
  if (opened.ok() && is_root() && last) {
    opened = or_out_of_memory([&] { return build_metadata(); });
  }
  if (opened.ok()) {
    opened = or_out_of_memory([&] { return open_handles(plan); });
  }
  auto set = or_out_of_memory([&] {
    if (options_.checksums) {
      place_row_sums(datasets_);
    }
    return TransferSet::create(pending_, datasets_, {options_.checksums, true});
  });
  Status status = opened.ok() ? set.status() : opened;
  if (plan.method == access::Method::kTwoPhase && !comm().agree(status).ok() && status.ok()) {
    // The exchange needs everybody.
    status = Status(ErrorCode::kAborted, "another rank could not begin to write");
  }
  if (status.ok()) {
    access::Context context{comm(), file_, direct_file_.get(), environment_.hints, report_.phases, turn};
    if (news) {
      context.failed_elsewhere = [&news] { return news->heard(); };
    } else if (node != nullptr) {
      context.failed_elsewhere = [node] { return node->was_given_up(); };
    }
    status = transfer(plan, **set, context, last);
  }
  if (!status.ok() && node != nullptr) {
    node->give_up();
  }
  if (news) {
    status = news->end(status);
  }
  if (status.ok()) {
    pending_.clear();
  }
  return status;
}

Status WriteSession::open_handles(const access::Plan& plan) {
  PhaseTimer timer(report_.phases, Phase::kOpen);
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  const auto& aggregators = plan.two_phase.aggregators;
  bool aggregates = std::find(aggregators.begin(), aggregators.end(), comm().rank()) != aggregators.end();
  bool writes = plan.method == access::Method::kTwoPhase ? aggregates : !pending_.empty();
  if (is_root()) {
    file_ = created_.get();
  } else if (file_ == nullptr && (writes || !pending_.empty())) {
    STRIA_ASSIGN_OR_RETURN(opened_file_, environment_.driver->open(partial_path_, open));
    file_ = opened_file_.get();
  }
  if (plan.direct && writes && direct_file_ == nullptr) {
    open.direct = true;
    direct_driver_ = environment_.make_direct_driver ? environment_.make_direct_driver() : environment_.driver;
    auto direct = direct_driver_->open(partial_path_, open);
    if (direct.ok()) {  // not offered: the cached handle does
      direct_file_ = std::move(*direct);
    }
  }
  return Status();
}

// A full device is found before anything is moved; direct writes into space that is there already run side by side.
Status WriteSession::reserve_space() {
  PhaseTimer timer(report_.phases, Phase::kOpen);
  int64_t end = 0;
  for (const DatasetEntry& dataset : datasets_) {
    end = std::max(end, dataset.extent().end);
  }
  Status status = created_->preallocate(end);
  return status.code() == ErrorCode::kUnsupported ? Status() : status;
}

Status WriteSession::transfer(const access::Plan& plan, TransferSet& set, access::Context& context, bool last) {
  if (file_ == nullptr && plan.method != access::Method::kTwoPhase) {
    return Status();  // nothing to write here
  }
  try {
    std::optional<Status> kept;
    std::vector<storage::WriteSegment> sums;
    if (last && plan.method == access::Method::kListIo) {
      context.packed = [&]() -> std::span<const storage::WriteSegment> {
        kept = hand_in(keep(set));
        sums = std::exchange(row_sum_bytes_.segments, {});
        return sums;
      };
    }
    Status status;
    if (plan.method == access::Method::kTwoPhase) {
      status = access::write_two_phase(context, plan.two_phase, set.lanes(), set);
    } else if (plan.method == access::Method::kListIo) {
      status = access::write_list_io(context, set.lanes(), set);
    } else {
      status = access::write_independent(context, set.lanes(), set).status;
    }
    if (status.ok()) {
      status = kept ? *kept : keep(set);
    }
    return status;
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResourceExhausted, fmt::format("writing '{}': out of memory", path_));
  }
}

// What was gathered while packing.
Status WriteSession::keep(TransferSet& set) {
  PhaseTimer timer(report_.phases, Phase::kPack);
  return or_out_of_memory([&] {
    set.finish_sums();
    keep_value_ranges(set);
    keep_sums(set);
    return Status();
  });
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
