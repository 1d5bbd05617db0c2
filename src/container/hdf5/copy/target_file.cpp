#include "container/hdf5/copy/target_file.hpp"

#include <algorithm>
#include <cstring>

#include "base/united_ranges.hpp"
#include "container/hdf5/read/driver/driver_frame.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kLeastHoleBytes = 4096;

struct TargetSubject {
  TargetFile* file;
};

TargetFile& file_of(H5FD_t* base) {
  return *driven<TargetSubject>(base).subject.file;
}

herr_t query_target(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA |
              H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_target_eof(const H5FD_t* base, H5FD_mem_t) {
  return static_cast<haddr_t>(driven<TargetSubject>(base).subject.file->end());
}

herr_t read_target_bytes(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t offset, size_t bytes, void* to) {
  TargetFile& file = file_of(base);
  return fits(offset, bytes) ? guarded(file,
                                       [&] {
                                         return file.read(static_cast<int64_t>(offset), static_cast<int64_t>(bytes),
                                                          static_cast<std::byte*>(to));
                                       })
                             : -1;
}

herr_t write_bytes(H5FD_t* base, H5FD_mem_t kind, hid_t, haddr_t offset, size_t bytes, const void* from) {
  TargetFile& file = file_of(base);
  return fits(offset, bytes) ? guarded(file,
                                       [&] {
                                         return file.write(kind, static_cast<int64_t>(offset), static_cast<int64_t>(bytes),
                                                           static_cast<const std::byte*>(from));
                                       })
                             : -1;
}

herr_t truncate(H5FD_t* base, hid_t, hbool_t) {
  TargetFile& file = file_of(base);
  const haddr_t end = driven<TargetSubject>(base).allocated_end;
  return fits(end, 0) ? guarded(file, [&] { return file.resize(static_cast<int64_t>(end)); }) : -1;
}

H5FD_class_t make_target_class() {
  constexpr H5FD_mem_t kRawDataApart[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  H5FD_class_t driver = make_driver<TargetSubject>("stria-new", 22);
  driver.query = query_target;
  driver.get_eof = get_target_eof;
  driver.read = read_target_bytes;
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

// Tells whether the bytes are one collection of a global heap, whose texts and lists are metadata:
// to libhdf5 it is raw data.
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
  static const H5FD_class_t kDriver = make_target_class();
  TargetAccess access{.driver = Id(H5FDregister(&kDriver)), .list = Id()};
  STRIA_ASSIGN_OR_RETURN(access.list, make_list(access.driver, TargetSubject{&file}));
  return access;
}

}  // namespace stria::container::h5
