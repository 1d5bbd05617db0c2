#include "file/checksums/chunk_sums.hpp"

#include <cstring>

#include "file/checksums/seal.hpp"

namespace stria::file {

namespace {

constexpr size_t kStoredNumberBytes = sizeof(uint64_t);

void put(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void put_number(std::vector<std::byte>& to, uint64_t number) {
  put(to, std::as_bytes(std::span(&number, 1)));
}

/// Takes numbers and bytes from the front; false when too few are left.
bool take_number(std::span<const std::byte>& from, uint64_t& number) {
  if (from.size() < kStoredNumberBytes) {
    return false;
  }
  std::memcpy(&number, from.data(), kStoredNumberBytes);
  from = from.subspan(kStoredNumberBytes);
  return true;
}

bool take_text(std::span<const std::byte>& from, uint64_t bytes, std::string& text) {
  if (from.size() < bytes) {
    return false;
  }
  text.assign(reinterpret_cast<const char*>(from.data()), bytes);
  from = from.subspan(bytes);
  return true;
}

}  // namespace

std::vector<std::byte> encode_chunk_sums(const ChunkSums& sums) {
  std::vector<std::byte> content;
  for (const auto& [path, of_chunks] : sums) {
    put_number(content, path.size());
    put(content, std::as_bytes(std::span(path)));
    put_number(content, of_chunks.size());
    put(content, std::as_bytes(std::span(of_chunks)));
  }
  return with_own_sum(content);
}

Result<ChunkSums> decode_chunk_sums(std::span<const std::byte> content) {
  STRIA_ASSIGN_OR_RETURN(std::span<const std::byte> rest, without_own_sum(content, kChunkSumsPath));
  ChunkSums sums;
  while (!rest.empty()) {
    uint64_t bytes = 0;
    uint64_t count = 0;
    std::string path;
    if (!take_number(rest, bytes) || !take_text(rest, bytes, path) || !take_number(rest, count) ||
        rest.size() / kStoredNumberBytes < count) {
      return Status(ErrorCode::kFormat, std::string("the content of '") + kChunkSumsPath + "' makes no sense");
    }
    std::vector<uint64_t>& of_chunks = sums[path];
    of_chunks.resize(count);
    std::memcpy(of_chunks.data(), rest.data(), count * kStoredNumberBytes);
    rest = rest.subspan(count * kStoredNumberBytes);
  }
  return sums;
}

}  // namespace stria::file
