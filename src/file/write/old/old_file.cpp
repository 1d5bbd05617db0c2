#include "file/write/old/old_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/record/phase_timer.hpp"

namespace stria::file {

Result<std::vector<std::byte>> OldFile::open(OpenFile& file, NewFile& target) {
  STRIA_RETURN_IF_ERROR(target.open_old(file));
  PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
  STRIA_ASSIGN_OR_RETURN(content_, read_old_content(*target.created()));
  std::vector<std::byte> message = encode_old_content(content_);
  target.growing()->note_end(content_.end);
  return message;
}

Status OldFile::take(std::span<const std::byte> message) {
  STRIA_ASSIGN_OR_RETURN(content_, decode_old_content(message));
  return Status();
}

Result<ChunkSource> OldFile::open_for_chunks() {
  if (!place_) {  // All ranks hear of it when they meet.
    return Status(ErrorCode::kResourceExhausted, fmt::format("'{}': there was no memory to open it again", path_));
  }
  if (file_ == nullptr) {
    storage::OpenOptions open;
    open.expected_number = place_->identity.expected_number();
    STRIA_ASSIGN_OR_RETURN(auto opened, place_->driver->open(place_->path, open));
    STRIA_RETURN_IF_ERROR(place_->identity.check(*opened));
    file_ = std::move(opened);
  }
  return ChunkSource{path_, content_.catalog, *file_, reader_};
}

Result<std::span<const container::StoredChunk>> OldFile::chunk_index(int dataset) {
  STRIA_ASSIGN_OR_RETURN(const ChunkSource source, open_for_chunks());
  return chunks_.index(source, dataset);
}

Result<std::span<std::byte>> OldFile::chunk(int dataset, int64_t number) {
  STRIA_ASSIGN_OR_RETURN(const ChunkSource source, open_for_chunks());
  return chunks_.chunk(source, dataset, number);
}

Result<std::span<std::byte>> OldFile::from_chunk(int dataset, int64_t byte) {
  STRIA_ASSIGN_OR_RETURN(const ChunkSource source, open_for_chunks());
  return chunks_.from(source, dataset, byte);
}

Status OldFile::fill_chunk(const std::string& dataset_path, int64_t number, std::span<std::byte> out) {
  const auto old = content_.catalog.find(dataset_path);
  STRIA_ASSIGN_OR_RETURN(const auto bytes, chunk(*old, number));
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return Status();
}

}  // namespace stria::file
