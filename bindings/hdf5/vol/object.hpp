// Describes what the connector hands HDF5 for an object of the connector below it.
#pragma once

#include <memory>

#include "hdf5/vol/hdf5_functions.hpp"

namespace stria::hdf5::vol {

/// A file of which writes may be held (deferred.hpp).
struct HeldFile {
  void* handle = nullptr;    ///< its MPI_File; null once it is closed
  unsigned long number = 0;  ///< HDF5's

  HeldFile() = default;
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;
  ~HeldFile();
};

/// A file, group, dataset, attribute, named datatype or request of the connector below.
struct Object {
  const Hdf5* hdf5 = nullptr;
  void* under = nullptr;
  hid_t connector = -1;                      ///< the one below, which the object holds
  std::shared_ptr<HeldFile> file = nullptr;  ///< null where nothing of it is held
};

inline Object& object_of(void* given) {
  return *static_cast<Object*>(given);
}

/// Keeps HDF5's errors while it lives; each of HDF5's functions forgets those of the one before.
class KeptErrors {
 public:
  explicit KeptErrors(const Hdf5& hdf5) : hdf5_(hdf5), stack_(hdf5.H5Eget_current_stack()) {}
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;
  ~KeptErrors() { hdf5_.H5Eset_current_stack(stack_); }

 private:
  const Hdf5& hdf5_;
  hid_t stack_;
};

/// Makes one that holds the connector. Null where there is no memory, or `under` is null.
Object* make_object(const Hdf5& hdf5, void* under, hid_t connector);
/// Lets it go; HDF5's stack of errors stays.
void free_object(Object* object);
/// Puts an object in place of the request that the connector below has made, if it has.
void wrap_request(const Hdf5& hdf5, hid_t connector, void** request);

/// The connector below and what the user says to it: "under_vol=0;under_info={}", as HDF5's own
/// pass-through connectors write it. Without it, that is the native connector.
struct Info {
  const Hdf5* hdf5 = nullptr;
  hid_t connector = -1;
  void* under = nullptr;
};

Info* make_info(const Hdf5& hdf5, const void* given);
void free_info(Info* info);

// A dataset as the packing of memory names it. HDF5's identifiers have their type in the highest
// byte, which is never zero; that of an address is, so that neither is taken for the other. Numbers
// as small as H5S_ALL are neither.
inline constexpr hid_t kLastNumber = 4095;
inline hid_t id_of(const Object& dataset) {
  return static_cast<hid_t>(reinterpret_cast<intptr_t>(&dataset));
}
inline const Object* dataset_of(hid_t id) {
  return (id >> 56) == 0 && id > kLastNumber ? reinterpret_cast<const Object*>(id) : nullptr;  // NOLINT: an address
}

}  // namespace stria::hdf5::vol
