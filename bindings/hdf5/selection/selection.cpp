#include "hdf5/selection/selection.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "base/checked.hpp"

namespace stria::hdf5 {

namespace {

// One call asks for so many blocks or points.
constexpr hsize_t kListEntries = 65536;
// Their rows take 16 bytes each here, and more in HDF5.
constexpr size_t kMostPieces = size_t{1} << 26;
constexpr hsize_t kMostElements = hsize_t{1} << 60;

Status not_described() {
  return {ErrorCode::kUnsupported, "a selection that can't be described"};
}

Status outside() {
  return {ErrorCode::kInvalidArgument, "a selection outside of its dataspace"};
}

/// The bytes from one index to the next, of each dimension.
struct Array {
  std::vector<hsize_t> lengths;
  std::vector<int64_t> step_bytes;

  size_t rank() const { return lengths.size(); }
};

Result<Array> array_of(const Library& library, hid_t space, int64_t element_bytes) {
  auto lengths = lengths_of(library, space);
  if (!lengths) {
    return not_described();
  }
  Array array{*lengths, std::vector<int64_t>(lengths->size())};
  int64_t bytes = element_bytes;
  for (size_t d = array.rank(); d-- > 0;) {
    array.step_bytes[d] = bytes;
    if (array.lengths[d] > kMostElements || !checked_multiply(bytes, static_cast<int64_t>(array.lengths[d]), &bytes)) {
      return not_described();
    }
  }
  return array;
}

// The program may have moved the selection as a whole (H5Soffset_simple), which HDF5 tells only by
// the bounds. `first`: the least index in each dimension, as the selection was made. HDF5 1.10 goes
// wrong with such selections of memory beside chunks, so that they are left to it.
bool is_moved(const Library& library, hid_t space, const std::vector<hsize_t>& first) {
  std::vector<hsize_t> low(first.size()), high(first.size());
  return library.H5Sget_select_bounds(space, low.data(), high.data()) < 0 || low != first;
}

/// A regular hyperslab, or all, of an array of at most kMaxRank dimensions.
struct Hyperslab {
  size_t rank = 0;
  int64_t element_bytes = 0;
  std::array<hsize_t, kMaxRank> lengths;  // the first `rank` of each
  std::array<hsize_t, kMaxRank> start;
  std::array<hsize_t, kMaxRank> stride;
  std::array<hsize_t, kMaxRank> count;
  std::array<hsize_t, kMaxRank> block;

  /// True where both have the same datatype, each from its own first element on.
  bool has_type_of(const Hyperslab& other) const {
    const auto same = [this](const auto& mine, const auto& theirs) {
      return std::equal(mine.begin(), mine.begin() + rank, theirs.begin());
    };
    return rank == other.rank && element_bytes == other.element_bytes && same(lengths, other.lengths) &&
           same(stride, other.stride) && same(count, other.count) && same(block, other.block);
  }
};

/// Asks for the selection. False where it is none of these, or was moved. `slab` has its lengths.
bool ask_hyperslab(const Library& library, hid_t space, Hyperslab& slab) {
  const int selection = library.H5Sget_select_type(space);
  if (selection == kAllSelection) {
    slab.start.fill(0);
    slab.count.fill(1);
    slab.stride = slab.block = slab.lengths;
    return true;
  }
  if (selection != kHyperslabSelection || library.H5Sis_regular_hyperslab(space) <= 0 ||
      library.H5Sget_regular_hyperslab(space, slab.start.data(), slab.stride.data(), slab.count.data(), slab.block.data()) <
          0) {
    return false;
  }
  std::array<hsize_t, kMaxRank> low, high;
  return library.H5Sget_select_bounds(space, low.data(), high.data()) >= 0 &&
         std::equal(low.begin(), low.begin() + slab.rank, slab.start.begin());
}

/// The type begins at the hyperslab's first element.
Result<Datatype> type_of(const Array& array, const Hyperslab& slab) {
  Datatype type = Datatype::bytes(slab.element_bytes);
  for (size_t d = slab.rank; d-- > 0;) {
    const int64_t step = array.step_bytes[d];
    const auto stride = static_cast<int64_t>(slab.count[d] > 1 ? slab.stride[d] : slab.block[d]);
    STRIA_ASSIGN_OR_RETURN(type, Datatype::hvector(static_cast<int64_t>(slab.block[d]), 1, step, type));
    STRIA_ASSIGN_OR_RETURN(type, Datatype::hvector(static_cast<int64_t>(slab.count[d]), 1, stride * step, type));
  }
  return type;
}

/// The types of a thread's last hyperslabs: a program moves many variables of one shape.
class KnownTypes {
 public:
  const Datatype* find(const Hyperslab& slab) const {
    for (const Entry& entry : entries_) {
      if (entry.slab.has_type_of(slab)) {
        return &entry.type;
      }
    }
    return nullptr;
  }
  const Datatype* keep(const Hyperslab& slab, Datatype type) {
    Entry& entry = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    entry = {slab, std::move(type)};
    return &entry.type;
  }

 private:
  struct Entry {
    Hyperslab slab;
    Datatype type;
  };
  std::array<Entry, 4> entries_;
  size_t next_ = 0;
};

bool lies_within(const Hyperslab& slab) {
  for (size_t d = 0; d < slab.rank; ++d) {
    const hsize_t length = slab.lengths[d];
    const hsize_t steps = slab.count[d] - 1;  // very many where the count is 0
    if (slab.block[d] > length || slab.start[d] > length || (steps > 0 && steps > length / slab.stride[d]) ||
        slab.start[d] + steps * slab.stride[d] + slab.block[d] > length) {
      return false;
    }
  }
  return true;
}

Result<Selected> memory_of_hyperslab(const Library& library, hid_t space, const Hyperslab& slab) {
  // A plugin that is loaded late finds little room for what a thread has of its own.
  static thread_local const auto known = std::make_unique<KnownTypes>();
  if (!lies_within(slab)) {
    return outside();
  }
  const Datatype* type = known->find(slab);
  if (type == nullptr) {
    STRIA_ASSIGN_OR_RETURN(const Array array, array_of(library, space, slab.element_bytes));
    STRIA_ASSIGN_OR_RETURN(Datatype made, type_of(array, slab));
    type = known->keep(slab, std::move(made));
  }
  Selected selected{0, *type};
  int64_t step_bytes = slab.element_bytes;
  for (size_t d = slab.rank; d-- > 0;) {
    selected.base_bytes += static_cast<int64_t>(slab.start[d]) * step_bytes;
    step_bytes *= static_cast<int64_t>(slab.lengths[d]);
  }
  return selected;
}

/// One row of a block, or a point.
struct SelectedPiece {
  int64_t offset = 0;
  int64_t bytes = 0;
};

Result<Datatype> memory_of_pieces(const std::vector<SelectedPiece>& pieces) {
  std::vector<int64_t> lengths, offsets;
  lengths.reserve(pieces.size());
  offsets.reserve(pieces.size());
  for (const SelectedPiece& piece : pieces) {
    if (!offsets.empty() && offsets.back() + lengths.back() == piece.offset) {
      lengths.back() += piece.bytes;
      continue;
    }
    offsets.push_back(piece.offset);
    lengths.push_back(piece.bytes);
  }
  return Datatype::hindexed(lengths, offsets, Datatype::bytes(1));
}

/// Asks for a list of boxes of coordinates in turns. A box has `width` numbers.
template <typename Ask>
Result<std::vector<hsize_t>> ask_list(hssize_t count, size_t width, Ask&& ask) {
  if (count < 0 || static_cast<size_t>(count) > kMostPieces) {
    return not_described();
  }
  std::vector<hsize_t> list(static_cast<size_t>(count) * width);
  for (hsize_t first = 0; first < static_cast<hsize_t>(count); first += kListEntries) {
    const hsize_t some = std::min(kListEntries, static_cast<hsize_t>(count) - first);
    if (ask(first, some, list.data() + first * width) < 0) {
      return not_described();
    }
  }
  return list;
}

std::vector<hsize_t> least_of(const std::vector<hsize_t>& list, size_t width, size_t rank) {
  std::vector<hsize_t> least(rank, std::numeric_limits<hsize_t>::max());
  for (size_t at = 0; at < list.size(); at += width) {
    for (size_t d = 0; d < rank; ++d) {
      least[d] = std::min(least[d], list[at + d]);
    }
  }
  return least;
}

/// Finds the place of the element with these coordinates; false where it lies outside of the array.
bool find_place(const Array& array, const hsize_t* coordinates, int64_t& place) {
  place = 0;
  for (size_t d = 0; d < array.rank(); ++d) {
    if (coordinates[d] >= array.lengths[d]) {
      return false;
    }
    place += static_cast<int64_t>(coordinates[d]) * array.step_bytes[d];
  }
  return true;
}

bool has_repeats(std::vector<SelectedPiece> pieces) {
  const auto before = [](const SelectedPiece& a, const SelectedPiece& b) { return a.offset < b.offset; };
  if (!std::is_sorted(pieces.begin(), pieces.end(), before)) {
    std::sort(pieces.begin(), pieces.end(), before);
  }
  const auto same = [](const SelectedPiece& a, const SelectedPiece& b) { return a.offset == b.offset; };
  return std::adjacent_find(pieces.begin(), pieces.end(), same) != pieces.end();
}

Result<Datatype> memory_of_points(const Library& library, hid_t space, const Array& array, int64_t element_bytes, Use use) {
  const size_t rank = array.rank();
  STRIA_ASSIGN_OR_RETURN(
      const auto list, ask_list(library.H5Sget_select_elem_npoints(space), rank, [&](hsize_t first, hsize_t some, hsize_t* to) {
        return library.H5Sget_select_elem_pointlist(space, first, some, to);
      }));
  if (is_moved(library, space, least_of(list, rank, rank))) {
    return not_described();
  }
  std::vector<SelectedPiece> pieces;
  pieces.reserve(list.size() / rank);
  for (size_t at = 0; at < list.size(); at += rank) {
    SelectedPiece piece{0, element_bytes};
    if (!find_place(array, list.data() + at, piece.offset)) {
      return outside();
    }
    pieces.push_back(piece);
  }
  return use == Use::kFromFile && has_repeats(pieces) ? Result<Datatype>(not_described()) : memory_of_pieces(pieces);
}

/// Adds the rows of a block. `block` has its first coordinates, then its last. kInvalidArgument
/// where it isn't within the array, and kUnsupported for more pieces than are described.
Status add_rows(const Array& array, const hsize_t* block, std::vector<SelectedPiece>& pieces) {
  const size_t rank = array.rank();
  std::vector<hsize_t> at(block, block + rank);
  const hsize_t* const last = block + rank;
  int64_t end = 0;
  const auto row_bytes = static_cast<int64_t>(last[rank - 1] - block[rank - 1] + 1) * array.step_bytes[rank - 1];
  while (true) {
    SelectedPiece piece{0, row_bytes};
    if (!find_place(array, at.data(), piece.offset)) {
      return outside();
    }
    if (pieces.size() == kMostPieces) {
      return not_described();
    }
    pieces.push_back(piece);
    size_t d = rank - 1;
    while (d > 0 && at[d - 1] == last[d - 1]) {
      at[d - 1] = block[d - 1];
      --d;
    }
    if (d == 0) {
      return find_place(array, last, end) ? Status() : outside();
    }
    ++at[d - 1];
  }
}

Result<Datatype> memory_of_blocks(const Library& library, hid_t space, const Array& array) {
  const size_t rank = array.rank();
  STRIA_ASSIGN_OR_RETURN(const auto list, ask_list(library.H5Sget_select_hyper_nblocks(space), 2 * rank,
                                                   [&](hsize_t first, hsize_t some, hsize_t* to) {
                                                     return library.H5Sget_select_hyper_blocklist(space, first, some, to);
                                                   }));
  if (is_moved(library, space, least_of(list, 2 * rank, rank))) {
    return not_described();
  }
  std::vector<SelectedPiece> pieces;
  for (size_t at = 0; at < list.size(); at += 2 * rank) {
    STRIA_RETURN_IF_ERROR(add_rows(array, list.data() + at, pieces));
  }
  std::sort(pieces.begin(), pieces.end(), [](const SelectedPiece& a, const SelectedPiece& b) { return a.offset < b.offset; });
  return memory_of_pieces(pieces);
}

}  // namespace

std::optional<std::vector<hsize_t>> lengths_of(const Library& library, hid_t space) {
  const int rank = library.H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > kMaxRank) {
    return std::nullopt;
  }
  std::vector<hsize_t> lengths(static_cast<size_t>(rank));
  if (library.H5Sget_simple_extent_dims(space, lengths.data(), nullptr) != rank) {
    return std::nullopt;
  }
  return lengths;
}

std::optional<std::vector<Steps>> regular_steps(const Library& library, hid_t space) {
  const auto lengths = lengths_of(library, space);
  if (!lengths) {
    return std::nullopt;
  }
  Hyperslab slab;
  slab.rank = lengths->size();
  std::copy(lengths->begin(), lengths->end(), slab.lengths.begin());
  if (!ask_hyperslab(library, space, slab)) {
    return std::nullopt;
  }
  std::vector<Steps> steps(slab.rank);
  for (size_t d = 0; d < slab.rank; ++d) {
    steps[d] = {slab.start[d], slab.stride[d], slab.count[d], slab.block[d]};
  }
  return steps;
}

Result<Selected> selected_memory(const Library& library, hid_t space, int64_t element_bytes, Use use) {
  Hyperslab slab;
  const int rank = library.H5Sget_simple_extent_ndims(space);
  if (rank < 0 || rank > kMaxRank || library.H5Sget_simple_extent_dims(space, slab.lengths.data(), nullptr) != rank) {
    return not_described();
  }
  slab.rank = static_cast<size_t>(rank);
  slab.element_bytes = element_bytes;
  if (ask_hyperslab(library, space, slab)) {
    return memory_of_hyperslab(library, space, slab);
  }
  STRIA_ASSIGN_OR_RETURN(const Array array, array_of(library, space, element_bytes));
  Selected selected;
  switch (library.H5Sget_select_type(space)) {
    case kNoSelection:
      return selected;
    case kPointSelection: {
      STRIA_ASSIGN_OR_RETURN(selected.type, memory_of_points(library, space, array, element_bytes, use));
      return selected;
    }
    case kHyperslabSelection: {
      STRIA_ASSIGN_OR_RETURN(selected.type, memory_of_blocks(library, space, array));
      return selected;
    }
    default:
      return not_described();
  }
}

}  // namespace stria::hdf5
