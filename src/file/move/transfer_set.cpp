#include "file/move/transfer_set.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/check.hpp"

namespace stria::file {

namespace {

constexpr int64_t kRepackBytes = 1 << 20;
constexpr int64_t kHashedAtOnceBytes = 512 << 10;
constexpr int64_t kSliceUnitBytes = 4096;             // where no unit is hashed
constexpr int64_t kLargestSliceUnitBytes = 64 << 10;  // larger units are hashed in parts

using Entries = std::vector<const DatasetEntry*>;

// Returns the numbers of the datasets that have a lane, in order.
std::vector<int> numbers_of(std::span<const Transfer> transfers, size_t dataset_count, bool own_lanes) {
  std::vector<int> numbers(own_lanes ? 0 : dataset_count);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (size_t i = 0; own_lanes && i < transfers.size(); ++i) {
    numbers.push_back(transfers[i].dataset);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// Returns what tells of each dataset whether it lies among others: rows of classic netCDF, and what
// is overwritten in a file where some of that is in chunks.
std::vector<bool> lying_among_others(const Entries& datasets) {
  const bool is_mixed = std::any_of(datasets.begin(), datasets.end(),
                                    [](const DatasetEntry* dataset) { return dataset->is_updated && dataset->is_chunked(); });
  std::vector<bool> lying;
  for (const DatasetEntry* dataset : datasets) {
    lying.push_back(dataset->is_interleaved() || (is_mixed && dataset->is_updated));
  }
  return lying;
}

// The hull reaches from the first byte of all datasets that lie among each other to the last.
ByteRange hull_of(const Entries& datasets, const std::vector<bool>& among_others) {
  ByteRange hull{std::numeric_limits<int64_t>::max(), 0};
  for (size_t i = 0; i < datasets.size(); ++i) {
    const DatasetEntry& dataset = *datasets[i];
    if (among_others[i] && dataset.data_offset >= 0) {
      hull = {std::min(hull.begin, dataset.extent().begin), std::max(hull.end, dataset.extent().end)};
    }
  }
  return hull.empty() ? ByteRange{} : hull;
}

PackOperand operand_of(const Transfer& transfer, const DatasetEntry& dataset) {
  PackOperand operand;
  operand.memory = static_cast<std::byte*>(transfer.memory.data);
  operand.type = transfer.memory.type;
  operand.memory_element = transfer.memory.element;
  operand.stored_element = transfer.stored ? transfer.memory.element : dataset.stored_element();
  operand.swap_bytes = !transfer.stored && dataset.spec.element.is_swapped();
  return operand;
}

}  // namespace

bool summed_by_rows(const Transfer& transfer, const DatasetEntry& dataset) {
  return transfer.whole_rows && dataset.checksum_group >= 0;
}

int64_t hash_unit_bytes(const Transfer& transfer, const DatasetEntry& dataset) {
  int64_t bytes = summed_by_rows(transfer, dataset) ? dataset.row_bytes() : transfer.region.size();
  return std::max<int64_t>(bytes, 1);
}

Result<std::unique_ptr<TransferSet>> TransferSet::create(std::span<const Transfer> transfers,
                                                         std::span<const DatasetEntry> datasets, const Options& options) {
  std::vector<PackOperand> operands;
  for (const Transfer& transfer : transfers) {
    STRIA_CHECK(transfer.dataset >= 0 && static_cast<size_t>(transfer.dataset) < datasets.size(), transfer.dataset,
                datasets.size());
    operands.push_back(operand_of(transfer, datasets[static_cast<size_t>(transfer.dataset)]));
  }
  STRIA_ASSIGN_OR_RETURN(Packer packer, Packer::create(std::move(operands)));
  return std::unique_ptr<TransferSet>(new TransferSet(transfers, datasets, options, std::move(packer)));
}

TransferSet::TransferSet(std::span<const Transfer> transfers, std::span<const DatasetEntry> datasets, const Options& options,
                         Packer packer)
    : transfers_(transfers),
      progress_(options.progress),
      packer_(std::move(packer)),
      hashers_(transfers.size()),
      chunk_hashers_(transfers.size()),
      straights_(transfers.size(), nullptr) {
  bool wanted = std::any_of(transfers.begin(), transfers.end(), [&](const Transfer& transfer) {
    return datasets[static_cast<size_t>(transfer.dataset)].value_range;
  });
  if (options.value_ranges && wanted) {
    ranges_.resize(transfers.size());
  }
  if (options.checksums) {
    for (size_t i = 0; i < transfers.size(); ++i) {
      const DatasetEntry& dataset = datasets[static_cast<size_t>(transfers[i].dataset)];
      if (!transfers[i].stored && !dataset.is_updated && !dataset.is_lossy()) {
        hashers_[i].emplace(transfers[i].region.size(), hash_unit_bytes(transfers[i], dataset));
      }
      if (transfers[i].raw_chunks.chunk_bytes > 0) {
        chunk_hashers_[i].emplace(transfers[i].region.size(), transfers[i].raw_chunks.chunk_bytes);
      }
    }
  }
  make_lanes(datasets, numbers_of(transfers, datasets.size(), options.own_lanes));
  prepare_directs(datasets);
}

void TransferSet::make_lanes(std::span<const DatasetEntry> all, const std::vector<int>& numbers) {
  Entries datasets;
  for (const int number : numbers) {
    datasets.push_back(&all[static_cast<size_t>(number)]);
  }
  // Datasets of equal rows and size are advanced together. Those that lie among each other are one
  // lane, that of the first.
  std::map<std::pair<int64_t, int64_t>, int> groups;
  const std::vector<bool> among_others = lying_among_others(datasets);
  const auto first = std::find(among_others.begin(), among_others.end(), true) - among_others.begin();
  for (size_t i = 0; i < datasets.size(); ++i) {
    const DatasetEntry& dataset = *datasets[i];
    access::Lane lane;
    if (among_others[i]) {
      lane.group = -1;
    } else if (dataset.data_offset >= 0) {
      lane.hull = dataset.extent();
      auto key = std::pair(dataset.is_chunked() ? int64_t{-1} : dataset.row_count(), dataset.extent().size());
      lane.group = groups.emplace(key, static_cast<int>(groups.size())).first->second;
    } else {
      lane.group = -1;
    }
    lanes_.push_back(std::move(lane));
  }
  if (static_cast<size_t>(first) < lanes_.size()) {
    access::Lane& lane = lanes_[static_cast<size_t>(first)];
    lane.hull = hull_of(datasets, among_others);
    lane.group = static_cast<int>(groups.size());
  }
  for (size_t i = 0; i < transfers_.size(); ++i) {
    const Transfer& transfer = transfers_[i];
    const DatasetEntry& dataset = all[static_cast<size_t>(transfer.dataset)];
    if (transfer.region.size() > 0) {
      int64_t granule = transfer.stored ? 1 : transfer.whole_rows ? dataset.row_bytes() : dataset.spec.element.bytes;
      const auto own = std::lower_bound(numbers.begin(), numbers.end(), transfer.dataset) - numbers.begin();
      const auto lane = among_others[static_cast<size_t>(own)] ? first : own;
      lanes_[static_cast<size_t>(lane)].streams.push_back(
          {static_cast<int>(i), transfer.region, dataset.data_offset + transfer.displacement, granule});
    }
  }
  for (access::Lane& lane : lanes_) {
    std::stable_sort(lane.streams.begin(), lane.streams.end(), [](const access::Stream& a, const access::Stream& b) {
      return a.displacement + a.file_type.true_lower_bound() < b.displacement + b.file_type.true_lower_bound();
    });
  }
}

// Memory that is already as the file wants it is moved without packing.
void TransferSet::prepare_directs(std::span<const DatasetEntry> datasets) {
  for (size_t i = 0; i < transfers_.size(); ++i) {
    const Transfer& transfer = transfers_[i];
    const DatasetEntry& dataset = datasets[static_cast<size_t>(transfer.dataset)];
    bool as_it_is = transfer.memory.type.is_contiguous() && transfer.memory.element == dataset.stored_element() &&
                    !dataset.spec.element.is_swapped();
    if (as_it_is || transfer.stored) {
      straights_[i] = static_cast<std::byte*>(transfer.memory.data) + transfer.stream_begin;
    }
  }
}

int64_t TransferSet::piece_count() const {
  int64_t sum = 0;
  for (const Transfer& transfer : transfers_) {
    sum += transfer.region.piece_count();
  }
  return sum;
}

void TransferSet::check_part(int stream_id, int64_t begin, int64_t end) const {
  STRIA_ASSERT(stream_id >= 0 && static_cast<size_t>(stream_id) < transfers_.size(), stream_id, transfers_.size());
  STRIA_ASSERT(0 <= begin && begin <= end && end <= transfers_[static_cast<size_t>(stream_id)].region.size(), stream_id, begin,
               end);
}

void TransferSet::to_pack_parts(std::span<const access::StreamPart> parts) {
  pack_parts_.clear();
  for (const access::StreamPart& part : parts) {
    check_part(part.stream_id, part.begin, part.end);
    const int64_t from = transfers_[static_cast<size_t>(part.stream_id)].stream_begin;
    pack_parts_.push_back({part.stream_id, from + part.begin, from + part.end, part.packed});
  }
}

void TransferSet::observe(const access::StreamPart& part) {
  const auto index = static_cast<size_t>(part.stream_id);
  for (std::optional<UnitHasher>* const hasher : {&hashers_[index], &chunk_hashers_[index]}) {
    if (*hasher) {
      (*hasher)->observe(part.begin, {part.packed, static_cast<size_t>(part.end - part.begin)});
    }
  }
}

void TransferSet::advance(std::span<const access::StreamPart> parts) {
  if (progress_ == nullptr) {
    return;
  }
  int64_t bytes = 0;
  for (const access::StreamPart& part : parts) {
    bytes += part.end - part.begin;
  }
  progress_->advance(bytes);
}

// Packs and hashes a little at a time, so that the hash finds the bytes in the nearest cache.
void TransferSet::pack(std::span<const access::StreamPart> parts) {
  int64_t longest = 0;
  int64_t total_bytes = 0;
  for (const access::StreamPart& part : parts) {
    longest = std::max(longest, part.end - part.begin);
    total_bytes += part.end - part.begin;
  }
  int64_t slices = std::max<int64_t>((total_bytes + kHashedAtOnceBytes - 1) / kHashedAtOnceBytes, 1);
  int64_t unit_bytes = parts.empty() || !hashers_[static_cast<size_t>(parts[0].stream_id)]
                           ? kSliceUnitBytes
                           : std::min(hashers_[static_cast<size_t>(parts[0].stream_id)]->unit_end(0), kLargestSliceUnitBytes);
  int64_t step = std::max(align_up((longest + slices - 1) / slices, unit_bytes), unit_bytes);
  for (int64_t at = 0; at < longest; at += step) {
    pack_slice(parts, {at, at + step});
  }
  advance(parts);
}

// Packs the same bytes of every part, counted from its begin.
void TransferSet::pack_slice(std::span<const access::StreamPart> parts, ByteRange slice) {
  slice_.clear();
  for (const access::StreamPart& part : parts) {
    int64_t begin = std::min(part.begin + slice.begin, part.end);
    int64_t end = std::min(part.begin + slice.end, part.end);
    if (begin < end) {
      slice_.push_back({part.stream_id, begin, end, part.packed + (begin - part.begin)});
    }
  }
  to_pack_parts(slice_);
  packer_.pack(pack_parts_, ranges_);
  for (const access::StreamPart& part : slice_) {
    observe(part);
  }
}

void TransferSet::unpack(std::span<const access::StreamPart> parts) {
  for (const access::StreamPart& part : parts) {
    observe(part);
  }
  to_pack_parts(parts);
  packer_.unpack(pack_parts_);
  advance(parts);
}

const std::byte* TransferSet::straight_source(int stream_id) {
  return straights_[static_cast<size_t>(stream_id)];
}
std::byte* TransferSet::straight_target(int stream_id) {
  return straights_[static_cast<size_t>(stream_id)];
}

void TransferSet::passed_straight(int stream_id, int64_t begin, int64_t end) {
  check_part(stream_id, begin, end);
  STRIA_ASSERT(straights_[static_cast<size_t>(stream_id)] != nullptr, stream_id);
  const auto index = static_cast<size_t>(stream_id);
  const access::StreamPart part{.stream_id = stream_id, .begin = begin, .end = end, .packed = straights_[index] + begin};
  observe(part);
  if (!ranges_.empty() && !transfers_[index].stored) {
    widen_range(index, {begin, end});
  }
  advance(std::span(&part, 1));
}

// Elements that an end of the range cuts are looked at whole.
void TransferSet::widen_range(size_t transfer, ByteRange range) {
  const ElementType element = transfers_[transfer].memory.element;
  const int64_t width = element_bytes(element);
  const int64_t begin = align_down(range.begin, width);
  stria::widen_range(element, straights_[transfer] + begin, (align_up(range.end, width) - begin) / width, ranges_[transfer]);
}

void TransferSet::sample(std::span<const access::StreamPart> parts) {
  to_pack_parts(parts);
  packer_.pack(pack_parts_);
}

void TransferSet::leave_out(int transfer, int64_t begin, int64_t end) {
  if (auto& hasher = hashers_[static_cast<size_t>(transfer)]) {
    hasher->leave_out(begin, end);
  }
}

void TransferSet::finish_sums() {
  for (size_t i = 0; i < hashers_.size(); ++i) {
    for (std::optional<UnitHasher>* const hasher : {&hashers_[i], &chunk_hashers_[i]}) {
      if (*hasher) {
        finish(i, **hasher);
      }
    }
  }
}

void TransferSet::finish(size_t transfer, UnitHasher& hasher) {
  const int64_t from = transfers_[transfer].stream_begin;
  std::vector<std::byte> scratch;
  for (int64_t unit : hasher.torn_units()) {
    StreamingHash hash;
    for (int64_t begin = hasher.unit_begin(unit); begin < hasher.unit_end(unit); begin += kRepackBytes) {
      int64_t end = std::min(begin + kRepackBytes, hasher.unit_end(unit));
      scratch.resize(static_cast<size_t>(end - begin));
      PackPart part{static_cast<int>(transfer), from + begin, from + end, scratch.data()};
      packer_.pack(std::span(&part, 1));
      hash.update(scratch);
    }
    hasher.set_sum(unit, hash.digest());
  }
}

const UnitHasher* TransferSet::sums(size_t transfer) const {
  return hashers_[transfer] ? &*hashers_[transfer] : nullptr;
}
const UnitHasher* TransferSet::chunk_sums(size_t transfer) const {
  return chunk_hashers_[transfer] ? &*chunk_hashers_[transfer] : nullptr;
}

}  // namespace stria::file
