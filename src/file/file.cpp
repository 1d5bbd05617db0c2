// The outermost edge: turns Status into stria::Error and public types into the session's.
#include "stria/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "comm/self/self_comm.hpp"
#include "comm/trace/traced_comm.hpp"
#include "file/define/attribute_values.hpp"
#include "file/open_files.hpp"
#include "file/opening.hpp"
#include "file/read/read_session.hpp"
#include "file/write/write_session.hpp"
#include "trace/recorder.hpp"
#include "trace/span.hpp"

namespace stria {

namespace {

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
Status finish_call(file::Session& session, trace::BuiltIn kind, const char* name, Move move) {
  const CallNote noted = session.note(name);
  Status status;
  {
    const trace::FileSpan span = call(session, kind);
    status = move();
  }
  trace::Recorder::instance().flush_to_file();
  return status;
}

const std::shared_ptr<file::Session>& live(const std::shared_ptr<file::Session>& session) {
  if (session == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "this File or Dataset was moved from: it has no file any more");
  }
  return session;
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

// The others' next collective call says why.
void leave(file::Session& session) noexcept {
  if (!session.is_open()) {
    return;
  }
  try {
    const Status& cause = session.failure();
    file::tell_of_loss(session);
    session.leave(cause.ok() ? std::string("gave the file up without this call") : "gave the file up: " + cause.message());
  } catch (const std::bad_alloc&) {
    session.leave("gave the file up");
  }
}

container::ElementSpec element_of(const Column& column) {
  return column.string_bytes > 0 ? container::ElementSpec::of_filled_string(column.string_bytes)
                                 : container::ElementSpec::of_number(column.number);
}

}  // namespace

std::vector<std::string> hint_problems(const Hints& hints) {
  std::vector<std::string> problems;
  access::resolve_hints(hints, problems);
  return problems;
}

const std::string& Dataset::path() const {
  return live(session_)->dataset(index_).spec.path;
}
ElementType Dataset::element() const {
  return live(session_)->dataset(index_).stored_element();
}
const std::vector<int64_t>& Dataset::dims() const {
  return live(session_)->dataset(index_).spec.dims;
}

int64_t Dataset::bytes() const {
  return live(session_)->dataset(index_).data_bytes();
}
bool Dataset::is_contiguous() const {
  const file::DatasetEntry& entry = live(session_)->dataset(index_);
  return entry.data_offset >= 0 && !entry.is_chunked();
}

std::string Dataset::filters() const {
  return live(session_)->dataset(index_).filters;
}

int64_t Dataset::stored_bytes() const {
  return reading(live(session_), "Dataset::stored_bytes()").stored_bytes(index_).value();
}

std::string Dataset::type_name() const {
  return file::type_name_of(live(session_)->dataset(index_).spec.element);
}

void Dataset::put(const Hyperslab& slab, const Memory& memory) {
  writing(live(session_), "put()");
  trace::FileSpan span = call(*live(session_), trace::BuiltIn::kDatasetPut);
  note_transfer(*session_, index_, memory, true, span);
  session_->record(index_, slab, memory).throw_if_error();
}

void Dataset::get(const Hyperslab& slab, const Memory& memory) {
  reading(live(session_), "get()");
  trace::FileSpan span = call(*live(session_), trace::BuiltIn::kDatasetGet);
  note_transfer(*session_, index_, memory, false, span);
  session_->record(index_, slab, memory).throw_if_error();
}

// Datasets may keep the session for longer.
File::~File() {
  if (session_ != nullptr) {
    const trace::FileSpan span = call(*session_, trace::BuiltIn::kFileClose);
    leave(*session_);
    session_.reset();
  }
}
File::File(File&&) noexcept = default;
File& File::operator=(File&& other) noexcept {
  File before(std::move(*this));
  session_ = std::move(other.session_);
  return *this;
}

File File::create(const std::string& path, const CreateOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileCreate), trace::Recorder::instance().file(path));
  return File(file::create_session(make_traced_comm(make_self_comm()), path, options));
}

File File::open(const std::string& path, const OpenOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileOpen), trace::Recorder::instance().file(path));
  return File(file::open_session(make_traced_comm(make_self_comm()), path, options));
}

Dataset File::create_dataset(const std::string& path, ElementType element, const std::vector<int64_t>& dims,
                             const DatasetOptions& options) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = container::ElementSpec::of_number(element);
  spec.dims = dims;
  return Dataset(session_, writing(live(session_), "create_dataset()").create_dataset(spec, options).value());
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
  file::WriteSession& session = writing(live(session_), "create_table()");
  const auto content_bytes = container::dataset_bytes(spec);
  if (!content_bytes.ok()) {
    session.refuse(content_bytes.status()).throw_if_error();
  }
  auto* bytes = static_cast<const std::byte*>(rows);
  const size_t given = bytes == nullptr ? 0 : static_cast<size_t>(*content_bytes);
  session.create_table(std::move(spec), {bytes, given}).throw_if_error();
}

void File::create_strings(const std::string& path, const std::vector<std::string>& strings, int64_t string_bytes,
                          bool as_column) {
  file::WriteSession& session = writing(live(session_), "create_strings()");
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
    if (strings[i].size() > static_cast<size_t>(string_bytes)) {
      const std::string what = fmt::format("create_strings('{}'): '{}' has {} bytes, more than the {} of a string", path,
                                           strings[i], strings[i].size(), string_bytes);
      session.refuse(Status(ErrorCode::kInvalidArgument, what)).throw_if_error();
    }
    std::memcpy(content.data() + i * static_cast<size_t>(string_bytes), strings[i].data(), strings[i].size());
  }
  session.create_table(std::move(spec), content).throw_if_error();
}

file::Session& File::session() const {
  return *live(session_);
}

std::vector<std::string> File::datasets() const {
  return reading(live(session_), "datasets()").dataset_paths();
}
bool File::has_dataset(const std::string& path) const {
  return live(session_)->find(path).ok();
}
Dataset File::dataset(const std::string& path) const {
  return Dataset(session_, live(session_)->find(path).value());
}

std::vector<std::byte> File::read_table(const std::string& path, std::vector<Column>* columns, int64_t* row_bytes) {
  const trace::FileSpan span = call(*live(session_), trace::BuiltIn::kFileReadList);
  const CallNote noted = session_->note("read_table()");
  return reading(live(session_), "read_table()").read_table(path, *columns, *row_bytes).value();
}

std::vector<std::string> File::read_strings(const std::string& path) {
  const trace::FileSpan span = call(*live(session_), trace::BuiltIn::kFileReadList);
  const CallNote noted = session_->note("read_strings()");
  return reading(live(session_), "read_strings()").read_strings(path).value();
}

bool File::has_checksums() const {
  return reading(live(session_), "has_checksums()").has_checksums();
}
std::vector<Damage> File::verify(std::vector<std::string>* remarks, const std::vector<std::string>& except) {
  const trace::FileSpan span = call(*live(session_), trace::BuiltIn::kFileVerify);
  const CallNote noted = session_->note("verify()");
  return reading(live(session_), "verify()").verify(remarks, except).value();
}

void File::flush() {
  finish_call(*live(session_), trace::BuiltIn::kFileFlush, "flush()", [&] { return session().flush(); }).throw_if_error();
}
void File::commit() {
  finish_call(*live(session_), trace::BuiltIn::kFileCommit, "commit()", [&] { return session().commit(); }).throw_if_error();
}
void File::abandon() {
  const trace::FileSpan span = call(*live(session_), trace::BuiltIn::kFileAbandon);
  const CallNote noted = session_->note("abandon()");
  session().abandon().throw_if_error();
}

const std::string& File::path() const {
  return session().path();
}
const Report& File::report() const {
  return session().report();
}
Hints File::hints() const {
  return access::effective_hints(session().environment().hints);
}
const std::vector<std::string>& File::hint_warnings() const {
  return session().environment().hint_warnings;
}

}  // namespace stria
