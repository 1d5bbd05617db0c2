// The attributes that a writer makes.
#include <utility>

#include "container/hdf5/write/writer_impl.hpp"

namespace stria::container {

using h5::Attribute;
using h5::Object;
using h5::Value;

namespace {

std::string naming(const AttributeSpec& attribute) {
  return "cannot set attribute '" + attribute.name + "' of '" + attribute.object_path + "'";
}

}  // namespace

Status h5::check_attribute(const AttributeSpec& attribute) {
  const Status made = make_attribute_value(attribute).status();
  return made.ok() ? made : made.with_context(naming(attribute));
}

Status Hdf5Writer::write_attribute(const AttributeSpec& attribute) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Object* const object, impl_->owner_of(attribute));
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_attribute_value(attribute));
    Attribute* there = object->find(attribute.name);
    if (there == nullptr) {
      object->attributes.push_back({.name = attribute.name, .value = std::move(value), .waits = false, .otherwise = {}});
    } else if (there->waits) {
      there->otherwise = std::move(value);
    } else {
      there->value = std::move(value);
    }
    return Status();
  };
  const Status made = make();
  return made.ok() ? made : made.with_context(naming(attribute));
}

Result<int> Hdf5Writer::reserve_attribute(const AttributeSpec& attribute) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Object* const object, impl_->owner_of(attribute));
    STRIA_ASSIGN_OR_RETURN(Value value, h5::make_attribute_value(attribute));
    if (object->find(attribute.name) != nullptr) {
      return Status(ErrorCode::kAlreadyExists, "the name is taken");
    }
    object->attributes.push_back({.name = attribute.name, .value = std::move(value), .waits = true, .otherwise = {}});
    impl_->reserved.push_back(&object->attributes.back());
    return Status();
  };
  const Status made = make();
  if (!made.ok()) {
    return made.with_context(naming(attribute));
  }
  return static_cast<int>(impl_->reserved.size()) - 1;
}

Status Hdf5Writer::fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) {
  STRIA_RETURN_IF_ERROR(impl_->check_usable());
  for (const auto& [number, content] : values) {
    const bool known = number >= 0 && number < static_cast<int>(impl_->reserved.size());
    if (!known || !impl_->reserved[static_cast<size_t>(number)]->waits) {
      return Status(ErrorCode::kInvalidArgument, "no attribute waits for a value under number " + std::to_string(number));
    }
    Attribute& waiting = *impl_->reserved[static_cast<size_t>(number)];
    const Status filled = h5::fill(waiting.value, content);
    if (!filled.ok()) {
      return filled.with_context("cannot set attribute '" + waiting.name + "'");
    }
    waiting.waits = false;
  }
  return Status();
}

}  // namespace stria::container
