#include "file/move/put_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "datatype/cursor.hpp"
#include "datatype/node.hpp"

namespace stria::file {

namespace {

constexpr size_t kFewPlaces = 8;           // are compared each with each
constexpr int kDeepest = 64;               // splits within splits
constexpr size_t kMostApart = 64;          // puts of whole rows that are sent one by one
constexpr size_t kMostRegionBytes = 4096;  // the bytes of a description that is sent

using Pair = std::pair<const PutPlace*, const PutPlace*>;
using Found = std::optional<Pair>;

bool boxes_meet(const PutPlace& a, const PutPlace& b) {
  for (size_t dim = 0; dim < a.dims(); ++dim) {
    if (a.end(dim) <= b.begin(dim) || b.end(dim) <= a.begin(dim)) {
      return false;
    }
  }
  return true;
}

/// A search among the puts of one dataset.
class Search {
 public:
  explicit Search(const DatasetEntry& dataset) : dataset_(dataset) {}

  Found among(std::span<const PutPlace*> group, int depth = 0) const;

 private:
  struct Piece {
    ByteRange bytes;
    const PutPlace* place;
  };

  Found one_by_one(std::span<const PutPlace*> group) const;
  Found by_pieces(std::span<const PutPlace*> group) const;
  bool are_apart_in_each_period(std::span<const PutPlace*> group) const;
  bool add_pieces(const PutPlace& place, std::vector<Piece>& pieces) const;
  std::optional<Datatype> region_of(const PutPlace& place) const;

  const DatasetEntry& dataset_;
};

void sort_along(size_t dim, std::span<const PutPlace*> group) {
  std::sort(group.begin(), group.end(), [&](const auto* a, const auto* b) { return a->begin(dim) < b->begin(dim); });
}

// Returns where parts of the group begin that no other part reaches in this dimension. It is sorted
// then.
std::vector<size_t> split_along(size_t dim, std::span<const PutPlace*> group) {
  sort_along(dim, group);
  std::vector<size_t> begins = {0};
  int64_t end = group[0]->end(dim);
  for (size_t i = 1; i < group.size(); ++i) {
    if (group[i]->begin(dim) >= end) {
      begins.push_back(i);
    }
    end = std::max(end, group[i]->end(dim));
  }
  return begins;
}

Found Search::among(std::span<const PutPlace*> group, int depth) const {
  if (group.size() < 2) {
    return std::nullopt;
  }
  const size_t dims = group.size() > kFewPlaces && depth < kDeepest ? group[0]->dims() : 0;
  for (size_t dim = 0; dim < dims; ++dim) {
    const std::vector<size_t> begins = split_along(dim, group);
    for (size_t i = 0; i < begins.size() && begins.size() > 1; ++i) {
      const size_t end = i + 1 < begins.size() ? begins[i + 1] : group.size();
      if (const Found found = among(group.subspan(begins[i], end - begins[i]), depth + 1)) {
        return found;
      }
    }
    if (begins.size() > 1) {
      return std::nullopt;
    }
  }
  return one_by_one(group);
}

Found Search::one_by_one(std::span<const PutPlace*> group) const {
  const bool is_scalar = group[0]->dims() == 0;
  if (!is_scalar) {
    sort_along(0, group);
  }
  bool is_unsure = false;
  for (size_t i = 0; i < group.size(); ++i) {
    for (size_t k = i + 1; k < group.size() && (is_scalar || group[k]->begin(0) < group[i]->end(0)); ++k) {
      if (!boxes_meet(*group[i], *group[k])) {
        continue;
      }
      if (!group[i]->has_gaps && !group[k]->has_gaps) {
        return Pair{group[i], group[k]};
      }
      is_unsure = true;
    }
  }
  return is_unsure ? by_pieces(group) : std::nullopt;
}

std::optional<Datatype> Search::region_of(const PutPlace& place) const {
  if (place.has_gaps) {
    return place.region.size() > 0 ? std::optional(place.region) : std::nullopt;
  }
  std::vector<int64_t> counts;
  for (size_t dim = 0; dim < place.dims(); ++dim) {
    counts.push_back(place.end(dim) - place.begin(dim));
  }
  const std::vector<int64_t> starts(place.box.begin(), place.box.begin() + static_cast<std::ptrdiff_t>(place.dims()));
  const auto region =
      Datatype::subarray(dataset_.spec.dims, counts, starts, Order::kC, Datatype::bytes(dataset_.spec.element.bytes));
  return region.ok() ? std::optional(*region) : std::nullopt;
}

// Tells whether there was room.
bool Search::add_pieces(const PutPlace& place, std::vector<Piece>& pieces) const {
  const std::optional<Datatype> region = region_of(place);
  if (!region) {
    return true;
  }
  for (Cursor at(*region, place.displacement); !at.done(); at.advance(at.piece().size())) {
    if (pieces.size() == PutPlaces::kMostPieces) {
      return false;
    }
    pieces.push_back({at.piece(), &place});
  }
  return true;
}

// Tells whether all regions repeat after the same number of bytes, and have no byte in common even
// when all their repetitions are laid upon each other. Columns and points that ranks take in turns
// are of this kind: then one repetition of each is looked at, however many there are. False means
// that their pieces must be compared.
bool Search::are_apart_in_each_period(std::span<const PutPlace*> group) const {
  int64_t period = 0;
  std::vector<ByteRange> folded;
  for (const PutPlace* place : group) {
    const std::optional<Datatype> region = region_of(*place);
    if (!region || region->size() == 0 || region->node().kind != datatype::NodeKind::kStrided || region->node().stride <= 0 ||
        (period > 0 && region->node().stride != period)) {
      return false;
    }
    period = region->node().stride;
    const int64_t first_byte = Cursor(*region, place->displacement).piece().begin;
    const Datatype once = Datatype::of_node(region->node().children[0]);
    for (Cursor at(once, first_byte); !at.done(); at.advance(at.piece().size())) {
      const int64_t begin = at.piece().begin % period;
      const int64_t end = begin + at.piece().size();
      if (begin < 0 || at.piece().size() > period || folded.size() >= PutPlaces::kMostPieces) {
        return false;
      }
      folded.push_back({begin, std::min(end, period)});
      if (end > period) {
        folded.push_back({0, end - period});
      }
    }
  }
  std::sort(folded.begin(), folded.end(), [](ByteRange a, ByteRange b) { return a.begin < b.begin; });
  return std::adjacent_find(folded.begin(), folded.end(), [](ByteRange a, ByteRange b) { return b.begin < a.end; }) ==
         folded.end();
}

Found Search::by_pieces(std::span<const PutPlace*> group) const {
  if (are_apart_in_each_period(group)) {
    return std::nullopt;
  }
  std::vector<Piece> pieces;
  for (const PutPlace* place : group) {
    if (!add_pieces(*place, pieces)) {
      return std::nullopt;
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.bytes.begin < b.bytes.begin; });
  for (size_t i = 1, longest = 0; i < pieces.size(); ++i) {
    if (pieces[i].bytes.begin < pieces[longest].bytes.end) {
      return Pair{pieces[longest].place, pieces[i].place};
    }
    longest = pieces[i].bytes.end > pieces[longest].bytes.end ? i : longest;
  }
  return std::nullopt;
}

// Returns what the boxes of both have in common, as C counts: "[4:8, 0:16]".
std::string common_box(const Pair& pair) {
  std::string text;
  for (size_t dim = 0; dim < pair.first->dims(); ++dim) {
    text += fmt::format("{}{}:{}", dim == 0 ? "" : ", ", std::max(pair.first->begin(dim), pair.second->begin(dim)),
                        std::min(pair.first->end(dim), pair.second->end(dim)));
  }
  return "[" + text + "]";
}

Status shared(const Pair& pair, const DatasetEntry& dataset) {
  const int a = std::min(pair.first->rank, pair.second->rank), b = std::max(pair.first->rank, pair.second->rank);
  const std::string whose = a == b ? "two puts" : fmt::format("puts of ranks {} and {}", a, b);
  const bool has_gaps = pair.first->has_gaps || pair.second->has_gaps;
  return Status(
      ErrorCode::kInvalidArgument,
      fmt::format("dataset '{}': {} have {}elements {} (counted from 0, in C's order) in common; put each element once, "
                  "or let either value stand there by the hint stria_put_overlaps=enable",
                  dataset.spec.path, whose, has_gaps ? "some of the " : "the ", common_box(pair)));
}

// Sorts by dataset and flush, and looks at each of these; `reduce` leaves out what is no mistake.
template <typename Reduce>
Status check_each(std::vector<PutPlace>& places, std::span<const DatasetEntry> datasets, const Reduce& reduce) {
  const auto key = [](const PutPlace& place) { return std::tie(place.dataset, place.flush); };
  const auto before = [&](const PutPlace& a, const PutPlace& b) { return key(a) < key(b); };
  if (!std::is_sorted(places.begin(), places.end(), before)) {
    std::stable_sort(places.begin(), places.end(), before);
  }
  for (auto begin = places.begin(); begin != places.end();) {
    const auto end = std::find_if(begin, places.end(), [&](const PutPlace& place) { return key(place) != key(*begin); });
    std::vector<const PutPlace*> group;
    for (auto at = begin; at != end; ++at) {
      group.push_back(&*at);
    }
    reduce(group);
    const DatasetEntry& dataset = datasets[static_cast<size_t>(begin->dataset)];
    if (const Found found = Search(dataset).among(group)) {
      return shared(*found, dataset);
    }
    begin = end;
  }
  return Status();
}

bool same_place(const PutPlace& a, const PutPlace& b) {
  return a.box == b.box && a.has_gaps == b.has_gaps && a.displacement == b.displacement && a.region == b.region;
}

// Every rank may put the same, as coordinates that all of them have.
void keep_one_of_equal(std::vector<const PutPlace*>& group) {
  std::stable_sort(group.begin(), group.end(), [](const auto* a, const auto* b) { return a->box < b->box; });
  group.erase(std::unique(group.begin(), group.end(), [](const auto* a, const auto* b) { return same_place(*a, *b); }),
              group.end());
}

PutPlace place_of(const Transfer& put, const DatasetEntry& dataset, int64_t flush) {
  PutPlace place;
  place.dataset = put.dataset;
  place.flush = flush;
  place.box = put.start;
  place.has_gaps = put.has_gaps;
  place.whole_rows = put.whole_rows;
  for (size_t dim = 0; dim < put.start.size(); ++dim) {
    place.box.push_back(put.start[dim] + put.count[dim]);
  }
  // Rows that lie among others' are moved apart later.
  if (put.has_gaps && !dataset.is_interleaved()) {
    place.displacement = put.displacement;
    place.region = put.region;
  }
  return place;
}

// Joins neighbours among the puts of whole rows of a dataset, where there are many.
void join_rows(std::vector<PutPlace>& places) {
  std::vector<PutPlace> joined;
  for (auto begin = places.begin(); begin != places.end();) {
    const auto end = std::find_if(begin, places.end(), [&](const PutPlace& place) { return place.dataset != begin->dataset; });
    const bool are_rows = std::all_of(begin, end, [](const PutPlace& place) { return place.whole_rows && place.dims() > 0; });
    if (are_rows && static_cast<size_t>(end - begin) > kMostApart) {
      std::sort(begin, end, [](const PutPlace& a, const PutPlace& b) { return a.begin(0) < b.begin(0); });
      const size_t first = joined.size();
      for (auto at = begin; at != end; ++at) {
        if (joined.size() > first && joined.back().end(0) == at->begin(0)) {
          joined.back().box[at->dims()] = at->end(0);
        } else {
          joined.push_back(std::move(*at));
        }
      }
    } else {
      std::move(begin, end, std::back_inserter(joined));
    }
    begin = end;
  }
  places = std::move(joined);
}

}  // namespace

Status PutPlaces::note(std::span<const Transfer> pending, std::span<const DatasetEntry> datasets) {
  std::vector<PutPlace> places;
  for (const Transfer& put : pending) {
    if (put.region.size() > 0) {
      places.push_back(place_of(put, datasets[static_cast<size_t>(put.dataset)], flushes_));
    }
  }
  ++flushes_;
  STRIA_RETURN_IF_ERROR(check_each(places, datasets, [](auto&) {}));
  join_rows(places);
  if (places_.size() + places.size() > kMostKept) {
    return Status();
  }
  places_.insert(places_.end(), std::move_iterator(places.begin()), std::move_iterator(places.end()));
  return Status();
}

void PutPlaces::encode(FieldWriter& fields) const {
  fields.number(static_cast<int64_t>(places_.size()));
  for (const PutPlace& place : places_) {
    fields.number(place.dataset);
    fields.number(place.flush);
    fields.number(place.has_gaps ? 1 : 0);
    fields.bytes(std::as_bytes(std::span(place.box)));
    if (place.has_gaps) {
      std::vector<std::byte> region;
      place.region.serialize(region);
      region.resize(region.size() > kMostRegionBytes ? 0 : region.size());
      fields.number(place.displacement);
      fields.bytes(region);
    }
  }
}

void decode_put_places(FieldReader& fields, int rank, std::vector<PutPlace>& places) {
  const int64_t count = fields.number();
  for (int64_t i = 0; i < count && fields.well(); ++i) {
    PutPlace& place = places.emplace_back();
    place.rank = rank;
    place.dataset = static_cast<int>(fields.number());
    place.flush = fields.number();
    place.has_gaps = fields.number() != 0;
    fields.append_to(place.box);
    if (place.has_gaps) {
      place.displacement = fields.number();
      size_t consumed_bytes = 0;
      const auto region = Datatype::deserialize(fields.bytes(), &consumed_bytes);
      place.region = region.ok() ? *region : Datatype();
    }
  }
}

Status check_put_places(std::vector<PutPlace> places, std::span<const DatasetEntry> datasets) {
  return check_each(places, datasets, keep_one_of_equal);
}

}  // namespace stria::file
