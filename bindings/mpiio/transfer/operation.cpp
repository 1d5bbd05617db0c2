#include "mpiio/transfer/operation.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "access/move.hpp"
#include "access/plan/facts.hpp"
#include "base/check.hpp"
#include "base/checked.hpp"
#include "mpiio/trace/call_span.hpp"
#include "mpiio/transfer/memory_stream.hpp"
#include "mpiio/transfer/small_access.hpp"
#include "mpiio/types/kept_types.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::mpiio {

namespace {

// A request up to this size goes to the storage as it is, without the access layer.
constexpr int64_t kSmallBytes = 1 << 20;
// Positions beyond this need a closer look, because sums might overflow.
constexpr int64_t kLastPlainPosition = int64_t{1} << 60;

Outcome check_access(const File& file, Direction direction) {
  if (direction == Direction::kWrite && !file.mode().is_writable()) {
    return {MPI_ERR_READ_ONLY, fmt::format("write '{}': it is open for reading only", file.path())};
  }
  if (direction == Direction::kRead && !file.mode().is_readable()) {
    return {MPI_ERR_ACCESS, fmt::format("read '{}': it is open for writing only", file.path())};
  }
  return {};
}

Outcome decode_buffer(const UserBuffer& buffer, Operation& operation) {
  if (buffer.count < 0) {
    return {MPI_ERR_COUNT, fmt::format("the count is {}", buffer.count)};
  }
  if (buffer.type == MPI_DATATYPE_NULL) {
    return {MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL"};
  }
  auto type = decode_and_keep(buffer.type);
  if (!type.ok()) {
    return {MPI_ERR_TYPE, type.status().message()};
  }
  auto all = Datatype::contiguous(buffer.count, *type);
  if (!all.ok()) {
    return {MPI_ERR_COUNT, all.status().message()};
  }
  operation.count = buffer.count;
  operation.memory_type = *all;
  operation.bytes = operation.memory_type.size();
  if (!operation.view->representation()->is_native()) {
    STRIA_MPIIO_RETURN_IF_ERROR(Converter::create(operation.view->representation(), buffer.type, operation.converter));
    if (!checked_multiply(operation.converter->item_bytes(), buffer.count, &operation.bytes)) {
      return {MPI_ERR_COUNT, "more than 2^63 bytes in one call"};
    }
  }
  if (buffer.address == nullptr && operation.bytes > 0 && operation.memory_type.true_lower_bound() == 0) {
    return {MPI_ERR_BUFFER, "the buffer is null"};
  }
  return {};
}

Outcome check_view(const Operation& operation) {
  const View& view = *operation.view;
  if (operation.bytes % view.etype_bytes() != 0) {
    return {MPI_ERR_ARG, fmt::format("'{}': {} bytes are not a whole number of etypes of {} bytes", operation.file->path(),
                                     operation.bytes, view.etype_bytes())};
  }
  if (operation.bytes > 0 && view.filetype().size() == 0) {
    return {MPI_ERR_ARG, fmt::format("'{}': the view has no bytes", operation.file->path())};
  }
  return {};
}

// The streams of an access: usually one. Where tiles interleave, there is one per tile; where a
// filetype goes back and forth, one per piece.
struct Streams {
  access::Lane lane;
  std::vector<int64_t> firsts;
};

Status add_stream(const View& view, int64_t position, int64_t bytes, int64_t first, Streams& streams) {
  STRIA_ASSIGN_OR_RETURN(access::Stream stream, view.stream(position, bytes));
  stream.stream_id = static_cast<int>(streams.firsts.size());
  streams.lane.streams.push_back(std::move(stream));
  streams.firsts.push_back(first);
  return {};
}

void add_pieces(const View& view, int64_t position, int64_t bytes, int64_t first, Streams& streams) {
  view.for_each_piece(position, bytes, [&](ByteRange piece, int64_t at) {
    access::Stream stream;
    stream.stream_id = static_cast<int>(streams.firsts.size());
    stream.file_type = Datatype::bytes(piece.size());
    stream.displacement = piece.begin;
    streams.lane.streams.push_back(std::move(stream));
    streams.firsts.push_back(first + at);
  });
}

Status make_streams(const Operation& operation, Streams& streams) {
  const View& view = *operation.view;
  if (operation.bytes == 0) {
    return {};
  }
  if (view.is_sorted()) {
    return add_stream(view, operation.position, operation.bytes, 0, streams);
  }
  const int64_t tile_bytes = view.filetype().size();
  for (int64_t done = 0; done < operation.bytes;) {
    const int64_t position = operation.position + done;
    const int64_t bytes = std::min(tile_bytes - position % tile_bytes, operation.bytes - done);
    if (view.filetype().is_sorted()) {
      STRIA_RETURN_IF_ERROR(add_stream(view, position, bytes, done, streams));
    } else {
      add_pieces(view, position, bytes, done, streams);
    }
    done += bytes;
  }
  std::stable_sort(streams.lane.streams.begin(), streams.lane.streams.end(),
                   [](const access::Stream& a, const access::Stream& b) { return a.displacement < b.displacement; });
  STRIA_ASSERT(
      access::total_bytes({&streams.lane, 1}) == operation.bytes && streams.firsts.size() == streams.lane.streams.size(),
      operation.bytes, streams.firsts.size(), streams.lane.streams.size());
  return {};
}

// Moves the packed bytes: the user's memory, or a buffer in the file's representation.
struct Ends {
  std::vector<std::byte> converted;
  std::unique_ptr<MemoryStream> memory;
};

Outcome make_ends(Operation& operation, std::vector<int64_t> firsts, Ends& ends) {
  std::byte* address = operation.memory;
  Datatype type = operation.memory_type;
  if (operation.converter != nullptr) {
    if (operation.writes()) {
      STRIA_MPIIO_RETURN_IF_ERROR(operation.converter->to_file(operation.memory, operation.count, ends.converted));
    } else {
      ends.converted.resize(static_cast<size_t>(operation.bytes));
    }
    address = ends.converted.data();
    type = Datatype::bytes(operation.bytes);
  }
  STRIA_ASSIGN_OR_RETURN(ends.memory, MemoryStream::create(address, type, std::move(firsts)));
  return {};
}

// Converts, after a read in another representation, what came, into memory.
Outcome finish(Operation& operation, Ends& ends) {
  STRIA_CHECK(0 <= operation.moved_bytes && operation.moved_bytes <= operation.bytes, operation.moved_bytes, operation.bytes);
  operation.memory_bytes = operation.moved_bytes;
  if (operation.converter == nullptr) {
    return {};
  }
  operation.memory_bytes = operation.converter->memory_bytes(operation.moved_bytes);
  if (operation.writes()) {
    return {};
  }
  ends.converted.resize(static_cast<size_t>(operation.moved_bytes));
  return operation.converter->from_file(ends.converted, operation.memory);
}

access::MoveReport move_streams(access::Context& context, std::span<const access::Lane> lanes, Operation& operation,
                                MemoryStream& memory, Together together) {
  const auto endpoint = operation.writes() ? access::Endpoint::of_write(memory) : access::Endpoint::of_read(memory);
  if (together == Together::kCollective) {
    return access::move(context, lanes, endpoint, access::Collectively{&operation.file->channel().kept});
  }
  return access::move(context, lanes, endpoint, access::Independently());
}

// Tells the trace the method; facts only where they are new, because there are many
// small transfers.
void note(const Operation& operation, const access::MoveReport& moved, Together together) {
  File& file = *operation.file;
  access::count_transfer(file.trace().counters(), moved.method, moved.aggregators, file.comm().rank());
  const bool collective = together == Together::kCollective;
  if (!file.trace().is_news(collective, moved.method, moved.reason)) {
    return;
  }
  if (collective) {
    access::state_method(file.trace().id(), moved.method, moved.reason, moved.aggregators);
  } else if (trace::is_counting()) {
    trace::Recorder::instance().set_fact(file.trace().id(), "method of independent calls",
                                         fmt::format("{} ({})", access::method_name(moved.method), moved.reason));
  }
}

access::Context context_of(File& file, storage::File& storage, PhaseTimes& times) {
  using Known = access::OtherWriters::Known;
  const access::OtherWriters others{.known = file.atomic_mode().is_on() ? Known::kShutOut : Known::kAnybody,
                                    .locks = &file.shared().locks(),
                                    .writers = &file.writers()};
  return {.comm = file.comm(), .file = &storage, .hints = file.hints(), .times = times, .others = others};
}

// An operation that failed before it began moves nothing and keeps its outcome.
void move(Operation& operation, storage::File& storage, Together together) {
  Streams streams;
  Ends ends;
  Outcome before = operation.outcome;
  if (before.ok()) {
    before = make_streams(operation, streams);
  }
  if (before.ok()) {
    before = make_ends(operation, streams.firsts, ends);
  }
  if (!before.ok()) {
    streams = Streams();
    if (auto nothing = MemoryStream::create(nullptr, Datatype(), {}); nothing.ok()) {
      ends.memory = std::move(*nothing);
    }
  }
  PhaseTimes times;
  access::Context context = context_of(*operation.file, storage, times);
  const access::MoveReport moved = move_streams(context, {&streams.lane, 1}, operation, *ends.memory, together);
  operation.file->trace().counters().add_phases(times, PhaseTimes());
  note(operation, moved, together);
  operation.moved_bytes = moved.bytes;
  Outcome after = before.ok() ? finish(operation, ends) : before;
  operation.outcome = after.ok() ? Outcome(moved.status) : after;
}

// Moves moves one piece of memory to one piece of the file.
Status move_piece(File& file, storage::File& storage, Direction direction, ByteRange place, std::byte* data,
                  int64_t& moved_bytes) {
  if (direction == Direction::kRead) {
    const storage::ReadSegment segment{place.begin, data, place.size()};
    STRIA_ASSIGN_OR_RETURN(moved_bytes, storage.read({&segment, 1}));
    return {};
  }
  const storage::WriteSegment segment{place.begin, data, place.size()};
  Status written = write_beside_others(file, storage, {&segment, 1});
  moved_bytes = written.ok() ? place.size() : 0;
  return written;
}

bool run_small(Operation& operation, storage::File& storage) {
  if (operation.bytes > kSmallBytes || operation.converter != nullptr || operation.memory_type.piece_count() != 1 ||
      !operation.view->is_contiguous()) {
    return false;
  }
  const int64_t offset = operation.view->offset_of(operation.position);
  std::byte* data = operation.memory + operation.memory_type.displacement();
  operation.outcome = move_piece(*operation.file, storage, operation.direction, {offset, offset + operation.bytes}, data,
                                 operation.moved_bytes);
  operation.memory_bytes = operation.moved_bytes;
  return true;
}

// The file's own lock on everything between the first byte of an access and its last. Other
// ranks, jobs and libraries in atomic mode take it too. Without such locks, the ranks of one node
// still take turns.
void lock_range(Operation& operation, storage::File& storage, std::unique_ptr<storage::RangeLock>& range) {
  if (!operation.outcome.ok() || operation.bytes == 0) {
    return;
  }
  const View& view = *operation.view;
  ByteRange hull{0, std::numeric_limits<int64_t>::max() / 2};
  if (view.is_sorted()) {
    hull = {view.offset_of(operation.position), view.offset_of(operation.position + operation.bytes - 1) + 1};
  }
  auto locked = storage.lock(hull, operation.writes() ? storage::LockMode::kExclusive : storage::LockMode::kShared);
  if (locked.ok()) {
    range = std::move(*locked);
  } else if (locked.status().code() != ErrorCode::kUnsupported ||
             operation.file->comm().node_size() < operation.file->comm().size()) {
    operation.outcome = locked.status();
  }
}

void run_alone(Operation& operation, storage::File& storage) {
  if (!operation.outcome.ok() || operation.bytes == 0) {
    return;
  }
  if (!run_small(operation, storage)) {
    move(operation, storage, Together::kIndependent);
  }
}

// Piece by piece, so that the memory goes back as soon as it can.
void run_staged(Operation& operation, storage::File& storage) {
  STRIA_ASSERT(operation.writes() && operation.converter == nullptr, operation.position);
  const int64_t begin = operation.position;
  int64_t moved_bytes = 0;
  while (!operation.staged->empty() && operation.outcome.ok()) {
    const StagedMemory::Piece& piece = operation.staged->front();
    operation.memory = piece.memory;
    operation.memory_type = Datatype::bytes(piece.bytes);
    operation.position = begin + moved_bytes;
    operation.bytes = piece.bytes;
    run_alone(operation, storage);
    moved_bytes += operation.moved_bytes;
    operation.staged->drop_front();
  }
}

}  // namespace

std::shared_ptr<Operation> prepare(const std::shared_ptr<File>& file, Direction direction, const UserBuffer& buffer) {
  auto operation = std::make_shared<Operation>();
  operation->file = file;
  operation->view = file->pointer().shared_view();
  operation->direction = direction;
  operation->memory = static_cast<std::byte*>(buffer.address);
  operation->outcome = check_access(*file, direction);
  if (operation->outcome.ok()) {
    operation->outcome = decode_buffer(buffer, *operation);
  }
  if (operation->outcome.ok()) {
    operation->outcome = check_view(*operation);
  }
  if (!operation->outcome.ok()) {
    operation->bytes = 0;
  }
  return operation;
}

std::shared_ptr<Operation> stage(const Operation& operation) {
  const File& file = *operation.file;
  if (!file.staging().is_on || file.atomic_mode().is_on() || !operation.writes() || !operation.outcome.ok() ||
      operation.converter != nullptr) {
    return nullptr;
  }
  auto memory = StagedMemory::pack(operation.memory, operation.bytes > 0 ? operation.memory_type : Datatype(),
                                   file.staging().limit_bytes);
  if (memory == nullptr) {
    return nullptr;
  }
  auto staged = std::make_shared<Operation>();
  staged->file = operation.file;
  staged->view = operation.view;
  staged->direction = operation.direction;
  staged->position = operation.position;
  staged->staged = std::move(memory);
  return staged;
}

bool is_plain(const File& file, Direction direction, int64_t position, const UserBuffer& buffer, PlainPiece& piece) {
  const View& view = file.view();
  const bool may = direction == Direction::kWrite ? file.mode().is_writable() : file.mode().is_readable();
  if (!may || file.atomic_mode().is_on() || !view.is_contiguous() || !view.representation()->is_native() || position < 0 ||
      position > kLastPlainPosition || buffer.count <= 0 || buffer.address == nullptr) {
    return false;
  }
  const int64_t item_bytes = contiguous_bytes(buffer.type);
  if (item_bytes == 0 || item_bytes > kSmallBytes || buffer.count > kSmallBytes) {
    return false;
  }
  const int64_t bytes = buffer.count * item_bytes;
  if (bytes > kSmallBytes || (view.etype_bytes() > 1 && bytes % view.etype_bytes() != 0)) {
    return false;
  }
  const int64_t offset = view.offset_of(position);
  piece = {{offset, offset + bytes}, static_cast<std::byte*>(buffer.address)};
  return true;
}

namespace {

// Other ranks rely on what a collective access has done, and a background access goes by another
// handle.
bool may_gather(const File& file, OpenStorage& storage, Together together) {
  return storage.gathered().has_begun() && !file.under_way().any() &&
         (together == Together::kIndependent || file.comm().size() == 1);
}

Status move_gathered(OpenStorage& storage, Direction direction, const PlainPiece& piece, int64_t& moved_bytes) {
  const auto bytes = static_cast<size_t>(piece.file.size());
  if (direction == Direction::kRead) {
    STRIA_ASSIGN_OR_RETURN(moved_bytes, storage.gathered().read(piece.file.begin, {piece.memory, bytes}));
    return {};
  }
  Status written = storage.gathered().write(piece.file.begin, {piece.memory, bytes});
  moved_bytes = written.ok() ? piece.file.size() : 0;
  return written;
}

}  // namespace

PlainResult move_plainly(File& file, Direction direction, const PlainPiece& piece, Together together) {
  describe_transfer(file.trace().counters(), direction == Direction::kWrite, piece.file.size(), piece.file.begin);
  const auto lock = file.storage().hold();
  PlainResult result;
  OpenStorage& storage = file.storage();
  const Status moved = may_gather(file, storage, together)
                           ? move_gathered(storage, direction, piece, result.moved_bytes)
                           : move_piece(file, storage.handle(), direction, piece.file, piece.memory, result.moved_bytes);
  if (!moved.ok()) {
    result.outcome = moved;
  }
  return result;
}

void run_independent(Operation& operation, storage::File& storage) {
  const File& file = *operation.file;
  if (operation.staged != nullptr) {
    run_staged(operation, storage);
    return;
  }
  // Atomic mode: one access of the file's ranks at a time; on several nodes, and with several
  // handles, one per range.
  NodeTurn::Guard turn(file.atomic_mode().turn());
  std::unique_ptr<storage::RangeLock> range;
  if (file.atomic_mode().is_on()) {
    lock_range(operation, storage, range);
  }
  run_alone(operation, storage);
}

void run_independent(Operation& operation) {
  const auto lock = operation.file->storage().hold();
  run_independent(operation, operation.file->storage().handle());
}

void run_collective(Operation& operation) {
  File& file = *operation.file;
  if (file.atomic_mode().is_on() || file.comm().size() == 1) {
    run_independent(operation);
    operation.outcome = agree(file, operation.outcome);
    return;
  }
  const auto lock = file.storage().hold();
  move(operation, file.storage().handle(), Together::kCollective);
}

void set_status(MPI_Status* status, int64_t memory_bytes) {
  if (status == MPI_STATUS_IGNORE) {
    return;
  }
  MPI_Status_set_elements_x(status, MPI_BYTE, memory_bytes);
  MPI_Status_set_cancelled(status, 0);
}

}  // namespace stria::mpiio
