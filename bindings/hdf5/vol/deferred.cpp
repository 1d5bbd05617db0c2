#include "hdf5/vol/deferred.hpp"

#include <cstdio>
#include <memory>
#include <utility>

#include "hdf5/defer/deferred_write.hpp"
#include "hdf5/defer/files.hpp"
#include "hdf5/settings/settings.hpp"
#include "hdf5/vol/datasets.hpp"

namespace stria::hdf5::vol {

namespace {

DeferredFiles& files() {
  return DeferredFiles::all();
}

bool is_native(const Object& object) {
  H5VL_class_value_t value = H5_VOL_INVALID;
  return object.hdf5->H5VLget_value(object.connector, &value) >= 0 && value == H5_VOL_NATIVE;
}

// --- The questions of deferred writes, for objects as id_of names them ---------------------------

hid_t file_of(hid_t id) {
  const Object* const object = dataset_of(id);
  const bool is_known = object != nullptr && object->file != nullptr && object->file->handle != nullptr;
  return is_known ? static_cast<hid_t>(reinterpret_cast<intptr_t>(object->file.get())) : H5I_INVALID_HID;
}

int leave_file(hid_t) {
  return 0;
}

herr_t handle_of_file(hid_t file, hid_t, void** handle) {
  *handle = &reinterpret_cast<HeldFile*>(file)->handle;  // NOLINT: an address
  return 0;
}

herr_t ask_native(hid_t id, bool* answer) {
  const Object* const object = dataset_of(id);
  *answer = object != nullptr && is_native(*object);
  return 0;
}

haddr_t place_of(hid_t id) {
  const Object& dataset = *dataset_of(id);
  haddr_t place = kNoAddress;
  H5VL_native_dataset_optional_args_t native{};
  native.get_offset.offset = reinterpret_cast<::haddr_t*>(&place);
  H5VL_optional_args_t question{};
  question.op_type = H5VL_NATIVE_DATASET_GET_OFFSET;
  question.args = &native;
  const herr_t outcome =
      dataset.hdf5->H5VLdataset_optional(dataset.under, dataset.connector, &question, current_transfer(), nullptr);
  return outcome < 0 ? kNoAddress : place;
}

hid_t type_of_numbers(hid_t id) {
  const Object& dataset = *dataset_of(id);
  H5VL_dataset_get_args_t question{};
  question.op_type = H5VL_DATASET_GET_TYPE;
  const herr_t outcome = dataset.hdf5->H5VLdataset_get(dataset.under, dataset.connector, &question, H5P_DEFAULT, nullptr);
  return outcome < 0 ? H5I_INVALID_HID : question.args.get_type.type_id;
}

// --- Files ------------------------------------------------------------------------------------

MpiFile handle_below(const Object& file) {
  void* found = nullptr;
  H5VL_native_file_optional_args_t native{};
  native.get_vfd_handle = {H5P_DEFAULT, &found};
  H5VL_optional_args_t question{};
  question.op_type = H5VL_NATIVE_FILE_GET_VFD_HANDLE;
  question.args = &native;
  const herr_t outcome = file.hdf5->H5VLfile_optional(file.under, file.connector, &question, H5P_DEFAULT, nullptr);
  return outcome < 0 || found == nullptr ? nullptr : *static_cast<MpiFile*>(found);
}

/// Returns the number that HDF5 gives each file that is open; 0 where it doesn't tell.
unsigned long number_of_file(const Object& object, H5I_type_t type) {
  H5O_info2_t info{};
  H5VL_loc_params_t place{};
  place.type = H5VL_OBJECT_BY_SELF;
  place.obj_type = type;
  H5VL_object_get_args_t question{};
  question.op_type = H5VL_OBJECT_GET_INFO;
  question.args.get_info = {H5O_INFO_BASIC, &info};
  const herr_t outcome = object.hdf5->H5VLobject_get(object.under, &place, object.connector, &question, H5P_DEFAULT, nullptr);
  return outcome < 0 ? 0 : info.fileno;
}

DeferredFile* find(const Object& object) {
  return object.file == nullptr || object.file->handle == nullptr ? nullptr : files().find(object.file->handle);
}

herr_t tell(const DeferredFile& file, int error) {
  if (error == kMpiSuccess) {
    return 0;
  }
  std::fprintf(stderr, "stria: %lld bytes of %s that STRIA_HDF5_DEFER holds back can't be written: %s\n",
               static_cast<long long>(file.held.bytes()), file.name.c_str(), error_text(*file.mpi, error).c_str());
  return -1;
}

}  // namespace

HeldFile::~HeldFile() {
  const auto lock = files().lock();
  files().forget_id(static_cast<int64_t>(reinterpret_cast<intptr_t>(this)));
}

void take_deferring(const FindSymbol& symbols, Hdf5& hdf5) {
  Library& core = hdf5.core;
  core.can_defer = core.can_defer && core.is_usable && most_held_bytes() > 0 && fill_to_defer(symbols, core);
  core.can_defer = core.can_defer && find_function(symbols, "H5FD_mpio_init", hdf5.mpio_driver) &&
                   find_function(symbols, "H5Pget_fapl_mpio", hdf5.communicator) &&
                   find_function(symbols, "H5Pget_driver", hdf5.driver) &&
                   find_function(symbols, "H5VLstart_lib_state", hdf5.begin_state) &&
                   find_function(symbols, "H5VLfinish_lib_state", hdf5.end_state);
  core.knows_places = core.can_defer;
  if (!core.can_defer) {
    return;
  }
  core.H5Iget_file_id = file_of;
  core.H5Idec_ref = leave_file;
  core.H5Fget_vfd_handle = handle_of_file;
  core.H5VLobject_is_native = ask_native;
  core.H5Dget_offset = place_of;
  core.H5Dget_type = type_of_numbers;
}

void begin_deferring(Object& file, const char* name, hid_t access) {
  const Hdf5& hdf5 = *file.hdf5;
  if (!hdf5.core.can_defer || hdf5.driver(access) != hdf5.mpio_driver() || !is_native(file)) {
    return;
  }
  const Mpi* const mpi = mpi_that_is_loaded(reinterpret_cast<const void*>(hdf5.communicator));
  MpiHandle comm = 0;
  // All ranks make the same calls.
  if (mpi == nullptr || hdf5.communicator(access, &comm, nullptr) < 0) {
    return;
  }
  auto held = std::make_shared<HeldFile>();
  held->handle = handle_below(file);
  held->number = number_of_file(file, H5I_FILE);
  file.file = held;
  DeferredFile deferred;
  deferred.handle = held->handle;
  deferred.comm = comm;
  deferred.owns_comm = true;
  deferred.info = mpi->no_info;
  deferred.name = name;
  const auto lock = files().lock();
  files().add(*mpi, std::move(deferred), kModeReadWrite);
}

void note_file(Object& object, const std::shared_ptr<HeldFile>& file, H5I_type_t type) {
  if (file != nullptr && (type != H5I_DATASET || number_of_file(object, type) == file->number)) {
    object.file = file;
  }
}

herr_t end_deferring(const Object& object) {
  const auto lock = files().lock();
  DeferredFile* const file = find(object);
  if (file == nullptr) {
    return 0;
  }
  const herr_t outcome = tell(*file, files().write_together(*file));
  files().remove(file);
  object.file->handle = nullptr;  // datasets may stay open, and other files get the same handle
  return outcome;
}

herr_t flush_held(const Object& object) {
  const auto lock = files().lock();
  DeferredFile* const file = find(object);
  return file == nullptr ? 0 : tell(*file, files().write_together(*file));
}

void write_held() {
  if (files().has_any_held()) {
    const auto lock = files().lock();
    files().write_all_alone();
  }
}

void write_held_together(const Object& object) {
  write_before_copy(object.hdf5->core, id_of(object));
}

void hold_no_more(const Object& object) {
  write_before_removal(object.hdf5->core, id_of(object));
}

bool hold_write(const Object& dataset, Arguments& arguments, const void* data) {
  const Library& core = dataset.hdf5->core;
  switch (core.can_defer ? defer_write(core, arguments, data) : Deferred::kNo) {
    case Deferred::kHeld:
      return true;
    case Deferred::kAlone:
      arguments.transfer = independent_copy(core, arguments.transfer);
      return false;
    default:
      return false;
  }
}

}  // namespace stria::hdf5::vol
