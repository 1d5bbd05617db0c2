// The formats of new files. Files of all of them are opened without being told which.
#pragma once

namespace stria {

enum class Format {
  kAutomatic,  ///< by the path: netCDF for one that ends with ".nc", else HDF5
  kHdf5,
  kNetcdf,  ///< classic netCDF: the first of the three versions below that can hold the file
  /// The last dataset begins within 2 GiB; elements are floating point, and integers of 8, 16 and
  /// 32 bits with a sign.
  kCdf1,
  kCdf2,  ///< the same numbers; datasets of less than 4 GiB
  kCdf5,  ///< every number, and no limits
};

constexpr bool is_netcdf(Format format) {
  return format >= Format::kNetcdf;
}

}  // namespace stria
