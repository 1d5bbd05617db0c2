// Describes what else must change in a file that grows, because it refers to what changes.
//
// Problem: references are addresses of headers, and an object that changes gets another header.
// Method: the holder of an attribute that refers to such an object gets another header too, with
// the new address in a copy of the attribute, and so on until nothing more moves. Elements of
// datasets are not rewritten: where they refer to such an object, nothing is changed.
// Cost: every header of the file is read once.
#include <map>
#include <utility>
#include <vector>

#include "container/hdf5/write/writer_impl.hpp"

namespace stria::container {

using h5::HeldReference;
using h5::Object;

namespace {

Status cannot_change(const Object& target, const std::string& why) {
  return Status(ErrorCode::kUnsupported, "'" + (target.above == nullptr ? "/" : target.name) + "' can't be changed: " + why);
}

// Returns true for the lists of scales, which are made anew.
bool is_made_anew(const Object& holder, const HeldReference& reference) {
  return reference.attribute == "DIMENSION_LIST" && holder.dataset() != nullptr && !holder.dataset()->dimension_names.empty();
}

}  // namespace

// Notes where in the holder's header the address is written again.
Status Hdf5Writer::Impl::note_stale(const HeldReference& reference, Object& target) {
  Object& holder = *tree.find(reference.holder);
  const h5::Attribute* other = holder.find(reference.attribute);
  if (is_made_anew(holder, reference) || (other != nullptr && !other->waits)) {
    return Status();
  }
  for (const h5::HeaderMessage& message : holder.old_header().messages) {
    const auto head = h5::attribute_head(message);
    if (!head || head->name != reference.attribute || reference.at < 0) {
      continue;
    }
    const size_t at = head->value_at + static_cast<size_t>(reference.at);
    if (at + sizeof(int64_t) <= message.content.size() && h5::number_at(message, at, sizeof(int64_t)) == reference.address) {
      holder.old->stale.push_back({.message = &message, .at = at, .target = &target});
      return Status();
    }
  }
  return cannot_change(target, "attribute '" + reference.attribute + "' of '/" + reference.holder +
                                   "' refers to it in a way that can't be rewritten");
}

Result<bool> Hdf5Writer::Impl::take_up_holders() {
  if (!held_references) {
    STRIA_ASSIGN_OR_RETURN(held_references, old_file->references());
  }
  std::map<int64_t, Object*> moved;  // by the address of the header that they have
  for (Object& object : tree.objects()) {
    if (object.old) {
      object.old->stale.clear();
    }
    if (object.is_changed()) {
      moved.emplace(object.address, &object);
    }
  }
  std::vector<std::pair<const HeldReference*, Object*>> stale;
  bool is_more = false;
  for (const HeldReference& reference : *held_references) {
    const bool is_unknown = reference.address == HeldReference::kUnknown;
    const auto target = is_unknown ? moved.begin() : moved.find(reference.address);
    if (target == moved.end()) {
      continue;
    }
    STRIA_RETURN_IF_ERROR(tree.look_for(reference.holder));
    Object* const holder = tree.find(reference.holder);
    if (holder == nullptr) {
      continue;  // it is removed
    }
    if (reference.attribute.empty()) {
      return cannot_change(*target->second, "the elements of dataset '/" + reference.holder + "' " +
                                                (is_unknown ? "may " : "") +
                                                "refer to it, and would go on to name what it was");
    }
    is_more = is_more || !holder->is_changed();
    STRIA_RETURN_IF_ERROR(take_up_holder(*holder).with_context("attribute '" + reference.attribute + "' of '/" +
                                                               reference.holder + "' refers to what changes"));
    stale.emplace_back(&reference, target->second);
  }
  for (size_t i = 0; !is_more && i < stale.size(); ++i) {
    STRIA_RETURN_IF_ERROR(note_stale(*stale[i].first, *stale[i].second));
  }
  return is_more;
}

Status Hdf5Writer::Impl::take_up_holder(Object& holder) {
  if (!holder.old || holder.old->changed) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(h5::check_attribute_replaceable(holder));
  return tree.change(holder);
}

Status Hdf5Writer::Impl::take_up_connected() {
  bool is_more = old_file != nullptr;
  while (is_more) {
    STRIA_RETURN_IF_ERROR(take_up_scales());
    STRIA_ASSIGN_OR_RETURN(is_more, take_up_holders());
  }
  return Status();
}

}  // namespace stria::container
