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
  STRIA_RETURN_IF_ERROR(tree.look_for(path));
  Object* there = tree.find(path);
  if (there == nullptr) {
    DatasetSpec spec;
    spec.path = path;
    spec.element = bare_scale_element();
    STRIA_ASSIGN_OR_RETURN(h5::Value value, h5::make_value(spec.element, {length}));
    STRIA_RETURN_IF_ERROR(make_dataset(spec, std::move(value), h5::kNowhere));
    there = tree.find(path);
    h5::Dataset& scale = *there->dataset();
    scale.is_dimension = true;
    scale.extendable = extendable;
    if (extendable) {
      scale.chunking = Chunking{{kScaleChunk}, {}};
    }
    return there;
  }
  h5::ScaleLength found{.length = -1};
  if (h5::Value* const value = there->value()) {
    const h5::Dataset& scale = *there->dataset();
    if (scale.is_dimension && scale.extendable && extendable) {
      int64_t& longest = value->dims[0];
      longest = std::max(longest, length);  // the longest of its datasets
    }
    if (value->dims.size() == 1) {
      found = {.length = value->dims[0], .has_limit = !scale.extendable};
    }
  } else if (there->old) {
    found = h5::scale_length(there->old->header).value_or(found);
  }
  if (found.length < 0 || found.has_limit == extendable || (found.has_limit && found.length != length)) {
    const std::string of_length = extendable ? " without a limit" : " of length " + std::to_string(length);
    return Status(ErrorCode::kInvalidArgument, "'" + path + "' is no dimension" + of_length + ", but " + in_words(found));
  }
  return there;
}

Status Hdf5Writer::Impl::take_up_scale(const std::string& path, const DatasetSpec& scale) {
  h5::Dataset* const taken = tree.find(path)->dataset();
  if (taken != nullptr && scale.is_dimension && scale.extendable && !taken->value) {
    STRIA_ASSIGN_OR_RETURN(taken->value, h5::make_value(bare_scale_element(), scale.dims));
    taken->is_dimension = true;
    taken->extendable = true;
    taken->chunking = Chunking{{kScaleChunk}, {}};
  }
  return Status();
}

Status Hdf5Writer::Impl::take_up_scales() {
  std::set<std::string> wanted;  // to be taken up
  for (const auto& [path, object] : tree.by_path()) {
    const bool is_named =
        object->is_changed() && object->group() == nullptr &&
        (h5::has_attribute(object->old->header, "DIMENSION_LIST") || h5::has_attribute(object->old->header, "REFERENCE_LIST"));
    if (is_named) {
      wanted.insert(path);
    }
    // A scale without a limit may have to follow a new dataset.
    const h5::Dataset* const dataset = object->dataset();
    if (old_file != nullptr && !object->old && dataset != nullptr && dataset->extendable && !dataset->dimension_names.empty()) {
      wanted.insert(dataset->dimension_names[0]);
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
    STRIA_RETURN_IF_ERROR(tree.look_for(path));
    Object* const object = tree.find(path);
    if (!done.insert(path).second || object == nullptr || !object->old) {
      continue;
    }
    STRIA_RETURN_IF_ERROR(h5::check_attribute_replaceable(*object).with_context("'" + path + "' can't be changed"));
    STRIA_RETURN_IF_ERROR(tree.change(*object));
    h5::Dataset* const dataset = object->dataset();
    if (const auto found = named.find(path); found != named.end() && dataset != nullptr) {
      DatasetSpec& spec = found->second;
      dataset->dimension_names = spec.dimension_names;
      dataset->old_dims = spec.dims;
      dataset->extendable = spec.extendable;
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
