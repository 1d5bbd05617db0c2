// The scales of named dimensions: those that are made, and those that a file that grows has.
//
// Problem: datasets and scales refer to each other by the addresses of their headers. A dataset
// that gets longer gets another header.
// Method: whatever is connected with it by names gets another header too, with new lists of
// references. A scale without data is as long as the longest of its datasets.
// Cost: a header of each of these; all datasets of the file are asked for their names.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "container/hdf5/write/writer_impl.hpp"
#include "container/object_path.hpp"

namespace stria::container {

using h5::Object;

ElementSpec bare_scale_element() {
  ElementSpec element = ElementSpec::of_number(ElementType::kFloat32);
  element.big_endian = true;
  return element;
}

namespace {

std::string in_words(const h5::ScaleLength& scale) {
  return scale.length < 0   ? "something else"
         : !scale.has_limit ? "one without a limit"
                            : "one of length " + std::to_string(scale.length);
}

}  // namespace

Result<Object*> Hdf5Writer::Impl::find_scale(const std::string& path, int64_t length, bool extendable) {
  STRIA_RETURN_IF_ERROR(look_for(path));
  Object* there = find(path);
  if (there == nullptr) {
    DatasetSpec spec;
    spec.path = path;
    spec.element = bare_scale_element();
    STRIA_ASSIGN_OR_RETURN(h5::Value value, h5::make_value(spec.element, {length}));
    STRIA_RETURN_IF_ERROR(make_dataset(spec, std::move(value), h5::kNowhere));
    there = find(path);
    there->is_dimension = true;
    there->extendable = extendable;
    if (extendable) {
      there->chunking = Chunking{{kScaleChunk}, {}};
    }
    return there;
  }
  if (there->value && there->is_dimension && there->extendable && extendable) {
    int64_t& longest = there->value->dims[0];
    longest = std::max(longest, length);  // of its datasets
  }
  h5::ScaleLength found{.length = -1};
  if (there->is_old && !there->value) {
    found = h5::scale_length(there->before).value_or(found);
  } else if (there->value && there->value->dims.size() == 1) {
    found = {.length = there->value->dims[0], .has_limit = !there->extendable};
  }
  if (found.length < 0 || found.has_limit == extendable || (found.has_limit && found.length != length)) {
    const std::string of_length = extendable ? " without a limit" : " of length " + std::to_string(length);
    return Status(ErrorCode::kInvalidArgument, "'" + path + "' is no dimension" + of_length + ", but " + in_words(found));
  }
  return there;
}

Status Hdf5Writer::Impl::take_up_scale(const std::string& path, const DatasetSpec& scale) {
  Object& object = *find(path);
  if (scale.is_dimension && scale.extendable && !object.value) {
    STRIA_ASSIGN_OR_RETURN(object.value, h5::make_value(bare_scale_element(), scale.dims));
    object.is_dimension = true;
    object.extendable = true;
    object.chunking = Chunking{{kScaleChunk}, {}};
  }
  return Status();
}

Status Hdf5Writer::Impl::take_up_scales() {
  std::set<std::string> wanted;  // to be taken up
  for (const auto& [path, object] : object_of_path) {
    const bool is_named =
        object->is_old && object->changed && !object->is_group() &&
        (h5::has_attribute(object->before, "DIMENSION_LIST") || h5::has_attribute(object->before, "REFERENCE_LIST"));
    if (is_named) {
      wanted.insert(path);
    }
    // A scale without a limit may have to follow a new dataset.
    if (old_file != nullptr && !object->is_old && object->extendable && !object->dimension_names.empty()) {
      wanted.insert(object->dimension_names[0]);
    }
  }
  if (old_file == nullptr || wanted.empty()) {
    return Status();
  }
  std::map<std::string, DatasetSpec> named;               // datasets by path
  std::map<std::string, std::vector<std::string>> users;  // datasets by scale
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> paths, old_file->datasets());
  for (const std::string& path : paths) {
    STRIA_ASSIGN_OR_RETURN(DatasetSpec spec, old_file->dataset(path));
    for (std::string& name : spec.dimension_names) {
      STRIA_ASSIGN_OR_RETURN(name, normal_path(name));
      users[name].push_back(path);
    }
    if (!spec.dimension_names.empty()) {
      named.emplace(path, std::move(spec));
    }
  }
  std::set<std::string> done;
  while (!wanted.empty()) {
    const std::string path = *wanted.begin();
    wanted.erase(wanted.begin());
    STRIA_RETURN_IF_ERROR(look_for(path));
    Object* const object = find(path);
    if (!done.insert(path).second || object == nullptr || !object->is_old) {
      continue;
    }
    STRIA_RETURN_IF_ERROR(h5::check_attribute_replaceable(*object).with_context("'" + path + "' can't be changed"));
    STRIA_RETURN_IF_ERROR(change(*object));
    if (const auto dataset = named.find(path); dataset != named.end()) {
      DatasetSpec& spec = dataset->second;
      object->dimension_names = spec.dimension_names;
      object->old_dims = spec.dims;
      object->extendable = spec.extendable;
      for (const std::string& name : spec.dimension_names) {
        if (name.empty()) {
          return Status(ErrorCode::kUnsupported,
                        "'" + path + "' can't be changed: one of its dimensions has no name, or several");
        }
        wanted.insert(name);
      }
    }
    if (const auto scale = users.find(path); scale != users.end()) {
      STRIA_ASSIGN_OR_RETURN(const DatasetSpec spec, old_file->dataset(path));
      STRIA_RETURN_IF_ERROR(take_up_scale(path, spec));
      wanted.insert(scale->second.begin(), scale->second.end());
    }
  }
  return Status();
}

}  // namespace stria::container
