// Dataset: turns Status into stria::Error.
#include "stria/dataset.hpp"

#include "base/checked.hpp"
#include "base/out_of_memory.hpp"
#include "container/fill_value.hpp"
#include "file/define/attribute_values.hpp"
#include "file/opening/calls.hpp"
#include "file/read/read_session.hpp"
#include "file/write/write_session.hpp"

namespace stria {

using file::call;
using file::live;
using file::ReadTurn;
using file::WriteTurn;

namespace {

/// Returns the number of elements of a region of a dataset; 0 when it can't be one.
int64_t elements_of(const Hyperslab& slab, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (size_t i = 0; i < slab.count.size(); ++i) {
    const int64_t block = i < slab.block.size() ? slab.block[i] : 1;
    int64_t here = 0;
    const bool fits =
        i < dims.size() && slab.count[i] >= 0 && block >= 0 && checked_multiply(slab.count[i], block, &here) && here <= dims[i];
    count = fits ? count * here : 0;
  }
  return count;
}

/// Records by `record`, which is counted and has a span.
template <typename Record>
Status note_transfer(file::Session& session, int index, const Memory& memory, bool put, const Record& record) {
  trace::FileSpan span = call(session, put ? trace::BuiltIn::kDatasetPut : trace::BuiltIn::kDatasetGet);
  if (span->recorded()) {
    span->set_bytes(memory.type.size());
    span->set_detail(trace::Recorder::instance().dataset(session.file().catalog[index].spec.path));
  }
  session.file().accounts.count_transfer(put, memory.type.size());
  return record();
}

}  // namespace

const std::string& Dataset::path() const {
  return live(session_)->file().catalog[index_].spec.path;
}
ElementType Dataset::element() const {
  return live(session_)->file().catalog[index_].stored_element();
}
Meaning Dataset::meaning() const {
  return live(session_)->file().catalog[index_].spec.element.meaning;
}
const std::vector<int64_t>& Dataset::dims() const {
  return live(session_)->file().catalog[index_].spec.dims;
}

std::vector<NamedNumber> Dataset::enumeration() const {
  return live(session_)->file().catalog[index_].spec.element.enumeration;
}

std::vector<std::string> Dataset::dimensions() const {
  return live(session_)->file().catalog[index_].dimension_names();
}

bool Dataset::can_grow() const {
  return live(session_)->file().catalog[index_].can_grow();
}

std::vector<int64_t> Dataset::chunk() const {
  const auto session = live(session_);
  const file::DatasetEntry& entry = session->file().catalog[index_];
  return entry.is_chunked() ? entry.spec.chunking->dims : entry.chunk;
}

FillValue Dataset::fill_value() const {
  const auto session = live(session_);
  return container::fill_value_of(session->file().catalog[index_].spec);
}

int64_t Dataset::bytes() const {
  return live(session_)->file().catalog[index_].data_bytes();
}
bool Dataset::is_contiguous() const {
  const auto session = live(session_);
  const file::DatasetEntry& entry = session->file().catalog[index_];
  return entry.data_offset >= 0 && !entry.is_chunked() && !entry.is_interleaved();
}

std::string Dataset::filters() const {
  return live(session_)->file().catalog[index_].filters;
}

int64_t Dataset::stored_bytes() const {
  return ReadTurn(session_, "stored_bytes()")->stored_bytes(index_).value();
}

std::string Dataset::type_name() const {
  return file::type_name_of(live(session_)->file().catalog[index_].spec.element);
}

void Dataset::put(const Hyperslab& slab, const Memory& memory) {
  const WriteTurn session(session_, "put()");
  note_transfer(*session, index_, memory, true, [&] { return session->record(index_, slab, memory); }).throw_if_error();
}

void Dataset::get(const Hyperslab& slab, const Memory& memory) {
  const ReadTurn session(session_, "get()");
  note_transfer(*session, index_, memory, false, [&] { return session->record(index_, slab, memory); }).throw_if_error();
}

void Dataset::refuse(const Error& error) {
  live(session_)->file().meetings.refuse(Status(error).with_context(fmt::format("dataset '{}'", path()))).throw_if_error();
  throw error;
}

Hyperslab Dataset::slab_of(const Rows& rows, bool put) {
  Hyperslab slab{std::vector<int64_t>(dims().size(), 0), dims()};
  const int64_t there = dims().empty() ? 0 : dims()[0];
  const bool are_last = put && live(session_)->file().catalog[index_].can_grow();
  if (dims().empty() || (are_last ? rows.total > there : rows.total != there)) {
    refuse(Error(ErrorCode::kInvalidArgument, fmt::format("it has {} rows, but those given are of {}", there, rows.total)));
  }
  slab.start[0] = there - rows.total + rows.first;
  slab.count[0] = rows.count;
  return slab;
}

void Dataset::put_rows(const Rows& rows, const Memory& memory) {
  put(slab_of(rows, true), memory);
}

void Dataset::get_rows(const Rows& rows, const Memory& memory) {
  get(slab_of(rows, false), memory);
}

void Dataset::move_elements(const Elements& elements, const Memory& memory, bool put) {
  const auto note = [&](const auto& session) {
    note_transfer(*session, index_, memory, put, [&] {
      return session->record(index_, *elements.map_, memory);
    }).throw_if_error();
  };
  if (put) {
    note(WriteTurn(session_, "put_elements()"));
  } else {
    note(ReadTurn(session_, "get_elements()"));
  }
}

void Dataset::put_elements(const Elements& elements, const Memory& memory) {
  move_elements(elements, memory, true);
}

void Dataset::get_elements(const Elements& elements, const Memory& memory) {
  move_elements(elements, memory, false);
}

// Whatever is wrong on this rank, the others are met, and hear of it.
void Dataset::read(const Hyperslab& slab, const Memory& memory) {
  const ReadTurn session(session_, "read()");
  static_cast<void>(note_transfer(*session, index_, memory, false, [&] { return session->record(index_, slab, memory); }));
  file::finish_call(*session, trace::BuiltIn::kFileFlush, "read()", [&] { return session->flush(); }).throw_if_error();
}

void Dataset::read_at_once(const Hyperslab& slab, ElementType element, const std::function<void*(int64_t count)>& make_room) {
  const ReadTurn session(session_, "read()");
  Memory memory(nullptr, Datatype(), element);
  const Status room = or_out_of_memory([&] {
    const container::DatasetSpec& spec = session->file().catalog[index_].spec;
    if (spec.element.bytes == 0) {
      return Status(ErrorCode::kInvalidArgument,
                    "dataset '" + spec.path + "' has text of any length, and no numbers: use read_strings()");
    }
    const int64_t count = elements_of(slab, spec.dims);
    memory = Memory(make_room(count), Datatype::bytes(count * element_bytes(element)), element);
    return Status();
  });
  if (!room.ok()) {
    static_cast<void>(session->file().meetings.refuse(room));
  }
  read(slab, memory);
}

}  // namespace stria
