#include "access/random_case_test.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "access/request/overlap.hpp"
#include "support/naive_datatype.hpp"
#include "support/rounds.hpp"

namespace stria::access::test {

namespace {

constexpr int64_t kMarginBytes = 97;

/// A sorted type and its bytes, at a displacement.
struct Region {
  Datatype type;
  int64_t displacement = 0;
  std::vector<int64_t> offsets;
};

class CaseMaker {
 public:
  explicit CaseMaker(uint64_t seed) : types_(seed) { case_.seed = seed; }

  Case make() {
    choose_parameters();
    int64_t at = pick(0, 3) == 0 ? 0 : pick(1, 9000);
    int lane_count = static_cast<int>(pick(0, 3) == 0 ? pick(1, 12) : pick(1, 4));
    int64_t group_bytes = 0;
    int group = -1;
    for (int lane = 0; lane < lane_count; ++lane) {
      if (group < 0 || pick(0, 2) == 0) {
        ++group;
        group_bytes = pick(0, 9) == 0 ? 0 : pick(1, pick(0, 4) == 0 ? 9000 : 1500);
      }
      add_lane(lane, group, {at, at + group_bytes});
      at += group_bytes + (pick(0, 1) == 0 ? 0 : pick(0, kMarginBytes));
    }
    finish(at + kMarginBytes);
    return std::move(case_);
  }

 private:
  int64_t pick(int64_t low, int64_t high) { return types_.pick(low, high); }

  void choose_parameters() {
    SimulationOptions& simulation = case_.simulation;
    simulation.ranks = static_cast<int>(pick(0, 14) == 0 ? pick(10, 64) : pick(1, 9));
    simulation.ranks_per_node = static_cast<int>(pick(0, 2) == 0 ? simulation.ranks : pick(1, simulation.ranks));
    simulation.scatter_nodes = pick(0, 1) == 0;
    simulation.seed = case_.seed;
    case_.plan.buffer_bytes = int64_t{1} << pick(9, 16);
    case_.hints.staging_bytes = pick(0, 1) == 0 ? pick(16, 300) : pick(300, 10000);
    case_.two_phase = pick(0, 4) != 0;
    const int64_t units[] = {1, 8, 100, 512, 4096, 5000, 8192, 16384};
    case_.plan.unit_bytes = units[pick(0, 7)];
    case_.plan.shared_memory = pick(0, 3) != 0;
    case_.plan.gather_on_nodes = case_.seed % 3 != 0;
    const int64_t entries[] = {0, 3, int64_t{16} << 10};
    case_.plan.most_entries_at_once = entries[pick(0, 2)];
    if (case_.plan.unit_bytes >= 100 && pick(0, 2) == 0) {
      case_.plan.stripe_count = static_cast<int>(pick(2, 5));
    }
    case_.direct = pick(0, 1) == 0;
    case_.native_list = pick(0, 1) == 0;
    const Switch switches[] = {Switch::kAutomatic, Switch::kEnable, Switch::kDisable};
    case_.hints.sieve_writes = switches[pick(0, 2)];
    case_.hints.read_window_bytes = pick(0, 1) == 0 ? pick(1, 100) : pick(100, 20000);
    case_.hints.write_window_bytes = pick(0, 1) == 0 ? pick(1, 100) : pick(100, 20000);
    int64_t aggregators = pick(1, std::min(simulation.ranks, 6));
    std::vector<int> ranks(static_cast<size_t>(simulation.ranks));
    for (size_t i = 0; i < ranks.size(); ++i) {
      ranks[i] = static_cast<int>(i);
    }
    std::shuffle(ranks.begin(), ranks.end(), types_.random());
    case_.plan.aggregators.assign(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(aggregators));
    case_.ranks.resize(ranks.size());
  }

  void add_lane(int number, int group, ByteRange extent) {
    for (RankCase& rank : case_.ranks) {
      rank.lanes.push_back({extent, group, {}});
    }
    switch (pick(0, 3)) {
      case 0:
        return add_cyclic(number, extent);
      case 1:
        return add_columns(number, extent);
      case 2:
        return add_random_types(number, extent);
      default:
        return add_runs(number, extent);
    }
  }

  // Ranks take turns, with or without holes between them.
  void add_cyclic(int lane, ByteRange extent) {
    int64_t ranks = case_.simulation.ranks;
    int64_t block = pick(1, 40);
    int64_t stride = ranks * block + (pick(0, 1) == 0 ? 0 : pick(0, 30));
    int64_t count = (extent.size() - ranks * block) / stride + 1;
    if (extent.size() < ranks * block) {
      return;
    }
    for (int64_t r = 0; r < ranks; ++r) {
      Region region{Datatype::hvector(count, 1, stride, Datatype::bytes(block)).value(), extent.begin + r * block, {}};
      for (int64_t i = 0; i < count * block; ++i) {
        region.offsets.push_back(region.displacement + i / block * stride + i % block);
      }
      add_stream(static_cast<int>(r), lane, std::move(region));
    }
  }

  // Adds a matrix whose columns are dealt out unevenly. Some ranks get none, and the last columns
  // belong to no rank.
  void add_columns(int lane, ByteRange extent) {
    int64_t width = std::max<int64_t>(std::min<int64_t>(extent.size(), pick(1, 300)), 1);
    int64_t height = extent.size() / width;
    int64_t column = 0;
    for (int r = 0; r < case_.simulation.ranks && column < width; ++r) {
      int64_t columns = std::min(pick(0, 2 * width / case_.simulation.ranks + 1), width - column);
      const int64_t sizes[] = {height, width}, subsizes[] = {height, columns}, starts[] = {0, column};
      if (columns > 0 && height > 0) {
        Region region{Datatype::subarray(sizes, subsizes, starts, Order::kC, Datatype::bytes(1)).value(), extent.begin, {}};
        for (int64_t i = 0; i < height * columns; ++i) {
          region.offsets.push_back(extent.begin + i / columns * width + column + i % columns);
        }
        add_stream(r, lane, std::move(region));
      }
      column += columns;
    }
  }

  // Nested types one behind the other, with several streams of some ranks.
  void add_random_types(int lane, ByteRange extent) {
    int64_t at = extent.begin;
    while (true) {
      stria::test::TypePair pair = types_.sorted(static_cast<int>(pick(0, 3)));
      if (pair.naive.offsets.empty()) {
        continue;
      }
      int64_t low = *std::min_element(pair.naive.offsets.begin(), pair.naive.offsets.end());
      int64_t high = *std::max_element(pair.naive.offsets.begin(), pair.naive.offsets.end()) + 1;
      if (at + high - low > extent.end) {
        return;
      }
      Region region{pair.type, at - low, {}};
      for (int64_t offset : pair.naive.offsets) {
        region.offsets.push_back(region.displacement + offset);
      }
      at += high - low + (pick(0, 2) == 0 ? pick(0, 200) : 0);
      add_stream(static_cast<int>(pick(0, case_.simulation.ranks - 1)), lane, std::move(region));
    }
  }

  // Runs of random lengths. Each belongs to one stream of a random rank, or to none.
  void add_runs(int lane, ByteRange extent) {
    int64_t streams = pick(1, 3);
    std::vector<std::vector<int64_t>> lengths(static_cast<size_t>(case_.simulation.ranks * streams)), begins(lengths.size());
    for (int64_t at = extent.begin; at < extent.end;) {
      int64_t bytes = std::min(pick(1, pick(0, 3) == 0 ? 3000 : 60), extent.end - at);
      auto owner = static_cast<size_t>(pick(0, static_cast<int64_t>(lengths.size()) - 1));
      if (pick(0, 6) != 0) {
        lengths[owner].push_back(bytes);
        begins[owner].push_back(at - extent.begin);
      }
      at += bytes;
    }
    for (size_t owner = 0; owner < lengths.size(); ++owner) {
      Region region{Datatype::hindexed(lengths[owner], begins[owner], Datatype::bytes(1)).value(), extent.begin, {}};
      for (size_t i = 0; i < lengths[owner].size(); ++i) {
        for (int64_t k = 0; k < lengths[owner][i]; ++k) {
          region.offsets.push_back(extent.begin + begins[owner][i] + k);
        }
      }
      add_stream(static_cast<int>(static_cast<int64_t>(owner) / streams), lane, std::move(region));
    }
  }

  void add_stream(int rank_number, int lane, Region region) {
    RankCase& rank = case_.ranks[static_cast<size_t>(rank_number)];
    Stream stream{static_cast<int>(rank.packed.size()), std::move(region.type), region.displacement, pick(1, 64)};
    if (pick(0, 3) == 0) {  // a part of the type's stream only
      stream.skip_bytes = pick(0, stream.file_type.size());
      stream.bytes = pick(0, stream.file_type.size() - stream.skip_bytes);
      region.offsets.erase(region.offsets.begin(), region.offsets.begin() + stream.skip_bytes);
      region.offsets.resize(static_cast<size_t>(stream.bytes));
    }
    rank.lanes[static_cast<size_t>(lane)].streams.push_back(std::move(stream));
    Bytes packed(region.offsets.size());
    for (std::byte& value : packed) {
      value = static_cast<std::byte>(pick(0, 255));
    }
    rank.packed.push_back(std::move(packed));
    rank.offsets.push_back(std::move(region.offsets));
    rank.straight.push_back(pick(0, 3) == 0);
  }

  void finish(int64_t file_bytes) {
    for (int64_t i = 0; i < file_bytes; ++i) {
      case_.before.push_back(static_cast<std::byte>(pick(0, 255)));
    }
    case_.after = case_.before;
    for (RankCase& rank : case_.ranks) {
      for (Lane& lane : rank.lanes) {
        std::stable_sort(lane.streams.begin(), lane.streams.end(),
                         [](const Stream& a, const Stream& b) { return hull_of(a).begin < hull_of(b).begin; });
      }
      for (size_t s = 0; s < rank.packed.size(); ++s) {
        for (size_t i = 0; i < rank.packed[s].size(); ++i) {
          case_.after[static_cast<size_t>(rank.offsets[s][i])] = rank.packed[s][i];
        }
      }
    }
  }

  stria::test::TypeGenerator types_;
  Case case_;
};

/// Writes only in wait().
class LateWrite : public storage::PendingWrite {
 public:
  LateWrite(storage::File& file, std::span<const storage::WriteSegment> segments)
      : file_(file), segments_(segments.begin(), segments.end()) {}
  bool done() override { return true; }
  Status wait() override { return file_.write(segments_); }

 private:
  storage::File& file_;
  std::vector<storage::WriteSegment> segments_;
};

}  // namespace

Case make_case(uint64_t seed) {
  return CaseMaker(seed).make();
}

int case_count(int usual) {
  const char* text = std::getenv("STRIA_TEST_CASES");
  return text == nullptr ? rounds(usual) : std::atoi(text);
}

uint64_t first_seed() {
  const char* text = std::getenv("STRIA_TEST_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

void CaseSource::pack(std::span<const StreamPart> parts) {
  for (const StreamPart& part : parts) {
    const Bytes& stream = rank_.packed.at(static_cast<size_t>(part.stream_id));
    std::copy(stream.begin() + part.begin, stream.begin() + part.end, part.packed);
  }
}

const std::byte* CaseSource::straight_source(int stream_id) {
  auto id = static_cast<size_t>(stream_id);
  return rank_.straight[id] ? rank_.packed[id].data() : nullptr;
}

CaseSink::CaseSink(const RankCase& rank) : rank_(rank) {
  for (const Bytes& packed : rank.packed) {
    received_.emplace_back(packed.size());
  }
}

void CaseSink::unpack(std::span<const StreamPart> parts) {
  for (const StreamPart& part : parts) {
    std::copy(part.packed, part.packed + (part.end - part.begin),
              received_.at(static_cast<size_t>(part.stream_id)).begin() + part.begin);
  }
}

std::byte* CaseSink::straight_target(int stream_id) {
  auto id = static_cast<size_t>(stream_id);
  return rank_.straight[id] ? received_[id].data() : nullptr;
}

StrictFile::StrictFile(std::unique_ptr<storage::File> file, bool direct, bool native_list)
    : file_(std::move(file)), direct_(direct), capabilities_(file_->capabilities()) {
  capabilities_.direct_align_bytes = kDirectAlignmentBytes;
  capabilities_.asynchronous = true;
  capabilities_.native_list = native_list;
}

Status StrictFile::check(std::span<const storage::WriteSegment> segments) const {
  for (const storage::WriteSegment& segment : segments) {
    bool aligned = segment.offset % kDirectAlignmentBytes == 0 && segment.bytes % kDirectAlignmentBytes == 0 &&
                   reinterpret_cast<uintptr_t>(segment.data) % kDirectAlignmentBytes == 0;
    if (segment.bytes <= 0 || (direct_ && !aligned)) {
      return Status(ErrorCode::kInternal, "a segment that is empty or not aligned");
    }
  }
  return Status();
}

Status StrictFile::write(std::span<const storage::WriteSegment> segments) {
  STRIA_RETURN_IF_ERROR(check(segments));
  return file_->write(segments);
}

std::unique_ptr<storage::PendingWrite> StrictFile::start_write(std::span<const storage::WriteSegment> segments) {
  return std::make_unique<LateWrite>(*this, segments);
}

int64_t prefix_received(const RankCase& rank, const std::vector<Bytes>& received) {
  int64_t sum = 0;
  for (size_t s = 0; s < rank.packed.size(); ++s) {
    for (size_t i = 0; i < rank.packed[s].size(); ++i, ++sum) {
      if (received[s][i] != rank.packed[s][i]) {
        return sum;
      }
    }
  }
  return sum;
}

int64_t prefix_in_file(const RankCase& rank, const Bytes& content) {
  std::vector<Bytes> there;
  for (const std::vector<int64_t>& offsets : rank.offsets) {
    there.emplace_back();
    for (const int64_t offset : offsets) {
      there.back().push_back(content.at(static_cast<size_t>(offset)));
    }
  }
  return prefix_received(rank, there);
}

Bytes content_of(storage::Driver& driver, const std::string& path) {
  auto file = driver.open(path, {}).value();
  Bytes content(static_cast<size_t>(file->size().value()));
  storage::ReadSegment segment{0, content.data(), static_cast<int64_t>(content.size())};
  content.resize(static_cast<size_t>(file->read(std::span(&segment, 1)).value()));
  return content;
}

void set_content(storage::Driver& driver, const std::string& path, const Bytes& content) {
  storage::OpenOptions options;
  options.mode = storage::OpenOptions::Mode::kCreate;
  auto file = driver.open(path, options).value();
  storage::WriteSegment segment{0, content.data(), static_cast<int64_t>(content.size())};
  file->write(std::span(&segment, 1)).throw_if_error();
}

}  // namespace stria::access::test
