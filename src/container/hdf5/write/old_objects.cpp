// What a writer learns of the objects that a file has, and changes of them.
#include <algorithm>
#include <utility>

#include "container/chunks/chunk_grid.hpp"
#include "container/hdf5/write/writer_impl.hpp"
#include "container/object_path.hpp"

namespace stria::container {

using h5::Object;

Status Hdf5Writer::Impl::learn(Object& object, const std::string& path) {
  if (!object.is_old || object.is_known || object.kind == Object::Kind::kLink) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(object.before, old_file->header(object.address));
  object.is_known = true;
  object.kind = h5::is_group(object.before) ? Object::Kind::kGroup : Object::Kind::kDataset;
  if (!object.is_group()) {
    return Status();
  }
  object.keeps_order = h5::keeps_member_order(object.before);
  keeps_order = object.above == nullptr ? object.keeps_order : keeps_order;
  STRIA_ASSIGN_OR_RETURN(const std::vector<h5::GroupMember> links, old_file->members(path));
  for (const h5::GroupMember& link : links) {
    Object& member = objects.emplace_back();
    member.name = link.name;
    member.above = &object;
    member.address = link.address;
    member.is_old = true;
    if (link.kind != h5::GroupMember::Kind::kHard) {
      member.kind = Object::Kind::kLink;
      member.link_target = link.target;
      member.link_file = link.file;
    }
    object_of_path[path.empty() ? link.name : path + "/" + link.name] = &member;
    object.links.push_back(&member);
  }
  return Status();
}

Status Hdf5Writer::Impl::look_for(const std::string& path) {
  if (old_file == nullptr) {
    return Status();
  }
  Object* object = &objects.front();
  STRIA_RETURN_IF_ERROR(learn(*object, ""));
  for (size_t end = 0; object != nullptr && end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    object = find(part);
    if (object != nullptr) {
      STRIA_RETURN_IF_ERROR(learn(*object, part).with_context("'" + part + "'"));
    }
  }
  return Status();
}

Status Hdf5Writer::Impl::change(Object& object) {
  for (Object* each = &object; each != nullptr && each->is_old && !each->changed; each = each->above) {
    STRIA_RETURN_IF_ERROR(
        h5::check_replaceable(*each).with_context("'" + (each->name.empty() ? "/" : each->name) + "' can't be changed"));
    each->changed = true;
  }
  return Status();
}

Status Hdf5Writer::extend_dataset(const DatasetSpec& spec) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto extend = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(const std::string path, normal_path(spec.path));
    STRIA_RETURN_IF_ERROR(impl_->look_for(path));
    Object* const dataset = impl_->find(path);
    if (dataset == nullptr || dataset->kind != Object::Kind::kDataset || !spec.chunking || !spec.extendable) {
      return Status(ErrorCode::kInternal, "there is no such dataset that can get longer");
    }
    STRIA_RETURN_IF_ERROR(check_chunking(spec));
    STRIA_ASSIGN_OR_RETURN(dataset->value, h5::make_shape(spec.element, spec.dims));
    STRIA_RETURN_IF_ERROR(impl_->keep_cut(spec, *dataset));
    dataset->extendable = true;
    return impl_->change(*dataset);
  };
  return extend().with_context("cannot extend dataset '" + spec.path + "'");
}

Status Hdf5Writer::check_group(const std::string& path) {
  STRIA_RETURN_IF_ERROR(impl_->look_for(path));
  Object* const group = impl_->find(path);
  return group == nullptr ? Status(ErrorCode::kNotFound, "there is no group '" + path + "'") : impl_->change(*group);
}

Status Hdf5Writer::remove(const std::string& path) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  STRIA_ASSIGN_OR_RETURN(const std::string name, normal_path(path));
  STRIA_RETURN_IF_ERROR(impl_->look_for(name));
  Object* const object = impl_->find(name);
  if (object == nullptr || !object->is_old || object->above == nullptr) {
    return object == nullptr ? Status() : Status(ErrorCode::kInternal, "'" + path + "' can't be removed");
  }
  STRIA_RETURN_IF_ERROR(impl_->change(*object->above));
  std::vector<Object*>& links = object->above->links;
  links.erase(std::find(links.begin(), links.end(), object));
  impl_->object_of_path.erase(name);
  return Status();
}

}  // namespace stria::container
