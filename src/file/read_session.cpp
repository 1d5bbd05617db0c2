#include "file/read_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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
  const std::shared_ptr<Comm> comm = environment.comm;
  auto made = or_out_of_memory([&]() -> Result<std::shared_ptr<ReadSession>> {
    return std::shared_ptr<ReadSession>(new ReadSession(std::move(environment), path, options));
  });
  std::vector<std::byte> catalogue;
  Status status = made.ok() ? (*made)->environment_.problem : made.status();
  if (status.ok() && comm->rank() == 0) {
    status = or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR((*made)->open_root());
      catalogue = encode_catalogue({(*made)->datasets_, (*made)->checksums_});
      return Status();
    });
  }
  STRIA_RETURN_IF_ERROR(share_bytes(*comm, status, catalogue));
  ReadSession& session = **made;
  status = or_out_of_memory([&] { return session.take_catalogue(catalogue); });
  STRIA_RETURN_IF_ERROR(session.agree_on_open(status, session.file_.get()));
  session.note_time();
  return made;
}

Status ReadSession::open_handle() {
  if (file_ == nullptr) {
    PhaseTimer timer(report_.phases, Phase::kOpen);
    STRIA_ASSIGN_OR_RETURN(file_, environment_.driver->open(path_, storage::OpenOptions()));
  }
  return Status();
}

Status ReadSession::open_root() {
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

Status ReadSession::take_catalogue(std::span<const std::byte> message) {
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  if (!is_root()) {
    STRIA_ASSIGN_OR_RETURN(Catalogue catalogue, decode_catalogue(message));
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
  poison(set_reserve_aside());
  auto shape = agree_on_request(false, false, hints_hash());
  Status status = shape.ok() ? move(*shape) : shape.status();
  pending_.clear();
  poisoned_ = Status();
  note_time();
  return status;
}

Status ReadSession::move(const access::RequestShape& shape) {
  // Without a plan this rank would not know what the others expect of it.
  const auto plan = reserve_.surely([&] { return access::make_plan(shape, capabilities_, environment_.hints, comm()); });
  reserve_.attempt([&] { note_plan(plan); });
  if (plan.method == access::Method::kTwoPhase || shape.total_bytes < access::kWorthTellingBytes) {
    return comm().agree(move_all(plan));
  }
  return together([&] { return move_all(plan); });
}

// Every rank's work, which stops where another has failed.
Status ReadSession::together(const std::function<Status()>& work) {
  access::FailureNews news(comm(), reserve_);
  news_ = &news;
  const Status outcome = news.end(work());
  news_ = nullptr;
  return comm().agree(outcome);
}

Status ReadSession::failure_elsewhere() const {
  return news_ != nullptr && news_->heard() ? Status(ErrorCode::kAborted, "another rank could not read") : Status();
}

// The outcome is this rank's own.
Status ReadSession::move_all(const access::Plan& plan) {
  std::vector<Transfer> direct;
  std::vector<Transfer> through_library;
  const bool sums = options_.verify && checksums_.present;
  auto set = or_out_of_memory([&]() -> Result<std::unique_ptr<TransferSet>> {
    STRIA_RETURN_IF_ERROR(reserve_.status());
    for (Transfer& transfer : pending_) {
      const bool raw = datasets_[static_cast<size_t>(transfer.dataset)].data_offset >= 0;
      (raw ? direct : through_library).push_back(std::move(transfer));
    }
    STRIA_RETURN_IF_ERROR(open_handle());
    return TransferSet::create(direct, datasets_, {sums, false});
  });
  if (plan.method == access::Method::kTwoPhase && !comm().agree(set.status()).ok() && set.ok()) {
    return Status(ErrorCode::kAborted, "another rank could not begin to read");  // the exchange needs everybody
  }
  STRIA_RETURN_IF_ERROR(set.status());
  access::Context context{comm(), file_.get(), nullptr, environment_.hints, report_.phases};
  if (news_ != nullptr) {
    context.failed_elsewhere = [this] { return news_->heard(); };
  }
  return or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(read_engine(plan, **set, context));
    for (const Transfer& transfer : through_library) {
      STRIA_RETURN_IF_ERROR(read_through_library(transfer, context));
    }
    return sums ? check_sums(direct, **set) : Status();
  });
}

Status ReadSession::read_engine(const access::Plan& plan, TransferSet& set, access::Context& context) {
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
}

// Chunked, filtered, compact: libhdf5 reads rows into a buffer, the packer converts from there.
Status ReadSession::read_through_library(const Transfer& transfer, const access::Context& context) {
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
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(context));
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

// Rank 0's whole content of a small dataset, on every rank, unless one of them has failed `before`.
Result<std::vector<std::byte>> ReadSession::read_small(const std::string& dataset_path, const Status& before) {
  const auto number = or_out_of_memory([&] { return find(dataset_path); });
  Status status = before.ok() ? number.status() : before;
  std::vector<std::byte> content;
  if (status.ok() && is_root()) {
    status = or_out_of_memory([&] { return read_whole(*number, content); });
  }
  STRIA_RETURN_IF_ERROR(share_bytes(comm(), status, content));
  return content;
}

// Rank 0 alone.
Status ReadSession::read_whole(int number, std::vector<std::byte>& content) {
  PhaseTimer timer(report_.phases, Phase::kRead);
  const DatasetEntry& entry = dataset(number);
  if (entry.data_bytes() > kSmallBytesMax) {
    return Status(ErrorCode::kFormat, fmt::format("'{}': dataset '{}' is too large for a list", path_, entry.spec.path));
  }
  content.resize(static_cast<size_t>(entry.data_bytes()));
  const std::vector<int64_t> start(entry.spec.dims.size(), 0);
  STRIA_RETURN_IF_ERROR(reader_->read_hyperslab(entry.spec.path, start, entry.spec.dims, content));
  return options_.verify && checksums_.present ? check_table(number) : Status();
}

Result<std::vector<std::string>> ReadSession::read_strings(const std::string& dataset_path) {
  size_t width = 0;
  const Status strings_there = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const int number, find(dataset_path));
    const container::DatasetSpec& spec = dataset(number).spec;
    width = static_cast<size_t>(spec.element.bytes);
    return spec.element.kind == container::ElementSpec::Kind::kString
               ? Status()
               : Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}' holds no strings of fixed length", spec.path));
  });
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::byte> content, read_small(dataset_path, strings_there));
  std::vector<std::string> strings;
  STRIA_RETURN_IF_ERROR(comm().agree(or_out_of_memory([&] {
    for (size_t at = 0; width > 0 && at + width <= content.size(); at += width) {
      std::string text(reinterpret_cast<const char*>(content.data()) + at, width);
      strings.push_back(text.substr(0, text.find_last_not_of(std::string(" \0", 2)) + 1));
    }
    return Status();
  })));
  return strings;
}

Result<std::vector<std::byte>> ReadSession::read_table(const std::string& dataset_path, std::vector<Column>& columns,
                                                       int64_t& row_bytes) {
  // The columns are known to rank 0 alone: they go first.
  std::vector<std::byte> encoded;
  Status status = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const int number, find(dataset_path));
    row_bytes = dataset(number).spec.element.bytes;
    if (!is_root()) {
      return Status();
    }
    std::vector<Column> own;
    STRIA_ASSIGN_OR_RETURN(const container::DatasetInfo info, reader_->dataset(dataset(number).spec.path));
    STRIA_RETURN_IF_ERROR(list_columns(info.spec, own));
    encoded = encode_columns(own);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(share_bytes(comm(), status, encoded));
  status = or_out_of_memory([&] {
    columns = decode_columns(encoded);
    return Status();
  });
  return read_small(dataset_path, status);
}

Result<double> ReadSession::read_number_attribute(const std::string& object, const std::string& name) {
  double value = 0;
  const Status status = is_root() ? or_out_of_memory([&] { return read_number(object, name, value); }) : Status();
  STRIA_RETURN_IF_ERROR(comm().agree(status, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

// Rank 0 alone.
Status ReadSession::read_number(const std::string& object, const std::string& name, double& value) {
  STRIA_ASSIGN_OR_RETURN(auto attribute, reader_->attribute(object, name));
  if (attribute.element.kind != container::ElementSpec::Kind::kNumber) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("attribute '{}' of '{}' is not a number", name, object));
  }
  if (static_cast<int64_t>(attribute.value.size()) != attribute.element.bytes) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("attribute '{}' of '{}' is not one number but a list", name, object));
  }
  PackOperand operand;
  operand.memory = reinterpret_cast<std::byte*>(&value);
  operand.type = Datatype::bytes(sizeof value);
  operand.memory_element = ElementType::kFloat64;
  operand.stored_element = attribute.element.number;
  STRIA_ASSIGN_OR_RETURN(const Packer packer, Packer::create({operand}));
  const PackPart part{0, 0, static_cast<int64_t>(attribute.value.size()), attribute.value.data()};
  packer.unpack(std::span(&part, 1));
  return Status();
}

}  // namespace stria::file
