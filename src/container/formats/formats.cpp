#include "container/formats/formats.hpp"

#include "container/hdf5/hdf5_format.hpp"
#include "container/netcdf/netcdf_format.hpp"

namespace stria::container {

const FileFormat& default_format() {
  static const Hdf5Format format;
  return format;
}

const FileFormat& format_of(Format wanted, const std::string& path) {
  using netcdf::Version;
  static const NetcdfFormat smallest{std::nullopt};
  static const NetcdfFormat cdf1{Version::kCdf1};
  static const NetcdfFormat cdf2{Version::kCdf2};
  static const NetcdfFormat cdf5{Version::kCdf5};
  switch (wanted) {
    case Format::kAutomatic:
      return path.ends_with(".nc") ? static_cast<const FileFormat&>(smallest) : default_format();
    case Format::kHdf5:
      return default_format();
    case Format::kNetcdf:
      return smallest;
    case Format::kCdf1:
      return cdf1;
    case Format::kCdf2:
      return cdf2;
    case Format::kCdf5:
      return cdf5;
  }
  return default_format();
}

// What is neither is opened as HDF5, whose reader says best what is wrong with it.
Result<std::unique_ptr<Reader>> open_file(storage::File& file) {
  STRIA_ASSIGN_OR_RETURN(const bool is_netcdf, NetcdfFormat::recognises(file));
  return is_netcdf ? format_of(Format::kNetcdf, file.path()).open(file) : default_format().open(file);
}

Result<bool> is_container(storage::File& file) {
  STRIA_ASSIGN_OR_RETURN(const bool is_hdf5, Hdf5Format::recognises(file));
  return is_hdf5 ? is_hdf5 : NetcdfFormat::recognises(file);
}

}  // namespace stria::container
