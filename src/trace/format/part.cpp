#include "trace/format/part.hpp"

#include <bit>
#include <cstring>

#include "base/hash.hpp"

namespace stria::trace {

namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

class Payload {
 public:
  explicit Payload(std::vector<std::byte>& bytes, Section type) : bytes_(bytes), type_(type), begin_(bytes.size()) {
    bytes_.resize(begin_ + kSectionHeaderBytes);
  }
  /// Fills in the header.
  ~Payload() {
    const std::span<const std::byte> payload = std::span<const std::byte>(bytes_).subspan(begin_ + kSectionHeaderBytes);
    const uint32_t head[2] = {static_cast<uint32_t>(type_), 0};
    const uint64_t tail[2] = {payload.size(), hash_bytes(payload)};
    std::memcpy(bytes_.data() + begin_, head, sizeof head);
    std::memcpy(bytes_.data() + begin_ + sizeof head, tail, sizeof tail);
  }
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;

  template <typename Number>
  void number(Number value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void text(const std::string& value) {
    number(static_cast<uint32_t>(value.size()));
    raw(std::as_bytes(std::span(value.data(), value.size())));
  }
  void raw(std::span<const std::byte> data) { bytes_.insert(bytes_.end(), data.begin(), data.end()); }

 private:
  std::vector<std::byte>& bytes_;
  Section type_;
  size_t begin_;
};

}  // namespace

void append_header(std::vector<std::byte>& bytes) {
  const auto magic = std::as_bytes(std::span(kMagic, 8));
  bytes.insert(bytes.end(), magic.begin(), magic.end());
  const uint32_t rest[2] = {kVersion, 0};
  const auto numbers = std::as_bytes(std::span(rest));
  bytes.insert(bytes.end(), numbers.begin(), numbers.end());
}

void append(std::vector<std::byte>& bytes, const RankHeader& rank) {
  Payload payload(bytes, Section::kRank);
  payload.number(rank.run_id);
  payload.number(rank.rank);
  payload.number(rank.rank_count);
  payload.number(rank.node);
  payload.number(rank.process);
  payload.number(rank.clock_ns);
  payload.number(rank.unix_ns);
  payload.number(rank.level);
  payload.text(rank.host);
  payload.text(rank.program);
  payload.text(rank.command);
}

void append(std::vector<std::byte>& bytes, std::span<const Name> names) {
  Payload payload(bytes, Section::kNames);
  for (const Name& name : names) {
    payload.number(static_cast<uint8_t>(name.table));
    payload.number(static_cast<uint8_t>(name.layer));
    payload.number(static_cast<uint8_t>(name.detail));
    payload.number(static_cast<uint8_t>(name.overlaps ? 1 : 0));
    payload.number(name.id);
    payload.text(name.text);
  }
}

void append(std::vector<std::byte>& bytes, uint32_t thread, std::span<const Record> records) {
  Payload payload(bytes, Section::kEvents);
  payload.number(thread);
  payload.number(uint32_t{0});
  payload.raw(std::as_bytes(records));
}

void append(std::vector<std::byte>& bytes, std::span<const ClockSample> samples) {
  Payload payload(bytes, Section::kClock);
  for (const ClockSample& sample : samples) {
    payload.number(sample.reference_rank);
    payload.number(int32_t{0});
    payload.number(sample.local_ns);
    payload.number(sample.offset_ns);
    payload.number(sample.round_trip_ns);
  }
}

void append(std::vector<std::byte>& bytes, std::span<const CounterValues> counters) {
  Payload payload(bytes, Section::kCounters);
  for (const CounterValues& set : counters) {
    payload.number(set.file);
    payload.number(static_cast<uint32_t>(set.values.size()));
    for (const auto& [counter, value] : set.values) {
      payload.number(counter);
      payload.number(uint32_t{0});
      payload.number(value);
    }
  }
}

void append(std::vector<std::byte>& bytes, std::span<const Fact> facts) {
  Payload payload(bytes, Section::kFacts);
  for (const Fact& fact : facts) {
    payload.number(fact.file);
    payload.text(fact.key);
    payload.text(fact.value);
  }
}

void append(std::vector<std::byte>& bytes, const EndOfPart& end) {
  Payload payload(bytes, Section::kEnd);
  payload.number(end.clock_ns);
  payload.number(end.dropped);
}

}  // namespace stria::trace
