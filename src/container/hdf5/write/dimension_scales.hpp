// Names of dimensions, as HDF5's dimension scales and netCDF-4 have them.
//
// Problem: a dimension of HDF5 has no name. Programs take a dataset for it, its scale; datasets
// refer to the scales of their dimensions, and scales refer back.
// Method: the scale is the dataset at the path that the dimension has for a name, its coordinates.
// Where there is none, one without data is made. Addresses of headers are filled in when all
// headers have places; the references of datasets are in a heap, which has its place before them.
// Cost: for each dimension of a dataset 24 bytes of heap, 16 in its own header and 16 in the
// scale's. See docs/formats/hdf5.md.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "container/hdf5/write/image_space.hpp"
#include "container/hdf5/write/objects.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

class DimensionScales {
 public:
  /// Returns the object at the scale's path: a dataset that is there, or one without data that is
  /// made for it. `extendable`: without a limit, and at least of this length.
  using FindScale = std::function<Result<Object*>(const std::string& path, int64_t length, bool extendable)>;

  /// Finds the scale of each dimension that has a name, and gives datasets and scales their
  /// attributes. kInvalidArgument, kUnsupported: what has the name can't be the scale.
  Status attach(std::deque<Object>& objects, const FindScale& find, ImageSpace& space);
  /// Writes the heap, when all objects have their places.
  void finish(ImageSpace& space) const;

 private:
  struct Scale {
    Object* object = nullptr;
    std::vector<std::pair<Object*, int>> users;  // a dataset, and which of its dimensions
  };
  /// A stretch of the heap.
  struct Collection {
    int64_t address = 0;
    std::vector<const Object*> scales;  // to each of which there is a reference
  };
  Result<Scale*> scale_at(const Dataset& dataset, size_t dimension, const FindScale& find);
  Status describe(const Scale& scale);
  Result<Value> list_of(Object& dataset, const std::vector<Scale*>& scales);
  Status reserve(size_t references, ImageSpace& space);

  std::deque<Scale> scales_;  // in the order in which they came
  std::deque<Collection> heap_;
  size_t collection_ = 0;  // the one in use
};

}  // namespace stria::container::h5
