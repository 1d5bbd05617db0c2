#include "mpiio/support/random_shape.hpp"

#include <algorithm>
#include <functional>

namespace mpiio {
namespace {

std::vector<int64_t> all_bytes(const Shape& shape, int copies) {
  std::vector<int64_t> bytes;
  for (int64_t i = 0; i < copies * shape.size(); ++i) {
    bytes.push_back(shape.at(i));
  }
  return bytes;
}

bool overlaps(const Shape& shape, int copies) {
  std::vector<int64_t> bytes = all_bytes(shape, copies);
  std::sort(bytes.begin(), bytes.end());
  return std::adjacent_find(bytes.begin(), bytes.end()) != bytes.end();
}

// Tells whether file offsets never go back, as MPI asks of a filetype.
bool ascends(const Shape& shape) {
  const std::vector<int64_t> bytes = all_bytes(shape, 2);
  return bytes.empty() || (bytes.front() >= 0 && std::is_sorted(bytes.begin(), bytes.end()));
}

struct Pieces {
  std::vector<int> lengths;
  std::vector<int> places;  // in extents of the child
};

// Returns a few pieces of a few children, with gaps or without, some of them empty; in any order
// unless `ascending`.
Pieces random_pieces(Random& random, bool ascending) {
  Pieces pieces;
  int place = static_cast<int>(random.between(0, 3));
  const int64_t count = random.between(1, 4);
  for (int64_t i = 0; i < count; ++i) {
    const int length = random.one_in(6) ? 0 : static_cast<int>(random.between(1, 3));
    pieces.lengths.push_back(length);
    pieces.places.push_back(place);
    place += length + static_cast<int>(random.between(0, 4));
  }
  if (!ascending && random.one_in(3)) {
    std::reverse(pieces.lengths.begin(), pieces.lengths.end());
    std::reverse(pieces.places.begin(), pieces.places.end());
  }
  return pieces;
}

std::vector<MPI_Aint> scaled(const std::vector<int>& places, int64_t unit, int64_t shift) {
  std::vector<MPI_Aint> bytes;
  for (const int place : places) {
    bytes.push_back(static_cast<MPI_Aint>(place * unit + shift));
  }
  return bytes;
}

Shape random_subarray(Random& random, const Shape& child) {
  const int64_t dims = random.between(1, 3);
  std::vector<int> sizes;
  std::vector<int> subsizes;
  std::vector<int> starts;
  for (int64_t d = 0; d < dims; ++d) {
    const int size = static_cast<int>(random.between(1, 4));
    const int subsize = static_cast<int>(random.between(1, size));
    sizes.push_back(size);
    subsizes.push_back(subsize);
    starts.push_back(static_cast<int>(random.between(0, size - subsize)));
  }
  return subarray(sizes, subsizes, starts, random.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, child);
}

Distribution random_distribution(Random& random, int rank_count, int dims) {
  Distribution distribution;
  std::vector<int> kinds_that_split = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  distribution.order = random.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  distribution.grid.assign(static_cast<size_t>(dims), 0);
  if (dims > 1 && random.one_in(3)) {
    distribution.grid[0] = 1;
  }
  MPI_Dims_create(rank_count, dims, distribution.grid.data());
  for (int d = 0; d < dims; ++d) {
    const int processes = distribution.grid[static_cast<size_t>(d)];
    const int size = static_cast<int>(random.between(1, 5)) + processes;
    int kind = kinds_that_split[static_cast<size_t>(random.between(0, 1))];
    int argument = MPI_DISTRIBUTE_DFLT_DARG;
    if (processes == 1 && random.one_in(2)) {
      kind = MPI_DISTRIBUTE_NONE;
    } else if (kind == MPI_DISTRIBUTE_CYCLIC && random.one_in(2)) {
      argument = static_cast<int>(random.between(1, 3));
    } else if (kind == MPI_DISTRIBUTE_BLOCK && random.one_in(3)) {
      argument = (size + processes - 1) / processes + static_cast<int>(random.between(0, 1));
    }
    distribution.sizes.push_back(size);
    distribution.kinds.push_back(kind);
    distribution.arguments.push_back(argument);
  }
  return distribution;
}

Shape random_struct(Random& random, const Shape& child, bool ascending) {
  Pieces pieces = random_pieces(random, ascending);
  std::vector<Shape> of;
  std::vector<MPI_Aint> places;
  int64_t place = random.between(0, 2) * child.extent;
  for (size_t i = 0; i < pieces.lengths.size(); ++i) {
    of.push_back(i % 2 == 1 && random.one_in(2) ? contiguous(2, child) : child);
    places.push_back(static_cast<MPI_Aint>(place));
    place += pieces.lengths[i] * of.back().extent + random.between(0, 2) * child.extent;
  }
  return structure(pieces.lengths, places, of);
}

// Returns one constructor around `child`.
Shape wrap(Random& random, const Shape& child, bool ascending) {
  const int64_t shift = ascending ? 0 : -random.between(0, 20);
  const int count = static_cast<int>(random.between(1, 4));
  const int length = static_cast<int>(random.between(1, 3));
  const int stride = length + static_cast<int>(random.between(0, 3));
  switch (random.between(0, 11)) {
    case 0:
      return contiguous(count, child);
    case 1:
      return vector(count, length, stride, child);
    case 2:
      return hvector(count, length, (ascending || !random.one_in(4) ? 1 : -1) * stride * child.extent, child);
    case 3: {
      const Pieces pieces = random_pieces(random, ascending);
      return indexed(pieces.lengths, pieces.places, child);
    }
    case 4: {
      const Pieces pieces = random_pieces(random, ascending);
      return hindexed(pieces.lengths, scaled(pieces.places, child.extent, shift), child);
    }
    case 5: {
      Pieces pieces = random_pieces(random, ascending);
      for (size_t i = 0; i < pieces.places.size(); ++i) {
        pieces.places[i] = static_cast<int>(i) * 3 + (i > 0 ? pieces.places[0] : 0);
      }
      return indexed_block(length, pieces.places, child);
    }
    case 6:
      return hindexed_block(length, scaled({0, 4, 9}, child.extent, shift), child);
    case 7:
      return random_struct(random, child, ascending);
    case 8:
      return random_subarray(random, child);
    case 9:
      return darray(3, static_cast<int>(random.between(0, 2)),
                    random_distribution(random, 3, static_cast<int>(random.between(1, 2))), child);
    case 10:
      return duplicate(child);
    default: {
      const int64_t lb = ascending ? 0 : random.between(-9, 3);
      return resized(lb, child.extent + random.between(0, 16), child);
    }
  }
}

Shape random_shape(Random& random, const Shape& leaf, int depth, const std::function<bool(const Shape&)>& good,
                   bool ascending) {
  constexpr int64_t kMostBytes = 4096;
  while (true) {
    Shape shape = leaf;
    const int64_t levels = random.between(1, depth);
    for (int64_t level = 0; level < levels && shape.size() > 0; ++level) {
      shape = wrap(random, shape, ascending);
    }
    if (shape.size() > 0 && shape.size() <= kMostBytes && good(shape)) {
      return shape;
    }
  }
}

Shape random_filetype(Random& random, const Shape& etype, int depth) {
  return random_shape(
      random, etype, depth, [](const Shape& shape) { return shape.lb >= 0 && !overlaps(shape, 2) && ascends(shape); }, true);
}

int64_t end_of(const Shape& shape) {
  return std::max(shape.lb + shape.extent, *std::max_element(shape.bytes.begin(), shape.bytes.end()) + 1);
}

// Every rank has a random type of its own. They lie side by side in a tile that repeats.
void side_by_side(Random& random, std::vector<View>& views) {
  int64_t span = 0;
  for (View& view : views) {
    view.filetype = random_filetype(random, view.etype, 3);
    span = std::max(span, end_of(view.filetype));
  }
  const int64_t unit = views[0].etype.extent;
  span = (span + unit - 1) / unit * unit;
  for (size_t r = 0; r < views.size(); ++r) {
    views[r].displacement += static_cast<int64_t>(r) * span;
    views[r].filetype = resized(0, span * static_cast<int64_t>(views.size()), views[r].filetype);
  }
}

// Each element of a tile goes to a rank, or to none.
void dealt(Random& random, std::vector<View>& views) {
  const int64_t elements = random.between(static_cast<int64_t>(views.size()), 60);
  std::vector<std::vector<int>> places(views.size());
  for (int e = 0; e < elements; ++e) {
    const auto rank = static_cast<size_t>(random.between(0, static_cast<int64_t>(views.size())));
    if (rank < views.size()) {
      places[rank].push_back(e);
    }
  }
  for (size_t r = 0; r < views.size(); ++r) {
    if (places[r].empty()) {
      places[r].push_back(static_cast<int>(elements + static_cast<int64_t>(r)));
    }
    const Shape mine = indexed_block(1, places[r], views[r].etype);
    views[r].filetype = resized(0, (elements + static_cast<int64_t>(views.size())) * views[r].etype.extent, mine);
  }
}

void blocks_of_an_array(Random& random, std::vector<View>& views) {
  const int rank_count = static_cast<int>(views.size());
  const int dims = static_cast<int>(random.between(1, 3));
  std::vector<int> grid(static_cast<size_t>(dims), 0);
  MPI_Dims_create(rank_count, dims, grid.data());
  std::vector<int> subsizes;
  std::vector<int> sizes;
  for (const int processes : grid) {
    subsizes.push_back(static_cast<int>(random.between(1, 4)));
    sizes.push_back(subsizes.back() * processes + static_cast<int>(random.between(0, 2)));
  }
  const int order = random.one_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  for (int r = 0; r < rank_count; ++r) {
    std::vector<int> starts(grid.size());
    int rest = r;
    for (size_t d = 0; d < grid.size(); ++d) {
      starts[d] = rest % grid[d] * subsizes[d];
      rest /= grid[d];
    }
    View& view = views[static_cast<size_t>(r)];
    view.filetype = subarray(sizes, subsizes, starts, order, view.etype);
  }
}

}  // namespace

Shape random_etype(Random& random) {
  switch (random.between(0, 6)) {
    case 0:
      return named(MPI_INT, "MPI_INT", 4);
    case 1:
      return named(MPI_DOUBLE, "MPI_DOUBLE", 8);
    case 2:
      return contiguous(3, named(MPI_BYTE, "MPI_BYTE", 1));
    case 3:
      return structure({1, 1}, {0, 8}, {named(MPI_DOUBLE, "MPI_DOUBLE", 8), named(MPI_INT64_T, "MPI_INT64_T", 8)});
    case 4:
      return named(MPI_SHORT, "MPI_SHORT", 2);
    default:
      return named(MPI_BYTE, "MPI_BYTE", 1);
  }
}

Shape random_memory(Random& random, const Shape& leaf, int depth, int copies) {
  return random_shape(
      random, leaf, depth, [copies](const Shape& shape) { return !overlaps(shape, copies); }, false);
}

std::vector<View> random_views(uint64_t seed, int rank_count) {
  Random random(seed ^ 0x5eed);
  std::vector<View> views(static_cast<size_t>(rank_count));
  const Shape etype = random_etype(random);
  const int64_t displacement = random.one_in(2) ? 0 : random.between(1, 9000);
  for (View& view : views) {
    view.etype = etype;
    view.displacement = displacement;
  }
  switch (random.between(0, 5)) {
    case 0:
      for (size_t r = 0; r < views.size(); ++r) {
        views[r].filetype = etype;
        views[r].displacement += static_cast<int64_t>(r) * (1 << 18);
      }
      break;
    case 1:
      dealt(random, views);
      break;
    case 2: {
      const Distribution distribution = random_distribution(random, rank_count, static_cast<int>(random.between(1, 3)));
      for (int r = 0; r < rank_count; ++r) {
        views[static_cast<size_t>(r)].filetype = darray(rank_count, r, distribution, etype);
      }
      break;
    }
    case 3:
      blocks_of_an_array(random, views);
      break;
    default:
      side_by_side(random, views);
  }
  return views;
}

View random_common_view(Random& random) {
  View view;
  view.etype = random_etype(random);
  view.displacement = random.one_in(2) ? 0 : random.between(1, 3000);
  view.filetype = random.one_in(3) ? view.etype : random_filetype(random, view.etype, 2);
  return view;
}

}  // namespace mpiio
