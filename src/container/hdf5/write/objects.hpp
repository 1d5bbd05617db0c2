// The objects of a file that is written: what the writer knows of each, and their headers' bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "container/container.hpp"
#include "container/hdf5/form/format.hpp"
#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/write/image_space.hpp"
#include "container/hdf5/write/mapping_format.hpp"

namespace stria::container::h5 {

struct Object;

/// The address of an object's header, which stands for the object.
struct Reference {
  size_t at = 0;             ///< where, in the bytes of a value or of the messages of a header
  std::string path{};        ///< the path of the object
  Object* target = nullptr;  ///< the object, once it is found
};

/// A text of any length, which lies in a heap.
struct PlacedText {
  size_t at = 0;  ///< where its place stands, in the bytes of a value
  std::string text;
};

/// Elements of a type and shape, with their bytes in the file where they are known.
struct Value {
  ElementSpec element;
  size_t datatype_bytes = 0;
  std::vector<int64_t> dims;
  int64_t bytes = 0;
  std::vector<std::byte> content;
  /// Addresses that the content has, and that are known last.
  std::vector<Reference> references{};
  /// Texts whose places the content has, and that get them with the heap.
  std::vector<PlacedText> texts{};

  size_t dataspace_bytes() const { return 4 + 2 * sizeof(int64_t) * dims.size(); }
};

struct Attribute {
  std::string name;
  Value value;
  bool waits = false;              // reserved, and not filled yet
  std::optional<Value> otherwise;  // the value of a later write_attribute(), used if no other comes
};

/// The address of an object that gets another header, in an attribute that another one keeps.
struct StaleAddress {
  const HeaderMessage* message = nullptr;  ///< the message of the attribute
  size_t at = 0;                           ///< in its content
  Object* target = nullptr;
};

struct Group {
  std::vector<Object*> links;  // to its members
};

struct Dataset {
  std::optional<Value> value;  // the value of one that is new, or gets longer
  int64_t alignment_bytes = 1;
  int64_t data_offset = h5::kNowhere;
  int64_t head_bytes = 0;   // the bytes of the data, before the content
  bool extendable = false;  // the first dimension is without limit
  std::optional<Chunking> chunking;
  std::vector<StoredChunk> chunks;
  int64_t number_bytes = 0;                  // the bytes of one number, which shuffling takes apart
  std::vector<std::byte> fill_value;         // one element, empty for zeros
  std::vector<RowsElsewhere> elsewhere;      // rows that other files have
  HeapPlace mappings;                        // where those lie, once placed
  bool is_dimension = false;                 // without data
  std::vector<std::string> dimension_names;  // paths of the scales of its dimensions
  std::vector<int64_t> old_dims;             // the dims of an old one with such names, as it was
};

struct NameElsewhere {
  std::string target;
  std::string file;  // empty: this one
};

/// Holds what the file has already of an object, whose header stays unless that must change.
struct OldState {
  bool is_known = false;  // what the header says has been read
  bool changed = false;   // it gets another header
  ObjectMessages header{};
  std::vector<StaleAddress> stale{};  // in what of it stays
};

/// Says what a name stands for: a group, a dataset, or another name.
struct Object {
  using Content = std::variant<Group, Dataset, NameElsewhere>;

  std::string name;         // without the groups above it
  Object* above = nullptr;  // the group that holds it
  Content content;          // an old object that isn't known: no members, or a name elsewhere
  std::deque<Attribute> attributes;
  int64_t order = DatasetSpec::kLast;  // the order of its creation; of a group, of its first member
  bool keeps_order = false;            // whether members and attributes keep theirs
  int64_t address = 0;                 // the address of its header, once that has a place
  // Where the header has addresses of others: it is written again once these have places.
  std::optional<ObjectHeader> header;
  std::vector<Reference> awaited;
  std::optional<OldState> old;  // none: the object is new

  /// Each is null where it is something else.
  Group* group() { return std::get_if<Group>(&content); }
  const Group* group() const { return std::get_if<Group>(&content); }
  Dataset* dataset() { return std::get_if<Dataset>(&content); }
  const Dataset* dataset() const { return std::get_if<Dataset>(&content); }
  const NameElsewhere* name_elsewhere() const { return std::get_if<NameElsewhere>(&content); }
  /// Returns the elements of a dataset that is new or gets longer; null for all else.
  Value* value() {
    Dataset* const set = dataset();
    return set != nullptr && set->value ? &*set->value : nullptr;
  }

  bool is_changed() const { return old && old->changed; }
  bool needs_header() const { return name_elsewhere() == nullptr && (!old || old->changed); }
  /// Returns the header that it has; without messages where it is new.
  const ObjectMessages& old_header() const;
  Attribute* find(const std::string& attribute) {
    const auto found =
        std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == attribute; });
    return found == attributes.end() ? nullptr : &*found;
  }
};

/// Returns what a value of this type and shape is, without a content. Elements may be of any kind.
Result<Value> make_shape(const ElementSpec& element, const std::vector<int64_t>& dims);
/// Does the same for a new object: kInvalidArgument or kUnsupported where HDF5 has no such
/// elements.
Result<Value> make_value(const ElementSpec& element, const std::vector<int64_t>& dims);
/// Gives a value its elements, which are in the machine's byte order.
Status fill(Value& value, std::span<const std::byte> content);
/// Gives a new value texts of any length: each has `element.bytes` bytes in `content`, of
/// which NULs at the end don't count.
Result<Value> make_texts(const ElementSpec& element, const std::vector<int64_t>& dims, std::span<const std::byte> content);
Result<Value> make_attribute_value(const AttributeSpec& attribute);
/// Tells whether a header can hold the attribute: kInvalidArgument or kUnsupported says why not.
Status check_attribute(const AttributeSpec& attribute);

/// Says what a header says of a dimension scale.
struct ScaleLength {
  int64_t length = 0;
  bool has_limit = true;
};
/// None when the header is that of something else.
std::optional<ScaleLength> scale_length(const ObjectMessages& header);
/// Tells whether a header has an attribute of this name, or says that it is elsewhere.
bool has_attribute(const ObjectMessages& header, std::string_view name);
/// Tells whether a header is that of a group that keeps the order of its members.
bool keeps_member_order(const ObjectMessages& header);
/// Tells whether an object that the file has can get another header without a loss: kUnsupported
/// says why not.
Status check_replaceable(const Object& object);
/// Tells whether an old object can get this attribute: kUnsupported says why not.
Status check_attribute_replaceable(const Object& object);

/// Gives a table's content its place, unless it has one.
Status place_content(Dataset& dataset, ImageSpace& space);
/// Gives all texts their places in heaps, before the headers and tables that name these.
Status place_texts(std::deque<Object>& objects, ImageSpace& space);
/// Gives the mappings of all datasets whose rows other files have their places.
Status place_mappings(std::deque<Object>& objects, ImageSpace& space);
/// Gives an object's header its place, unless it has one that stays. The members of a group have
/// theirs already.
Status place_object(Object& object, ImageSpace& space);
/// Writes the addresses of other objects into an object's header, when all have places.
void fill_addresses(Object& object, ImageSpace& space);

}  // namespace stria::container::h5
