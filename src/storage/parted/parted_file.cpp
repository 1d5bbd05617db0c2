#include "storage/parted/parted_file.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/out_of_memory.hpp"
#include "storage/lists/direct_stretches.hpp"
#include "storage/messages.hpp"
#include "storage/path.hpp"

namespace stria::storage {

namespace {

template <typename Segments>
int64_t bytes_of(const Segments& segments) {
  int64_t bytes = 0;
  for (const auto& segment : segments) {
    bytes += segment.bytes;
  }
  return bytes;
}

// A process may not open any number of files.
constexpr size_t kMostOpenForReading = 64;

}  // namespace

Capabilities parted_capabilities(Capabilities capabilities, bool contended, bool direct) {
  capabilities.stripe_bytes = 0;
  capabilities.stripe_count = 1;
  capabilities.direct_align_bytes = direct ? capabilities.direct_align_bytes : 0;
  capabilities.native_types = false;
  capabilities.reserving_pays = false;
  capabilities.asynchronous = false;
  capabilities.parallel_writes = capabilities.parallel_writes || !contended;
  return capabilities;
}

PartedFile::PartedFile(File& master, std::shared_ptr<Driver> driver, std::shared_ptr<const PartMap> map, OpenOptions::Mode mode)
    : master_(master),
      capabilities_(parted_capabilities(master.capabilities(), true)),
      driver_(std::move(driver)),
      map_(std::move(map)),
      mode_(mode) {}

PartedFile::PartedFile(std::unique_ptr<File> master, std::shared_ptr<Driver> driver, std::shared_ptr<const PartMap> map,
                       OpenOptions::Mode mode)
    : PartedFile(*master, std::move(driver), std::move(map), mode) {
  owned_ = std::move(master);
}

void PartedFile::write_past_cache(std::shared_ptr<Driver> driver) {
  direct_driver_ = std::move(driver);
  capabilities_.direct_align_bytes = master_.capabilities().direct_align_bytes;
}

Status PartedFile::no_such_place(const char* operation, int64_t offset, int64_t bytes) const {
  return Status(ErrorCode::kInternal, describe(operation, path(), offset, bytes) + ": no part of the file has this place");
}

template <typename Segment>
Result<PartedFile::Lists<Segment>> PartedFile::divide(const char* operation, std::span<const Segment> segments) const {
  STRIA_RETURN_IF_ERROR(check_segments(operation, path(), segments));
  Lists<Segment> lists;
  for (Segment rest : segments) {
    while (rest.bytes > 0) {
      const PartedStretch stretch = map_->stretch_at(rest.offset, rest.bytes);
      if (stretch.bytes == 0) {
        return no_such_place(operation, rest.offset, rest.bytes);
      }
      if (stretch.part != PartedStretch::kGap) {
        lists[stretch.part].push_back({stretch.offset, rest.data, stretch.bytes});
      } else if constexpr (std::is_same_v<Segment, ReadSegment>) {
        std::fill_n(rest.data, stretch.bytes, std::byte{0});
      }
      rest = {rest.offset + stretch.bytes, rest.data + stretch.bytes, rest.bytes - stretch.bytes};
    }
  }
  return lists;
}

Status PartedFile::write(std::span<const WriteSegment> segments) {
  return or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const auto lists, divide("write", segments));
    for (const auto& [number, list] : lists) {
      STRIA_RETURN_IF_ERROR(write_part(number, list));
    }
    return Status();
  });
}

// Whole units go past the page cache; what is left before and behind them doesn't.
Status PartedFile::write_part(int number, const std::vector<WriteSegment>& list) {
  STRIA_ASSIGN_OR_RETURN(File* const file, part(number));
  File* const direct = direct_part(number);
  if (direct == nullptr) {
    return file->write(list);
  }
  std::vector<WriteSegment> cached, past_cache;
  divide_direct(list, capabilities_.direct_align_bytes, past_cache, cached);
  STRIA_RETURN_IF_ERROR(past_cache.empty() ? Status() : direct->write(past_cache));
  return cached.empty() ? Status() : file->write(cached);
}

// A part that is still written may end anywhere: the rest of it reads as zeros.
Status PartedFile::read_part(int number, const std::vector<ReadSegment>& list) {
  for (const ReadSegment& segment : list) {
    if (mode_ != OpenOptions::Mode::kRead) {
      std::fill_n(segment.data, segment.bytes, std::byte{0});
    }
  }
  STRIA_ASSIGN_OR_RETURN(File* const file, part(number));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file->read(list));
  const bool is_cut = mode_ == OpenOptions::Mode::kRead && bytes < bytes_of(list);
  return is_cut ? Status(ErrorCode::kCorrupted, describe("read", file->path()) + ": this part of '" + path() + "' is cut short")
                : Status();
}

Result<int64_t> PartedFile::read(std::span<const ReadSegment> segments) {
  return or_out_of_memory([&]() -> Result<int64_t> {
    STRIA_ASSIGN_OR_RETURN(const auto lists, divide("read", segments));
    int64_t total = bytes_of(segments);
    for (const auto& [number, list] : lists) {
      if (number != PartedStretch::kMaster) {
        STRIA_RETURN_IF_ERROR(read_part(number, list));
        continue;
      }
      STRIA_ASSIGN_OR_RETURN(const int64_t bytes, master_.read(list));
      total -= bytes_of(list) - bytes;
    }
    return total;
  });
}

template <typename Call>
Status PartedFile::for_each_stretch(const char* operation, ByteRange range, Call&& call) {
  return or_out_of_memory([&]() -> Status {
    for (int64_t at = range.begin; at < range.end;) {
      const PartedStretch stretch = map_->stretch_at(at, range.end - at);
      if (stretch.bytes == 0) {
        return no_such_place(operation, at, range.end - at);
      }
      at += stretch.bytes;
      if (stretch.part != PartedStretch::kGap) {
        STRIA_ASSIGN_OR_RETURN(File* const file, part(stretch.part));
        STRIA_RETURN_IF_ERROR(call(*file, ByteRange{stretch.offset, stretch.offset + stretch.bytes}));
      }
    }
    return Status();
  });
}

Status PartedFile::refresh(ByteRange range) {
  return for_each_stretch("refresh", range, [](File& file, ByteRange own) { return file.refresh(own); });
}

Status PartedFile::hand_over(ByteRange range) {
  return for_each_stretch("hand over", range, [](File& file, ByteRange own) { return file.hand_over(own); });
}

Result<std::unique_ptr<File>> PartedFile::open_part(int number) {
  const PartMap::Part& part = map_->parts[static_cast<size_t>(number)];
  OpenOptions options;
  options.mode = mode_;
  options.sole_writer = sole_writer_;
  options.plain_only = mode_ != OpenOptions::Mode::kRead;  // another rank has just made it
  options.expected_number = part.number;
  auto opened = driver_->open(PartMap::made_path(part), options);
  if (mode_ != OpenOptions::Mode::kRead) {
    return opened;
  }
  const std::string whose = "'" + path() + "' has a part in '" + part.path + "'";
  if (opened.status().code() == ErrorCode::kNotFound) {
    return Status(ErrorCode::kCorrupted, whose + ", which is missing: bring it to " + directory_of(path()));
  }
  STRIA_RETURN_IF_ERROR(opened.status().with_context(whose));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, (*opened)->size());
  if (bytes >= part.least_bytes) {
    STRIA_ASSIGN_OR_RETURN(const bool is_ours, has_mark(**opened, number));
    return is_ours ? std::move(opened)
                   : Status(ErrorCode::kCorrupted,
                            whose + ", but belongs to another file, or is damaged: put the one back that was written with it");
  }
  return Status(ErrorCode::kCorrupted, whose + ", which is cut short: it has " + std::to_string(bytes) + " bytes instead of " +
                                           std::to_string(part.least_bytes));
}

// Files of older versions have none.
Result<bool> PartedFile::has_mark(File& file, int number) const {
  const int64_t offset = map_->parts[static_cast<size_t>(number)].mark_offset;
  if (offset < 0) {
    return true;
  }
  PartMap::Mark mark{};
  const ReadSegment segment{offset, mark.data(), PartMap::kMarkBytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file.read(std::span(&segment, 1)));
  return bytes == PartMap::kMarkBytes && mark == map_->mark_of(number);
}

Result<File*> PartedFile::part(int number) {
  if (number == PartedStretch::kMaster) {
    return &master_;
  }
  const auto found = parts_.find(number);
  if (found != parts_.end()) {
    return found->second.get();
  }
  if (mode_ == OpenOptions::Mode::kRead && parts_.size() >= kMostOpenForReading) {
    parts_.erase(parts_.begin());
  }
  STRIA_ASSIGN_OR_RETURN(auto opened, open_part_ ? open_part_(number) : open_part(number));
  return parts_.emplace(number, std::move(opened)).first->second.get();
}

File* PartedFile::direct_part(int number) {
  if (number == PartedStretch::kMaster || direct_driver_ == nullptr || capabilities_.direct_align_bytes == 0) {
    return nullptr;
  }
  const auto found = direct_parts_.find(number);
  if (found != direct_parts_.end()) {
    return found->second.get();
  }
  const PartMap::Part& part = map_->parts[static_cast<size_t>(number)];
  OpenOptions options;
  options.mode = mode_;
  options.direct = true;
  options.plain_only = mode_ != OpenOptions::Mode::kRead;
  options.expected_number = part.number;
  auto opened = direct_driver_->open(PartMap::made_path(part), options);
  return direct_parts_.emplace(number, opened.ok() ? std::move(*opened) : nullptr).first->second.get();
}

Status PartedFile::sync() {
  for (const auto& [number, file] : parts_) {
    STRIA_RETURN_IF_ERROR(file->sync());
  }
  return master_.sync();
}

Status PartedFile::close_parts(bool sync) {
  Status status;
  for (const auto& [number, file] : direct_parts_) {
    status.update(file == nullptr ? Status() : file->close());
  }
  direct_parts_.clear();
  for (const auto& [number, file] : parts_) {
    if (sync) {
      status.update(file->sync());
    }
    status.update(file->close());
  }
  parts_.clear();
  return status;
}

Status PartedFile::close() {
  Status status = close_parts(false);
  status.update(master_.close());
  return status;
}

}  // namespace stria::storage
