#include "file/checksums/seal.hpp"

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"

namespace stria::file {

namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kNumbersBeforeTables = 6;  // the version and the fields of a seal
constexpr size_t kNumbersPerTable = 2;

}  // namespace

uint64_t sum_of(std::span<const std::byte> data) {
  const uint64_t sum = hash_bytes(data);
  return sum == 0 ? 1 : sum;
}

std::vector<std::byte> with_own_sum(std::span<const std::byte> content) {
  const uint64_t sum = sum_of(content);
  std::vector<std::byte> summed(sizeof sum + content.size());
  std::memcpy(summed.data(), &sum, sizeof sum);
  std::copy(content.begin(), content.end(), summed.begin() + sizeof sum);
  return summed;
}

Result<std::span<const std::byte>> without_own_sum(std::span<const std::byte> summed, const std::string& path) {
  uint64_t sum = 0;
  if (summed.size() >= sizeof sum) {
    std::memcpy(&sum, summed.data(), sizeof sum);
    if (sum == sum_of(summed.subspan(sizeof sum))) {
      return summed.subspan(sizeof sum);
    }
  }
  return Status(ErrorCode::kCorrupted, "dataset '" + path + "', which holds checksums, is damaged");
}

int64_t seal_numbers(size_t table_count) {
  return static_cast<int64_t>(1 + kNumbersBeforeTables + kNumbersPerTable * table_count);
}

std::vector<std::byte> encode_seal(const Seal& seal) {
  std::vector<uint64_t> numbers = {static_cast<uint64_t>(kVersion),
                                   seal.superblock_sum,
                                   seal.metadata_sum,
                                   static_cast<uint64_t>(seal.head_bytes),
                                   static_cast<uint64_t>(seal.tail_begin),
                                   static_cast<uint64_t>(seal.file_bytes)};
  for (const TableSeal& table : seal.tables) {
    numbers.insert(numbers.end(), {static_cast<uint64_t>(table.count), table.sum});
  }
  return with_own_sum(std::as_bytes(std::span(numbers)));
}

Result<Seal> decode_seal(std::span<const std::byte> content) {
  STRIA_ASSIGN_OR_RETURN(const auto bytes, without_own_sum(content, kSealPath));
  std::vector<uint64_t> numbers(bytes.size() / sizeof(uint64_t));
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(uint64_t));
  }
  if (numbers.size() < kNumbersBeforeTables || numbers[0] != kVersion) {
    return Status(ErrorCode::kUnsupported, "a newer version of Stria wrote the file's checksums; open it with verify off");
  }
  Seal seal{numbers[1],
            numbers[2],
            static_cast<int64_t>(numbers[3]),
            static_cast<int64_t>(numbers[4]),
            static_cast<int64_t>(numbers[5]),
            {}};
  const bool sensible =
      seal.head_bytes >= 0 && seal.tail_begin >= 0 && seal.file_bytes >= seal.head_bytes && seal.tail_begin <= seal.file_bytes;
  if (!sensible) {
    return Status(ErrorCode::kFormat, std::string("dataset '") + kSealPath + "' makes no sense");
  }
  for (size_t i = kNumbersBeforeTables; i + kNumbersPerTable <= numbers.size(); i += kNumbersPerTable) {
    seal.tables.push_back({static_cast<int64_t>(numbers[i]), numbers[i + 1]});
  }
  return seal;
}

std::vector<ByteRange> sealed_ranges(const Seal& seal, std::vector<ByteRange> tables) {
  std::sort(tables.begin(), tables.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::vector<ByteRange> parts = {{0, seal.head_bytes}};
  if (seal.tail_begin > 0) {
    parts.push_back({seal.tail_begin, seal.file_bytes});
  }
  std::vector<ByteRange> ranges;
  for (const ByteRange& part : parts) {
    int64_t at = part.begin;
    for (const ByteRange& table : tables) {
      if (!intersect(table, part).empty() && table.begin >= at) {
        ranges.push_back({at, table.begin});
        at = table.end;
      }
    }
    ranges.push_back({at, part.end});
  }
  ranges.erase(std::remove_if(ranges.begin(), ranges.end(), [](const ByteRange& range) { return range.empty(); }),
               ranges.end());
  return ranges;
}

}  // namespace stria::file
