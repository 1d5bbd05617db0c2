// HDF5 as a container: docs/formats/hdf5.md.
#pragma once

#include "container/container.hpp"

namespace stria::container {

class Hdf5Format : public FileFormat {
 public:
  /// Tells whether a file begins with the format's signature.
  static Result<bool> recognises(storage::File& file);

  Format format() const override { return Format::kHdf5; }
  std::unique_ptr<Layout> make_layout() const override;
  Result<std::unique_ptr<Writer>> make_writer(const Layout& layout) const override;
  Result<std::unique_ptr<Reader>> open(storage::File& file) const override;
  Result<std::unique_ptr<Growth>> open_growth(storage::File& file) const override;
  Result<std::unique_ptr<Copy>> open_copy(storage::File& from, storage::File& to,
                                          std::span<const PlacedData> elsewhere) const override;
};

}  // namespace stria::container
