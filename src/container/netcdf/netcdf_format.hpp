// Classic netCDF as a container, CDF-1, CDF-2 and CDF-5: docs/formats/netcdf.md.
#pragma once

#include <optional>

#include "container/container.hpp"
#include "container/netcdf/form/types.hpp"

namespace stria::container {

class NetcdfFormat : public FileFormat {
 public:
  /// New files have this version; none: the first that can hold them.
  explicit NetcdfFormat(std::optional<netcdf::Version> version) : version_(version) {}

  /// Tells whether a file begins as one of any version does.
  static Result<bool> recognises(storage::File& file);

  Format format() const override { return version_ ? netcdf::format_of(*version_) : Format::kNetcdf; }
  std::unique_ptr<Layout> make_layout() const override;
  Result<std::unique_ptr<Writer>> make_writer(const Layout& layout) const override;
  Result<std::unique_ptr<Reader>> open(storage::File& file) const override;
  Result<std::unique_ptr<Growth>> open_growth(storage::File& file) const override;

 private:
  std::optional<netcdf::Version> version_;
};

}  // namespace stria::container
