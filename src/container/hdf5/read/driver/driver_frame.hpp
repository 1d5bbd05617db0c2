// Holds what the drivers have in common by which libhdf5 reads or writes a file of ours (H5FD
// classes).
//
// Method: a driver names its `Subject`, the pointers that a property list passes to the file that
// is opened with it, and adds how bytes are read and written.
#pragma once

#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

inline constexpr haddr_t kMaxAddress = std::numeric_limits<int64_t>::max();

/// An open file. libhdf5 keeps its own fields at the head of it.
template <typename Subject>
struct DrivenFile {
  H5FD_t base;
  Subject subject;
  haddr_t allocated_end;
};

template <typename Subject>
DrivenFile<Subject>& driven(H5FD_t* base) {
  return *reinterpret_cast<DrivenFile<Subject>*>(base);
}

template <typename Subject>
const DrivenFile<Subject>& driven(const H5FD_t* base) {
  return *reinterpret_cast<const DrivenFile<Subject>*>(base);
}

template <typename Subject>
H5FD_t* open_driven(const char*, unsigned, hid_t access_list, haddr_t) {
  const auto* subject = static_cast<const Subject*>(H5Pget_driver_info(access_list));
  auto* file = subject != nullptr ? new (std::nothrow) DrivenFile<Subject>{} : nullptr;
  if (file != nullptr) {
    file->subject = *subject;
  }
  return reinterpret_cast<H5FD_t*>(file);
}

template <typename Subject>
herr_t close_driven(H5FD_t* base) {
  delete &driven<Subject>(base);
  return 0;
}

/// Tells whether an offset and the end of what lies there fit into int64_t.
inline bool fits(haddr_t offset, size_t bytes) {
  return offset <= kMaxAddress && bytes <= kMaxAddress - offset;
}

/// Calls what returns a Status; an error is kept by `file`. No exception may pass through the
/// library's frames.
template <typename File, typename Call>
herr_t guarded(File& file, Call&& call) {
  try {
    const Status status = call();
    file.keep_error(status);
    return status.ok() ? 0 : -1;
  } catch (const std::exception& error) {
    file.keep_error(Status(ErrorCode::kResourceExhausted, error.what()));
    return -1;
  }
}

/// Makes a class without query, get_eof, read and write. `number`: from H5_VFD_RESERVED on.
template <typename Subject>
H5FD_class_t make_driver(const char* name, [[maybe_unused]] int number) {
  H5FD_class_t driver = {};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(H5_VFD_RESERVED + number);
#endif
  driver.name = name;
  driver.maxaddr = kMaxAddress;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(Subject);
  driver.open = open_driven<Subject>;
  driver.close = close_driven<Subject>;
  driver.get_eoa = [](const H5FD_t* base, H5FD_mem_t) { return driven<Subject>(base).allocated_end; };
  driver.set_eoa = [](H5FD_t* base, H5FD_mem_t, haddr_t end) -> herr_t {
    driven<Subject>(base).allocated_end = end;
    return 0;
  };
  return driver;
}

/// A list by which libhdf5 opens a file through a driver and its own, native connector, whatever
/// HDF5_VOL_CONNECTOR names: only that one gives addresses.
template <typename Subject>
Result<Id> make_list(const Id& driver, const Subject& subject) {
  Id list(H5Pcreate(H5P_FILE_ACCESS));
  bool made = driver.valid() && list.valid() && H5Pset_driver(list.get(), driver.get(), &subject) >= 0 &&
              H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) >= 0;
#if H5_VERSION_GE(1, 12, 0)
  made = made && H5Pset_vol(list.get(), H5VL_NATIVE, nullptr) >= 0;
#endif
#if H5_VERSION_GE(1, 14, 4)  // numbers of 11 bits in 32 are as good as they were before
  made = made && H5Pset_relax_file_integrity_checks(list.get(), H5F_RFIC_UNUSUAL_NUM_UNUSED_NUMERIC_BITS) >= 0;
#endif
  if (!made) {
    return last_error(ErrorCode::kInternal, "cannot set up libhdf5's file access");
  }
  return list;
}

}  // namespace stria::container::h5
