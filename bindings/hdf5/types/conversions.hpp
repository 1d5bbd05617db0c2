// The conversions of numbers that are made while elements are packed, and not by HDF5.
//
// Problem: libhdf5 converts a number in 1 to 7 ns, and a transfer that converts is never
// collective.
// Method: elements are converted while they are packed, and HDF5 gets the type that the file has.
// Only such conversions are made here of which every bit is HDF5's: between integers, from integers
// to floating point, between float and double, and of byte order alone. What HDF5 makes of floating
// point that an integer can't hold differs from version to version, and is left to it, as are
// types of other bits, and all conversions once the program has changed what they mean.
// Cost: three questions to HDF5 for each transfer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hdf5/library/library.hpp"
#include "stria/element_type.hpp"

namespace stria::hdf5 {

/// Says how the elements in memory and those in the file belong together.
struct Conversion {
  enum class Kind {
    kUnknown,    ///< HDF5 converts, or elements have bytes that it leaves alone
    kNone,       ///< plain numbers of one type: HDF5 copies all their bytes
    kConverted,  ///< can be converted here
  };
  Kind kind = Kind::kUnknown;
  ElementType memory = ElementType::kByte;
  ElementType stored = ElementType::kByte;
  bool swaps = false;
  hid_t stored_type = -1;  ///< the type of kConverted: the dataset's, to be closed

  bool is_double_in_memory_only() const { return memory == ElementType::kFloat64 && stored == ElementType::kFloat32; }
  bool is_double_in_file_only() const { return memory == ElementType::kFloat32 && stored == ElementType::kFloat64; }
};

/// Returns what writing `type` in memory to this dataset means, or reading it.
Conversion conversion_of(const Library& library, hid_t dataset, hid_t type, bool writes);

/// HDF5 makes all conversions of the process from now on: the program registers its own, is called
/// back where a number doesn't fit, or transforms data. Thread-safe.
void leave_conversions_to_hdf5();
/// The program registers a conversion between these types, or takes one back. Those of other types
/// than numbers don't matter (h5py has several). Anything but a type stands for all.
void note_conversion(const Library& library, hid_t source, hid_t target);

// HDF5 makes an infinity of every double beyond the largest float; the processor rounds the first
// of them down to it.

/// True where a float has the largest magnitude, so that a larger double may be behind it.
bool has_largest_float(const std::byte* floats, int64_t count);
/// Converts as HDF5 does, whatever the numbers are.
void narrow_as_hdf5(const double* from, std::byte* floats, int64_t count);
/// Makes infinities of doubles that round to the largest float and lie beyond it.
void mend_beyond_float(std::byte* doubles, int64_t count);

}  // namespace stria::hdf5
