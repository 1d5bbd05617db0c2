// The HDF5 that loads the connector: its functions, by their names.
//
// Problem: a plugin that is linked with a libhdf5 brings a second one into a program that has its
// own, statically or under another file name, and the identifiers of one mean nothing to the other.
// Method: the connector is linked with none. HDF5 itself makes the calls that begin here, so that
// the return address tells which module it is; its functions are found there by name, among the
// symbols that the module exports or, in a program with a static libhdf5, in its table of symbols.
// Cost: a search at the first call from each module.
#pragma once

#include <H5PLextern.h>
#include <hdf5.h>

#include "hdf5/library/library.hpp"

namespace stria::hdf5::vol {

// clang-format off
#define STRIA_VOL_FUNCTIONS(X)                                                                                        \
  X(H5Eget_current_stack) X(H5Eset_current_stack) X(H5Idec_ref) X(H5Iget_type) X(H5Iinc_ref) X(H5Pclose)             \
  X(H5Pcopy) X(H5Pget_vol_info) X(H5Pset_vol) X(H5allocate_memory) X(H5free_memory)                                   \
  X(H5VLattr_close) X(H5VLattr_create) X(H5VLattr_get) X(H5VLattr_open) X(H5VLattr_optional) X(H5VLattr_read)         \
  X(H5VLattr_specific) X(H5VLattr_write) X(H5VLblob_get) X(H5VLblob_optional) X(H5VLblob_put) X(H5VLblob_specific)    \
  X(H5VLcmp_connector_cls) X(H5VLcmp_connector_info) X(H5VLconnector_info_to_str) X(H5VLconnector_str_to_info)        \
  X(H5VLcopy_connector_info) X(H5VLdataset_close) X(H5VLdataset_create) X(H5VLdataset_get) X(H5VLdataset_open)        \
  X(H5VLdataset_optional) X(H5VLdataset_read) X(H5VLdataset_specific) X(H5VLdataset_write) X(H5VLdatatype_close)      \
  X(H5VLdatatype_commit) X(H5VLdatatype_get) X(H5VLdatatype_open) X(H5VLdatatype_optional) X(H5VLdatatype_specific)   \
  X(H5VLfile_close) X(H5VLfile_create) X(H5VLfile_get) X(H5VLfile_open) X(H5VLfile_optional) X(H5VLfile_specific)     \
  X(H5VLfree_connector_info) X(H5VLfree_wrap_ctx) X(H5VLget_connector_id_by_value) X(H5VLget_object)                  \
  X(H5VLget_value) X(H5VLget_wrap_ctx) X(H5VLgroup_close) X(H5VLgroup_create) X(H5VLgroup_get) X(H5VLgroup_open)      \
  X(H5VLgroup_optional) X(H5VLgroup_specific) X(H5VLintrospect_get_cap_flags) X(H5VLintrospect_get_conn_cls)          \
  X(H5VLintrospect_opt_query) X(H5VLlink_copy) X(H5VLlink_create) X(H5VLlink_get) X(H5VLlink_move)                    \
  X(H5VLlink_optional) X(H5VLlink_specific) X(H5VLobject_copy) X(H5VLobject_get) X(H5VLobject_open)                   \
  X(H5VLobject_optional) X(H5VLobject_specific) X(H5VLoptional) X(H5VLregister_connector_by_value)                    \
  X(H5VLrequest_cancel) X(H5VLrequest_free) X(H5VLrequest_notify) X(H5VLrequest_optional) X(H5VLrequest_specific)     \
  X(H5VLrequest_wait) X(H5VLtoken_cmp) X(H5VLtoken_from_str) X(H5VLtoken_to_str) X(H5VLunwrap_object)                 \
  X(H5VLwrap_object)
// clang-format on

struct Hdf5 {
#define STRIA_VOL_DECLARE(name) decltype(&::name) name = nullptr;
  STRIA_VOL_FUNCTIONS(STRIA_VOL_DECLARE)
#undef STRIA_VOL_DECLARE

  // What deferred writes need; null in serial libraries.
  hid_t (*mpio_driver)() = nullptr;
  herr_t (*communicator)(hid_t access, uintptr_t* comm, void* info) = nullptr;
  hid_t (*driver)(hid_t access) = nullptr;
  herr_t (*begin_state)() = nullptr;  // H5VLstart_lib_state
  herr_t (*end_state)() = nullptr;    // H5VLfinish_lib_state

  /// What the packing of memory asks. Its datasets are those of id_of (object.hpp).
  Library core;
  /// Why the connector can't serve this HDF5; empty where it can.
  std::string refusal;
};

/// Returns the HDF5 whose code is at `caller`. Never ends, and is the same for all its calls.
/// This is thread-safe.
const Hdf5& hdf5_of(const void* caller);

}  // namespace stria::hdf5::vol
