#include "container/hdf5/copy/survey.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include "container/hdf5/copy/header_block.hpp"
#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/read/objects.hpp"
#include "container/hdf5/read/types/element_types.hpp"

namespace stria::container::h5 {

namespace {

struct Place {
  std::string path;
  int64_t address = 0;
};

bool is_newer_list(const HeaderMessage& message) {
  constexpr int64_t kNewestKnown = 3;  // version of a type
  const auto head = attribute_head(message);
  return head && head->name == "REFERENCE_LIST" && head->type_version > kNewestKnown;
}

class Survey {
 public:
  Survey(hid_t file, const MetadataSource& bytes) : file_(file), bytes_(bytes) {}
  Status run(int64_t root);
  Surveyed take() { return std::move(found_); }

 private:
  Status look_at(const Place& place);
  Status enter(hid_t group, const std::string& path);
  Status look_at_attributes(hid_t object, const Place& place);
  Id open(const std::string& path) const { return Id(H5Oopen(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT)); }

  hid_t file_;
  const MetadataSource& bytes_;
  std::deque<Place> waiting_;
  std::set<int64_t> seen_;
  Surveyed found_;
};

Status Survey::look_at_attributes(hid_t object, const Place& place) {
  const auto names = list_attributes(object);
  if (!names.ok()) {
    return names.status().with_context("object '" + place.path + "'");
  }
  for (const std::string& name : *names) {
    const Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT));
    const Id type(attribute.valid() ? H5Aget_type(attribute.get()) : H5I_INVALID_HID);
    if (!type.valid()) {
      return last_error(ErrorCode::kUnsupported, "attribute '" + name + "' of '" + place.path + "' can't be read");
    }
    if (holds_pointers(type.get())) {
      found_.heaps_of_text.push_back(place.address);
      return Status();
    }
  }
  return Status();
}

Status Survey::enter(hid_t group, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto members, list_members(group));
  for (const GroupMember& member : members) {
    if (member.kind == GroupMember::Kind::kHard && seen_.insert(member.address).second) {
      waiting_.push_back({path + "/" + member.name, member.address});
    }
  }
  return Status();
}

Status Survey::look_at(const Place& place) {
  auto header = read_object_header(bytes_, place.address);
  if (!header.ok()) {
    return header.status().with_context("object '" + place.path + "'");
  }
  if (std::any_of(header->messages.begin(), header->messages.end(), is_newer_list)) {
    found_.newer_lists.push_back(place.address);
  }
  const bool has_members = is_group(*header);
  const bool has_heap = has_attributes_outside(*header);
  if (!has_members && !has_heap) {
    return Status();
  }
  const Id object = open(place.path);
  if (!object.valid()) {
    return unreadable_object(place.path);
  }
  STRIA_RETURN_IF_ERROR(has_heap ? look_at_attributes(object.get(), place) : Status());
  return has_members ? enter(object.get(), place.path) : Status();
}

Status Survey::run(int64_t root) {
  seen_.insert(root);
  for (waiting_.push_back({"", root}); !waiting_.empty(); waiting_.pop_front()) {
    STRIA_RETURN_IF_ERROR(look_at(waiting_.front()));
  }
  return Status();
}

}  // namespace

Status unreadable_object(const std::string& path) {
  return last_error(ErrorCode::kCorrupted, "object '" + (path.empty() ? "/" : path) + "' can't be read");
}

Result<Surveyed> survey(hid_t file, const MetadataSource& bytes, int64_t root) {
  Survey all(file, bytes);
  STRIA_RETURN_IF_ERROR(all.run(root));
  return all.take();
}

namespace {

// A message that says nothing takes its place.
void take_out(HeaderBlock& block, const MessagePlace& message, OverlaidFile& file) {
  constexpr size_t kFlagsAt = 3;
  block.bytes[message.at] = std::byte{0};
  block.bytes[message.at + kFlagsAt] = std::byte{0};
  block.renew_sum();
  file.put(block.offset, block.bytes);
}

bool is_heap(const HeaderMessage& message) {
  return is(message, Message::kAttributeInfo);
}

/// Takes the first message of a kind out of the header at `address`.
Status take_out_first(bool (*is_meant)(const HeaderMessage&), int64_t address, OverlaidFile& file, int64_t base) {
  STRIA_ASSIGN_OR_RETURN(auto blocks, read_blocks(file, base + address, base));
  for (HeaderBlock& block : blocks) {
    STRIA_ASSIGN_OR_RETURN(const auto places, messages_of(block));
    for (const MessagePlace& place : places) {
      HeaderMessage message{.type = place.type, .content = {}};
      const auto begin = block.bytes.begin() + static_cast<std::ptrdiff_t>(place.at + block.head_bytes);
      message.content.assign(begin, block.bytes.begin() + static_cast<std::ptrdiff_t>(place.end));
      if (block.is_v2 && is_meant(message)) {
        take_out(block, place, file);
        return Status();
      }
    }
  }
  return Status(ErrorCode::kUnsupported, "a header has its attributes where they aren't looked for");
}

}  // namespace

Status hide(const Surveyed& found, OverlaidFile& file, int64_t base) {
  for (const int64_t address : found.heaps_of_text) {
    STRIA_RETURN_IF_ERROR(take_out_first(is_heap, address, file, base));
  }
  for (const int64_t address : found.newer_lists) {
    STRIA_RETURN_IF_ERROR(take_out_first(is_newer_list, address, file, base));
  }
  return Status();
}

}  // namespace stria::container::h5
