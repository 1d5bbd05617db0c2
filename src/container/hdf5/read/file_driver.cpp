#include "container/hdf5/read/file_driver.hpp"

#include <exception>
#include <limits>

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace stria::container::h5 {

namespace {

constexpr haddr_t kMaxAddress = std::numeric_limits<int64_t>::max();

// What the property list passes to open().
struct DriverInfo {
  StorageFile* file;
  MetadataGuard* guard;
};

// libhdf5 keeps its own fields at the head of each open file.
struct OpenFile {
  H5FD_t base;
  StorageFile* file;
  MetadataGuard* guard;
  haddr_t allocated_end;
};

OpenFile& opened(H5FD_t* base) {
  return *reinterpret_cast<OpenFile*>(base);
}

H5FD_t* open_file(const char*, unsigned, hid_t access_list, haddr_t) {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access_list));
  if (info == nullptr || info->file->open) {
    return nullptr;
  }
  auto* file = new (std::nothrow) OpenFile{};
  if (file != nullptr) {
    file->file = info->file;
    file->guard = info->guard;
    file->file->open = true;
  }
  return reinterpret_cast<H5FD_t*>(file);
}

herr_t close_file(H5FD_t* base) {
  opened(base).file->open = false;
  delete &opened(base);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE | H5FD_FEAT_DATA_SIEVE;
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
  return static_cast<haddr_t>(reinterpret_cast<const OpenFile*>(base)->file->file_bytes());
}

bool fits(haddr_t offset, size_t bytes) {
  return offset <= kMaxAddress && bytes <= kMaxAddress - offset;
}

// No exception may pass through the library's frames.
herr_t read_bytes(H5FD_t* base, H5FD_mem_t kind, hid_t, haddr_t offset, size_t bytes, void* to) {
  if (!fits(offset, bytes)) {
    return -1;
  }
  StorageFile& file = *opened(base).file;
  const ByteRange range{static_cast<int64_t>(offset), static_cast<int64_t>(offset + bytes)};
  try {
    Status status = opened(base).guard->check(kind, range.begin, range.size());
    status = status.ok() ? file.read(kind, range.begin, range.size(), to) : status;
    file.keep_error(status);
    return status.ok() ? 0 : -1;
  } catch (const std::exception& error) {
    file.keep_error(Status(ErrorCode::kResourceExhausted, error.what()));
    return -1;
  }
}

herr_t refuse_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) {
  return -1;
}

herr_t get_handle(H5FD_t* base, hid_t, void** handle) {
  *handle = base;
  return 0;
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
  driver.get_eoa = get_eoa;
  driver.set_eoa = set_eoa;
  driver.get_eof = get_eof;
  driver.get_handle = get_handle;
  driver.read = read_bytes;
  driver.write = refuse_write;
  return driver;
}

}  // namespace

Result<Id> make_access_list(StorageFile& file, MetadataGuard& guard) {
  // Registered each time, so that an H5close() of the application leaves nothing behind. The
  // property list keeps the class alive, of which H5FD_close() still reads when it has given back
  // the reference of the file.
  static const H5FD_class_t kDriver = make_class();
  const Id driver(H5FDregister(&kDriver));
  Id list(H5Pcreate(H5P_FILE_ACCESS));
  const DriverInfo info{&file, &guard};
  bool made = driver.valid() && list.valid() && H5Pset_driver(list.get(), driver.get(), &info) >= 0 &&
              H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) >= 0;
#if H5_VERSION_GE(1, 12, 0)
  // Whatever connector HDF5_VOL_CONNECTOR names: only the native one gives addresses.
  made = made && H5Pset_vol(list.get(), H5VL_NATIVE, nullptr) >= 0;
#endif
  if (!made) {
    return last_error(ErrorCode::kInternal, "cannot set up libhdf5's file access");
  }
  return list;
}

const MetadataSource* source_of(hid_t object) {
  const Id file(H5Iget_file_id(object));
  void* handle = nullptr;
  if (!file.valid() || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) < 0 || handle == nullptr) {
    return nullptr;
  }
  return &static_cast<OpenFile*>(handle)->guard->source();
}

}  // namespace stria::container::h5
