// Changes of what a growing file has.
#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/write/writer_impl.hpp"
#include "container/object_path.hpp"

namespace stria::container {

using h5::Object;

Status Hdf5Writer::extend_dataset(const DatasetSpec& spec) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto extend = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(spec.path));
    STRIA_RETURN_IF_ERROR(impl_->tree.look_for(path));
    Object* const object = impl_->tree.find(path);
    h5::Dataset* const dataset = object == nullptr ? nullptr : object->dataset();
    if (dataset == nullptr || !spec.chunking || !spec.extendable) {
      return Status(ErrorCode::kInternal, "there is no such dataset that can get longer");
    }
    STRIA_RETURN_IF_ERROR(check_chunking(spec));
    STRIA_ASSIGN_OR_RETURN(dataset->value, h5::make_shape(spec.element, spec.dims));
    STRIA_RETURN_IF_ERROR(impl_->keep_cut(spec, *dataset));
    dataset->extendable = true;
    return impl_->tree.change(*object);
  };
  return extend().with_context("cannot extend dataset '" + spec.path + "'");
}

Status Hdf5Writer::check_group(const std::string& path) {
  STRIA_RETURN_IF_ERROR(impl_->tree.look_for(path));
  Object* const group = impl_->tree.find(path);
  return group == nullptr ? Status(ErrorCode::kNotFound, "there is no group '" + path + "'") : impl_->tree.change(*group);
}

Status Hdf5Writer::remove(const std::string& path) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  return impl_->tree.remove(name);
}

}  // namespace stria::container
