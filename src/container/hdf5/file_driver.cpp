#include "container/hdf5/file_driver.hpp"

#include <exception>
#include <limits>

#include "base/checked.hpp"

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace stria::container::h5 {

namespace {

constexpr haddr_t kMaxAddress = std::numeric_limits<int64_t>::max();
constexpr unsigned long kFeatures = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;

// What the property list carries to open().
struct DriverInfo {
  DriverFile* file;
};

// libhdf5 keeps its own fields at the head of each open file.
struct OpenFile {
  H5FD_t base;
  DriverFile* file;
};

DriverFile& file_of(const H5FD_t* base) {
  return *reinterpret_cast<const OpenFile*>(base)->file;
}

H5FD_t* open_file(const char*, unsigned, hid_t access_list, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access_list));
  if (info == nullptr || info->file->open) {
    return nullptr;
  }
  auto* opened = new (std::nothrow) OpenFile{};
  if (opened != nullptr) {
    opened->file = info->file;
    opened->file->open = true;
  }
  return reinterpret_cast<H5FD_t*>(opened);
}

herr_t close_file(H5FD_t* base) {
  file_of(base).open = false;
  delete reinterpret_cast<OpenFile*>(base);
  return 0;
}

herr_t query(const H5FD_t* base, unsigned long* features) {
  *features = kFeatures;
  if (base != nullptr && file_of(base).sieve) {
    *features |= H5FD_FEAT_DATA_SIEVE;
  }
  return 0;
}

// Runs `action` for a C callback: neither an error nor an exception may pass the library's frames.
template <typename Action>
herr_t guarded(DriverFile& file, Action action) {
  try {
    const Status status = action();
    file.keep_error(status);
    return status.ok() ? 0 : -1;
  } catch (const std::exception& error) {
    file.keep_error(Status(ErrorCode::kResourceExhausted, error.what()));
    return -1;
  }
}

haddr_t allocate(H5FD_t* base, H5FD_mem_t kind, hid_t, hsize_t bytes) {
  haddr_t place = HADDR_UNDEF;
  guarded(file_of(base), [&]() -> Status {
    if (bytes > kMaxAddress) {
      return Status(ErrorCode::kInvalidArgument, "more than 2^63 bytes asked for");
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t offset, file_of(base).allocate(kind, static_cast<int64_t>(bytes)));
    place = static_cast<haddr_t>(offset);
    return Status();
  });
  return place;
}

herr_t release(H5FD_t* base, H5FD_mem_t kind, hid_t, haddr_t offset, hsize_t bytes) {
  file_of(base).release(kind, static_cast<int64_t>(offset), static_cast<int64_t>(bytes));
  return 0;
}

haddr_t get_eoa(const H5FD_t* base, H5FD_mem_t kind) {
  return static_cast<haddr_t>(file_of(base).allocated_end(kind));
}

herr_t set_eoa(H5FD_t* base, H5FD_mem_t kind, haddr_t end) {
  if (end > kMaxAddress) {
    return -1;
  }
  return guarded(file_of(base), [&] { return file_of(base).set_allocated_end(kind, static_cast<int64_t>(end)); });
}

haddr_t get_eof(const H5FD_t* base, H5FD_mem_t) {
  return static_cast<haddr_t>(file_of(base).file_end());
}

bool fits(haddr_t offset, size_t bytes) {
  return offset <= kMaxAddress && bytes <= kMaxAddress - offset;
}

herr_t read_bytes(H5FD_t* base, H5FD_mem_t kind, hid_t, haddr_t offset, size_t bytes, void* to) {
  if (!fits(offset, bytes)) {
    return -1;
  }
  return guarded(file_of(base),
                 [&] { return file_of(base).read(kind, static_cast<int64_t>(offset), static_cast<int64_t>(bytes), to); });
}

herr_t write_bytes(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t offset, size_t bytes, const void* from) {
  if (!fits(offset, bytes)) {
    return -1;
  }
  return guarded(file_of(base),
                 [&] { return file_of(base).write(static_cast<int64_t>(offset), static_cast<int64_t>(bytes), from); });
}

H5FD_class_t make_class() {
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + 21);
#endif
  driver.name = "stria";
  driver.maxaddr = kMaxAddress;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.query = query;
  driver.alloc = allocate;
  driver.free = release;
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.read = read_bytes;
  driver.write = write_bytes;
  // Space that raw data gives up is not used again for metadata, nor the other way round.
  const H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kinds), std::end(kinds), driver.fl_map);
  return driver;
}

}  // namespace

Result<Id> make_access_list(DriverFile& file) {
  // Registered anew each time, so that nothing of ours outlives an H5close() of the application; the property list keeps it
  // alive.
  static const H5FD_class_t kDriver = make_class();
  const Id driver(H5FDregister(&kDriver));
  Id list(H5Pcreate(H5P_FILE_ACCESS));
  const DriverInfo info{&file};
  const bool made = driver.valid() && list.valid() && H5Pset_driver(list.get(), driver.get(), &info) >= 0 &&
                    H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) >= 0;
  if (!made) {
    return last_error(ErrorCode::kInternal, "cannot set up libhdf5's file access");
  }
  return list;
}

}  // namespace stria::container::h5
