// A part of a trace: what one rank recorded, as sections of bytes. A trace file holds the parts of
// all ranks, one behind another.
//
// Problem: a program may die at any moment, and ranks must not wait for each other
// while they record.
// Method: each rank writes sections that can be read by themselves, each with a checksum. Names
// come before the records that use them; times are those of the rank's clock. Merging is
// concatenation; the reader (trace_file.hpp) unites names and corrects clocks. Format:
// docs/formats/trace.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/events/event.hpp"

namespace stria::trace {

/// "STRIATRC", then the version as uint32 and four bytes of zero.
inline constexpr char kMagic[] = "STRIATRC";
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kHeaderBytes = 16;
/// The header of a section: type, reserved bytes, payload bytes, checksum.
inline constexpr size_t kSectionHeaderBytes = 24;

enum class Section : uint32_t {
  kRank = 1,
  kNames = 2,
  kEvents = 3,
  kClock = 4,
  kCounters = 5,
  kFacts = 6,
  kEnd = 7,
};

/// The tables of names.
enum class Table : uint8_t { kKind = 0, kFile = 1, kDataset = 2, kCounter = 3 };

/// The file of facts and counters that belong to no file, and of records without a file.
inline constexpr uint32_t kNoFile = 0;

struct RankHeader {
  uint64_t run_id = 0;  ///< the same for all parts of a run
  int32_t rank = 0;
  int32_t rank_count = 1;
  int32_t node = -1;  ///< number of its node; -1: not known
  int32_t process = 0;
  int64_t clock_ns = 0;  ///< this rank's clock when it began, …
  int64_t unix_ns = 0;   ///< … and the time of day at that moment
  uint32_t level = 0;
  std::string host;
  std::string program;
  std::string command;
};

/// One comparison with another rank's clock.
struct ClockSample {
  int32_t reference_rank = 0;
  int64_t local_ns = 0;
  int64_t offset_ns = 0;      ///< reference's clock minus this one's, at that moment
  int64_t round_trip_ns = 0;  ///< that of the measuring message: the error is at most half
};

struct Name {
  Table table = Table::kFile;
  uint32_t id = 0;
  std::string text;
  // Only kinds have the following.
  Layer layer = Layer::kApp;
  Detail detail = Detail::kNone;
  bool overlaps = false;
};

struct CounterValues {
  uint32_t file = kNoFile;
  std::vector<std::pair<uint32_t, int64_t>> values;  ///< number of the counter's name, value
};

struct Fact {
  uint32_t file = kNoFile;
  std::string key;
  std::string value;
};

struct EndOfPart {
  int64_t clock_ns = 0;
  uint64_t dropped = 0;  ///< records that could not be kept
};

/// These append sections to `bytes`. The file's header comes first.
void append_header(std::vector<std::byte>& bytes);
void append(std::vector<std::byte>& bytes, const RankHeader& rank);
void append(std::vector<std::byte>& bytes, std::span<const Name> names);
void append(std::vector<std::byte>& bytes, uint32_t thread, std::span<const Record> records);
void append(std::vector<std::byte>& bytes, std::span<const ClockSample> samples);
void append(std::vector<std::byte>& bytes, std::span<const CounterValues> counters);
void append(std::vector<std::byte>& bytes, std::span<const Fact> facts);
void append(std::vector<std::byte>& bytes, const EndOfPart& end);

}  // namespace stria::trace
