#include "file/nodes/node_service.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

namespace {

constexpr int kAskTag = 32040;
constexpr int kAnswerTag = 32041;
constexpr int64_t kWantsNoAnswer = 0;  // instead of the number of a question
constexpr size_t kRefusalBytes = size_t{64} << 10;

/// A message for which no one waits, with its bytes.
class OwnedMessage final : public CommRequest {
 public:
  OwnedMessage(Comm& comm, std::vector<std::byte> bytes, int to, int tag)
      : bytes_(std::move(bytes)), sent_(comm.send(bytes_, to, tag)) {}
  bool test() override { return sent_->test(); }

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<CommRequest> sent_;
};

std::vector<std::byte> nothing() {
  return {};
}

Result<std::vector<std::byte>> nothing_if(const Status& status) {
  return status.ok() ? Result<std::vector<std::byte>>(nothing()) : status;
}

Result<std::vector<std::byte>> number_if(const Result<int64_t>& number) {
  STRIA_RETURN_IF_ERROR(number.status());
  FieldWriter fields;
  fields.number(*number);
  return fields.take();
}

// Nothing is done of a request that isn't whole: what is missing would read as 0.
Status check_whole(const FieldReader& fields) {
  return fields.is_whole() ? Status() : Status(ErrorCode::kInternal, "a request of another rank was garbled on its way");
}

Result<std::vector<std::byte>> read_list(storage::File& file, FieldReader& fields) {
  std::vector<storage::ReadSegment> segments;
  int64_t total = 0;
  for (int64_t left = fields.number(); fields.well() && left > 0; --left) {
    storage::ReadSegment segment;
    segment.offset = fields.number();
    segment.bytes = fields.number();
    if (segment.offset < 0 || segment.bytes < 0 || segment.bytes > NodeService::kMostBytes - total) {
      return Status(ErrorCode::kInternal, "a rank asks for more than it may");
    }
    total += segment.bytes;
    segments.push_back(segment);
  }
  STRIA_RETURN_IF_ERROR(check_whole(fields));
  std::vector<std::byte> content(static_cast<size_t>(total));
  int64_t at = 0;
  for (storage::ReadSegment& segment : segments) {
    segment.data = content.data() + at;
    at += segment.bytes;
  }
  // Where the file ends within, each piece has a number of its own.
  FieldWriter answer;
  for (const storage::ReadSegment& segment : segments) {
    STRIA_ASSIGN_OR_RETURN(const int64_t got, file.read(std::span(&segment, 1)));
    answer.number(got);
  }
  answer.bytes(content);
  return answer.take();
}

Status write_list(storage::File& file, FieldReader& fields) {
  std::vector<storage::WriteSegment> segments;
  for (int64_t left = fields.number(); fields.well() && left > 0; --left) {
    storage::WriteSegment segment;
    segment.offset = fields.number();
    segment.bytes = fields.number();
    segments.push_back(segment);
  }
  const std::span<const std::byte> content = fields.bytes();
  STRIA_RETURN_IF_ERROR(check_whole(fields));
  const auto content_bytes = static_cast<int64_t>(content.size());
  int64_t at = 0;
  for (storage::WriteSegment& segment : segments) {
    if (segment.offset < 0 || segment.bytes < 0 || segment.bytes > content_bytes - at) {
      return Status(ErrorCode::kInternal, "a rank sends less than it says");
    }
    segment.data = content.data() + at;
    at += segment.bytes;
  }
  return at == content_bytes ? file.write(segments) : Status(ErrorCode::kInternal, "a rank sends more than it says");
}

Result<storage::FileAttributes> read_attributes(FieldReader& fields) {
  storage::FileAttributes attributes;
  attributes.mode = static_cast<uint32_t>(fields.number());
  attributes.owner = static_cast<uint32_t>(fields.number());
  attributes.group = static_cast<uint32_t>(fields.number());
  for (int64_t left = fields.number(); fields.well() && left > 0; --left) {
    const std::string name = fields.text();
    const auto value = fields.bytes();
    attributes.extended.emplace_back(name, std::vector<std::byte>(value.begin(), value.end()));
  }
  STRIA_RETURN_IF_ERROR(check_whole(fields));
  return attributes;
}

// The number that is all of a request.
Result<int64_t> only_number(FieldReader& fields) {
  const int64_t number = fields.number();
  STRIA_RETURN_IF_ERROR(check_whole(fields));
  return number;
}

// A question, or what is told.
std::vector<std::byte> question(Ask what, int64_t number, std::span<const std::byte> fields) {
  FieldWriter message;
  message.number(static_cast<int64_t>(what));
  message.number(number);
  message.bytes(fields);
  return message.take();
}

std::vector<std::byte> answer_to(int64_t number, const Result<std::vector<std::byte>>& done) {
  FieldWriter answer;
  answer.number(number);
  answer.status(done.status());
  answer.bytes(done.ok() ? std::span<const std::byte>(*done) : std::span<const std::byte>());
  return answer.take();
}

}  // namespace

Status garbled_answer(int rank) {
  return Status(ErrorCode::kInternal, fmt::format("the answer of rank {} was garbled on its way", rank));
}

std::shared_ptr<NodeService> NodeService::of(Comm& comm, const std::shared_ptr<storage::Driver>& driver) {
  Comm& innermost = comm.innermost();
  auto known = std::dynamic_pointer_cast<NodeService>(innermost.attendant());
  if (known == nullptr) {
    known = std::make_shared<NodeService>(innermost, driver);
    innermost.set_attendant(known);
  }
  return known;
}

NodeService::NodeService(Comm& innermost, std::shared_ptr<storage::Driver> driver)
    : comm_(innermost), driver_(std::move(driver)), owed_(static_cast<size_t>(innermost.size())) {
  request_.reserve(kRoomBytes);
  answer_.reserve(kRoomBytes);
  reserve_.set_aside(kRefusalBytes);
}

// Throws where nothing was sent. A message that can't be parked is waited for.
void NodeService::send_away(int rank, int tag, std::vector<std::byte> message) {
  std::unique_ptr<CommRequest> sent = std::make_unique<OwnedMessage>(comm_, std::move(message), rank, tag);
  try {
    comm_.park(std::move(sent));
  } catch (const std::bad_alloc&) {
    for (int attempt = 0; !sent->test(); ++attempt) {
      comm_.pause(attempt);
    }
  }
}

void NodeService::attend() noexcept {
  if (serves_) {
    return;  // the storage below waits
  }
  serves_ = true;
  try {
    refuse_owed();
    while (const auto from = comm_.take_message(kAskTag, request_)) {
      serve(*from);
    }
    drop_late_answer();
  } catch (const std::bad_alloc&) {
    // What there is no memory for is a message that waits, or an answer that is owed: this rank
    // attends to both again while it waits.
  }
  serves_ = false;
}

void NodeService::serve(int from) {
  FieldReader fields(request_);
  const auto what = static_cast<Ask>(fields.number());
  const int64_t number = fields.number();
  const auto rest = fields.bytes();
  // Nobody knows without its first two numbers whether an answer is awaited.
  STRIA_CHECK(fields.is_whole(), from, request_.size(), what);
  try {
    const auto done = or_out_of_memory([&] { return answer(from, what, rest); });
    if (number != kWantsNoAnswer) {
      send_away(from, kAnswerTag, answer_to(number, done));
    }
  } catch (const std::bad_alloc&) {
    // A rank that asks again has given up what it asked before.
    int64_t& owed = owed_[static_cast<size_t>(from)];
    owed_count_ += owed == 0 && number != kWantsNoAnswer ? 1 : 0;
    owed = number;
    refuse_owed();
  }
}

// Where even the reserve isn't enough, the rest is for the next time.
void NodeService::refuse_owed() {
  for (size_t rank = 0; owed_count_ > 0 && rank < owed_.size(); ++rank) {
    if (owed_[rank] != 0) {
      reserve_.surely([&] {
        const Status lack(ErrorCode::kResourceExhausted, "out of memory");
        send_away(static_cast<int>(rank), kAnswerTag, answer_to(owed_[rank], lack));
      });
      owed_[rank] = 0;
      --owed_count_;
    }
  }
  if (reserve_.ran_out()) {
    access::MemoryReserve anew;
    anew.set_aside(kRefusalBytes);
    reserve_ = std::move(anew);
  }
}

Result<std::vector<std::byte>> NodeService::open(const HandleKey& key, std::span<const std::byte> fields) {
  FieldReader reader(fields);
  const std::string path = reader.text();
  storage::OpenOptions options;
  options.mode = static_cast<storage::OpenOptions::Mode>(reader.number());
  options.plain_only = reader.number() != 0;
  options.permissions = static_cast<uint32_t>(reader.number());
  options.expected_number = static_cast<uint64_t>(reader.number());
  STRIA_RETURN_IF_ERROR(check_whole(reader));
  STRIA_ASSIGN_OR_RETURN(auto file, driver_->open(path, options));
  FieldWriter told;
  const auto identity = file->identity();
  told.number(identity.ok() ? 1 : 0);
  told.number(identity.ok() ? static_cast<int64_t>(identity->device) : 0);
  told.number(identity.ok() ? static_cast<int64_t>(identity->number) : 0);
  told.number(file->capabilities().block_bytes);
  files_[key] = std::move(file);
  return told.take();
}

Result<std::vector<std::byte>> NodeService::answer(int from, Ask what, std::span<const std::byte> fields) {
  FieldReader reader(fields);
  if (what == Ask::kNothing) {
    return nothing();
  }
  if (what >= Ask::kRemove) {
    const std::string path = reader.text();
    STRIA_RETURN_IF_ERROR(check_whole(reader));
    return answer_for_name(what, path);
  }
  const HandleKey key{from, reader.number()};
  const auto rest = reader.bytes();
  STRIA_RETURN_IF_ERROR(check_whole(reader));
  if (what == Ask::kOpen) {
    return open(key, rest);
  }
  if (what == Ask::kClose) {
    const auto found = files_.find(key);
    const Status closed = found == files_.end() ? Status() : found->second->close();
    files_.erase(key);
    return nothing_if(closed);
  }
  const auto found = files_.find(key);
  return found != files_.end() ? answer_for_file(*found->second, what, rest)
                               : Result<std::vector<std::byte>>(Status(ErrorCode::kInternal, "an unknown handle"));
}

Result<std::vector<std::byte>> NodeService::answer_for_file(storage::File& file, Ask what, std::span<const std::byte> fields) {
  FieldReader reader(fields);
  switch (what) {
    case Ask::kRead:
      return read_list(file, reader);
    case Ask::kWrite:
      return nothing_if(write_list(file, reader));
    case Ask::kSize:
      return number_if(file.size());
    case Ask::kResize: {
      STRIA_ASSIGN_OR_RETURN(const int64_t bytes, only_number(reader));
      return nothing_if(file.resize(bytes));
    }
    case Ask::kPreallocate: {
      STRIA_ASSIGN_OR_RETURN(const int64_t bytes, only_number(reader));
      return nothing_if(file.preallocate(bytes));
    }
    case Ask::kSync:
      return nothing_if(file.sync());
    case Ask::kSetAttributes: {
      STRIA_ASSIGN_OR_RETURN(const storage::FileAttributes attributes, read_attributes(reader));
      return nothing_if(driver_->set_attributes(file, attributes));
    }
    default:
      return Status(ErrorCode::kInternal, "an unknown request of another rank");
  }
}

Result<std::vector<std::byte>> NodeService::answer_for_name(Ask what, const std::string& path) {
  FieldWriter answer;
  switch (what) {
    case Ask::kRemove:
      return nothing_if(driver_->remove(path));
    case Ask::kSyncDirectory:
      return nothing_if(driver_->sync_directory(path));
    case Ask::kExists: {
      STRIA_ASSIGN_OR_RETURN(const bool exists, driver_->exists(path));
      answer.number(exists ? 1 : 0);
      return answer.take();
    }
    case Ask::kIdentity: {
      STRIA_ASSIGN_OR_RETURN(const storage::Identity identity, driver_->identity(path));
      answer.number(static_cast<int64_t>(identity.device));
      answer.number(static_cast<int64_t>(identity.number));
      return answer.take();
    }
    case Ask::kNameInfo: {
      STRIA_ASSIGN_OR_RETURN(const storage::NameInfo info, driver_->name_info(path));
      answer.number(info.is_plain_file ? 1 : 0);
      answer.number(info.is_mine ? 1 : 0);
      answer.number(info.changed_ns ? 1 : 0);
      answer.number(info.changed_ns.value_or(0));
      return answer.take();
    }
    case Ask::kListDirectory: {
      STRIA_ASSIGN_OR_RETURN(const auto names, driver_->list_directory(path));
      answer.number(static_cast<int64_t>(names.size()));
      for (const std::string& name : names) {
        answer.text(name);
      }
      return answer.take();
    }
    default:
      return Status(ErrorCode::kInternal, "an unknown request of another rank");
  }
}

void NodeService::tell(int rank, Ask what, std::span<const std::byte> fields) {
  STRIA_ASSERT(0 <= rank && rank < comm_.size(), rank, comm_.size(), what);
  told_.insert(rank);
  send_away(rank, kAskTag, question(what, kWantsNoAnswer, fields));
}

// Messages from one rank to another are served in order.
void NodeService::settle() {
  for (const int rank : std::exchange(told_, {})) {
    static_cast<void>(or_out_of_memory([&] { return ask(rank, Ask::kNothing, {}); }));
  }
}

// A question that this rank gave up, because it had no memory for the answer, is answered late.
int NodeService::await_answer(int64_t number) {
  for (int attempt = 0;;) {
    const auto from = comm_.take_message(kAnswerTag, answer_);
    if (!from) {
      comm_.pause(attempt++);
      continue;
    }
    FieldReader fields(answer_);
    if (fields.number() >= number || !fields.well()) {
      return *from;
    }
  }
}

// Its sender waits for it at the end of MPI, so that it doesn't stay.
void NodeService::drop_late_answer() {
  if (late_answer_ && !asks_ && comm_.take_message(kAnswerTag, answer_)) {
    late_answer_ = false;
  }
}

Result<std::vector<std::byte>> NodeService::ask(int rank, Ask what, std::span<const std::byte> fields) {
  STRIA_ASSERT(0 <= rank && rank < comm_.size(), rank, comm_.size(), what);
  STRIA_ASSERT(!serves_, rank, what);  // a rank that serves and asks may wait for itself
  const int64_t number = ++last_question_;
  const std::vector<std::byte> bytes = question(what, number, fields);
  const auto sent = comm_.send(bytes, rank, kAskTag);
  comm_.wait(*sent);
  asks_ = true;
  late_answer_ = true;  // unless it comes
  const Result<int> from = or_out_of_memory([&] { return Result<int>(await_answer(number)); });
  asks_ = false;
  STRIA_RETURN_IF_ERROR(from.status());
  late_answer_ = false;
  FieldReader answer(answer_);
  const int64_t answered = answer.number();
  const Status outcome = answer.status();
  const auto rest = answer.bytes();
  if (!answer.is_whole() || answered != number || *from != rank) {
    return garbled_answer(rank);
  }
  if (!outcome.ok()) {
    return outcome.with_message(fmt::format("{}, by rank {}", outcome.message(), rank));
  }
  return std::vector<std::byte>(rest.begin(), rest.end());
}

}  // namespace stria::file
