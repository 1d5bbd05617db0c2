// The outermost edge: turns Status into stria::Error and public types into the session's.
#include "stria/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "comm/self/self_comm.hpp"
#include "comm/trace/traced_comm.hpp"
#include "file/opening/calls.hpp"
#include "file/opening/open_files.hpp"
#include "file/opening/opening.hpp"
#include "file/read/lookups.hpp"
#include "file/read/small_content.hpp"
#include "file/write/defining.hpp"
#include "file/write/write_session.hpp"

namespace stria {

using file::call;
using file::finish_call;
using file::live;
using file::ReadTurn;
using file::WriteTurn;

namespace {

// The others' next collective call says why.
void leave(file::Session& session) noexcept {
  const file::OpenFile& open = session.file();
  if (!open.meetings.is_open()) {
    return;
  }
  try {
    const Status& cause = open.meetings.failure();
    file::tell_of_loss(open);
    session.leave(cause.ok() ? std::string("gave the file up without this call") : "gave the file up: " + cause.message());
  } catch (const std::bad_alloc&) {
    session.leave("gave the file up");
  }
}

// Leaves by `how`. It is this thread's turn, which ends.
template <typename Leave>
void at_end(file::Session& session, Leave&& how) {
  {
    const trace::FileSpan span = call(session, trace::BuiltIn::kFileClose);
    how(session);
  }
  session.file().calls.leave();
}

// Makes a dataset of strings, with `filler` behind each.
void create_filled(file::WriteSession& session, const char* name, container::DatasetSpec spec,
                   const std::vector<std::string>& strings, char filler) {
  const auto string_bytes = static_cast<size_t>(spec.element.bytes);
  std::vector<std::byte> content(strings.size() * string_bytes, static_cast<std::byte>(filler));
  for (size_t i = 0; i < strings.size(); ++i) {
    if (strings[i].size() > string_bytes) {
      const std::string what = fmt::format("{}('{}'): '{}' has {} bytes, more than the {} of a string", name, spec.path,
                                           strings[i], strings[i].size(), string_bytes);
      session.file().meetings.refuse(Status(ErrorCode::kInvalidArgument, what)).throw_if_error();
    }
    std::memcpy(content.data() + i * string_bytes, strings[i].data(), strings[i].size());
  }
  create_table(session, std::move(spec), content).throw_if_error();
}

// Returns a dataset of strings in a shape, each as long as the longest.
container::DatasetSpec strings_spec(file::WriteSession& session, const char* name, const std::string& path,
                                    const std::vector<int64_t>& dims, const std::vector<std::string>& strings) {
  int64_t longest = 1;
  for (const std::string& one : strings) {
    longest = std::max(longest, static_cast<int64_t>(one.size()));
  }
  container::DatasetSpec spec{.path = path, .element = container::ElementSpec::of_string(longest, false), .dims = dims};
  const auto bytes = container::dataset_bytes(spec);
  session.file().meetings.refuse(bytes.status()).throw_if_error();
  if (*bytes / longest != static_cast<int64_t>(strings.size())) {
    const std::string what = fmt::format("{}('{}'): {} strings are not as many as the shape {{{}}} has", name, path,
                                         strings.size(), fmt::join(dims, ", "));
    session.file().meetings.refuse(Status(ErrorCode::kInvalidArgument, what)).throw_if_error();
  }
  return spec;
}

}  // namespace

std::vector<std::string> hint_problems(const Hints& hints) {
  std::vector<std::string> problems;
  access::resolve_hints(hints, problems);
  return problems;
}

// Datasets may keep the session for longer.
File::~File() {
  if (session_ != nullptr) {
    file::CallGate& calls = session_->file().calls;
    calls.await_turn();
    if (calls.is_in_report()) {
      calls.end_after_report(std::move(session_), leave);
      calls.leave();
      return;
    }
    at_end(*session_, leave);
    session_.reset();
  }
}
void File::give_up(const std::string& reason) {
  if (session_ != nullptr) {
    file::CallGate& calls = session_->file().calls;
    calls.await_turn();
    if (calls.is_in_report()) {  // the destructor leaves when the report is over
      calls.leave();
      return;
    }
    const std::string said = "gave the file up: " + reason;
    at_end(*session_, [&](file::Session& session) noexcept { session.leave(said); });
  }
}
File::File(File&&) noexcept = default;
File& File::operator=(File&& other) noexcept {
  File before(std::move(*this));
  session_ = std::move(other.session_);
  return *this;
}

void File::refuse(const Error& error) {
  live(session_)->file().meetings.refuse(Status(error)).throw_if_error();
  throw error;
}

File File::create(const std::string& path, const CreateOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileCreate), trace::Recorder::instance().file(path));
  return File(file::create_session(make_traced_comm(make_self_comm()), path, options));
}

File File::open(const std::string& path, const OpenOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileOpen), trace::Recorder::instance().file(path));
  return File(file::open_session(make_traced_comm(make_self_comm()), path, options));
}

File File::append(const std::string& path, const AppendOptions& options) {
  const trace::FileSpan span(trace::kind(trace::BuiltIn::kFileOpen), trace::Recorder::instance().file(path));
  return File(file::append_session(make_traced_comm(make_self_comm()), path, options));
}

Dataset File::create_dataset(const std::string& path, ElementType element, const std::vector<int64_t>& dims,
                             const DatasetOptions& options) {
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = container::ElementSpec::of_number(element);
  spec.dims = dims;
  return Dataset(session_, file::create_dataset(*WriteTurn(session_, "create_dataset()"), spec, options).value());
}

Dataset File::append_rows(const std::string& path, int64_t rows) {
  return Dataset(session_, file::append_rows(*WriteTurn(session_, "append_rows()"), path, rows).value());
}

Dataset File::append_rows(const std::string& path, int64_t count, const Memory& memory) {
  const Rows rows = place_rows(count);
  Dataset dataset = append_rows(path, rows.total);
  dataset.put_rows(rows, memory);
  return dataset;
}

Dataset File::update(const std::string& path) {
  return Dataset(session_, file::update(*WriteTurn(session_, "update()"), path).value());
}

void File::create_link(const std::string& path, const std::string& target) {
  create_link(path, target, "");
}

void File::create_link(const std::string& path, const std::string& target, const std::string& file) {
  file::create_link(*WriteTurn(session_, "create_link()"), {.path = path, .target = target, .file = file}).throw_if_error();
}

void File::create_strings(const std::string& path, const std::vector<std::string>& strings, int64_t string_bytes,
                          bool as_column) {
  const WriteTurn session(session_, "create_strings()");
  container::DatasetSpec spec;
  spec.path = path;
  spec.element = container::ElementSpec::of_filled_string(std::max<int64_t>(string_bytes, 0));
  spec.dims = {static_cast<int64_t>(strings.size())};
  if (as_column) {
    spec.dims.push_back(1);
  }
  create_filled(*session, "create_strings", std::move(spec), strings, ' ');
}

void File::create_string_array(const std::string& path, const std::vector<int64_t>& dims,
                               const std::vector<std::string>& strings, int64_t string_bytes) {
  const WriteTurn session(session_, "create_string_array()");
  container::DatasetSpec spec = strings_spec(*session, "create_string_array", path, dims, strings);
  spec.element.bytes = string_bytes == 0 ? spec.element.bytes : std::max<int64_t>(string_bytes, 0);
  create_filled(*session, "create_string_array", std::move(spec), strings, '\0');
}

void File::create_texts(const std::string& path, const std::vector<int64_t>& dims, const std::vector<std::string>& texts,
                        const std::vector<std::string>& dimensions) {
  const WriteTurn session(session_, "create_texts()");
  container::DatasetSpec spec = strings_spec(*session, "create_texts", path, dims, texts);
  spec.element.varies = true;
  spec.dimension_names = dimensions;
  create_filled(*session, "create_texts", std::move(spec), texts, '\0');
}

bool File::has_group(const std::string& path) const {
  return file::has_group(*ReadTurn(session_, "has_group()"), path).value();
}
std::vector<std::string> File::members(const std::string& group) const {
  return file::members(*ReadTurn(session_, "members()"), group).value();
}
std::pair<std::string, std::string> File::link_to_file(const std::string& path) const {
  return file::link_to_file(*ReadTurn(session_, "link_to_file()"), path).value();
}
std::vector<std::string> File::datasets() const {
  return file::dataset_paths(*ReadTurn(session_, "datasets()")).value();
}
bool File::has_dataset(const std::string& path) const {
  return live(session_)->find(path).ok();
}
Dataset File::dataset(const std::string& path) const {
  return Dataset(session_, live(session_)->find(path).value());
}

std::vector<std::string> File::read_strings(const std::string& path) {
  const ReadTurn session(session_, "read_strings()");
  const trace::FileSpan span = call(*session, trace::BuiltIn::kFileReadList);
  const CallNote noted = note(*session, "read_strings()");
  return file::read_strings(*session, path).value();
}

bool File::has_checksums() const {
  return file::has_checksums(*ReadTurn(session_, "has_checksums()")).value();
}
std::vector<Damage> File::verify(std::vector<std::string>* remarks, const std::vector<std::string>& except) {
  const ReadTurn session(session_, "verify()");
  const trace::FileSpan span = call(*session, trace::BuiltIn::kFileVerify);
  const CallNote noted = note(*session, "verify()");
  return session->verify(remarks, except).value();
}

Rows File::place_rows(int64_t count) {
  const auto session = live(session_);
  const CallNote noted = note(*session, "place_rows()");
  return file::place_rows(session->file(), count).value();
}

Rows File::share_rows(int64_t total) const {
  if (total < 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("share_rows() of {} rows", total));
  }
  const Comm& comm = live(session_)->file().comm();
  const auto before = [&](int64_t ranks) { return total / comm.size() * ranks + std::min(ranks, total % comm.size()); };
  return {.first = before(comm.rank()), .count = before(comm.rank() + 1) - before(comm.rank()), .total = total};
}

void File::progress(std::function<void(const Progress&)> report) {
  set_progress(live(session_)->file(), std::move(report));
}

void File::flush() {
  const auto session = live(session_);
  finish_call(*session, trace::BuiltIn::kFileFlush, "flush()", [&] { return session->flush(); }).throw_if_error();
}
void File::commit() {
  const auto session = live(session_);
  finish_call(*session, trace::BuiltIn::kFileCommit, "commit()", [&] { return session->commit(); }).throw_if_error();
}
Commit File::commit_async() {
  std::shared_ptr<const file::BackgroundCommit> commit;
  const WriteTurn session(session_, "commit_async()");
  const auto begin = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(commit, session->commit_async());
    return Status();
  };
  finish_call(*session, trace::BuiltIn::kFileCommit, "commit_async()", begin).throw_if_error();
  return Commit(std::move(commit));
}
bool Commit::done() const {
  return commit_ == nullptr || commit_->is_done();
}
void Commit::wait() const {
  if (commit_ != nullptr) {
    commit_->wait().throw_if_error();
  }
}
Status Commit::error() const {
  return commit_ == nullptr ? Status() : commit_->outcome();
}
void File::abandon() {
  const auto session = live(session_);
  const trace::FileSpan span = call(*session, trace::BuiltIn::kFileAbandon);
  const CallNote noted = note(*session, "abandon()");
  session->abandon().throw_if_error();
}

const std::string& File::path() const {
  return live(session_)->file().path;
}
Format File::format() const {
  return live(session_)->file().format();
}
const Report& File::report() const {
  return live(session_)->file().accounts.report();
}
Hints File::hints() const {
  return hints_in_effect(live(session_)->file());
}
const std::vector<std::string>& File::hint_warnings() const {
  return live(session_)->file().environment.hint_warnings;
}

}  // namespace stria
