// The program's own libhdf5, found at run time.
//
// Problem: a program brings any HDF5, parallel or not, perhaps under another file name, and some
// processes have several (Python's packages each bring one). Their headers differ.
// Method: functions are found by name in the library that the calling module is linked with.
// Handles have been int64_t since HDF5 1.10; nothing else of its headers is needed, but for some
// numbers that have never changed. An older library is passed every call as it comes.
// Cost: a search at the first call from each module; a comparison at the following ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace stria::hdf5 {

using hid_t = int64_t;
using herr_t = int;
using hsize_t = unsigned long long;
using hssize_t = long long;
using htri_t = int;
using haddr_t = uint64_t;

// These are from H5Spublic.h, H5Ppublic.h, H5Ipublic.h, H5Dpublic.h and H5FDmpio.h.
inline constexpr hid_t kAll = 0;      // H5S_ALL
inline constexpr hid_t kDefault = 0;  // H5P_DEFAULT
inline constexpr int kNoSelection = 0;
inline constexpr int kPointSelection = 1;
inline constexpr int kHyperslabSelection = 2;
inline constexpr int kAllSelection = 3;
inline constexpr int kSelectSet = 0;
inline constexpr int kDatatypeId = 3;
inline constexpr int kDataspaceId = 4;
inline constexpr int kDatasetId = 5;
inline constexpr int kChunkedLayout = 2;
inline constexpr int kIndependentTransfer = 0;
inline constexpr int kCollectiveTransfer = 1;
inline constexpr int kIntegerClass = 0;
inline constexpr int kFloatClass = 1;
inline constexpr int kImpliedBit = 0;  // H5T_NORM_IMPLIED
inline constexpr int kLittleEndian = 0;
inline constexpr int kBigEndian = 1;
inline constexpr int kUnsigned = 0;
inline constexpr int kMaxRank = 32;
inline constexpr haddr_t kNoAddress = ~haddr_t{0};  // HADDR_UNDEF

using Write = herr_t(hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space, hid_t transfer, const void* data);
using Read = herr_t(hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space, hid_t transfer, void* data);
using WriteMulti = herr_t(size_t count, hid_t datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[],
                          hid_t transfer, const void* data[]);
using ReadMulti = herr_t(size_t count, hid_t datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[],
                         hid_t transfer, void* data[]);

/// Its functions, by their names in HDF5.
struct Library {
  /// What answers the program's calls behind this library.
  Write* write = nullptr;
  Read* read = nullptr;
  WriteMulti* write_multi = nullptr;  ///< null before 1.14
  ReadMulti* read_multi = nullptr;

  std::string version;
  /// The library is of version 1.10 or later, and has all of the following that may not be null.
  bool is_usable = false;
  bool has_connectors = false;  ///< from 1.12 on: a dataset may belong to a VOL connector
  /// Calls have the program's own datasets, and those that change what a conversion means are seen
  /// (types/conversions.hpp).
  bool is_preloaded = false;
  bool knows_places = false;  ///< datasets can be asked for their place and their type
  /// It is parallel, and its calls of MPI_File_ are those that defer/files.hpp knows.
  bool can_defer = false;

  hid_t (*H5Dget_space)(hid_t) = nullptr;
  hid_t (*H5Dget_create_plist)(hid_t) = nullptr;
  int (*H5Iget_type)(hid_t) = nullptr;
  herr_t (*H5Pclose)(hid_t) = nullptr;
  int (*H5Pget_layout)(hid_t) = nullptr;
  herr_t (*H5Sclose)(hid_t) = nullptr;
  hid_t (*H5Scopy)(hid_t) = nullptr;
  hid_t (*H5Screate_simple)(int, const hsize_t*, const hsize_t*) = nullptr;
  hssize_t (*H5Sget_select_elem_npoints)(hid_t) = nullptr;
  herr_t (*H5Sget_select_elem_pointlist)(hid_t, hsize_t, hsize_t, hsize_t*) = nullptr;
  herr_t (*H5Sget_select_bounds)(hid_t, hsize_t*, hsize_t*) = nullptr;
  herr_t (*H5Sget_select_hyper_blocklist)(hid_t, hsize_t, hsize_t, hsize_t*) = nullptr;
  hssize_t (*H5Sget_select_hyper_nblocks)(hid_t) = nullptr;
  hssize_t (*H5Sget_select_npoints)(hid_t) = nullptr;
  int (*H5Sget_select_type)(hid_t) = nullptr;
  int (*H5Sget_simple_extent_dims)(hid_t, hsize_t*, hsize_t*) = nullptr;
  int (*H5Sget_simple_extent_ndims)(hid_t) = nullptr;
  herr_t (*H5Sget_regular_hyperslab)(hid_t, hsize_t*, hsize_t*, hsize_t*, hsize_t*) = nullptr;
  htri_t (*H5Sis_regular_hyperslab)(hid_t) = nullptr;
  herr_t (*H5Sselect_hyperslab)(hid_t, int, const hsize_t*, const hsize_t*, const hsize_t*, const hsize_t*) = nullptr;
  size_t (*H5Tget_size)(hid_t) = nullptr;
  hid_t (*H5Dget_type)(hid_t) = nullptr;
  haddr_t (*H5Dget_offset)(hid_t) = nullptr;
  herr_t (*H5Tclose)(hid_t) = nullptr;
  htri_t (*H5Tequal)(hid_t, hid_t) = nullptr;
  int (*H5Tget_class)(hid_t) = nullptr;
  size_t (*H5Tget_ebias)(hid_t) = nullptr;
  herr_t (*H5Tget_fields)(hid_t, size_t*, size_t*, size_t*, size_t*, size_t*) = nullptr;
  int (*H5Tget_norm)(hid_t) = nullptr;
  int (*H5Tget_order)(hid_t) = nullptr;
  size_t (*H5Tget_precision)(hid_t) = nullptr;
  int (*H5Tget_sign)(hid_t) = nullptr;
  // What deferring needs; null in serial libraries.
  herr_t (*H5Fget_vfd_handle)(hid_t, hid_t, void**) = nullptr;
  int (*H5Idec_ref)(hid_t) = nullptr;
  hid_t (*H5Iget_file_id)(hid_t) = nullptr;
  hid_t (*H5Pcopy)(hid_t) = nullptr;
  herr_t (*H5Pget)(hid_t, const char*, void*) = nullptr;
  herr_t (*H5Pset)(hid_t, const char*, const void*) = nullptr;
  herr_t (*H5Pset_dxpl_mpio)(hid_t, int) = nullptr;
  htri_t (*H5Sselect_shape_same)(hid_t, hid_t) = nullptr;  ///< null in some older libraries
  herr_t (*H5Pget_dxpl_mpio)(hid_t, int*) = nullptr;       ///< null in serial libraries
  herr_t (*H5VLobject_is_native)(hid_t, bool*) = nullptr;  ///< null before 1.14
};

/// The address of an HDF5's function of this name; null where there is none.
using FindSymbol = std::function<void*(const char* name)>;

/// Sets `function` to HDF5's of this name. Returns false, and sets it to null, where there is none.
template <typename Function>
bool find_function(const FindSymbol& symbols, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(symbols(name));
  return function != nullptr;
}

/// Finds the version, and all functions but those that answer the program's calls. Returns whether
/// the library is usable, which it notes.
bool fill_library(const FindSymbol& symbols, Library& library);
/// Finds what deferring needs more. Returns false where something of it is missing.
bool fill_to_defer(const FindSymbol& symbols, Library& library);

/// Returns the library that the code at `caller` means. Ends the program where there is none,
/// because its call can't be made. Thread-safe.
const Library& library_of(const void* caller);

/// Returns the function of this name in the HDF5 that the code at `caller` means; null where there
/// is none.
void* function_of(const void* caller, const char* name);

}  // namespace stria::hdf5
