#include "file/nodes/node_service.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "comm/waiting.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

namespace {

constexpr int kAskTag = 32040;
constexpr int kAnswerTag = 32041;
constexpr int64_t kWantsAnswer = 1;

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

}  // namespace

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
    : comm_(innermost), driver_(std::move(driver)) {}

void NodeService::send_away(int rank, int tag, std::vector<std::byte> message) {
  comm_.park(std::make_unique<OwnedMessage>(comm_, std::move(message), rank, tag));
}

void NodeService::attend() noexcept {
  if (serves_) {
    return;  // the storage below waits
  }
  serves_ = true;
  try {
    while (const auto message = comm_.take_message(kAskTag)) {
      serve(message->first, message->second);
    }
  } catch (const std::bad_alloc&) {
    // The rank that has asked waits. It is named after a while, and by a deadline, if it has one.
    say_line("a rank has no memory to serve a part of a file to another");
  }
  serves_ = false;
}

void NodeService::serve(int from, std::span<const std::byte> message) {
  FieldReader fields(message);
  const auto what = static_cast<Ask>(fields.number());
  const bool wants_answer = fields.number() == kWantsAnswer;
  const auto rest = fields.bytes();
  // Nobody knows without its first two numbers whether an answer is awaited.
  STRIA_CHECK(fields.is_whole(), from, message.size(), what);
  const auto done = or_out_of_memory([&] { return answer(from, what, rest); });
  if (wants_answer) {
    FieldWriter reply;
    reply.number(static_cast<int64_t>(done.status().code()));
    reply.text(done.status().message());
    reply.bytes(done.ok() ? std::span<const std::byte>(*done) : std::span<const std::byte>());
    send_away(from, kAnswerTag, reply.take());
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
  FieldWriter message;
  message.number(static_cast<int64_t>(what));
  message.number(0);
  message.bytes(fields);
  send_away(rank, kAskTag, message.take());
  told_.insert(rank);
}

// Messages from one rank to another are served in order.
void NodeService::settle() {
  for (const int rank : std::exchange(told_, {})) {
    static_cast<void>(ask(rank, Ask::kNothing, {}));
  }
}

Result<std::vector<std::byte>> NodeService::ask(int rank, Ask what, std::span<const std::byte> fields) {
  STRIA_ASSERT(0 <= rank && rank < comm_.size(), rank, comm_.size(), what);
  STRIA_ASSERT(!serves_, rank, what);  // a rank that serves and asks may wait for itself
  FieldWriter message;
  message.number(static_cast<int64_t>(what));
  message.number(kWantsAnswer);
  message.bytes(fields);
  const std::vector<std::byte> bytes = message.take();
  const auto sent = comm_.send(bytes, rank, kAskTag);
  auto reply = comm_.take_message(kAnswerTag);
  for (int attempt = 0; !reply; ++attempt) {
    comm_.pause(attempt);
    reply = comm_.take_message(kAnswerTag);
  }
  comm_.wait(*sent);
  FieldReader answer(reply->second);
  const auto code = static_cast<ErrorCode>(answer.number());
  const std::string words = answer.text();
  const auto rest = answer.bytes();
  if (!answer.is_whole() || reply->first != rank) {
    return Status(ErrorCode::kInternal, fmt::format("the answer of rank {} was garbled on its way", rank));
  }
  if (code != ErrorCode::kOk) {
    return Status(code, fmt::format("{}, by rank {}", words, rank));
  }
  return std::vector<std::byte>(rest.begin(), rest.end());
}

}  // namespace stria::file
