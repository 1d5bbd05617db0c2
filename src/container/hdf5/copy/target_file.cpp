#include "container/hdf5/copy/target_file.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <new>

#include "base/united_ranges.hpp"

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace stria::container::h5 {

namespace {

constexpr haddr_t kMaxAddress = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastHoleBytes = 4096;

struct DriverInfo {
  TargetFile* file;
};

// libhdf5 keeps its own fields at the head of each open file.
struct OpenFile {
  H5FD_t base;
  TargetFile* file;
  haddr_t allocated_end;
};

OpenFile& opened(H5FD_t* base) {
  return *reinterpret_cast<OpenFile*>(base);
}

// No exception may pass through the library's frames.
template <typename Call>
herr_t guarded(TargetFile& file, Call&& call) {
  try {
    const Status status = call();
    file.keep_error(status);
    return status.ok() ? 0 : -1;
  } catch (const std::exception& error) {
    file.keep_error(Status(ErrorCode::kResourceExhausted, error.what()));
    return -1;
  }
}

H5FD_t* open_file(const char*, unsigned, hid_t access_list, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access_list));
  auto* file = info != nullptr ? new (std::nothrow) OpenFile{} : nullptr;
  if (file != nullptr) {
    file->file = info->file;
  }
  return reinterpret_cast<H5FD_t*>(file);
}

herr_t close_file(H5FD_t* base) {
  delete &opened(base);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA |
              H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_eoa(const H5FD_t* base, H5FD_mem_t) {
  return reinterpret_cast<const OpenFile*>(base)->allocated_end;
}

herr_t set_eoa(H5FD_t* base, H5FD_mem_t, haddr_t end) {
  opened(base).allocated_end = end;
  return 0;
}

haddr_t get_eof(const H5FD_t* base, H5FD_mem_t) {
  return static_cast<haddr_t>(reinterpret_cast<const OpenFile*>(base)->file->end());
}

bool fits(haddr_t offset, size_t bytes) {
  return offset <= kMaxAddress && bytes <= kMaxAddress - offset;
}

herr_t read_bytes(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t offset, size_t bytes, void* to) {
  TargetFile& file = *opened(base).file;
  return fits(offset, bytes) ? guarded(file,
                                       [&] {
                                         return file.read(static_cast<int64_t>(offset), static_cast<int64_t>(bytes),
                                                          static_cast<std::byte*>(to));
                                       })
                             : -1;
}

herr_t write_bytes(H5FD_t* base, H5FD_mem_t kind, hid_t, haddr_t offset, size_t bytes, const void* from) {
  TargetFile& file = *opened(base).file;
  return fits(offset, bytes) ? guarded(file,
                                       [&] {
                                         return file.write(kind, static_cast<int64_t>(offset), static_cast<int64_t>(bytes),
                                                           static_cast<const std::byte*>(from));
                                       })
                             : -1;
}

herr_t truncate(H5FD_t* base, hid_t, hbool_t) {
  TargetFile& file = *opened(base).file;
  const haddr_t end = opened(base).allocated_end;
  return fits(end, 0) ? guarded(file, [&] { return file.resize(static_cast<int64_t>(end)); }) : -1;
}

H5FD_class_t make_class() {
  constexpr H5FD_mem_t kRawDataApart[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 22);
#endif
  driver.name = "stria-new";
  driver.maxaddr = kMaxAddress;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read_bytes;
  driver.write = write_bytes;
  driver.truncate = truncate;
  std::copy(std::begin(kRawDataApart), std::end(kRawDataApart), std::begin(driver.fl_map));
  return driver;
}

void add(std::vector<ByteRange>& ranges, ByteRange range) {
  if (!ranges.empty() && ranges.back().end == range.begin) {
    ranges.back().end = range.end;
  } else {
    ranges.push_back(range);
  }
}

bool is_zero(const std::byte* data, int64_t bytes) {
  return *data == std::byte{0} && std::memcmp(data, data + 1, static_cast<size_t>(bytes - 1)) == 0;
}

// Whether the bytes are one collection of a global heap, whose texts and lists are metadata: to
// libhdf5 it is raw data.
bool is_heap(const std::byte* data, int64_t bytes) {
  constexpr char kHead[] = {'G', 'C', 'O', 'L', 1, 0, 0, 0};
  int64_t own_bytes = 0;
  if (bytes < static_cast<int64_t>(sizeof kHead + sizeof own_bytes) || std::memcmp(data, kHead, sizeof kHead) != 0) {
    return false;
  }
  std::memcpy(&own_bytes, data + sizeof kHead, sizeof own_bytes);
  return own_bytes == bytes;
}

}  // namespace

Status TargetFile::read(int64_t offset, int64_t bytes, std::byte* to) {
  const storage::ReadSegment segment{offset, to, bytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t read, file_.read({&segment, 1}));
  std::fill(to + read, to + bytes, std::byte{0});
  return Status();
}

Status TargetFile::write(H5FD_mem_t kind, int64_t offset, int64_t bytes, const std::byte* from) {
  const bool is_raw = kind == H5FD_MEM_DRAW && !is_heap(from, bytes);
  const bool stays_hole = is_raw && offset >= end_ && bytes >= kLeastHoleBytes && is_zero(from, bytes);
  add(is_raw ? raw_data_ : metadata_, {offset, offset + bytes});
  end_ = std::max(end_, offset + bytes);
  const storage::WriteSegment segment{offset, from, bytes};
  return stays_hole ? Status() : file_.write({&segment, 1});
}

Status TargetFile::resize(int64_t bytes) {
  STRIA_RETURN_IF_ERROR(file_.resize(bytes));
  end_ = bytes;
  return Status();
}

std::vector<ByteRange> TargetFile::metadata() const {
  const std::vector<ByteRange> raw = united(raw_data_);
  const auto first_behind = [&](int64_t offset) {
    return std::upper_bound(raw.begin(), raw.end(), offset, [](int64_t at, const ByteRange& range) { return at < range.end; });
  };
  std::vector<ByteRange> stretches;
  const auto add_stretch = [&](ByteRange range) {
    if (range.empty()) {
      return;
    }
    const auto next = stretches.empty() ? raw.begin() : first_behind(stretches.back().end);
    const bool follows = !stretches.empty() && (next == raw.end() || next->begin >= range.begin);
    if (follows) {
      stretches.back().end = range.end;
    } else {
      stretches.push_back(range);
    }
  };
  for (ByteRange piece : united(metadata_)) {
    piece.end = std::min(piece.end, end_);
    // Raw data may have got the place of metadata that were given up.
    for (auto within = first_behind(piece.begin); within != raw.end() && within->begin < piece.end; ++within) {
      add_stretch({piece.begin, within->begin});
      piece.begin = within->end;
    }
    add_stretch(piece);
  }
  return stretches;
}

Result<TargetAccess> make_target_access(TargetFile& file) {
  static const H5FD_class_t kDriver = make_class();
  TargetAccess access{.driver = Id(H5FDregister(&kDriver)), .list = Id(H5Pcreate(H5P_FILE_ACCESS))};
  const DriverInfo info{&file};
  const bool made = access.driver.valid() && access.list.valid() &&
                    H5Pset_driver(access.list.get(), access.driver.get(), &info) >= 0 &&
                    H5Pset_fclose_degree(access.list.get(), H5F_CLOSE_STRONG) >= 0;
  if (!made) {
    return last_error(ErrorCode::kInternal, "cannot set up libhdf5's file access");
  }
  return access;
}

}  // namespace stria::container::h5
