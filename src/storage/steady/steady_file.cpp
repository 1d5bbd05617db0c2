#include "storage/steady/steady_file.hpp"

#include <algorithm>
#include <utility>

namespace stria::storage {

namespace {

Result<std::vector<std::byte>> read_head(File& file) {
  std::vector<std::byte> head(static_cast<size_t>(SteadyFile::kHeadBytes));
  const ReadSegment all{0, head.data(), SteadyFile::kHeadBytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file.read({&all, 1}));
  head.resize(static_cast<size_t>(bytes));
  return head;
}

}  // namespace

Result<std::unique_ptr<SteadyFile>> SteadyFile::open(std::unique_ptr<File> file) {
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> head, read_head(*file));
  return std::make_unique<SteadyFile>(std::move(file), std::move(head));
}

bool SteadyFile::has_another_head() {
  const auto now = read_head(*file_);
  return now.ok() && *now != head_;
}

Result<int64_t> SteadyFile::read(std::span<const ReadSegment> segments) {
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, file_->read(segments));
  const auto head_bytes = static_cast<int64_t>(head_.size());
  for (const ReadSegment& segment : segments) {
    if (segment.offset < head_bytes) {
      std::copy_n(head_.data() + segment.offset, std::min(segment.bytes, head_bytes - segment.offset), segment.data);
    }
  }
  return bytes;
}

}  // namespace stria::storage
