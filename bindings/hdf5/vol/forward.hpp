// Callbacks of the connector's class that HDF5's functions of the same arguments answer, for the
// object of the connector below.
//
// The number of arguments and their types are those of the callback that a template is assigned to.
#pragma once

#include <tuple>

#include "hdf5/vol/deferred.hpp"
#include "hdf5/vol/object.hpp"

namespace stria::hdf5::vol {

/// The last argument: where an asynchronous connector puts its request.
template <typename... Rest>
void** request_of(Rest... rest) {
  return std::get<sizeof...(Rest) - 1>(std::tuple(rest...));
}

// The object is copied, because some calls are its end.

/// Forwards a call (object, ..., request).
template <auto kCall, typename... Rest>
herr_t ask(void* given, Rest... rest) {
  const Object object = object_of(given);
  const herr_t outcome = (object.hdf5->*kCall)(object.under, object.connector, rest...);
  wrap_request(*object.hdf5, object.connector, request_of(rest...));
  return outcome;
}

/// Forwards a call (object, place, ..., request).
template <auto kCall, typename... Rest>
herr_t ask_at(void* given, const H5VL_loc_params_t* place, Rest... rest) {
  const Object object = object_of(given);
  const herr_t outcome = (object.hdf5->*kCall)(object.under, place, object.connector, rest...);
  wrap_request(*object.hdf5, object.connector, request_of(rest...));
  return outcome;
}

/// Forwards a call (object, ...), without a request.
template <auto kCall, typename... Rest>
herr_t ask_only(void* given, Rest... rest) {
  const Object& object = object_of(given);
  return (object.hdf5->*kCall)(object.under, object.connector, rest...);
}

/// Forwards a call (object, place, ..., request), for a new object of this type.
template <auto kCall, H5I_type_t kType, typename... Rest>
void* make_at(void* given, const H5VL_loc_params_t* place, Rest... rest) {
  const Object object = object_of(given);
  void* const under = (object.hdf5->*kCall)(object.under, place, object.connector, rest...);
  wrap_request(*object.hdf5, object.connector, request_of(rest...));
  Object* const made = make_object(*object.hdf5, under, object.connector);
  if (made != nullptr) {
    note_file(*made, object.file, kType);
  }
  return made;
}

/// Does the same as ask(), for what may look at data of the file.
template <auto kCall, typename... Rest>
herr_t ask_after_writing(void* given, Rest... rest) {
  write_held();
  return ask<kCall>(given, rest...);
}

/// (object, transfer, request), after which there is none
template <auto kCall>
herr_t close(void* given, hid_t transfer, void** request) {
  const herr_t outcome = ask<kCall>(given, transfer, request);
  if (outcome >= 0) {
    free_object(&object_of(given));
  }
  return outcome;
}

/// (request, ...), after which there is none unless it is still in progress
template <auto kCall, typename... Rest>
herr_t end_request(void* given, Rest... rest) {
  const herr_t outcome = ask_only<kCall>(given, rest...);
  if (outcome >= 0) {
    free_object(&object_of(given));
  }
  return outcome;
}

}  // namespace stria::hdf5::vol
