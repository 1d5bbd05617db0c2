// The class of the VOL connector "stria", and the two functions by which HDF5 finds it in a plugin.
//
// Problem: libstria_hdf5 replaces functions of a shared libhdf5; a static one can't be reached so.
// Method: a pass-through connector. HDF5 (1.14 and later) loads it by HDF5_VOL_CONNECTOR=stria and
// HDF5_PLUGIN_PATH, and hands it every call that touches a file. Datasets' transfers are packed
// (datasets.hpp); all else goes to the connector below, which is the native one unless the user
// says otherwise.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "hdf5/vol/datasets.hpp"
#include "hdf5/vol/files.hpp"
#include "hdf5/vol/forward.hpp"

namespace stria::hdf5::vol {

namespace {

// HDF5 lends the values from 256 to 511 to connectors that it doesn't know; below are its own.
constexpr H5VL_class_value_t kValue = 497;

// --- What the user says ----------------------------------------------------------------------

void* copy_info(const void* info) {
  return make_info(*static_cast<const Info*>(info)->hdf5, info);
}

herr_t compare_infos(int* difference, const void* left, const void* right) {
  const auto& one = *static_cast<const Info*>(left);
  const auto& other = *static_cast<const Info*>(right);
  *difference = 0;
  if (one.hdf5->H5VLcmp_connector_cls(difference, one.connector, other.connector) < 0) {
    return -1;
  }
  return *difference != 0 ? 0 : one.hdf5->H5VLcmp_connector_info(difference, one.connector, one.under, other.under);
}

herr_t release_info(void* info) {
  free_info(static_cast<Info*>(info));
  return 0;
}

herr_t write_info(const void* given, char** text) {
  const auto& info = *static_cast<const Info*>(given);
  H5VL_class_value_t value = H5_VOL_INVALID;
  char* under = nullptr;
  if (info.hdf5->H5VLget_value(info.connector, &value) < 0 ||
      info.hdf5->H5VLconnector_info_to_str(info.under, info.connector, &under) < 0) {
    return -1;
  }
  const std::string made = "under_vol=" + std::to_string(value) + ";under_info={" + (under != nullptr ? under : "") + "}";
  info.hdf5->H5free_memory(under);
  // HDF5 frees it.
  *text = static_cast<char*>(info.hdf5->H5allocate_memory(made.size() + 1, false));
  if (*text == nullptr) {
    return -1;
  }
  std::memcpy(*text, made.c_str(), made.size() + 1);
  return 0;
}

herr_t read_info(const char* text, void** info) {
  const Hdf5& hdf5 = hdf5_of(__builtin_return_address(0));
  const std::string given = text;
  const size_t open = given.find('{');
  const size_t end = given.rfind('}');
  unsigned value = 0;
  if (std::sscanf(text, "under_vol=%u;under_info=", &value) != 1 || open == std::string::npos || end == std::string::npos) {
    std::fprintf(stderr, "stria: HDF5_VOL_CONNECTOR says '%s' to the connector; write under_vol=0;under_info={}, or nothing\n",
                 text);
    return -1;
  }
  Info made{&hdf5, hdf5.H5VLregister_connector_by_value(static_cast<int>(value), H5P_DEFAULT), nullptr};
  const std::string under = given.substr(open + 1, end - open - 1);
  if (made.connector < 0 ||
      (!under.empty() && hdf5.H5VLconnector_str_to_info(under.c_str(), made.connector, &made.under) < 0)) {
    return -1;
  }
  *info = new (std::nothrow) Info(made);
  return *info == nullptr ? -1 : 0;
}

// --- Objects of HDF5 that become the connector's, and back ------------------------------------

struct Wrapping {
  const Hdf5* hdf5 = nullptr;
  hid_t connector = -1;
  void* under = nullptr;
  std::shared_ptr<HeldFile> file;
};

void* object_at_the_end(const void* given) {
  const auto& object = *static_cast<const Object*>(given);
  return object.hdf5->H5VLget_object(object.under, object.connector);
}

herr_t begin_wrapping(const void* given, void** context) {
  const auto& object = *static_cast<const Object*>(given);
  auto* const made = new (std::nothrow) Wrapping{object.hdf5, object.connector, nullptr, object.file};
  if (made == nullptr) {
    return -1;
  }
  object.hdf5->H5Iinc_ref(object.connector);
  *context = made;
  if (object.under == nullptr) {  // a file whose closing failed, and which HDF5 closes again
    return 0;
  }
  return object.hdf5->H5VLget_wrap_ctx(object.under, object.connector, &made->under);
}

void* wrap(void* object, H5I_type_t type, void* context) {
  const auto& wrapping = *static_cast<const Wrapping*>(context);
  void* const under = wrapping.hdf5->H5VLwrap_object(object, type, wrapping.connector, wrapping.under);
  Object* const made = make_object(*wrapping.hdf5, under, wrapping.connector);
  if (made != nullptr) {
    note_file(*made, wrapping.file, type);
  }
  return made;
}

void* unwrap(void* given) {
  Object& object = object_of(given);
  void* const under = object.hdf5->H5VLunwrap_object(object.under, object.connector);
  if (under != nullptr) {
    free_object(&object);
  }
  return under;
}

herr_t end_wrapping(void* context) {
  auto* const wrapping = static_cast<Wrapping*>(context);
  const KeptErrors errors(*wrapping->hdf5);
  if (wrapping->under != nullptr) {
    wrapping->hdf5->H5VLfree_wrap_ctx(wrapping->under, wrapping->connector);
  }
  wrapping->hdf5->H5Idec_ref(wrapping->connector);
  delete wrapping;
  return 0;
}

// --- Calls that name more than one object -------------------------------------------------------

herr_t ask_group(void* group, H5VL_group_specific_args_t* arguments, hid_t transfer, void** request) {
  H5VL_group_specific_args_t copy = *arguments;
  if (copy.op_type == H5VL_GROUP_MOUNT) {
    copy.args.mount.child_file = object_of(copy.args.mount.child_file).under;
  }
  return ask<&Hdf5::H5VLgroup_specific>(group, &copy, transfer, request);
}

void* open_object(void* given, const H5VL_loc_params_t* place, H5I_type_t* type, hid_t transfer, void** request) {
  const Object object = object_of(given);
  void* const under = object.hdf5->H5VLobject_open(object.under, place, object.connector, type, transfer, request);
  wrap_request(*object.hdf5, object.connector, request);
  Object* const made = make_object(*object.hdf5, under, object.connector);
  if (made != nullptr) {
    note_file(*made, object.file, *type);
  }
  return made;
}

herr_t change_link(void* given, const H5VL_loc_params_t* place, H5VL_link_specific_args_t* arguments, hid_t transfer,
                   void** request) {
  if (arguments->op_type == H5VL_LINK_DELETE) {
    hold_no_more(object_of(given));
  }
  return ask_at<&Hdf5::H5VLlink_specific>(given, place, arguments, transfer, request);
}

herr_t change_object(void* given, const H5VL_loc_params_t* place, H5VL_object_specific_args_t* arguments, hid_t transfer,
                     void** request) {
  if (arguments->op_type == H5VL_OBJECT_CHANGE_REF_COUNT) {
    hold_no_more(object_of(given));
  }
  return ask_at<&Hdf5::H5VLobject_specific>(given, place, arguments, transfer, request);
}

void* under_of(void* given) {
  return given == nullptr ? nullptr : object_of(given).under;
}

herr_t create_link(H5VL_link_create_args_t* arguments, void* given, const H5VL_loc_params_t* place, hid_t link_creation,
                   hid_t link_access, hid_t transfer, void** request) {
  H5VL_link_create_args_t copy = *arguments;
  void* known = given;
  if (copy.op_type == H5VL_LINK_CREATE_HARD) {
    void*& target = copy.args.hard.curr_obj;
    known = known != nullptr ? known : target;
    target = under_of(target);
  }
  const Object object = object_of(known);
  const herr_t outcome = object.hdf5->H5VLlink_create(&copy, under_of(given), place, object.connector, link_creation,
                                                      link_access, transfer, request);
  wrap_request(*object.hdf5, object.connector, request);
  return outcome;
}

template <auto kCall>
herr_t move_link(void* from, const H5VL_loc_params_t* from_place, void* to, const H5VL_loc_params_t* to_place,
                 hid_t link_creation, hid_t link_access, hid_t transfer, void** request) {
  const Object object = object_of(from != nullptr ? from : to);
  const herr_t outcome = (object.hdf5->*kCall)(under_of(from), from_place, under_of(to), to_place, object.connector,
                                               link_creation, link_access, transfer, request);
  wrap_request(*object.hdf5, object.connector, request);
  return outcome;
}

herr_t copy_object(void* from, const H5VL_loc_params_t* from_place, const char* from_name, void* to,
                   const H5VL_loc_params_t* to_place, const char* to_name, hid_t copying, hid_t link_creation, hid_t transfer,
                   void** request) {
  const Object object = object_of(from);
  write_held_together(object);
  const herr_t outcome = object.hdf5->H5VLobject_copy(object.under, from_place, from_name, under_of(to), to_place, to_name,
                                                      object.connector, copying, link_creation, transfer, request);
  wrap_request(*object.hdf5, object.connector, request);
  return outcome;
}

// --- Requests and tokens ------------------------------------------------------------------------

herr_t wait_for_request(void* given, uint64_t timeout, H5VL_request_status_t* status) {
  Object& request = object_of(given);
  const herr_t outcome = request.hdf5->H5VLrequest_wait(request.under, request.connector, timeout, status);
  if (outcome >= 0 && *status != H5VL_REQUEST_STATUS_IN_PROGRESS) {
    free_object(&request);
  }
  return outcome;
}

herr_t write_token(void* given, H5I_type_t type, const H5O_token_t* token, char** text) {
  const Object& object = object_of(given);
  return object.hdf5->H5VLtoken_to_str(object.under, type, object.connector, token, text);
}

herr_t read_token(void* given, H5I_type_t type, const char* text, H5O_token_t* token) {
  const Object& object = object_of(given);
  return object.hdf5->H5VLtoken_from_str(object.under, type, object.connector, text, token);
}

// --- The class ----------------------------------------------------------------------------------

extern const H5VL_class_t kClass;

herr_t ask_class(void* given, H5VL_get_conn_lvl_t level, const H5VL_class_t** found) {
  if (level == H5VL_GET_CONN_LVL_CURR) {
    *found = &kClass;
    return 0;
  }
  return ask_only<&Hdf5::H5VLintrospect_get_conn_cls>(given, level, found);
}

herr_t ask_abilities(const void* given, uint64_t* flags) {
  const Hdf5& hdf5 = hdf5_of(__builtin_return_address(0));
  Info* const info = make_info(hdf5, given);
  const herr_t outcome = info == nullptr ? -1 : hdf5.H5VLintrospect_get_cap_flags(info->under, info->connector, flags);
  free_info(info);
  return outcome;
}

const H5VL_class_t kClass = {
    .version = H5VL_VERSION,
    .value = kValue,
    .name = "stria",
    .conn_version = 0,
    .cap_flags = H5VL_CAP_FLAG_NONE,  // HDF5 asks ask_abilities for those of the connector below
    .initialize = nullptr,
    .terminate = nullptr,
    .info_cls = {.size = sizeof(Info),
                 .copy = copy_info,
                 .cmp = compare_infos,
                 .free = release_info,
                 .to_str = write_info,
                 .from_str = read_info},
    .wrap_cls = {.get_object = object_at_the_end,
                 .get_wrap_ctx = begin_wrapping,
                 .wrap_object = wrap,
                 .unwrap_object = unwrap,
                 .free_wrap_ctx = end_wrapping},
    .attr_cls = {.create = make_at<&Hdf5::H5VLattr_create, H5I_ATTR>,
                 .open = make_at<&Hdf5::H5VLattr_open, H5I_ATTR>,
                 .read = ask<&Hdf5::H5VLattr_read>,
                 .write = ask<&Hdf5::H5VLattr_write>,
                 .get = ask<&Hdf5::H5VLattr_get>,
                 .specific = ask_at<&Hdf5::H5VLattr_specific>,
                 .optional = ask<&Hdf5::H5VLattr_optional>,
                 .close = close<&Hdf5::H5VLattr_close>},
    .dataset_cls = {.create = make_at<&Hdf5::H5VLdataset_create, H5I_DATASET>,
                    .open = make_at<&Hdf5::H5VLdataset_open, H5I_DATASET>,
                    .read = read_datasets,
                    .write = write_datasets,
                    .get = ask<&Hdf5::H5VLdataset_get>,
                    .specific = ask_after_writing<&Hdf5::H5VLdataset_specific>,
                    .optional = ask_after_writing<&Hdf5::H5VLdataset_optional>,
                    .close = close<&Hdf5::H5VLdataset_close>},
    .datatype_cls = {.commit = make_at<&Hdf5::H5VLdatatype_commit, H5I_DATATYPE>,
                     .open = make_at<&Hdf5::H5VLdatatype_open, H5I_DATATYPE>,
                     .get = ask<&Hdf5::H5VLdatatype_get>,
                     .specific = ask<&Hdf5::H5VLdatatype_specific>,
                     .optional = ask<&Hdf5::H5VLdatatype_optional>,
                     .close = close<&Hdf5::H5VLdatatype_close>},
    .file_cls = {.create = create_file,
                 .open = open_file,
                 .get = ask<&Hdf5::H5VLfile_get>,
                 .specific = ask_file,
                 .optional = ask_file_natively,
                 .close = close_file},
    .group_cls = {.create = make_at<&Hdf5::H5VLgroup_create, H5I_GROUP>,
                  .open = make_at<&Hdf5::H5VLgroup_open, H5I_GROUP>,
                  .get = ask<&Hdf5::H5VLgroup_get>,
                  .specific = ask_group,
                  .optional = ask<&Hdf5::H5VLgroup_optional>,
                  .close = close<&Hdf5::H5VLgroup_close>},
    .link_cls = {.create = create_link,
                 .copy = move_link<&Hdf5::H5VLlink_copy>,
                 .move = move_link<&Hdf5::H5VLlink_move>,
                 .get = ask_at<&Hdf5::H5VLlink_get>,
                 .specific = change_link,
                 .optional = ask_at<&Hdf5::H5VLlink_optional>},
    .object_cls = {.open = open_object,
                   .copy = copy_object,
                   .get = ask_at<&Hdf5::H5VLobject_get>,
                   .specific = change_object,
                   .optional = ask_at<&Hdf5::H5VLobject_optional>},
    .introspect_cls = {.get_conn_cls = ask_class,
                       .get_cap_flags = ask_abilities,
                       .opt_query = ask_only<&Hdf5::H5VLintrospect_opt_query>},
    .request_cls = {.wait = wait_for_request,
                    .notify = end_request<&Hdf5::H5VLrequest_notify>,
                    .cancel = end_request<&Hdf5::H5VLrequest_cancel>,
                    .specific = ask_only<&Hdf5::H5VLrequest_specific>,
                    .optional = ask_only<&Hdf5::H5VLrequest_optional>,
                    .free = end_request<&Hdf5::H5VLrequest_free>},
    .blob_cls = {.put = ask_only<&Hdf5::H5VLblob_put>,
                 .get = ask_only<&Hdf5::H5VLblob_get>,
                 .specific = ask_only<&Hdf5::H5VLblob_specific>,
                 .optional = ask_only<&Hdf5::H5VLblob_optional>},
    .token_cls = {.cmp = ask_only<&Hdf5::H5VLtoken_cmp>, .to_str = write_token, .from_str = read_token},
    .optional = ask<&Hdf5::H5VLoptional>,
};

}  // namespace

}  // namespace stria::hdf5::vol

extern "C" {

H5PL_type_t H5PLget_plugin_type() {
  return H5PL_TYPE_VOL;
}

const void* H5PLget_plugin_info() {
  const auto& hdf5 = stria::hdf5::vol::hdf5_of(__builtin_return_address(0));
  if (!hdf5.refusal.empty()) {
    std::fprintf(stderr, "stria: the VOL connector isn't used: %s\n", hdf5.refusal.c_str());
    return nullptr;
  }
  return &stria::hdf5::vol::kClass;
}

}  // extern "C"
