#include "container/hdf5/write/dimension_scales.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/byte_range.hpp"
#include "container/hdf5/write/element_format.hpp"

namespace stria::container::h5 {

namespace {

// Names of attributes, by the specification of dimension scales. netCDF-4 has one more, a number of
// the dimension, which files that grow by other names would have twice; its readers need none.
constexpr const char* kClass = "CLASS";
constexpr const char* kName = "NAME";
constexpr const char* kUsers = "REFERENCE_LIST";
constexpr const char* kScales = "DIMENSION_LIST";
constexpr const char* kWithoutData = "This is a netCDF dimension but not a netCDF variable.";

constexpr size_t kUserBytes = 16;
constexpr size_t kUsersMax = 3750;  // A header has room for their list.
// A heap's collection has at least 4,096 bytes, and 16 at its end that are free.
constexpr int64_t kNewCollectionBytesMin = 4096;
constexpr int64_t kCollectionHeadBytes = 16;
constexpr int64_t kEntryHeadBytes = 16;
constexpr int64_t kEntryBytes = kEntryHeadBytes + kReferenceBytes;
constexpr size_t kCollectionEntriesMax = 2000;

int64_t collection_bytes(size_t entries) {
  const int64_t needed = kCollectionHeadBytes + static_cast<int64_t>(entries) * kEntryBytes + kEntryHeadBytes;
  return std::max(needed, kNewCollectionBytesMin);
}

Status set(Object& object, const char* name, Value value) {
  if (object.find(name) != nullptr) {
    return Status(ErrorCode::kInvalidArgument,
                  std::string("its attribute '") + name + "' is taken: files with names of dimensions have a meaning for it");
  }
  object.attributes.push_back({.name = name, .value = std::move(value), .waits = false, .otherwise = {}});
  return Status();
}

Result<Value> text_value(std::string text) {
  text.push_back('\0');
  STRIA_ASSIGN_OR_RETURN(Value value, make_value(ElementSpec::of_filled_string(static_cast<int64_t>(text.size())), {}));
  STRIA_RETURN_IF_ERROR(fill(value, std::as_bytes(std::span(text.data(), text.size()))));
  return value;
}

/// Lists which datasets have the dimension, and as which of theirs.
Result<Value> users_value(const std::vector<std::pair<Object*, int>>& users) {
  if (users.size() > kUsersMax) {
    return Status(ErrorCode::kUnsupported, "more than " + std::to_string(kUsersMax) + " datasets have this dimension");
  }
  const ElementSpec reference = ElementSpec::of_reference(kReferenceBytes);
  const ElementSpec user = ElementSpec::of_compound(
      kUserBytes, {{"dataset", 0, reference}, {"dimension", kReferenceBytes, ElementSpec::of_number(ElementType::kInt32)}});
  STRIA_ASSIGN_OR_RETURN(Value value, make_value(user, {static_cast<int64_t>(users.size())}));
  Encoder content(users.size() * kUserBytes);
  for (const auto& [dataset, dimension] : users) {
    value.references.push_back({.at = content.size(), .target = dataset});
    content.zeros(static_cast<size_t>(kReferenceBytes)).number(dimension, 4).zeros(4);
  }
  value.content = content.take();
  return value;
}

}  // namespace

Result<DimensionScales::Scale*> DimensionScales::scale_at(const Dataset& dataset, size_t dimension, const FindScale& find) {
  const int64_t length = dataset.value ? dataset.value->dims[dimension] : dataset.old_dims[dimension];
  STRIA_ASSIGN_OR_RETURN(Object* const object,
                         find(dataset.dimension_names[dimension], length, dimension == 0 && dataset.extendable));
  const auto known = std::find_if(scales_.begin(), scales_.end(), [&](const Scale& scale) { return scale.object == object; });
  if (known != scales_.end()) {
    return &*known;
  }
  return &scales_.emplace_back(Scale{object, {}});
}

// Reserves a place of the heap for each of them.
Status DimensionScales::reserve(size_t references, ImageSpace& space) {
  constexpr int64_t kAlignment = 8;
  while (references > 0) {
    const size_t entries = std::min(references, kCollectionEntriesMax);
    STRIA_ASSIGN_OR_RETURN(const int64_t address, space.reserve(collection_bytes(entries), kAlignment));
    Collection& collection = heap_.emplace_back(Collection{address, {}});
    collection.scales.reserve(entries);
    references -= entries;
  }
  return Status();
}

// Returns the value of a dataset's DIMENSION_LIST: one scale for each dimension.
Result<Value> DimensionScales::list_of(Object& dataset, const std::vector<Scale*>& scales) {
  ElementSpec list;
  list.kind = ElementSpec::Kind::kReferences;
  list.bytes = kListBytes;
  STRIA_ASSIGN_OR_RETURN(Value value, make_value(list, {static_cast<int64_t>(scales.size())}));
  Encoder content;
  for (size_t i = 0; i < scales.size(); ++i) {
    if (heap_[collection_].scales.size() == kCollectionEntriesMax) {
      ++collection_;
    }
    Collection& collection = heap_[collection_];
    collection.scales.push_back(scales[i]->object);
    scales[i]->users.emplace_back(&dataset, static_cast<int>(i));
    content.number(1, 4).number(collection.address, 8).number(static_cast<int64_t>(collection.scales.size()), 4);
  }
  value.content = content.take();
  return value;
}

Status DimensionScales::attach(std::deque<Object>& objects, const FindScale& find, ImageSpace& space) {
  // A dataset that is the scale of its own dimension refers to none.
  struct Named {
    Object* dataset;
    std::vector<Scale*> scales;
  };
  std::vector<Named> named;
  size_t references = 0;
  const size_t before = objects.size();  // scales that are made come behind
  for (size_t i = 0; i < before; ++i) {
    Object& object = objects[i];
    const Dataset* const dataset = object.dataset();
    if (dataset == nullptr) {
      continue;
    }
    Named one{&object, {}};
    for (size_t dim = 0; dim < dataset->dimension_names.size(); ++dim) {
      STRIA_ASSIGN_OR_RETURN(Scale * scale, scale_at(*dataset, dim, find));
      if (scale->object != &object) {
        one.scales.push_back(scale);
      }
    }
    if (!one.scales.empty()) {
      references += one.scales.size();
      named.push_back(std::move(one));
    }
  }
  STRIA_RETURN_IF_ERROR(reserve(references, space));
  for (const Named& one : named) {
    STRIA_ASSIGN_OR_RETURN(Value list, list_of(*one.dataset, one.scales));
    STRIA_RETURN_IF_ERROR(set(*one.dataset, kScales, std::move(list)).with_context("dataset '" + one.dataset->name + "'"));
  }
  for (const Scale& scale : scales_) {
    STRIA_RETURN_IF_ERROR(describe(scale).with_context("dataset '" + scale.object->name + "'"));
  }
  return Status();
}

// Gives a scale its attributes. An old one that keeps its header doesn't tell of new datasets.
Status DimensionScales::describe(const Scale& scale) {
  Object& object = *scale.object;
  const auto give = [&](const char* name, Result<Value> value) -> Status {
    STRIA_RETURN_IF_ERROR(value.status());
    return set(object, name, std::move(*value));
  };
  if (!object.old) {
    STRIA_RETURN_IF_ERROR(give(kClass, text_value("DIMENSION_SCALE")));
  }
  if (object.dataset() != nullptr && object.dataset()->is_dimension) {
    std::string digits = std::to_string(object.value()->dims[0]);
    digits.insert(0, 10 - std::min<size_t>(digits.size(), 10), ' ');
    STRIA_RETURN_IF_ERROR(give(kName, text_value(kWithoutData + digits)));
  } else if (!object.old) {
    STRIA_RETURN_IF_ERROR(give(kName, text_value(object.name)));
  }
  const bool tells = !object.old || object.old->changed;
  return scale.users.empty() || !tells ? Status() : give(kUsers, users_value(scale.users));
}

void DimensionScales::finish(ImageSpace& space) const {
  for (const Collection& collection : heap_) {
    const int64_t bytes = collection_bytes(collection.scales.size());
    Encoder heap(static_cast<size_t>(bytes));
    heap.text("GCOL").number(1, 1).zeros(3).number(bytes, 8);
    int64_t index = 0;
    for (const Object* scale : collection.scales) {
      heap.number(++index, 2).zeros(6).number(kReferenceBytes, 8).number(scale->address, 8);
    }
    // What is left is free, and says how much it is.
    const int64_t left_bytes = bytes - static_cast<int64_t>(heap.size());
    heap.zeros(8).number(left_bytes, 8);
    space.write(collection.address, heap.view());
  }
}

}  // namespace stria::container::h5
