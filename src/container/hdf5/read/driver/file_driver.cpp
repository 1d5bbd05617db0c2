#include "container/hdf5/read/driver/file_driver.hpp"

#include "container/hdf5/read/driver/driver_frame.hpp"

namespace stria::container::h5 {

namespace {

// Says what the property list passes to open().
struct ReadSubject {
  StorageFile* file;
  MetadataGuard* guard;
};

H5FD_t* open_once(const char* name, unsigned flags, hid_t access_list, haddr_t max_address) {
  const auto* subject = static_cast<const ReadSubject*>(H5Pget_driver_info(access_list));
  if (subject == nullptr || subject->file->open) {
    return nullptr;
  }
  H5FD_t* const base = open_driven<ReadSubject>(name, flags, access_list, max_address);
  subject->file->open = base != nullptr;
  return base;
}

herr_t close_file(H5FD_t* base) {
  driven<ReadSubject>(base).subject.file->open = false;
  return close_driven<ReadSubject>(base);
}

herr_t query_read(const H5FD_t*, unsigned long* features) {
  *features = H5FD_FEAT_DEFAULT_VFD_COMPATIBLE | H5FD_FEAT_DATA_SIEVE;
  return 0;
}

haddr_t get_read_eof(const H5FD_t* base, H5FD_mem_t) {
  return static_cast<haddr_t>(driven<ReadSubject>(base).subject.file->file_bytes());
}

herr_t read_file_bytes(H5FD_t* base, H5FD_mem_t kind, hid_t, haddr_t offset, size_t bytes, void* to) {
  if (!fits(offset, bytes)) {
    return -1;
  }
  const ReadSubject& subject = driven<ReadSubject>(base).subject;
  const ByteRange range{static_cast<int64_t>(offset), static_cast<int64_t>(offset + bytes)};
  return guarded(*subject.file, [&]() -> Status {
    STRIA_RETURN_IF_ERROR(subject.guard->check(kind, range.begin, range.size()));
    return subject.file->read(kind, range.begin, range.size(), to);
  });
}

herr_t refuse_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) {
  return -1;
}

herr_t get_handle(H5FD_t* base, hid_t, void** handle) {
  *handle = base;
  return 0;
}

H5FD_class_t make_read_class() {
  H5FD_class_t driver = make_driver<ReadSubject>("stria", 21);
  driver.open = open_once;
  driver.close = close_file;
  driver.query = query_read;
  driver.get_eof = get_read_eof;
  driver.get_handle = get_handle;
  driver.read = read_file_bytes;
  driver.write = refuse_write;
  return driver;
}

}  // namespace

Result<Id> make_access_list(StorageFile& file, MetadataGuard& guard) {
  // Registered each time, so that an H5close() of the application leaves nothing behind. The
  // property list keeps the class alive, of which H5FD_close() still reads when it has given back
  // the reference of the file.
  static const H5FD_class_t kDriver = make_read_class();
  const Id driver(H5FDregister(&kDriver));
  return make_list(driver, ReadSubject{&file, &guard});
}

const MetadataSource* source_of(hid_t object) {
  const Id file(H5Iget_file_id(object));
  void* handle = nullptr;
  if (!file.valid() || H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &handle) < 0 || handle == nullptr) {
    return nullptr;
  }
  return &static_cast<DrivenFile<ReadSubject>*>(handle)->subject.guard->source();
}

}  // namespace stria::container::h5
