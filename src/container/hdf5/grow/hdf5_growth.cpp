#include "container/hdf5/grow/hdf5_growth.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "container/hdf5/write/format.hpp"
#include "container/hdf5/write/writer.hpp"

namespace stria::container {

Result<std::unique_ptr<Hdf5Growth>> Hdf5Growth::open(storage::File& file) {
  // The reader says best what is wrong with a file.
  STRIA_ASSIGN_OR_RETURN(auto reader, Hdf5Reader::open(file));
  STRIA_ASSIGN_OR_RETURN(const int64_t file_bytes, file.size());
  std::array<std::byte, h5::SuperblockSlot::kBytesMax> begin{};
  const int64_t wanted = std::min(file_bytes, static_cast<int64_t>(begin.size()));
  const storage::ReadSegment segment{0, begin.data(), wanted};
  STRIA_ASSIGN_OR_RETURN(const int64_t read_bytes, file.read(std::span(&segment, 1)));
  const auto slot = h5::SuperblockSlot::decode(std::span(begin).first(static_cast<size_t>(read_bytes)));
  STRIA_RETURN_IF_ERROR(slot.status().with_context(file.path()));
  if (slot->file_bytes() < static_cast<int64_t>(slot->encode(0, 0).size()) || slot->file_bytes() > file_bytes) {
    return Status(ErrorCode::kCorrupted, file.path() + ": the file is cut short");
  }
  return std::unique_ptr<Hdf5Growth>(new Hdf5Growth(*slot, std::move(reader)));
}

Result<std::unique_ptr<Writer>> Hdf5Growth::make_writer(const Layout& layout) const {
  const h5::OldFile& old_file = *this;
  auto writer = std::make_unique<Hdf5Writer>(old_file);
  STRIA_RETURN_IF_ERROR(writer->plan(layout.end()));
  return std::unique_ptr<Writer>(std::move(writer));
}

Result<std::vector<h5::Link>> Hdf5Growth::links(const std::string& group) const {
  STRIA_ASSIGN_OR_RETURN(const auto members, reader_->members(group));
  std::vector<h5::Link> links;
  for (const auto& [name, address] : members) {
    if (address == h5::kNowhere) {
      return Status(ErrorCode::kUnsupported,
                    "'/" + group + "' can't be changed: its member '" + name + "' is a soft or external link");
    }
    links.push_back({name, address});
  }
  return links;
}

}  // namespace stria::container
