#include "hdf5/vol/object.hpp"

#include <new>

namespace stria::hdf5::vol {

Object* make_object(const Hdf5& hdf5, void* under, hid_t connector) {
  auto* const made = under == nullptr ? nullptr : new (std::nothrow) Object{&hdf5, under, connector, nullptr};
  if (made != nullptr) {
    hdf5.H5Iinc_ref(connector);
  }
  return made;
}

void free_object(Object* object) {
  const KeptErrors errors(*object->hdf5);
  object->hdf5->H5Idec_ref(object->connector);
  delete object;
}

void wrap_request(const Hdf5& hdf5, hid_t connector, void** request) {
  if (request != nullptr && *request != nullptr) {
    *request = make_object(hdf5, *request, connector);
  }
}

Info* make_info(const Hdf5& hdf5, const void* given) {
  auto* const made = new (std::nothrow) Info{&hdf5, -1, nullptr};
  if (made == nullptr) {
    return nullptr;
  }
  if (const auto* const info = static_cast<const Info*>(given); info != nullptr) {
    made->connector = info->connector;
    hdf5.H5Iinc_ref(made->connector);
    if (info->under != nullptr) {
      hdf5.H5VLcopy_connector_info(made->connector, &made->under, info->under);
    }
  } else {
    made->connector = hdf5.H5VLget_connector_id_by_value(H5_VOL_NATIVE);
  }
  return made;
}

void free_info(Info* info) {
  if (info == nullptr) {
    return;
  }
  const KeptErrors errors(*info->hdf5);
  if (info->under != nullptr) {
    info->hdf5->H5VLfree_connector_info(info->connector, info->under);
  }
  info->hdf5->H5Idec_ref(info->connector);
  delete info;
}

}  // namespace stria::hdf5::vol
