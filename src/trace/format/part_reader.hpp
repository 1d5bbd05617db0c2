// Walks the sections of a trace and decodes their payloads. It trusts no byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/format/part.hpp"

namespace stria::trace {

struct SectionView {
  uint32_t type = 0;
  size_t begin = 0;  ///< the begin of its header in the file
  std::span<const std::byte> payload;
  bool intact = false;  ///< the checksum is right
};

/// Returns the section that begins at byte `at`; no value when no whole section is there.
std::optional<SectionView> section_at(std::span<const std::byte> file, size_t at);

/// True when the bytes begin as a trace of this version does.
bool has_header(std::span<const std::byte> file);

// Decode payloads; no value when a payload is not what its section promises.
std::optional<RankHeader> decode_rank(std::span<const std::byte> payload);
std::optional<std::vector<Name>> decode_names(std::span<const std::byte> payload);
std::optional<std::vector<ClockSample>> decode_clock(std::span<const std::byte> payload);
std::optional<std::vector<CounterValues>> decode_counters(std::span<const std::byte> payload);
std::optional<std::vector<Fact>> decode_facts(std::span<const std::byte> payload);
std::optional<EndOfPart> decode_end(std::span<const std::byte> payload);

/// The records of a section. They stay where they are and are read one by one.
struct RecordsView {
  uint32_t thread = 0;
  std::span<const std::byte> bytes;
  size_t count() const { return bytes.size() / sizeof(Record); }
  Record operator[](size_t i) const {
    Record record;
    std::memcpy(&record, bytes.data() + i * sizeof record, sizeof record);
    return record;
  }
};
std::optional<RecordsView> decode_events(std::span<const std::byte> payload);

}  // namespace stria::trace
