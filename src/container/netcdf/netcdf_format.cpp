#include "container/netcdf/netcdf_format.hpp"

#include <array>

#include "container/netcdf/grow/growth.hpp"
#include "container/netcdf/read/reader.hpp"
#include "container/netcdf/write/layout.hpp"
#include "container/netcdf/write/writer.hpp"

namespace stria::container {

Result<bool> NetcdfFormat::recognises(storage::File& file) {
  std::array<std::byte, 4> signature{};
  const storage::ReadSegment segment{0, signature.data(), signature.size()};
  STRIA_ASSIGN_OR_RETURN(const int64_t read, file.read({&segment, 1}));
  return read == segment.bytes && netcdf::is_classic(signature);
}

std::unique_ptr<Layout> NetcdfFormat::make_layout() const {
  return std::make_unique<netcdf::NetcdfLayout>();
}

Result<std::unique_ptr<Writer>> NetcdfFormat::make_writer(const Layout& layout) const {
  return std::unique_ptr<Writer>(
      std::make_unique<netcdf::NetcdfWriter>(static_cast<const netcdf::NetcdfLayout&>(layout), version_));
}

Result<std::unique_ptr<Reader>> NetcdfFormat::open(storage::File& file) const {
  STRIA_ASSIGN_OR_RETURN(auto reader, netcdf::NetcdfReader::open(file));
  return std::unique_ptr<Reader>(std::move(reader));
}

Result<std::unique_ptr<Growth>> NetcdfFormat::open_growth(storage::File& file) const {
  STRIA_ASSIGN_OR_RETURN(auto growth, netcdf::NetcdfGrowth::open(file));
  return std::unique_ptr<Growth>(std::move(growth));
}

}  // namespace stria::container
