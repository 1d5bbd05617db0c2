#include "container/hdf5/grow/hdf5_growth.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "container/hdf5/form/format.hpp"
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

// The root group changes with anything that is added.
Status Hdf5Growth::check() const {
  const h5::OldFile& old_file = *this;
  return Hdf5Writer(old_file).check_group("");
}

Result<std::vector<h5::GroupMember>> Hdf5Growth::members(const std::string& group) const {
  STRIA_ASSIGN_OR_RETURN(auto members, reader_->members(group));
  for (const h5::GroupMember& member : members) {
    if (member.kind == h5::GroupMember::Kind::kOther) {
      return Status(ErrorCode::kUnsupported, "'/" + group + "' can't be changed: its member '" + member.name +
                                                 "' is a link that only another program knows");
    }
  }
  return members;
}

Result<DatasetSpec> Hdf5Growth::dataset(const std::string& path) const {
  STRIA_ASSIGN_OR_RETURN(DatasetInfo info, reader_->dataset(path));
  return std::move(info.spec);
}

Result<std::vector<std::string>> Hdf5Growth::datasets() const {
  STRIA_ASSIGN_OR_RETURN(std::vector<std::string> paths, reader_->list());
  paths.erase(
      std::remove_if(paths.begin(), paths.end(), [](const std::string& path) { return path.empty() || path.back() == '/'; }),
      paths.end());
  return paths;
}

}  // namespace stria::container
