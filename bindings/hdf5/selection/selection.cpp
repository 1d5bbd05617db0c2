#include "hdf5/selection/selection.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace stria::hdf5 {

namespace {

// So many blocks or points are asked for in one call.
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

Result<Datatype> memory_of_steps(const Array& array, const std::vector<Steps>& steps, int64_t element_bytes) {
  Datatype type = Datatype::bytes(element_bytes);
  int64_t displacement = 0;
  for (size_t d = array.rank(); d-- > 0;) {
    const Steps& along = steps[d];
    const hsize_t last = along.start + (along.count - 1) * along.stride + along.block;
    if (along.count > kMostElements || along.stride > kMostElements || last > array.lengths[d]) {
      return outside();
    }
    const int64_t step = array.step_bytes[d];
    STRIA_ASSIGN_OR_RETURN(type, Datatype::hvector(static_cast<int64_t>(along.block), 1, step, type));
    STRIA_ASSIGN_OR_RETURN(
        type, Datatype::hvector(static_cast<int64_t>(along.count), 1, static_cast<int64_t>(along.stride) * step, type));
    displacement += static_cast<int64_t>(along.start) * step;
  }
  return Datatype::hindexed_block(1, std::span(&displacement, 1), type);
}

/// One row of a block, or a point.
struct Piece {
  int64_t offset = 0;
  int64_t bytes = 0;
};

Result<Datatype> memory_of_pieces(const std::vector<Piece>& pieces) {
  std::vector<int64_t> lengths, offsets;
  lengths.reserve(pieces.size());
  offsets.reserve(pieces.size());
  for (const Piece& piece : pieces) {
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

/// The place of the element with these coordinates; false where it lies outside of the array.
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

bool has_repeats(std::vector<Piece> pieces) {
  const auto before = [](const Piece& a, const Piece& b) { return a.offset < b.offset; };
  if (!std::is_sorted(pieces.begin(), pieces.end(), before)) {
    std::sort(pieces.begin(), pieces.end(), before);
  }
  const auto same = [](const Piece& a, const Piece& b) { return a.offset == b.offset; };
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
  std::vector<Piece> pieces;
  pieces.reserve(list.size() / rank);
  for (size_t at = 0; at < list.size(); at += rank) {
    Piece piece{0, element_bytes};
    if (!find_place(array, list.data() + at, piece.offset)) {
      return outside();
    }
    pieces.push_back(piece);
  }
  return use == Use::kFromFile && has_repeats(pieces) ? Result<Datatype>(not_described()) : memory_of_pieces(pieces);
}

/// Adds the rows of a block. `block` has its first coordinates, then its last.
bool add_rows(const Array& array, const hsize_t* block, std::vector<Piece>& pieces) {
  const size_t rank = array.rank();
  std::vector<hsize_t> at(block, block + rank);
  const hsize_t* const last = block + rank;
  int64_t end = 0;
  const auto row_bytes = static_cast<int64_t>(last[rank - 1] - block[rank - 1] + 1) * array.step_bytes[rank - 1];
  while (true) {
    Piece piece{0, row_bytes};
    if (!find_place(array, at.data(), piece.offset) || pieces.size() == kMostPieces) {
      return false;
    }
    pieces.push_back(piece);
    size_t d = rank - 1;
    while (d > 0 && at[d - 1] == last[d - 1]) {
      at[d - 1] = block[d - 1];
      --d;
    }
    if (d == 0) {
      return find_place(array, last, end);
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
  std::vector<Piece> pieces;
  for (size_t at = 0; at < list.size(); at += 2 * rank) {
    if (!add_rows(array, list.data() + at, pieces)) {
      return not_described();
    }
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
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
  const size_t rank = lengths->size();
  std::vector<Steps> steps(rank);
  const int selection = library.H5Sget_select_type(space);
  if (selection == kAllSelection) {
    for (size_t d = 0; d < rank; ++d) {
      steps[d].block = steps[d].stride = (*lengths)[d];
    }
    return steps;
  }
  if (selection != kHyperslabSelection || library.H5Sis_regular_hyperslab(space) <= 0) {
    return std::nullopt;
  }
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  if (library.H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()) < 0) {
    return std::nullopt;
  }
  if (is_moved(library, space, start)) {
    return std::nullopt;
  }
  for (size_t d = 0; d < rank; ++d) {
    steps[d] = {start[d], stride[d], count[d], block[d]};
  }
  return steps;
}

Result<Datatype> selected_memory(const Library& library, hid_t space, int64_t element_bytes, Use use) {
  STRIA_ASSIGN_OR_RETURN(const Array array, array_of(library, space, element_bytes));
  if (const auto steps = regular_steps(library, space)) {
    return memory_of_steps(array, *steps, element_bytes);
  }
  switch (library.H5Sget_select_type(space)) {
    case kPointSelection:
      return memory_of_points(library, space, array, element_bytes, use);
    case kHyperslabSelection:
      return memory_of_blocks(library, space, array);
    default:
      return not_described();
  }
}

}  // namespace stria::hdf5
