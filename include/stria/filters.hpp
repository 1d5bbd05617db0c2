// How the chunks of a dataset are changed on their way into the file.
#pragma once

namespace stria {

/// What a chunk passes through, in this order. Every HDF5 since 1.6 reads the result without
/// a plug-in, unless it is zstd's.
struct Filters {
  /// Bytes of equal weight side by side: numbers that differ in their low bytes alone then shrink
  /// further, and faster.
  bool shuffle = false;
  bool deflate = false;  ///< the compression of zlib and gzip
  /// In place of deflate: Zstandard at its level 1, HDF5's registered filter 32015. Stria reads it;
  /// other programs need the plug-in (hdf5plugin for h5py).
  bool zstd = false;
  bool fletcher32 = false;  ///< a sum behind each chunk that other readers compare

  bool any() const { return shuffle || deflate || zstd || fletcher32; }
  /// What is meant where nothing more is said.
  static constexpr Filters compress() { return {.shuffle = true, .deflate = true}; }
  friend bool operator==(const Filters&, const Filters&) = default;
};

}  // namespace stria
