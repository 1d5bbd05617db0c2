// The outermost edge: turns Status into stria::Error and public types into the session's.
#include "stria/file.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "access/aggregator_places.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/trace_join.hpp"
#include "file/read_session.hpp"
#include "file/write_session.hpp"
#include "storage/registry.hpp"
#include "trace/recorder.hpp"
#include "trace/span.hpp"

namespace stria {

namespace {

/// Takes up the hints, and the driver that they name.
Status equip(file::Environment& environment, const Hints& hints, std::vector<uint64_t> node_hosts) {
  environment.hints = access::resolve_hints(hints, environment.hint_warnings);
  environment.hints.node_hosts = std::move(node_hosts);
  if (!access::names_a_node(environment.hints, *environment.comm)) {
    environment.hint_warnings.emplace_back(access::kNoPlaceForAggregators);
  }
  auto driver = storage::make_driver(environment.hints.driver, environment.comm->rank());
  if (!driver.ok() && driver.status().code() == ErrorCode::kUnsupported) {
    environment.hint_warnings.push_back("stria_driver: " + driver.status().message() + "; posix is used");
    environment.hints.driver = "posix";
    driver = storage::make_driver("posix", environment.comm->rank());
  }
  STRIA_RETURN_IF_ERROR(driver.status());
  environment.driver = *driver;
  if (environment.hints.driver == "posix") {
    // A ring keeps many direct requests under way at once; where the kernel has none, the posix driver does with a thread.
    environment.make_direct_driver = [rank = environment.comm->rank(), cached = *driver] {
      auto ring = storage::make_driver("uring", rank);
      return ring.ok() ? *ring : cached;
    };
  }
  return Status();
}

file::Environment make_environment(MPI_Comm comm, const Hints& hints) {
  file::Environment environment;
  environment.comm = cached_mpi_comm(comm).value();
  join_trace(environment.comm).throw_if_error();
  char host[HOST_NAME_MAX + 1] = "";
  static_cast<void>(gethostname(host, sizeof host - 1));
  auto node_hosts = access::hosts_of_nodes(*environment.comm, host);
  environment.problem = file::or_out_of_memory([&] { return equip(environment, hints, std::move(node_hosts)); });
  return environment;
}

/// The span of a call on a file.
trace::FileSpan call(const file::Session& session, trace::BuiltIn kind) {
  return trace::FileSpan(trace::kind(kind), session.trace_id());
}

/// Counts a put or get of so many bytes, and tells its span.
void note_transfer(file::Session& session, int index, const Memory& memory, bool put, trace::FileSpan& span) {
  if (span->recorded()) {
    span->set_bytes(memory.type.size());
    span->set_detail(trace::Recorder::instance().dataset(session.dataset(index).spec.path));
  }
  session.count_transfer(put, memory.type.size());
}

/// A commit or flush; what was recorded so far then goes where a crash can't harm it.
template <typename Move>
Status finish_call(file::Session& session, trace::BuiltIn kind, Move move) {
  Status status;
  {
    const trace::FileSpan span = call(session, kind);
    status = move();
  }
  trace::Recorder::instance().flush_to_file();
  return status;
}

Status wrong_direction(const file::Session& session, const char* call) {
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("{} does not fit the way in which '{}' was opened", call, session.path()));
}

file::WriteSession& writing(const std::shared_ptr<file::Session>& session, const char* call) {
  auto* write = dynamic_cast<file::WriteSession*>(session.get());
  if (write == nullptr) {
    wrong_direction(*session, call).throw_if_error();
  }
  return *write;
}

file::ReadSession& reading(const std::shared_ptr<file::Session>& session, const char* call) {
  auto* read = dynamic_cast<file::ReadSession*>(session.get());
  if (read == nullptr) {
    wrong_direction(*session, call).throw_if_error();
  }
  return *read;
}

container::ElementSpec element_of(const Column& column) {
  return column.string_bytes > 0 ? container::ElementSpec::of_filled_string(column.string_bytes)
                                 : container::ElementSpec::of_number(column.number);
}

container::AttributeSpec number_attribute(const std::string& object, const std::string& name, ElementType type,
                                          const void* value) {
  auto* bytes = static_cast<const std::byte*>(value);
  return {object, name, container::ElementSpec::of_number(type), {}, {bytes, bytes + element_bytes(type)}};
}

}  // namespace

std::vector<std::string> hint_problems(const Hints& hints) {
  std::vector<std::string> problems;
  access::resolve_hints(hints, problems);
  return problems;
}

const std::string& Dataset::path() const {
  return session_->dataset(index_).spec.path;
}
ElementType Dataset::element() const {
  return session_->dataset(index_).stored_element();
}
const std::vector<int64_t>& Dataset::dims() const {
  return session_->dataset(index_).spec.dims;
}

int64_t Dataset::bytes() const {
  return session_->dataset(index_).data_bytes();
}
bool Dataset::is_contiguous() const {
  return session_->dataset(index_).data_offset >= 0;
}

std::string Dataset::type_name() const {
  const container::ElementSpec& element = session_->dataset(index_).spec.element;
  switch (element.kind) {
    case container::ElementSpec::Kind::kNumber:
      return std::string(element_type_name(element.number)) + (element.big_endian ? " big-endian" : "");
    case container::ElementSpec::Kind::kString:
      return fmt::format("string[{}]", element.bytes);
    case container::ElementSpec::Kind::kCompound:
      return fmt::format("record[{}]", element.bytes);
    default:
      return fmt::format("other[{}]", element.bytes);
  }
}

void Dataset::put(const Hyperslab& slab, const Memory& memory) {
  writing(session_, "put()");
  trace::FileSpan span = call(*session_, trace::BuiltIn::kDatasetPut);
  note_transfer(*session_, index_, memory, true, span);
  session_->record(index_, slab, memory).throw_if_error();
}

void Dataset::get(const Hyperslab& slab, const Memory& memory) {
  reading(session_, "get()");
  trace::FileSpan span = call(*session_, trace::BuiltIn::kDatasetGet);
  note_transfer(*session_, index_, memory, false, span);
  session_->record(index_, slab, memory).throw_if_error();
}

File::~File() {
  if (session_ != nullptr && session_.use_count() == 1) {
    const trace::FileSpan span = call(*session_, trace::BuiltIn::kFileClose);
    session_.reset();
  }
}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;

File File::create(MPI_Comm comm, const std::string& path, const CreateOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileCreate), trace::Recorder::instance().file(path));
  return File(file::WriteSession::create(make_environment(comm, options.hints), path, options).value());
}

File File::open(MPI_Comm comm, const std::string& path, const OpenOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileOpen), trace::Recorder::instance().file(path));
  return File(file::ReadSession::open(make_environment(comm, options.hints), path, options).value());
}

Dataset File::create_dataset(const std::string& path, ElementType element, const std::vector<int64_t>& dims,
                             const DatasetOptions& options) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = container::ElementSpec::of_number(element);
  spec.dims = dims;
  return Dataset(session_, writing(session_, "create_dataset()").create_dataset(spec, options).value());
}

void File::create_table(const std::string& path, const std::vector<Column>& columns, int64_t row_bytes, int64_t row_count,
                        const void* rows) {
  std::vector<container::ElementSpec::Member> members;
  for (const Column& column : columns) {
    members.push_back({column.name, column.offset_bytes, element_of(column)});
  }
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = container::ElementSpec::of_compound(row_bytes, std::move(members));
  spec.dims = {row_count};
  int64_t content_bytes = file::dataset_bytes(spec).value();
  auto* bytes = static_cast<const std::byte*>(rows);
  if (bytes == nullptr || session_->comm().rank() != 0) {
    content_bytes = 0;  // rank 0's content counts
  }
  writing(session_, "create_table()").create_table(std::move(spec), {bytes, bytes + content_bytes});
}

void File::create_strings(const std::string& path, const std::vector<std::string>& strings, int64_t string_bytes,
                          bool as_column) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = container::ElementSpec::of_filled_string(std::max<int64_t>(string_bytes, 0));
  spec.dims = {static_cast<int64_t>(strings.size())};
  string_bytes = spec.element.bytes;
  if (as_column) {
    spec.dims.push_back(1);
  }
  std::vector<std::byte> content(strings.size() * static_cast<size_t>(string_bytes), static_cast<std::byte>(' '));
  for (size_t i = 0; i < strings.size(); ++i) {
    std::memcpy(content.data() + i * static_cast<size_t>(string_bytes), strings[i].data(),
                std::min(strings[i].size(), static_cast<size_t>(string_bytes)));
  }
  writing(session_, "create_strings()").create_table(std::move(spec), std::move(content));
}

void File::set_attribute(const std::string& object, const std::string& name, double value) {
  writing(session_, "set_attribute()").set_attribute(number_attribute(object, name, ElementType::kFloat64, &value));
}

void File::set_attribute(const std::string& object, const std::string& name, int64_t value) {
  writing(session_, "set_attribute()").set_attribute(number_attribute(object, name, ElementType::kInt64, &value));
}

void File::set_attribute(const std::string& object, const std::string& name, const std::string& value) {
  auto bytes = std::as_bytes(std::span(value.data(), value.size()));
  container::AttributeSpec attribute{
      object,
      name,
      container::ElementSpec::of_string(std::max<int64_t>(static_cast<int64_t>(value.size()), 1), false),
      {},
      {bytes.begin(), bytes.end()}};
  attribute.value.resize(std::max<size_t>(value.size(), 1));
  writing(session_, "set_attribute()").set_attribute(std::move(attribute));
}

std::vector<std::string> File::datasets() const {
  return reading(session_, "datasets()").dataset_paths();
}
bool File::has_dataset(const std::string& path) const {
  return session_->find(path).ok();
}
Dataset File::dataset(const std::string& path) const {
  return Dataset(session_, session_->find(path).value());
}

std::vector<std::byte> File::read_table(const std::string& path, std::vector<Column>* columns, int64_t* row_bytes) {
  const trace::FileSpan span = call(*session_, trace::BuiltIn::kFileReadList);
  return reading(session_, "read_table()").read_table(path, *columns, *row_bytes).value();
}

std::vector<std::string> File::read_strings(const std::string& path) {
  const trace::FileSpan span = call(*session_, trace::BuiltIn::kFileReadList);
  return reading(session_, "read_strings()").read_strings(path).value();
}

double File::attribute(const std::string& object, const std::string& name) {
  const trace::FileSpan span = call(*session_, trace::BuiltIn::kFileReadList);
  return reading(session_, "attribute()").read_number_attribute(object, name).value();
}

bool File::has_checksums() const {
  return reading(session_, "has_checksums()").has_checksums();
}
std::vector<Damage> File::verify() {
  const trace::FileSpan span = call(*session_, trace::BuiltIn::kFileVerify);
  return reading(session_, "verify()").verify().value();
}

void File::flush() {
  finish_call(*session_, trace::BuiltIn::kFileFlush, [&] { return session_->flush(); }).throw_if_error();
}
void File::commit() {
  finish_call(*session_, trace::BuiltIn::kFileCommit, [&] { return session_->commit(); }).throw_if_error();
}
void File::abandon() {
  const trace::FileSpan span = call(*session_, trace::BuiltIn::kFileAbandon);
  session_->abandon().throw_if_error();
}

const std::string& File::path() const {
  return session_->path();
}
const Report& File::report() const {
  return session_->report();
}
Hints File::hints() const {
  return access::effective_hints(session_->environment().hints);
}
const std::vector<std::string>& File::hint_warnings() const {
  return session_->environment().hint_warnings;
}

}  // namespace stria
