#include "container/hdf5/write/object_tree.hpp"

#include <algorithm>
#include <utility>

namespace stria::container::h5 {

ObjectTree::ObjectTree(const OldFile* old_file) : old_file_(old_file) {
  Object& root = objects_.emplace_back();
  by_path_[""] = &root;
  if (old_file_ != nullptr) {
    root.old.emplace();
    root.address = old_file_->root_address();
  }
}

Object* ObjectTree::find(const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : found->second;
}

void ObjectTree::keep_order() {
  keeps_order_ = true;
  root().keeps_order = true;
}

Result<Object*> ObjectTree::add(const std::string& path, Object::Content content) {
  const size_t slash = path.rfind('/');
  Object& above = *find(slash == std::string::npos ? "" : path.substr(0, slash));
  STRIA_RETURN_IF_ERROR(change(above));
  Object& object = objects_.emplace_back();
  object.name = slash == std::string::npos ? path : path.substr(slash + 1);
  object.content = std::move(content);
  object.above = &above;
  object.keeps_order = keeps_order_;
  by_path_[path] = &object;
  above.group()->links.push_back(&object);
  return &object;
}

Status ObjectTree::make_groups(const std::string& path, size_t end) {
  for (size_t at = path.find('/'); at < end; at = path.find('/', at + 1)) {
    const std::string above = path.substr(0, at);
    const Status made = make_group(above);
    if (!made.ok()) {
      return Status(ErrorCode::kInvalidArgument, "'" + above + "' is not a group");
    }
  }
  return Status();
}

Status ObjectTree::make_group(const std::string& path) {
  const Object* there = find(path);
  if (there != nullptr) {
    return there->group() != nullptr ? Status() : Status(ErrorCode::kAlreadyExists, "'" + path + "' is a dataset");
  }
  return add(path, Group()).status();
}

void ObjectTree::note_order(Object& object, int64_t order) {
  for (Object* each = &object; each != nullptr; each = each->above) {
    each->order = std::min(each->order, order);
  }
}

void ObjectTree::put_links_in_order() {
  for (Object& object : objects_) {
    Group* const group = object.group();
    if (group == nullptr) {
      continue;
    }
    const auto is_there = [](const Object* member) { return member->old.has_value(); };
    const auto first_new = std::stable_partition(group->links.begin(), group->links.end(), is_there);
    if (object.keeps_order) {
      std::stable_sort(first_new, group->links.end(), [](const Object* a, const Object* b) { return a->order < b->order; });
    }
  }
}

Status ObjectTree::learn(Object& object, const std::string& path) {
  if (!object.old || object.old->is_known || object.name_elsewhere() != nullptr) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(object.old->header, old_file_->header(object.address));
  object.old->is_known = true;
  if (!is_group(object.old->header)) {
    object.content = Dataset();
    return Status();
  }
  object.keeps_order = keeps_member_order(object.old->header);
  keeps_order_ = object.above == nullptr ? object.keeps_order : keeps_order_;
  STRIA_ASSIGN_OR_RETURN(const std::vector<GroupMember> links, old_file_->members(path));
  for (const GroupMember& link : links) {
    Object& member = objects_.emplace_back();
    member.name = link.name;
    member.above = &object;
    member.address = link.address;
    member.old.emplace();
    if (link.kind != GroupMember::Kind::kHard) {
      member.content = NameElsewhere{link.target, link.file};
    }
    by_path_[path.empty() ? link.name : path + "/" + link.name] = &member;
    object.group()->links.push_back(&member);
  }
  return Status();
}

Status ObjectTree::look_for(const std::string& path) {
  if (old_file_ == nullptr) {
    return Status();
  }
  Object* object = &objects_.front();
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

Status ObjectTree::change(Object& object) {
  for (Object* each = &object; each != nullptr && each->old && !each->old->changed; each = each->above) {
    STRIA_RETURN_IF_ERROR(
        check_replaceable(*each).with_context("'" + (each->name.empty() ? "/" : each->name) + "' can't be changed"));
    each->old->changed = true;
  }
  return Status();
}

Status ObjectTree::remove(const std::string& path) {
  STRIA_RETURN_IF_ERROR(look_for(path));
  Object* const object = find(path);
  if (object == nullptr || !object->old || object->above == nullptr) {
    return object == nullptr ? Status() : Status(ErrorCode::kInternal, "'" + path + "' can't be removed");
  }
  STRIA_RETURN_IF_ERROR(change(*object->above));
  std::vector<Object*>& links = object->above->group()->links;
  links.erase(std::find(links.begin(), links.end(), object));
  by_path_.erase(path);
  return Status();
}

}  // namespace stria::container::h5
