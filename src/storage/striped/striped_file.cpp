#include "storage/striped/striped_file.hpp"

#include <cerrno>
#include <utility>

#include "storage/messages.hpp"
#include "storage/striped/transfer_run.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

namespace {

// A server waits this long for a lock to become free; then it is asked again. So it never keeps a
// question for ever.
constexpr uint32_t kLockWaitMs = 2000;

// No file has bytes from here on, and locks here are notes for other writers.
constexpr int64_t kBehindAnyFile = int64_t{1} << 62;

}  // namespace

StripedFile::StripedFile(std::shared_ptr<Store> store, std::string path, const wire::Opened& opened, const Opening& opening)
    : store_(std::move(store)),
      path_(std::move(path)),
      file_(opened.file),
      pass_(store_, opening.handle, {opened.ticket, opened.ticket_ms}),
      layout_{opened.stripe_bytes, static_cast<int64_t>(opened.slots.size())},
      opening_(opening) {
  wire::randomise(std::as_writable_bytes(std::span(&holder_, 1)));
  for (const wire::ServerPlace& slot : opened.slots) {
    servers_.push_back(slot.address);
  }
  capabilities_.stripe_bytes = layout_.stripe_bytes;
  capabilities_.stripe_count = static_cast<int>(layout_.slot_count);
  capabilities_.striped_as_told = true;
  capabilities_.native_list = true;
  capabilities_.native_types = true;
  capabilities_.node_local_cache = false;
  capabilities_.asynchronous = true;
}

StripedFile::~StripedFile() {
  if (open_) {
    static_cast<void>(close());
  }
}

Status StripedFile::check(const char* operation, bool writes) {
  if (!open_) {
    return closed_file(operation, path_);
  }
  if (writes && !opening_.writable) {
    return Status::from_errno(EBADF, describe(operation, path_));
  }
  if (writes) {
    STRIA_RETURN_IF_ERROR(renew_notes().with_context(describe(operation, path_)));
  }
  const std::lock_guard lock(lost_mutex_);
  return lost_lock_.with_context(describe(operation, path_));
}

Result<Identity> StripedFile::identity() {
  STRIA_RETURN_IF_ERROR(check("identity", false));
  STRIA_ASSIGN_OR_RETURN(const uint64_t store, store_->number());
  return Identity{store, file_};
}

Result<std::unique_ptr<File>> StripedFile::open_again(bool writable) const {
  if (!open_) {
    return closed_file("open again", path_);
  }
  const auto rights = static_cast<uint8_t>(wire::kMayRead | (writable ? wire::kMayWrite : 0));
  const auto again = store_->open_again(file_, rights);
  STRIA_RETURN_IF_ERROR(again.status().with_context(describe("open", path_)));
  wire::Opened same{file_, layout_.stripe_bytes, false, {}, again->good.ticket, again->good.ticket_ms};
  for (const std::string& server : servers_) {
    same.slots.push_back({0, server});
  }
  return std::unique_ptr<File>(std::make_unique<StripedFile>(store_, path_, same, Opening{again->handle, writable}));
}

Status StripedFile::write(std::span<const WriteSegment> segments) {
  STRIA_RETURN_IF_ERROR(check("write", true));
  STRIA_RETURN_IF_ERROR(check_segments("write", path_, segments));
  return TransferRun(*this).write(segments);
}

std::unique_ptr<PendingWrite> StripedFile::queue(std::function<Status()> job) {
  if (queue_ == nullptr) {
    queue_ = std::make_unique<WriteQueue>();
  }
  return queue_->start(std::move(job));
}

std::unique_ptr<PendingWrite> StripedFile::start_write(std::span<const WriteSegment> segments) {
  if (!open_) {
    return File::start_write(segments);
  }
  return queue([this, list = std::vector<WriteSegment>(segments.begin(), segments.end())] { return write(list); });
}

std::unique_ptr<PendingWrite> StripedFile::start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) {
  if (!open_) {
    return File::start_write(segments);
  }
  return queue([this, take, list = std::vector<WriteSegment>(segments.begin(), segments.end())]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto lock, take());
    return write(list);
  });
}

Result<int64_t> StripedFile::read(std::span<const ReadSegment> segments) {
  STRIA_RETURN_IF_ERROR(check("read", false));
  STRIA_RETURN_IF_ERROR(check_segments("read", path_, segments));
  return TransferRun(*this).read(segments);
}

Status StripedFile::write_type(const TypeWindow& region, const std::byte* data) {
  STRIA_RETURN_IF_ERROR(check("write", true));
  return TransferRun(*this).write_type(region, data);
}

Result<int64_t> StripedFile::read_type(const TypeWindow& region, std::byte* data) {
  STRIA_RETURN_IF_ERROR(check("read", false));
  return TransferRun(*this).read_type(region, data);
}

Call StripedFile::call_to(Store::Borrowed& link, wire::Kind kind, std::vector<std::byte> body) {
  Call call;
  call.link = link.link();
  call.kind = kind;
  call.body = std::move(body);
  call.before_sending = [this, server = link.link()](std::vector<std::byte>& bytes) -> Status {
    STRIA_RETURN_IF_ERROR(recognise(*server));
    return pass_.stamp(bytes);
  };
  return call;
}

// A directory that was emptied, or is another server's, knows nothing of the file: it would answer
// with zeros.
Status StripedFile::recognise(const ServerLink& server) {
  const std::lock_guard lock(known_mutex_);
  const auto known = known_.try_emplace(server.server(), server.server_identity()).first;
  return known->second == server.server_identity()
             ? Status()
             : Status(ErrorCode::kIo, "server " + server.server() + " is gone: another directory answers at its address");
}

Result<std::vector<std::vector<std::byte>>> StripedFile::ask_slots(
    wire::Kind kind, const std::function<std::vector<std::byte>(int64_t slot)>& body) {
  std::vector<Store::Borrowed> links;
  std::vector<Call> calls;
  for (int64_t slot = 0; slot < layout_.slot_count; ++slot) {
    STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, Store::borrow(store_, servers_[static_cast<size_t>(slot)]));
    links.push_back(std::move(link));
    calls.push_back(call_to(links.back(), kind, body(slot)));
  }
  STRIA_RETURN_IF_ERROR(run_calls(calls));
  std::vector<std::vector<std::byte>> replies;
  for (Call& call : calls) {
    replies.push_back(std::move(call.reply));
  }
  return replies;
}

Result<int64_t> StripedFile::file_bytes() {
  const auto body = wire::encode(wire::LocalFile{file_, {}, 0});
  STRIA_ASSIGN_OR_RETURN(const auto replies, ask_slots(wire::Kind::kExtent, [&](int64_t) { return body; }));
  int64_t bytes = 0;
  for (size_t slot = 0; slot < replies.size(); ++slot) {
    STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(replies[slot]));
    bytes = std::max(bytes, layout_.file_bytes(static_cast<int64_t>(slot), extent.local_bytes));
  }
  return bytes;
}

Result<int64_t> StripedFile::size() {
  STRIA_RETURN_IF_ERROR(check("size", false));
  auto bytes = file_bytes();
  return bytes.ok() ? bytes : bytes.status().with_context(describe("size", path_));
}

Status StripedFile::resize_slots(wire::Kind kind, int64_t bytes) {
  const char* operation = kind == wire::Kind::kResize ? "resize" : "preallocate";
  STRIA_RETURN_IF_ERROR(check(operation, true));
  if (bytes < 0 || bytes >= kBehindAnyFile) {
    return Status::from_errno(EINVAL, describe(operation, path_, bytes, 0));
  }
  const auto body = [&](int64_t slot) { return wire::encode(wire::LocalFile{file_, {}, layout_.below(slot, bytes)}); };
  return ask_slots(kind, body).status().with_context(describe(operation, path_, bytes, 0));
}

Status StripedFile::resize(int64_t bytes) {
  return resize_slots(wire::Kind::kResize, bytes);
}

Status StripedFile::preallocate(int64_t bytes) {
  return resize_slots(wire::Kind::kReserve, bytes);
}

Status StripedFile::sync() {
  STRIA_RETURN_IF_ERROR(check("sync", false));
  const auto body = wire::encode(wire::LocalFile{file_, {}, 0});
  Status outcome = ask_slots(wire::Kind::kSync, [&](int64_t) { return body; }).status();
  if (outcome.ok()) {
    outcome = store_->ask_manager(wire::Kind::kSyncNames, wire::encode(wire::Path{"/"})).status();
  }
  return outcome.with_context(describe("sync", path_));
}

Status StripedFile::close() {
  Status outcome = check("close", false);
  if (open_) {
    queue_.reset();
    open_ = false;
    outcome.update(store_->close(opening_.handle).with_context(describe("close", path_)));
  }
  return outcome;
}

class StripedRangeLock : public RangeLock {
 public:
  StripedRangeLock(StripedFile& file, Store::Borrowed link, ByteRange range, LockMode mode)
      : file_(file), link_(std::move(link)), range_(range), mode_(mode), generation_(link_.link()->generation()) {
    if (is_note()) {
      const std::lock_guard lock(file_.notes_mutex_);
      file_.notes_.insert(this);
    }
  }
  StripedRangeLock(const StripedRangeLock&) = delete;
  StripedRangeLock& operator=(const StripedRangeLock&) = delete;
  ~StripedRangeLock() override {
    if (is_note()) {
      const std::lock_guard lock(file_.notes_mutex_);
      file_.notes_.erase(this);
    }
    const Status outcome = file_.unlock(link_, range_, generation_);
    // A note that was forgotten since the last write has been of no use to anybody.
    if (!outcome.ok() && !is_note()) {
      file_.note_lost(range_, outcome);
    }
  }

  ByteRange range() const { return range_; }
  bool is_held() { return link_.link()->connected() && !link_.link()->is_stale() && link_.link()->generation() == generation_; }
  /// Returns whether no others have come since it was lost.
  Result<bool> take_again() {
    const bool exclusive = mode_ == LockMode::kExclusive;
    const wire::LockRange wanted{file_.file_, {}, range_, exclusive, file_.holder_};
    STRIA_ASSIGN_OR_RETURN(const bool taken, file_.ask_lock(link_, wire::Kind::kLock, wanted, 0));
    const wire::LockRange notes{.file = file_.file_, .range = {kBehindAnyFile, INT64_MAX}, .holder = file_.holder_};
    STRIA_ASSIGN_OR_RETURN(const bool others, file_.ask_lock(link_, wire::Kind::kIsLocked, notes, 0));
    generation_ = link_.link()->generation();
    return taken && !others;
  }

 private:
  bool is_note() const { return range_.begin >= kBehindAnyFile; }

  StripedFile& file_;
  Store::Borrowed link_;
  ByteRange range_;
  LockMode mode_;
  int64_t generation_;
};

Status StripedFile::renew_notes() {
  const std::lock_guard lock(notes_mutex_);
  for (StripedRangeLock* note : notes_) {
    if (note->is_held()) {
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(const bool alone, note->take_again());
    if (!alone) {
      note_lost(note->range(), Status(ErrorCode::kIo, "another program writes the file since"));
    }
  }
  return Status();
}

void StripedFile::note_lost(ByteRange range, const Status& why) {
  const std::string which = range.begin >= kBehindAnyFile
                                ? "the note that this program writes"
                                : "a lock on bytes " + std::to_string(range.begin) + " to " + std::to_string(range.end);
  const std::lock_guard lock(lost_mutex_);
  lost_lock_ = Status(ErrorCode::kIo, which + " was lost, and others may have changed bytes (" + why.message() + ")");
}

Result<bool> StripedFile::ask_lock(Store::Borrowed& link, wire::Kind kind, const wire::LockRange& range, uint32_t wait_ms) {
  Call call = call_to(link, kind, wire::encode(range));
  call.wait_ms = wait_ms;
  STRIA_RETURN_IF_ERROR(run_calls({&call, 1}));
  STRIA_ASSIGN_OR_RETURN(const auto answer, wire::decode<wire::Answer>(call.reply));
  return answer.yes;
}

Result<std::unique_ptr<RangeLock>> StripedFile::lock_within(ByteRange range, LockMode mode, uint32_t wait_ms) {
  STRIA_RETURN_IF_ERROR(check("lock", mode == LockMode::kExclusive));
  if (range.empty()) {
    return std::make_unique<RangeLock>();
  }
  STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, Store::borrow(store_, servers_[0]));
  const wire::LockRange wanted{file_, {}, range, mode == LockMode::kExclusive, holder_};
  const auto got = ask_lock(link, wire::Kind::kLock, wanted, wait_ms);
  STRIA_RETURN_IF_ERROR(got.status().with_context(describe("lock", path_, range.begin, range.size())));
  std::unique_ptr<RangeLock> held;
  if (*got) {
    held = std::make_unique<StripedRangeLock>(*this, std::move(link), range, mode);
  }
  return held;
}

Result<std::unique_ptr<RangeLock>> StripedFile::lock(ByteRange range, LockMode mode) {
  while (true) {
    STRIA_ASSIGN_OR_RETURN(std::unique_ptr<RangeLock> held, lock_within(range, mode, kLockWaitMs));
    if (held != nullptr) {
      return held;
    }
  }
}

Result<std::unique_ptr<RangeLock>> StripedFile::try_lock(ByteRange range, LockMode mode) {
  return lock_within(range, mode, 0);
}

Result<bool> StripedFile::is_locked_elsewhere(ByteRange range) {
  STRIA_RETURN_IF_ERROR(check("lock", false));
  STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, Store::borrow(store_, servers_[0]));
  auto answer = ask_lock(link, wire::Kind::kIsLocked, {.file = file_, .range = range, .holder = holder_}, 0);
  return answer.ok() ? answer : answer.status().with_context(describe("lock", path_, range.begin, range.size()));
}

Status StripedFile::unlock(Store::Borrowed& borrowed, ByteRange range, int64_t generation) {
  Call call;
  call.link = borrowed.link();
  call.kind = wire::Kind::kUnlock;
  call.body = wire::encode(wire::LockRange{.file = file_, .range = range, .holder = holder_});
  call.only_this_connection = true;
  STRIA_RETURN_IF_ERROR(run_calls({&call, 1}));
  STRIA_ASSIGN_OR_RETURN(const auto answer, wire::decode<wire::Answer>(call.reply));
  return answer.yes && call.link->generation() == generation
             ? Status()
             : Status(ErrorCode::kIo, "server " + call.link->server() + " had forgotten it");
}

}  // namespace stria::storage
