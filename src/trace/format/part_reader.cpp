#include "trace/format/part_reader.hpp"

#include "base/hash.hpp"

namespace stria::trace {

namespace {

/// Takes numbers and texts from the front. After a failure all further calls fail.
class Taker {
 public:
  explicit Taker(std::span<const std::byte> bytes) : left_(bytes) {}

  template <typename Number>
  Number number() {
    Number value{};
    if (left_.size() < sizeof value) {
      good_ = false;
      left_ = {};
      return value;
    }
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return value;
  }
  std::string text() {
    const auto bytes = number<uint32_t>();
    if (left_.size() < bytes) {
      good_ = false;
      left_ = {};
      return {};
    }
    std::string value(reinterpret_cast<const char*>(left_.data()), bytes);
    left_ = left_.subspan(bytes);
    return value;
  }
  bool more() const { return good_ && !left_.empty(); }
  bool good() const { return good_; }
  size_t left() const { return left_.size(); }
  std::span<const std::byte> rest() const { return left_; }

 private:
  std::span<const std::byte> left_;
  bool good_ = true;
};

/// Reads entries until the payload ends.
template <typename Entry, typename Take>
std::optional<std::vector<Entry>> entries(std::span<const std::byte> payload, Take take) {
  Taker taker(payload);
  std::vector<Entry> list;
  while (taker.more()) {
    list.push_back(take(taker));
  }
  return taker.good() ? std::optional(std::move(list)) : std::nullopt;
}

}  // namespace

bool has_header(std::span<const std::byte> file) {
  std::vector<std::byte> header;
  append_header(header);
  return file.size() >= header.size() && std::memcmp(file.data(), header.data(), header.size()) == 0;
}

std::optional<SectionView> section_at(std::span<const std::byte> file, size_t at) {
  if (at > file.size() || file.size() - at < kSectionHeaderBytes) {
    return std::nullopt;
  }
  Taker taker(file.subspan(at, kSectionHeaderBytes));
  SectionView view;
  view.begin = at;
  view.type = taker.number<uint32_t>();
  taker.number<uint32_t>();
  const auto bytes = taker.number<uint64_t>();
  const auto checksum = taker.number<uint64_t>();
  if (bytes > file.size() - at - kSectionHeaderBytes) {
    return std::nullopt;
  }
  view.payload = file.subspan(at + kSectionHeaderBytes, static_cast<size_t>(bytes));
  view.intact = hash_bytes(view.payload) == checksum;
  return view;
}

std::optional<RankHeader> decode_rank(std::span<const std::byte> payload) {
  Taker taker(payload);
  RankHeader rank;
  rank.run_id = taker.number<uint64_t>();
  rank.rank = taker.number<int32_t>();
  rank.rank_count = taker.number<int32_t>();
  rank.node = taker.number<int32_t>();
  rank.process = taker.number<int32_t>();
  rank.clock_ns = taker.number<int64_t>();
  rank.unix_ns = taker.number<int64_t>();
  rank.level = taker.number<uint32_t>();
  rank.host = taker.text();
  rank.program = taker.text();
  rank.command = taker.text();
  return taker.good() ? std::optional(std::move(rank)) : std::nullopt;
}

std::optional<std::vector<Name>> decode_names(std::span<const std::byte> payload) {
  bool known = true;
  auto names = entries<Name>(payload, [&known](Taker& taker) {
    Name name;
    const auto table = taker.number<uint8_t>();
    const auto layer = taker.number<uint8_t>();
    const auto detail = taker.number<uint8_t>();
    known = known && table <= static_cast<uint8_t>(Table::kCounter) && layer < kLayerCount &&
            detail <= static_cast<uint8_t>(Detail::kDataset);
    if (known) {
      name.table = static_cast<Table>(table);
      name.layer = static_cast<Layer>(layer);
      name.detail = static_cast<Detail>(detail);
    }
    name.overlaps = taker.number<uint8_t>() != 0;
    name.id = taker.number<uint32_t>();
    name.text = taker.text();
    return name;
  });
  return known ? names : std::nullopt;
}

std::optional<std::vector<ClockSample>> decode_clock(std::span<const std::byte> payload) {
  return entries<ClockSample>(payload, [](Taker& taker) {
    ClockSample sample;
    sample.reference_rank = taker.number<int32_t>();
    taker.number<int32_t>();
    sample.local_ns = taker.number<int64_t>();
    sample.offset_ns = taker.number<int64_t>();
    sample.round_trip_ns = taker.number<int64_t>();
    return sample;
  });
}

std::optional<std::vector<CounterValues>> decode_counters(std::span<const std::byte> payload) {
  return entries<CounterValues>(payload, [](Taker& taker) {
    CounterValues set;
    set.file = taker.number<uint32_t>();
    const auto count = taker.number<uint32_t>();
    for (uint32_t i = 0; i < count && taker.good(); ++i) {
      const auto counter = taker.number<uint32_t>();
      taker.number<uint32_t>();
      set.values.emplace_back(counter, taker.number<int64_t>());
    }
    return set;
  });
}

std::optional<std::vector<Fact>> decode_facts(std::span<const std::byte> payload) {
  return entries<Fact>(payload, [](Taker& taker) {
    Fact fact;
    fact.file = taker.number<uint32_t>();
    fact.key = taker.text();
    fact.value = taker.text();
    return fact;
  });
}

std::optional<EndOfPart> decode_end(std::span<const std::byte> payload) {
  Taker taker(payload);
  EndOfPart end;
  end.clock_ns = taker.number<int64_t>();
  end.dropped = taker.number<uint64_t>();
  return taker.good() ? std::optional(end) : std::nullopt;
}

std::optional<RecordsView> decode_events(std::span<const std::byte> payload) {
  Taker taker(payload);
  RecordsView view;
  view.thread = taker.number<uint32_t>();
  taker.number<uint32_t>();
  view.bytes = taker.rest();
  return taker.good() && view.bytes.size() % sizeof(Record) == 0 ? std::optional(view) : std::nullopt;
}

}  // namespace stria::trace
