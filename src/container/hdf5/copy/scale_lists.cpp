#include "container/hdf5/copy/scale_lists.hpp"

#include <cstddef>
#include <map>

namespace stria::container::h5 {

namespace {

/// An entry of a list, as HDF5's library for dimension scales has it.
struct Attached {
  hobj_ref_t dataset = 0;
  int32_t dimension = 0;
  int32_t zeros = 0;
};
using Lists = std::map<int64_t, std::vector<Attached>>;

/// Adds what a dataset says of its scales to their lists.
Status add_scales_of(const Id& dataset, int64_t new_address, Lists& lists) {
  constexpr const char* kNames = "DIMENSION_LIST";
  if (H5Aexists(dataset.get(), kNames) <= 0) {
    return Status();
  }
  const Id attribute(H5Aopen(dataset.get(), kNames, H5P_DEFAULT));
  const Id space(H5Aget_space(attribute.get()));
  const Id type(H5Tvlen_create(H5T_STD_REF_OBJ));
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  std::vector<hvl_t> dimensions(static_cast<size_t>(count > 0 ? count : 0));
  if (count < 0 || H5Aread(attribute.get(), type.get(), dimensions.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "the names of its dimensions can't be read");
  }
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const auto* scale = static_cast<const hobj_ref_t*>(dimensions[i].p);
    for (size_t left = scale != nullptr ? dimensions[i].len : 0; left > 0; --left, ++scale) {
      const auto list = lists.find(static_cast<int64_t>(*scale));
      if (list != lists.end()) {
        list->second.push_back({.dataset = static_cast<hobj_ref_t>(new_address), .dimension = static_cast<int32_t>(i)});
      }
    }
  }
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, dimensions.data());
  return Status();
}

Status write_list(const Id& scale, const std::vector<Attached>& list) {
  const hsize_t count = list.size();
  const Id space(H5Screate_simple(1, &count, nullptr));
  const Id type(H5Tcreate(H5T_COMPOUND, sizeof(Attached)));
  H5Tinsert(type.get(), "dataset", offsetof(Attached, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(type.get(), "dimension", offsetof(Attached, dimension), H5T_NATIVE_INT32);
  const Id made(H5Acreate2(scale.get(), "REFERENCE_LIST", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
  return made.valid() && H5Awrite(made.get(), type.get(), list.data()) >= 0
             ? Status()
             : last_error(ErrorCode::kIo, "the list of what it is attached to can't be written");
}

}  // namespace

Status make_scale_lists(const CopiedPair& files, const CopiedObjects& objects, const std::vector<int64_t>& scales) {
  Lists lists;
  for (const int64_t scale : scales) {
    lists[scale];
  }
  for (const auto& [address, object] : objects) {
    if (object.type == H5I_DATASET && !scales.empty()) {
      const Status added = add_scales_of(files.open_old(object.path), object.new_address, lists);
      STRIA_RETURN_IF_ERROR(added.with_context("dataset '" + object.path + "'"));
    }
  }
  for (const auto& [scale, list] : lists) {
    const auto object = objects.find(scale);
    if (object != objects.end() && !list.empty()) {
      const std::string& path = object->second.path;
      STRIA_RETURN_IF_ERROR(write_list(files.open_new(path), list).with_context("dataset '" + path + "'"));
    }
  }
  return Status();
}

}  // namespace stria::container::h5
