#include "file/nodes/nodes_driver.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/meet/message_fields.hpp"
#include "storage/messages.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

std::vector<std::byte> of_path(const std::string& path) {
  FieldWriter fields;
  fields.text(path);
  return fields.take();
}

/// The segments that go into one message, from `rest` on, which is moved on. The last one may be
/// cut.
template <typename Segment>
std::vector<Segment> next_batch(std::vector<Segment>& rest) {
  std::vector<Segment> batch;
  int64_t left = NodeService::kMostBytes;
  size_t whole = 0;
  while (whole < rest.size() && batch.size() < NodeService::kMostSegments && left > 0) {
    Segment part = rest[whole];
    part.bytes = std::min(part.bytes, left);
    left -= part.bytes;
    batch.push_back(part);
    if (part.bytes < rest[whole].bytes) {
      rest[whole].offset += part.bytes;
      rest[whole].data += part.bytes;
      rest[whole].bytes -= part.bytes;
      break;
    }
    ++whole;
  }
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(whole));
  return batch;
}

/// A file on another node.
class NodeFile final : public storage::File {
 public:
  NodeFile(std::shared_ptr<NodeService> service, int rank, std::string path)
      : service_(std::move(service)), rank_(rank), handle_(service_->next_handle()), path_(std::move(path)) {
    capabilities_.native_list = true;
    capabilities_.node_local_cache = false;
  }
  NodeFile(const NodeFile&) = delete;
  NodeFile& operator=(const NodeFile&) = delete;
  ~NodeFile() override {
    if (is_open_) {
      static_cast<void>(or_out_of_memory([&] {
        service_->tell(rank_, Ask::kClose, with_handle({}));
        return Status();
      }));
    }
  }

  Status open(const storage::OpenOptions& options) {
    FieldWriter fields;
    fields.text(path_);
    fields.number(static_cast<int64_t>(options.mode));
    fields.number(options.plain_only ? 1 : 0);
    fields.number(options.permissions);
    fields.number(static_cast<int64_t>(options.expected_number));
    const auto reply = ask(Ask::kOpen, fields.take());
    // It is open there, whatever the answer says; and it may be where memory lacked for the answer.
    is_open_ = reply.ok() || reply.status().code() == ErrorCode::kResourceExhausted;
    STRIA_RETURN_IF_ERROR(reply.status());
    FieldReader told(*reply);
    has_identity_ = told.number() != 0;
    identity_.device = static_cast<uint64_t>(told.number());
    identity_.number = static_cast<uint64_t>(told.number());
    capabilities_.block_bytes = told.number();
    return told.is_whole() ? Status() : garbled_answer(rank_);
  }

  const std::string& path() const override { return path_; }
  const storage::Capabilities& capabilities() const override { return capabilities_; }
  Result<storage::Identity> identity() override {
    return has_identity_ ? Result<storage::Identity>(identity_) : storage::File::identity();
  }

  Status write(std::span<const storage::WriteSegment> segments) override {
    STRIA_RETURN_IF_ERROR(storage::check_segments("write", path_, segments));
    std::vector<storage::WriteSegment> rest(segments.begin(), segments.end());
    while (!rest.empty()) {
      const auto batch = next_batch(rest);
      FieldWriter fields;
      fields.number(static_cast<int64_t>(batch.size()));
      std::vector<std::byte> content;
      for (const storage::WriteSegment& segment : batch) {
        fields.number(segment.offset);
        fields.number(segment.bytes);
        content.insert(content.end(), segment.data, segment.data + segment.bytes);
      }
      fields.bytes(content);
      STRIA_RETURN_IF_ERROR(ask(Ask::kWrite, fields.take()).status());
    }
    return Status();
  }

  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override {
    STRIA_RETURN_IF_ERROR(storage::check_segments("read", path_, segments));
    std::vector<storage::ReadSegment> rest(segments.begin(), segments.end());
    int64_t total = 0;
    while (!rest.empty()) {
      const auto batch = next_batch(rest);
      FieldWriter fields;
      fields.number(static_cast<int64_t>(batch.size()));
      for (const storage::ReadSegment& segment : batch) {
        fields.number(segment.offset);
        fields.number(segment.bytes);
      }
      STRIA_ASSIGN_OR_RETURN(const auto reply, ask(Ask::kRead, fields.take()));
      FieldReader answer(reply);
      std::vector<int64_t> got;
      for (size_t i = 0; i < batch.size(); ++i) {
        got.push_back(answer.number());
      }
      const auto content = answer.bytes();
      if (!answer.is_whole()) {
        return garbled_answer(rank_);
      }
      int64_t at = 0;
      for (size_t i = 0; i < batch.size(); ++i) {
        if (got[i] < 0 || got[i] > batch[i].bytes || batch[i].bytes > static_cast<int64_t>(content.size()) - at) {
          return Status(ErrorCode::kInternal, storage::describe("read", path_) + ": another rank sends less than it says");
        }
        std::copy_n(content.begin() + at, got[i], batch[i].data);
        at += batch[i].bytes;
        total += got[i];
      }
    }
    return total;
  }

  Result<int64_t> size() override {
    STRIA_ASSIGN_OR_RETURN(const auto reply, ask(Ask::kSize, {}));
    FieldReader fields(reply);
    const int64_t bytes = fields.number();
    return fields.is_whole() ? Result<int64_t>(bytes) : garbled_answer(rank_);
  }
  Status resize(int64_t bytes) override { return ask_number(Ask::kResize, bytes); }
  Status preallocate(int64_t bytes) override { return ask_number(Ask::kPreallocate, bytes); }
  Status sync() override { return ask(Ask::kSync, {}).status(); }
  Status close() override {
    if (!is_open_) {
      return storage::closed_file("close", path_);
    }
    const Status closed = ask(Ask::kClose, {}).status();
    is_open_ = closed.code() == ErrorCode::kResourceExhausted;  // the destructor tells it then
    return closed;
  }

  Status set_attributes(const storage::FileAttributes& attributes) {
    FieldWriter fields;
    fields.number(attributes.mode);
    fields.number(attributes.owner);
    fields.number(attributes.group);
    fields.number(static_cast<int64_t>(attributes.extended.size()));
    for (const auto& [name, value] : attributes.extended) {
      fields.text(name);
      fields.bytes(value);
    }
    return ask(Ask::kSetAttributes, fields.take()).status();
  }

 private:
  std::vector<std::byte> with_handle(std::span<const std::byte> rest) const {
    FieldWriter fields;
    fields.number(handle_);
    fields.bytes(rest);
    return fields.take();
  }
  Result<std::vector<std::byte>> ask(Ask what, std::span<const std::byte> rest) {
    return or_out_of_memory([&] { return service_->ask(rank_, what, with_handle(rest)); });
  }
  Status ask_number(Ask what, int64_t number) {
    FieldWriter fields;
    fields.number(number);
    return ask(what, fields.take()).status();
  }

  std::shared_ptr<NodeService> service_;
  int rank_;
  int64_t handle_;
  std::string path_;
  storage::Capabilities capabilities_;
  storage::Identity identity_;
  bool has_identity_ = false;
  bool is_open_ = false;
};

}  // namespace

int NodesDriver::rank_of(const std::string& path) const {
  const std::string real = own_->follow_links(path);
  if (const auto file = routes_.of_files.find(real); file != routes_.of_files.end()) {
    return file->second;
  }
  for (const std::string& directory : {storage::directory_of(real), real}) {
    if (const auto found = routes_.of_directories.find(directory); found != routes_.of_directories.end()) {
      return found->second;
    }
  }
  return -1;
}

Result<std::vector<std::byte>> NodesDriver::ask_for(int rank, Ask what, const std::string& path) const {
  return service_->ask(rank, what, of_path(own_->follow_links(path)));
}

Result<std::unique_ptr<storage::File>> NodesDriver::open(const std::string& path, const storage::OpenOptions& options) {
  const int rank = rank_of(path);
  if (rank < 0) {
    return own_->open(path, options);
  }
  if (options.direct || options.exclusive_lock) {
    return Status(ErrorCode::kUnsupported, storage::describe("open", path) + ": not on another node");
  }
  auto file = std::make_unique<NodeFile>(service_, rank, own_->follow_links(path));
  STRIA_RETURN_IF_ERROR(file->open(options));
  return std::unique_ptr<storage::File>(std::move(file));
}

Result<std::unique_ptr<storage::File>> NodesDriver::open_again(const storage::File& file, const storage::OpenOptions& options) {
  if (dynamic_cast<const NodeFile*>(&file.plain()) != nullptr) {
    return Status(ErrorCode::kUnsupported, storage::describe("open", file.path()) + ": by its name only");
  }
  return own_->open_again(file, options);
}

Status NodesDriver::set_attributes(storage::File& file, const storage::FileAttributes& attributes) {
  auto* const elsewhere = dynamic_cast<NodeFile*>(&file);
  return elsewhere != nullptr ? elsewhere->set_attributes(attributes) : own_->set_attributes(file, attributes);
}

Result<storage::Identity> NodesDriver::identity(const std::string& path) {
  const int rank = rank_of(path);
  if (rank < 0) {
    return own_->identity(path);
  }
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_for(rank, Ask::kIdentity, path));
  FieldReader fields(reply);
  storage::Identity identity;
  identity.device = static_cast<uint64_t>(fields.number());
  identity.number = static_cast<uint64_t>(fields.number());
  return fields.is_whole() ? Result<storage::Identity>(identity) : garbled_answer(rank);
}

Result<storage::NameInfo> NodesDriver::name_info(const std::string& path) {
  const int rank = rank_of(path);
  if (rank < 0 || own_->follow_links(path) != path) {
    return own_->name_info(path);
  }
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_for(rank, Ask::kNameInfo, path));
  FieldReader fields(reply);
  storage::NameInfo info;
  info.is_plain_file = fields.number() != 0;
  info.is_mine = fields.number() != 0;
  const bool has_time = fields.number() != 0;
  const int64_t time = fields.number();
  info.changed_ns = has_time ? std::optional(time) : std::nullopt;
  return fields.is_whole() ? Result<storage::NameInfo>(info) : garbled_answer(rank);
}

Status NodesDriver::remove(const std::string& path) {
  const int rank = rank_of(path);
  if (rank < 0 || own_->follow_links(path) != path) {
    return own_->remove(path);
  }
  return or_out_of_memory([&] {
    service_->tell(rank, Ask::kRemove, of_path(path));
    return Status();
  });
}

Result<bool> NodesDriver::exists(const std::string& path) {
  const int rank = rank_of(path);
  if (rank < 0) {
    return own_->exists(path);
  }
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_for(rank, Ask::kExists, path));
  FieldReader fields(reply);
  const bool exists = fields.number() != 0;
  return fields.is_whole() ? Result<bool>(exists) : garbled_answer(rank);
}

Status NodesDriver::sync_directory(const std::string& path) {
  const int rank = rank_of(path);
  // A link lies in a directory of this node, wherever it leads.
  return rank < 0 || own_->follow_links(path) != path ? own_->sync_directory(path)
                                                      : ask_for(rank, Ask::kSyncDirectory, path).status();
}

Result<std::vector<std::string>> NodesDriver::list_directory(const std::string& directory) {
  const int rank = rank_of(directory);
  if (rank < 0) {
    return own_->list_directory(directory);
  }
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_for(rank, Ask::kListDirectory, directory));
  FieldReader fields(reply);
  std::vector<std::string> names;
  for (int64_t left = fields.number(); fields.well() && left > 0; --left) {
    names.push_back(fields.text());
  }
  return fields.is_whole() ? Result<std::vector<std::string>>(std::move(names)) : garbled_answer(rank);
}

}  // namespace stria::file
