// What a writer of HDF5 has in its hands: the tree of objects.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "container/hdf5/write/objects.hpp"
#include "container/hdf5/write/writer.hpp"

namespace stria::container {

/// The chunks of a scale without data and without a limit, of which there are none.
inline constexpr int64_t kScaleChunk = 1024;
/// The elements of a scale without data, as netCDF-4 has them.
ElementSpec bare_scale_element();

struct Hdf5Writer::Impl {
  using Object = h5::Object;

  std::deque<Object> objects;  // in the order in which they were made, the root group first
  std::unordered_map<std::string, Object*> object_of_path;
  std::vector<h5::Attribute*> reserved;
  const h5::OldFile* old_file = nullptr;                          // that grows
  std::optional<std::vector<h5::HeldReference>> held_references;  // by it, once they are asked for
  int64_t first_raw = h5::ImageSpace::kHeadBytes;
  int64_t planned_end = 0;
  int64_t raw_end = h5::ImageSpace::kHeadBytes;
  bool finished = false;
  bool keeps_order = false;  // of all that is made

  explicit Impl(const h5::OldFile* old) : old_file(old) {
    Object& root = objects.emplace_back();
    object_of_path[""] = &root;
    if (old_file != nullptr) {
      root.is_old = true;
      root.address = old_file->root_address();
    }
  }

  Status check_usable() const {
    return finished ? Status(ErrorCode::kInvalidArgument, "the HDF5 writer has already finished") : Status();
  }
  Object* find(const std::string& path) const {
    const auto found = object_of_path.find(path);
    return found == object_of_path.end() ? nullptr : found->second;
  }
  /// Adds an object below an existing group.
  Result<Object*> add(const std::string& path, Object::Kind kind);
  /// Learns what the old file has on the way to `path`, so that find() sees it.
  Status look_for(const std::string& path);
  Status learn(Object& object, const std::string& path);
  /// Notes that an object changes, which its file may have already: it gets another header, and so
  /// do the groups above it.
  Status change(Object& object);
  /// Makes the groups of `path` whose names end before `end`, unless they are there.
  Status make_groups(const std::string& path, size_t end);
  Status make_group(const std::string& path);
  Status make_dataset(const DatasetSpec& spec, h5::Value value, int64_t data_offset);
  /// Notes when an object was made: its groups came before.
  void note_order(Object& object, int64_t order);
  /// Puts what is new in each group behind what was there, in order of creation.
  void put_links_in_order();
  Status keep_cut(const DatasetSpec& spec, Object& dataset);
  /// The place of a dataset's raw data.
  Result<int64_t> place(const DatasetSpec& spec, int64_t bytes);
  Result<Object*> owner_of(const AttributeSpec& attribute);
  /// What there is at the path of a dimension: its scale, or one that is made.
  Result<Object*> find_scale(const std::string& path, int64_t length, bool extendable);
  /// Takes up all objects that must change because others do.
  Status take_up_connected();
  /// Takes up those whose attributes refer to objects that get another header, and notes which
  /// addresses they get. Returns whether there were others than before.
  Result<bool> take_up_holders();
  Status take_up_holder(Object& holder);
  Status note_stale(const h5::HeldReference& reference, Object& target);
  /// Takes up the old datasets and scales that refer to objects which get another header.
  Status take_up_scales();
  Status take_up_scale(const std::string& path, const DatasetSpec& scale);
  /// Finds the objects to which attributes refer.
  Status find_targets();
  /// The places of the contents of tables, once they have places.
  std::vector<ByteRange> table_places() const;
};

}  // namespace stria::container
