#include "storage/parted/parted_file.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "storage/lists/direct_stretches.hpp"
#include "storage/messages.hpp"

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

Status no_such_place(const char* operation, const std::string& path, int64_t offset, int64_t bytes) {
  return Status(ErrorCode::kInternal, describe(operation, path, offset, bytes) + ": no part of the file has this place");
}

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
      map_(std::move(map)),
      mode_(mode),
      handles_(master, std::move(driver), map_, mode) {}

PartedFile::PartedFile(std::unique_ptr<File> master, std::shared_ptr<Driver> driver, std::shared_ptr<const PartMap> map,
                       OpenOptions::Mode mode)
    : PartedFile(*master, std::move(driver), std::move(map), mode) {
  owned_ = std::move(master);
}

void PartedFile::write_past_cache(std::shared_ptr<Driver> driver) {
  handles_.open_past_cache(std::move(driver));
  capabilities_.direct_align_bytes = master_.capabilities().direct_align_bytes;
}

template <typename Segment>
Result<PartedFile::Lists<Segment>> PartedFile::divide(const char* operation, std::span<const Segment> segments) const {
  STRIA_RETURN_IF_ERROR(check_segments(operation, path(), segments));
  Lists<Segment> lists;
  for (Segment rest : segments) {
    while (rest.bytes > 0) {
      const PartedStretch stretch = map_->stretch_at(rest.offset, rest.bytes);
      if (stretch.bytes == 0) {
        return no_such_place(operation, path(), rest.offset, rest.bytes);
      }
      STRIA_CHECK(stretch.bytes <= rest.bytes && stretch.offset >= 0, stretch.part, stretch.offset, stretch.bytes, rest.bytes);
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
  STRIA_ASSIGN_OR_RETURN(File* const file, handles_.at(number));
  File* const direct = capabilities_.direct_align_bytes == 0 ? nullptr : handles_.direct_at(number);
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
  STRIA_ASSIGN_OR_RETURN(File* const file, handles_.at(number));
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
        return no_such_place(operation, path(), at, range.end - at);
      }
      at += stretch.bytes;
      if (stretch.part != PartedStretch::kGap) {
        STRIA_ASSIGN_OR_RETURN(File* const file, handles_.at(stretch.part));
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

Status PartedFile::sync() {
  STRIA_RETURN_IF_ERROR(handles_.sync());
  return master_.sync();
}

Status PartedFile::close() {
  Status status = close_parts(false);
  status.update(master_.close());
  return status;
}

}  // namespace stria::storage
