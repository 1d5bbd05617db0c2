#include "file/checksums/seal.hpp"

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"

namespace stria::file {

namespace {

constexpr int64_t kSealVersion = 1;
constexpr int64_t kGrownVersion = 2;
constexpr size_t kNumbersBeforeTables = 6;  // the version and the fields of a seal
constexpr size_t kNumbersBeforeParts = 4;   // the numbers that a file which has grown has
constexpr size_t kNumbersPerTable = 2;
constexpr size_t kNumbersPerPart = 3;

bool is_sensible(const Seal& seal) {
  return seal.head_bytes >= 0 && seal.tail_begin >= 0 && seal.file_bytes >= seal.head_bytes &&
         seal.tail_begin <= seal.file_bytes && std::all_of(seal.parts.begin(), seal.parts.end(), [&](const SealedPart& part) {
           return part.range.begin >= 0 && part.range.end >= part.range.begin && part.range.end <= seal.file_bytes;
         });
}

// Takes the numbers of the first version, but for the tables.
bool take_fields(std::span<const uint64_t>& numbers, Seal& seal) {
  if (numbers.size() < kNumbersBeforeTables) {
    return false;
  }
  seal.superblock_sum = numbers[1];
  seal.metadata_sum = numbers[2];
  seal.head_bytes = static_cast<int64_t>(numbers[3]);
  seal.tail_begin = static_cast<int64_t>(numbers[4]);
  seal.file_bytes = static_cast<int64_t>(numbers[5]);
  numbers = numbers.subspan(kNumbersBeforeTables);
  return true;
}

// Takes those of a file that has grown.
bool take_parts(std::span<const uint64_t>& numbers, Seal& seal) {
  if (numbers.size() < kNumbersBeforeParts || numbers[3] == 0 ||
      numbers[3] > (numbers.size() - kNumbersBeforeParts) / kNumbersPerPart) {
    return false;
  }
  seal.superblock_sum = numbers[1];
  seal.file_bytes = static_cast<int64_t>(numbers[2]);
  const auto count = static_cast<size_t>(numbers[3]);
  for (size_t at = kNumbersBeforeParts; seal.parts.size() < count; at += kNumbersPerPart) {
    seal.parts.push_back({{static_cast<int64_t>(numbers[at]), static_cast<int64_t>(numbers[at + 1])}, numbers[at + 2]});
  }
  numbers = numbers.subspan(kNumbersBeforeParts + kNumbersPerPart * count);
  return true;
}

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

int64_t seal_numbers(size_t table_count, size_t part_count) {
  const size_t before = part_count == 0 ? kNumbersBeforeTables : kNumbersBeforeParts + kNumbersPerPart * part_count;
  return static_cast<int64_t>(1 + before + kNumbersPerTable * table_count);
}

std::vector<std::byte> encode_seal(const Seal& seal) {
  std::vector<uint64_t> numbers;
  if (seal.parts.empty()) {
    numbers = {static_cast<uint64_t>(kSealVersion),
               seal.superblock_sum,
               seal.metadata_sum,
               static_cast<uint64_t>(seal.head_bytes),
               static_cast<uint64_t>(seal.tail_begin),
               static_cast<uint64_t>(seal.file_bytes)};
  } else {
    numbers = {static_cast<uint64_t>(kGrownVersion), seal.superblock_sum, static_cast<uint64_t>(seal.file_bytes),
               static_cast<uint64_t>(seal.parts.size())};
  }
  for (const SealedPart& part : seal.parts) {
    numbers.insert(numbers.end(), {static_cast<uint64_t>(part.range.begin), static_cast<uint64_t>(part.range.end), part.sum});
  }
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
  const int64_t version = numbers.empty() ? 0 : static_cast<int64_t>(numbers[0]);
  if (version != kSealVersion && version != kGrownVersion) {
    return Status(ErrorCode::kUnsupported, "a newer version of Stria wrote the file's checksums; open it with verify off");
  }
  Seal seal;
  std::span<const uint64_t> rest(numbers);
  if (!(version == kSealVersion ? take_fields(rest, seal) : take_parts(rest, seal)) || !is_sensible(seal)) {
    return Status(ErrorCode::kFormat, std::string("dataset '") + kSealPath + "' makes no sense");
  }
  for (; rest.size() >= kNumbersPerTable; rest = rest.subspan(kNumbersPerTable)) {
    seal.tables.push_back({static_cast<int64_t>(rest[0]), rest[1]});
  }
  return seal;
}

std::vector<ByteRange> between_tables(ByteRange part, std::vector<ByteRange> tables) {
  std::sort(tables.begin(), tables.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::vector<ByteRange> ranges;
  int64_t at = part.begin;
  for (const ByteRange& table : tables) {
    if (!intersect(table, part).empty() && table.begin >= at) {
      ranges.push_back({at, table.begin});
      at = table.end;
    }
  }
  ranges.push_back({at, part.end});
  ranges.erase(std::remove_if(ranges.begin(), ranges.end(), [](const ByteRange& range) { return range.empty(); }),
               ranges.end());
  return ranges;
}

std::vector<ByteRange> sealed_ranges(const Seal& seal, std::vector<ByteRange> tables) {
  std::vector<ByteRange> ranges = between_tables({0, seal.head_bytes}, tables);
  if (seal.tail_begin > 0) {
    const auto tail = between_tables({seal.tail_begin, seal.file_bytes}, std::move(tables));
    ranges.insert(ranges.end(), tail.begin(), tail.end());
  }
  return ranges;
}

}  // namespace stria::file
