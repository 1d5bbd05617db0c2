// Describes how the chunks of a dataset are changed on their way into the file.
#pragma once

#include <string_view>

namespace stria {

/// Says what a chunk passes through, in this order. Every HDF5 since 1.8 reads the result without a
/// plug-in, unless it is zstd's or ZFP's.
struct Filters {
  /// Bytes of equal weight side by side: numbers that differ in their low bytes alone then shrink
  /// further, and faster.
  bool shuffle = false;
  bool deflate = false;  ///< the compression of zlib and gzip
  /// Zstandard, at its level 1, takes the place of deflate: it is HDF5's registered filter 32015.
  /// Stria reads it; other programs need the plug-in (hdf5plugin for h5py).
  bool zstd = false;
  bool fletcher32 = false;  ///< a sum behind each chunk that other readers compare
  /// First of all, and instead of shuffling: integers less the smallest of their chunk, each in as
  /// many bits as the greatest needs. Nothing is lost.
  bool scale_offset = false;
  /// ZFP takes the place of all but fletcher32, and is lossy: it is HDF5's registered filter 32013,
  /// for float32 and float64 in the machine's byte order. No element differs by more than this from
  /// what was put. A chunk where that can't be kept, as with numbers that aren't finite, is stored
  /// as it is. It needs libzfp where it is written and read. 0: not.
  double zfp_absolute = 0;
  /// The same, with a bound that counts in the greatest magnitude of the chunk; less than 1.
  double zfp_relative = 0;
  /// The same, but nothing is lost.
  bool zfp_reversible = false;
  /// The same, with as many bits for each number of a chunk, whatever is lost by it: no bound.
  double zfp_rate = 0;

  bool zfp() const { return loses() || zfp_reversible; }
  /// Tells whether what is read isn't just what was put.
  bool loses() const { return zfp_absolute != 0 || zfp_relative != 0 || zfp_rate != 0; }
  bool any() const { return shuffle || deflate || zstd || fletcher32 || scale_offset || zfp(); }
  /// Returns what is meant where nothing more is said.
  static constexpr Filters compress() { return {.shuffle = true, .deflate = true}; }
  /// Takes "deflate" (with shuffling), "zstd" (likewise), "scale_offset", "zfp_absolute:BOUND",
  /// "zfp_relative:BOUND", "zfp_reversible", "zfp_rate:BITS". Throws Error kInvalidArgument for any
  /// other text.
  static Filters from_text(std::string_view text);
  friend bool operator==(const Filters&, const Filters&) = default;
};

}  // namespace stria
