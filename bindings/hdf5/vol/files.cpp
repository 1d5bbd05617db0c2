#include "hdf5/vol/files.hpp"

#include "hdf5/vol/deferred.hpp"
#include "hdf5/vol/forward.hpp"

namespace stria::hdf5::vol {

namespace {

constexpr unsigned kReadWrite = 1;    // H5F_ACC_RDWR, which calls HDF5 where it stands
constexpr int kSetMpiAtomicity = 27;  // H5VLnative.h has it, where HDF5 is parallel

/// A file's access list for the connector below, and that connector.
class Below {
 public:
  Below(const Hdf5& hdf5, hid_t access) : hdf5_(hdf5) {
    void* given = nullptr;
    if (hdf5.H5Pget_vol_info(access, &given) < 0) {
      return;
    }
    info_ = given != nullptr ? static_cast<Info*>(given) : make_info(hdf5, nullptr);
    access_ = info_ != nullptr && info_->connector >= 0 ? hdf5.H5Pcopy(access) : -1;
    is_usable_ = access_ >= 0 && hdf5.H5Pset_vol(access_, info_->connector, info_->under) >= 0;
  }
  Below(const Below&) = delete;
  Below& operator=(const Below&) = delete;
  ~Below() {
    const KeptErrors errors(hdf5_);
    if (access_ >= 0) {
      hdf5_.H5Pclose(access_);
    }
    free_info(info_);
  }

  bool is_usable() const { return is_usable_; }
  hid_t access() const { return access_; }
  hid_t connector() const { return info_->connector; }

 private:
  const Hdf5& hdf5_;
  Info* info_ = nullptr;
  hid_t access_ = -1;
  bool is_usable_ = false;
};

template <typename Open>
void* make_file(const Hdf5& hdf5, const char* name, unsigned flags, hid_t access, void** request, Open&& open) {
  write_held();  // it may be the same file
  const Below below(hdf5, access);
  if (!below.is_usable()) {
    return nullptr;
  }
  void* const under = open(below.access());
  wrap_request(hdf5, below.connector(), request);
  Object* const made = make_object(hdf5, under, below.connector());
  if (made != nullptr && (flags & kReadWrite) != 0) {
    begin_deferring(*made, name, below.access());
  }
  return made;
}

/// Asks a question about a file that isn't open. `access` is that of the arguments, a copy.
herr_t ask_unopened(const Hdf5& hdf5, H5VL_file_specific_args_t& arguments, hid_t& access, hid_t transfer, void** request) {
  const Below below(hdf5, access);
  if (!below.is_usable()) {
    return -1;
  }
  access = below.access();
  const herr_t outcome = hdf5.H5VLfile_specific(nullptr, below.connector(), &arguments, transfer, request);
  wrap_request(hdf5, below.connector(), request);
  return outcome;
}

}  // namespace

void* create_file(const char* name, unsigned flags, hid_t creation, hid_t access, hid_t transfer, void** request) {
  const Hdf5& hdf5 = hdf5_of(__builtin_return_address(0));
  return make_file(hdf5, name, kReadWrite, access, request,
                   [&](hid_t below) { return hdf5.H5VLfile_create(name, flags, creation, below, transfer, request); });
}

void* open_file(const char* name, unsigned flags, hid_t access, hid_t transfer, void** request) {
  const Hdf5& hdf5 = hdf5_of(__builtin_return_address(0));
  return make_file(hdf5, name, flags, access, request,
                   [&](hid_t below) { return hdf5.H5VLfile_open(name, flags, below, transfer, request); });
}

herr_t ask_file(void* file, H5VL_file_specific_args_t* arguments, hid_t transfer, void** request) {
  const Hdf5& hdf5 = hdf5_of(__builtin_return_address(0));
  if (H5VL_file_specific_args_t copy = *arguments; copy.op_type == H5VL_FILE_IS_ACCESSIBLE) {
    return ask_unopened(hdf5, copy, copy.args.is_accessible.fapl_id, transfer, request);
  } else if (copy.op_type == H5VL_FILE_DELETE) {
    return ask_unopened(hdf5, copy, copy.args.del.fapl_id, transfer, request);
  }
  const Object object = object_of(file);
  const herr_t held = arguments->op_type == H5VL_FILE_FLUSH ? flush_held(object) : 0;
  const herr_t outcome = hdf5.H5VLfile_specific(object.under, object.connector, arguments, transfer, request);
  wrap_request(hdf5, object.connector, request);
  if (arguments->op_type == H5VL_FILE_REOPEN && outcome >= 0) {
    void*& again = *arguments->args.reopen.file;
    again = make_object(hdf5, again, object.connector);
    if (again != nullptr) {
      object_of(again).file = object.file;
    }
  }
  return held < 0 ? held : outcome;
}

herr_t ask_file_natively(void* file, H5VL_optional_args_t* arguments, hid_t transfer, void** request) {
  if (arguments->op_type == kSetMpiAtomicity) {
    hold_no_more(object_of(file));
  }
  return ask_after_writing<&Hdf5::H5VLfile_optional>(file, arguments, transfer, request);
}

herr_t close_file(void* given, hid_t transfer, void** request) {
  Object& file = object_of(given);
  if (file.under == nullptr) {  // HDF5 closes again what failed
    free_object(&file);
    return 0;
  }
  if (end_deferring(file) >= 0) {
    return close<&Hdf5::H5VLfile_close>(given, transfer, request);
  }
  if (ask<&Hdf5::H5VLfile_close>(given, transfer, request) >= 0) {
    file.under = nullptr;
  }
  return -1;
}

}  // namespace stria::hdf5::vol
