#include "file/read_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "access/list_io.hpp"
#include "access/transfer.hpp"
#include "access/two_phase.hpp"
#include "file/catalogue_message.hpp"
#include "file/outcome_message.hpp"
#include "trace/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kLibraryReadBytes = 16 << 20;
// What is broadcast whole; a damaged or hostile header may claim anything.
constexpr int64_t kSmallBytesMax = 256 << 20;

}  // namespace

ReadSession::ReadSession(Environment environment, const std::string& path, const OpenOptions& options)
    : Session(std::move(environment), path), options_(options) {}

Result<std::shared_ptr<ReadSession>> ReadSession::open(Environment environment, const std::string& path,
                                                       const OpenOptions& options) {
  std::shared_ptr<ReadSession> session(new ReadSession(std::move(environment), path, options));
  STRIA_RETURN_IF_ERROR(session->share_catalogue());
  STRIA_RETURN_IF_ERROR(session->agree_on_open(session->environment_.problem, session->file_.get()));
  session->note_time();
  return session;
}

Status ReadSession::open_handle() {
  if (file_ == nullptr) {
    PhaseTimer timer(report_.phases, Phase::kOpen);
    STRIA_ASSIGN_OR_RETURN(file_, environment_.driver->open(path_, storage::OpenOptions()));
  }
  return Status();
}

Status ReadSession::open_root() {
  STRIA_RETURN_IF_ERROR(environment_.problem);
  STRIA_RETURN_IF_ERROR(open_handle());
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  STRIA_ASSIGN_OR_RETURN(reader_, container::Hdf5Reader::open(*file_));
  STRIA_ASSIGN_OR_RETURN(std::vector<std::string> paths, reader_->list());
  for (const std::string& path : paths) {
    if (path.empty() || path.back() == '/') {
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, reader_->dataset(path));
    DatasetEntry entry;
    entry.spec = info.spec;
    entry.spec.path = path;
    entry.data_offset = info.data_offset;
    STRIA_RETURN_IF_ERROR(dataset_bytes(entry.spec).status());
    add(std::move(entry));
  }
  STRIA_ASSIGN_OR_RETURN(report_.file_bytes, file_->size());
  STRIA_ASSIGN_OR_RETURN(checksums_, read_checksum_index(*reader_, report_.file_bytes));
  return Status();
}

Status ReadSession::share_catalogue() {
  std::vector<std::byte> message;
  if (is_root()) {
    Status status = open_root();
    message = encode_outcome(status, status.ok() ? encode_catalogue({datasets_, checksums_}) : std::vector<std::byte>());
  }
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  comm().broadcast_bytes(message, 0);
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, decode_outcome(std::move(message)));
  if (!is_root()) {
    STRIA_ASSIGN_OR_RETURN(Catalogue catalogue, decode_catalogue(content));
    for (DatasetEntry& entry : catalogue.datasets) {
      add(std::move(entry));
    }
    checksums_ = std::move(catalogue.checksums);
  }
  return attach_row_sums();
}

// Tells the datasets of their rows' sums. The same on every rank.
Status ReadSession::attach_row_sums() {
  for (size_t i = 0; i < checksums_.paths.size(); ++i) {
    auto [table, column] = checksums_.placement[i];
    auto found = find(checksums_.paths[i]);
    if (!found.ok() || table < 0) {
      continue;
    }
    DatasetEntry& entry = datasets_[static_cast<size_t>(*found)];
    if (entry.row_count() != checksums_.tables[static_cast<size_t>(table)][1]) {
      return Status(ErrorCode::kFormat,
                    fmt::format("'{}': dataset '{}' and its table of checksums differ in rows", path_, entry.spec.path));
    }
    entry.checksum_group = static_cast<int>(table);
    entry.checksum_column = static_cast<int>(column);
  }
  return Status();
}

std::vector<std::string> ReadSession::dataset_paths() const {
  std::vector<std::string> paths;
  std::string own = std::string(kChecksumGroup) + "/";
  for (const DatasetEntry& entry : datasets_) {
    if (entry.spec.path.compare(0, own.size(), own) != 0) {
      paths.push_back(entry.spec.path);
    }
  }
  return paths;
}

Status ReadSession::commit() {
  auto shape = agree_on_request(false, false, hints_hash());
  Status status = shape.ok() ? move(*shape) : shape.status();
  pending_.clear();
  poisoned_ = Status();
  note_time();
  return status;
}

Status ReadSession::move(const access::RequestShape& shape) {
  access::Plan plan = access::make_plan(shape, capabilities_, environment_.hints, comm());
  note_plan(plan);
  std::vector<Transfer> direct;
  std::vector<Transfer> through_library;
  for (Transfer& transfer : pending_) {
    bool raw = datasets_[static_cast<size_t>(transfer.dataset)].data_offset >= 0;
    (raw ? direct : through_library).push_back(std::move(transfer));
  }
  Status status = open_handle();
  bool sums = options_.verify && checksums_.present;
  auto set = or_out_of_memory([&] { return TransferSet::create(direct, datasets_, {sums, false}); });
  status = status.ok() ? set.status() : status;
  if (plan.method == access::Method::kTwoPhase) {
    STRIA_RETURN_IF_ERROR(comm().agree(status));
  }
  if (status.ok()) {
    status = read_engine(plan, **set);
  }
  for (const Transfer& transfer : through_library) {
    if (status.ok()) {
      status = read_through_library(transfer);
    }
  }
  if (status.ok() && sums) {
    status = check_sums(direct, **set);
  }
  return comm().agree(status);
}

Status ReadSession::read_engine(const access::Plan& plan, TransferSet& set) {
  try {
    access::Context context{comm(), file_.get(), nullptr, environment_.hints, report_.phases};
    access::Moved moved;
    if (plan.method == access::Method::kTwoPhase) {
      moved = access::read_two_phase(context, plan.two_phase, set.lanes(), set);
    } else if (plan.method == access::Method::kListIo) {
      moved = access::read_list_io(context, set.lanes(), set);
    } else {
      access::Outcome outcome = access::read_independent(context, set.lanes(), set);
      moved = {outcome.status, outcome.bytes};
    }
    return access::require_all(moved, context, set.lanes());
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResourceExhausted, fmt::format("reading '{}': out of memory", path_));
  }
}

// Chunked, filtered, compact: libhdf5 reads rows into a buffer, the packer converts from there.
Status ReadSession::read_through_library(const Transfer& transfer) {
  if (transfer.start.empty() && !datasets_[static_cast<size_t>(transfer.dataset)].spec.dims.empty()) {
    return Status(ErrorCode::kUnsupported, fmt::format("dataset '{}' is chunked or filtered: read it without strides",
                                                       datasets_[static_cast<size_t>(transfer.dataset)].spec.path));
  }
  if (reader_ == nullptr) {
    STRIA_ASSIGN_OR_RETURN(reader_, container::Hdf5Reader::open(*file_));
  }
  DatasetEntry entry = datasets_[static_cast<size_t>(transfer.dataset)];
  entry.spec.element.big_endian = false;  // the library has turned the numbers
  entry.data_offset = 0;
  std::vector<Transfer> one = {transfer};
  one[0].dataset = 0;
  STRIA_ASSIGN_OR_RETURN(auto set, TransferSet::create(one, std::span(&entry, 1), {}));
  int64_t rows = transfer.count.empty() ? 1 : transfer.count[0];
  int64_t row_bytes = transfer.region.size() / std::max<int64_t>(rows, 1);
  int64_t step = std::max<int64_t>(kLibraryReadBytes / std::max<int64_t>(row_bytes, 1), 1);
  std::vector<std::byte> buffer;
  for (int64_t row = 0; row < rows; row += step) {
    int64_t step_rows = std::min(step, rows - row);
    std::vector<int64_t> start = transfer.start;
    std::vector<int64_t> count = transfer.count;
    if (!start.empty()) {
      start[0] += row;
      count[0] = step_rows;
    }
    buffer.resize(static_cast<size_t>(step_rows * row_bytes));
    {
      PhaseTimer timer(report_.phases, Phase::kRead);
      STRIA_RETURN_IF_ERROR(reader_->read_hyperslab(entry.spec.path, start, count, buffer));
    }
    PhaseTimer timer(report_.phases, Phase::kUnpack);
    access::StreamPart part{0, row * row_bytes, (row + step_rows) * row_bytes, buffer.data()};
    set->unpack(std::span(&part, 1));
  }
  return Status();
}

Status ReadSession::abandon() {
  return Status();
}

// Rank 0's whole content of a small dataset, on every rank.
Result<std::vector<std::byte>> ReadSession::read_small(const std::string& dataset_path) {
  STRIA_ASSIGN_OR_RETURN(int number, find(dataset_path));
  const DatasetEntry& entry = dataset(number);
  std::vector<std::byte> message;
  if (is_root()) {
    PhaseTimer timer(report_.phases, Phase::kRead);
    std::vector<std::byte> content;
    Status status;
    if (entry.data_bytes() > kSmallBytesMax) {
      status = Status(ErrorCode::kFormat, fmt::format("'{}': dataset '{}' is too large for a list", path_, entry.spec.path));
    } else {
      content.resize(static_cast<size_t>(entry.data_bytes()));
      std::vector<int64_t> start(entry.spec.dims.size(), 0);
      status = reader_->read_hyperslab(entry.spec.path, start, entry.spec.dims, content);
    }
    if (status.ok() && options_.verify && checksums_.present) {
      status = check_table(number);
    }
    message = encode_outcome(status, std::move(content));
  }
  comm().broadcast_bytes(message, 0);
  return decode_outcome(std::move(message));
}

Result<std::vector<std::string>> ReadSession::read_strings(const std::string& dataset_path) {
  STRIA_ASSIGN_OR_RETURN(int number, find(dataset_path));
  if (dataset(number).spec.element.kind != container::ElementSpec::Kind::kString) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("dataset '{}' holds no strings of fixed length", dataset(number).spec.path));
  }
  auto width = static_cast<size_t>(dataset(number).spec.element.bytes);
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, read_small(dataset_path));
  std::vector<std::string> strings;
  for (size_t at = 0; width > 0 && at + width <= content.size(); at += width) {
    std::string text(reinterpret_cast<const char*>(content.data()) + at, width);
    strings.push_back(text.substr(0, text.find_last_not_of(std::string(" \0", 2)) + 1));
  }
  return strings;
}

Result<std::vector<std::byte>> ReadSession::read_table(const std::string& dataset_path, std::vector<Column>& columns,
                                                       int64_t& row_bytes) {
  STRIA_ASSIGN_OR_RETURN(int number, find(dataset_path));
  // The columns are known to rank 0 alone: they go first.
  std::vector<std::byte> message;
  if (is_root()) {
    std::vector<Column> own;
    auto info = reader_->dataset(dataset(number).spec.path);
    Status status = info.status();
    if (info.ok()) {
      status = list_columns(info->spec, own);
    }
    message = encode_outcome(status, encode_columns(own));
  }
  comm().broadcast_bytes(message, 0);
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> encoded, decode_outcome(std::move(message)));
  columns = decode_columns(encoded);
  row_bytes = dataset(number).spec.element.bytes;
  return read_small(dataset_path);
}

Result<double> ReadSession::read_number_attribute(const std::string& object, const std::string& name) {
  Status status;
  double value = 0;
  if (is_root()) {
    auto attribute = reader_->attribute(object, name);
    status = attribute.status();
    if (attribute.ok() && attribute->element.kind != container::ElementSpec::Kind::kNumber) {
      status = Status(ErrorCode::kInvalidArgument, fmt::format("attribute '{}' of '{}' is not a number", name, object));
    } else if (attribute.ok() && static_cast<int64_t>(attribute->value.size()) != attribute->element.bytes) {
      status =
          Status(ErrorCode::kInvalidArgument, fmt::format("attribute '{}' of '{}' is not one number but a list", name, object));
    } else if (attribute.ok()) {
      PackOperand operand;
      operand.memory = reinterpret_cast<std::byte*>(&value);
      operand.type = Datatype::bytes(sizeof value);
      operand.memory_element = ElementType::kFloat64;
      operand.stored_element = attribute->element.number;
      auto packer = Packer::create({operand});
      PackPart part{0, 0, static_cast<int64_t>(attribute->value.size()), attribute->value.data()};
      packer->unpack(std::span(&part, 1));
    }
  }
  STRIA_RETURN_IF_ERROR(comm().agree(status));
  comm().broadcast(std::as_writable_bytes(std::span(&value, 1)), 0);
  return value;
}

}  // namespace stria::file
