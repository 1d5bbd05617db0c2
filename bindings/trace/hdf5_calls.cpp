// HDF5's calls on files and raw data. Handles are int64_t since HDF5 1.10; nothing else of its
// headers is needed.
#include <dlfcn.h>

#include <iterator>
#include <string>

#include "wrapped_call.hpp"

namespace {

using stria::wrap::Call;
using stria::wrap::CallKind;
using stria::wrap::OpenFiles;

using hid_t = int64_t;
using herr_t = int;

OpenFiles& hdf5_files() {
  static auto* instance = new OpenFiles;
  return *instance;
}

/// Bytes of the selection `space` of elements of `type` in memory, or of the whole dataset where
/// it is H5S_ALL.
int64_t selected_bytes(hid_t dataset, hid_t type, hid_t space) {
  static auto* size_of = stria::wrap::next_definition<size_t(hid_t)>("H5Tget_size");
  static auto* points_of = stria::wrap::next_definition<int64_t(hid_t)>("H5Sget_select_npoints");
  static auto* space_of = stria::wrap::next_definition<hid_t(hid_t)>("H5Dget_space");
  static auto* close_space = stria::wrap::next_definition<herr_t(hid_t)>("H5Sclose");
  const bool whole = space == 0;  // H5S_ALL
  const hid_t counted = whole ? space_of(dataset) : space;
  const int64_t points = points_of(counted);
  if (whole) {
    close_space(counted);
  }
  return points < 0 ? -1 : points * static_cast<int64_t>(size_of(type));
}

void describe(Call& call, hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space) {
  if (call->recorded()) {
    call->set_bytes(selected_bytes(dataset, type, memory_space != 0 ? memory_space : file_space));
  }
}

/// Why HDF5 makes a transfer independently although it should be collective, in words; "" when it
/// doesn't. A transfer that was never collective (bit 0) needs no cause.
std::string no_collective_cause(uint32_t causes) {
  // H5D_mpio_no_collective_cause_t of H5Ppublic.h
  static constexpr const char* kCauses[] = {"type conversion",
                                            "data transforms",
                                            "MPI datatypes turned off by an environment variable",
                                            "a dataspace that is neither simple nor scalar",
                                            "a dataset that is neither contiguous nor chunked",
                                            "filters, which this HDF5 cannot write in parallel"};
  std::string text;
  for (uint32_t bit = 0; bit < std::size(kCauses) && (causes & 1U) == 0; ++bit) {
    if ((causes >> (bit + 1) & 1U) != 0) {
      text += (text.empty() ? "" : ", ") + std::string(kCauses[bit]);
    }
  }
  return text;
}

/// States the cause as a fact about the file, after a transfer. Serial HDF5 has no such property.
void tell_no_collective_cause(uint16_t file, hid_t transfer) {
  using Query = herr_t(hid_t, uint32_t*, uint32_t*);
  static auto* query = reinterpret_cast<Query*>(dlsym(RTLD_DEFAULT, "H5Pget_mpio_no_collective_cause"));
  uint32_t on_this_rank = 0;
  uint32_t on_any_rank = 0;
  if (query == nullptr || transfer == 0 || query(transfer, &on_this_rank, &on_any_rank) < 0) {
    return;
  }
  if (const std::string cause = no_collective_cause(on_this_rank | on_any_rank); !cause.empty()) {
    stria::trace::Recorder::instance().set_fact(file, "no collective cause", cause);
  }
}

hid_t remember(hid_t made, hid_t parent) {
  if (made >= 0) {
    hdf5_files().add(made, hdf5_files().file(parent));
  }
  return made;
}

}  // namespace

extern "C" {

hid_t H5Fcreate(const char* name, unsigned flags, hid_t creation, hid_t access) {
  static auto* next = stria::wrap::next_definition<decltype(H5Fcreate)>("H5Fcreate");
  static const CallKind kKind("H5Fcreate");
  Call call(kKind, stria::trace::Recorder::instance().file(name));
  const hid_t file = next(name, flags, creation, access);
  hdf5_files().add(file, name);
  return file;
}

hid_t H5Fopen(const char* name, unsigned flags, hid_t access) {
  static auto* next = stria::wrap::next_definition<decltype(H5Fopen)>("H5Fopen");
  static const CallKind kKind("H5Fopen");
  Call call(kKind, stria::trace::Recorder::instance().file(name));
  const hid_t file = next(name, flags, access);
  hdf5_files().add(file, name);
  return file;
}

herr_t H5Fclose(hid_t file) {
  static auto* next = stria::wrap::next_definition<decltype(H5Fclose)>("H5Fclose");
  static const CallKind kKind("H5Fclose");
  Call call(kKind, hdf5_files().file(file));
  hdf5_files().remove(file);
  return next(file);
}

herr_t H5Fflush(hid_t object, int scope) {
  static auto* next = stria::wrap::next_definition<decltype(H5Fflush)>("H5Fflush");
  static const CallKind kKind("H5Fflush");
  Call call(kKind, hdf5_files().file(object));
  return next(object, scope);
}

hid_t H5Dcreate2(hid_t parent, const char* name, hid_t type, hid_t space, hid_t links, hid_t creation, hid_t access) {
  static auto* next = stria::wrap::next_definition<decltype(H5Dcreate2)>("H5Dcreate2");
  static const CallKind kKind("H5Dcreate");
  Call call(kKind, hdf5_files().file(parent));
  return remember(next(parent, name, type, space, links, creation, access), parent);
}

hid_t H5Dopen2(hid_t parent, const char* name, hid_t access) {
  static auto* next = stria::wrap::next_definition<decltype(H5Dopen2)>("H5Dopen2");
  static const CallKind kKind("H5Dopen");
  Call call(kKind, hdf5_files().file(parent));
  return remember(next(parent, name, access), parent);
}

herr_t H5Dclose(hid_t dataset) {
  static auto* next = stria::wrap::next_definition<decltype(H5Dclose)>("H5Dclose");
  static const CallKind kKind("H5Dclose");
  Call call(kKind, hdf5_files().file(dataset));
  hdf5_files().remove(dataset);
  return next(dataset);
}

herr_t H5Dwrite(hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space, hid_t transfer, const void* data) {
  static auto* next = stria::wrap::next_definition<decltype(H5Dwrite)>("H5Dwrite");
  static const CallKind kKind("H5Dwrite");
  Call call(kKind, hdf5_files().file(dataset));
  describe(call, dataset, type, memory_space, file_space);
  const herr_t status = next(dataset, type, memory_space, file_space, transfer, data);
  tell_no_collective_cause(hdf5_files().file(dataset), transfer);
  return status;
}

herr_t H5Dread(hid_t dataset, hid_t type, hid_t memory_space, hid_t file_space, hid_t transfer, void* data) {
  static auto* next = stria::wrap::next_definition<decltype(H5Dread)>("H5Dread");
  static const CallKind kKind("H5Dread");
  Call call(kKind, hdf5_files().file(dataset));
  describe(call, dataset, type, memory_space, file_space);
  const herr_t status = next(dataset, type, memory_space, file_space, transfer, data);
  tell_no_collective_cause(hdf5_files().file(dataset), transfer);
  return status;
}

hid_t H5Gcreate2(hid_t parent, const char* name, hid_t links, hid_t creation, hid_t access) {
  static auto* next = stria::wrap::next_definition<decltype(H5Gcreate2)>("H5Gcreate2");
  return remember(next(parent, name, links, creation, access), parent);
}

hid_t H5Gopen2(hid_t parent, const char* name, hid_t access) {
  static auto* next = stria::wrap::next_definition<decltype(H5Gopen2)>("H5Gopen2");
  return remember(next(parent, name, access), parent);
}

herr_t H5Awrite(hid_t attribute, hid_t type, const void* data) {
  static auto* next = stria::wrap::next_definition<decltype(H5Awrite)>("H5Awrite");
  static const CallKind kKind("H5Awrite");
  Call call(kKind, 0);
  return next(attribute, type, data);
}

}  // extern "C"
