// Describes what a writer of HDF5 has in its hands: the tree of objects, and how far the file is
// taken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "container/hdf5/write/object_tree.hpp"
#include "container/hdf5/write/objects.hpp"
#include "container/hdf5/write/writer.hpp"

namespace stria::container {

/// The chunks of a scale without data and without a limit, of which there are none.
inline constexpr int64_t kScaleChunk = 1024;
/// Returns the elements of a scale without data, as netCDF-4 has them.
ElementSpec bare_scale_element();

struct Hdf5Writer::Impl {
  using Object = h5::Object;

  h5::ObjectTree tree;
  std::vector<h5::Attribute*> reserved;
  const h5::OldFile* old_file = nullptr;                          // the file that grows
  std::optional<std::vector<h5::HeldReference>> held_references;  // by it, once they are asked for
  int64_t first_raw = h5::ImageSpace::kHeadBytes;
  int64_t planned_end = 0;
  int64_t raw_end = h5::ImageSpace::kHeadBytes;
  bool finished = false;

  explicit Impl(const h5::OldFile* old) : tree(old), old_file(old) {}

  Status check_usable() const {
    return finished ? Status(ErrorCode::kInvalidArgument, "the HDF5 writer has already finished") : Status();
  }
  Status make_dataset(const DatasetSpec& spec, h5::Value value, int64_t data_offset);
  Status keep_cut(const DatasetSpec& spec, h5::Dataset& dataset);
  /// Returns the place of a dataset's raw data.
  Result<int64_t> place(const DatasetSpec& spec, int64_t bytes);
  Result<Object*> owner_of(const AttributeSpec& attribute);
  /// Returns what there is at the path of a dimension: its scale, or one that is made.
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
  /// Returns the places of the contents of tables, once they have places.
  std::vector<ByteRange> table_places() const;
};

}  // namespace stria::container
