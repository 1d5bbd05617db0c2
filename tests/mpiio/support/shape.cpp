#include "mpiio/support/shape.hpp"

#include <numeric>

#include "mpiio/support/suite.hpp"

namespace mpiio {
namespace {

// Takes a type that was just made and the naive list of its bytes.
Shape finish(MPI_Datatype type, std::vector<int64_t> bytes, std::string name) {
  Shape shape;
  MPI_Type_commit(&type);
  shape.type = type;
  shape.bytes = std::move(bytes);
  shape.text = std::move(name);
  shape.owner = std::shared_ptr<void>(nullptr, [type](void*) {
    MPI_Datatype mine = type;
    MPI_Type_free(&mine);
  });
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  int size = 0;
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_size(type, &size);
  shape.lb = lb;
  shape.extent = extent;
  EXPECT(size == shape.size(), "the oracle has ", shape.size(), " bytes, MPI ", size, " for ", shape.text);
  return shape;
}

// Appends `count` consecutive copies that begin at `place` bytes.
void append(std::vector<int64_t>& bytes, const Shape& of, int64_t place, int64_t count) {
  for (int64_t copy = 0; copy < count; ++copy) {
    for (const int64_t byte : of.bytes) {
      bytes.push_back(place + copy * of.extent + byte);
    }
  }
}

template <class Values>
std::string list(const Values& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    out += text(i == 0 ? "" : " ", values[i]);
  }
  return out + "]";
}

int count_of(const std::vector<int>& values) {
  return static_cast<int>(values.size());
}

// Calls `visit` for every element of an array of `sizes`, in the order in which they lie in memory.
// It gets one index per dimension.
template <class Visit>
void for_each_element(const std::vector<int>& sizes, int order, Visit visit) {
  const size_t dims = sizes.size();
  std::vector<int> index(dims, 0);
  int64_t total = 1;
  for (const int size : sizes) {
    total *= size;
  }
  for (int64_t place = 0; place < total; ++place) {
    int64_t rest = place;
    for (size_t i = 0; i < dims; ++i) {
      const size_t d = order == MPI_ORDER_C ? dims - 1 - i : i;
      index[d] = static_cast<int>(rest % sizes[d]);
      rest /= sizes[d];
    }
    visit(index, place);
  }
}

// Returns the process coordinate that owns global index `i` along dimension d.
int owner(const Distribution& distribution, size_t d, int i) {
  const int size = distribution.sizes[d];
  const int processes = distribution.grid[d];
  const int argument = distribution.arguments[d];
  if (distribution.kinds[d] == MPI_DISTRIBUTE_BLOCK) {
    const int block = argument == MPI_DISTRIBUTE_DFLT_DARG ? (size + processes - 1) / processes : argument;
    return i / block;
  }
  if (distribution.kinds[d] == MPI_DISTRIBUTE_CYCLIC) {
    const int block = argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument;
    return i / block % processes;
  }
  return 0;
}

}  // namespace

Shape named(MPI_Datatype type, std::string name, std::vector<int64_t> bytes) {
  Shape shape;
  shape.type = type;
  shape.bytes = std::move(bytes);
  shape.text = std::move(name);
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lb, &extent);
  shape.lb = lb;
  shape.extent = extent;
  return shape;
}

Shape named(MPI_Datatype type, std::string name, int64_t size) {
  std::vector<int64_t> bytes(static_cast<size_t>(size));
  std::iota(bytes.begin(), bytes.end(), 0);
  return named(type, std::move(name), std::move(bytes));
}

Shape contiguous(int count, const Shape& of) {
  std::vector<int64_t> bytes;
  append(bytes, of, 0, count);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, of.type, &type);
  return finish(type, std::move(bytes), text("contiguous(", count, ", ", of.text, ")"));
}

Shape vector(int count, int length, int stride, const Shape& of) {
  std::vector<int64_t> bytes;
  for (int64_t i = 0; i < count; ++i) {
    append(bytes, of, i * stride * of.extent, length);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, of.type, &type);
  return finish(type, std::move(bytes), text("vector(", count, ", ", length, ", ", stride, ", ", of.text, ")"));
}

Shape hvector(int count, int length, int64_t stride_bytes, const Shape& of) {
  std::vector<int64_t> bytes;
  for (int64_t i = 0; i < count; ++i) {
    append(bytes, of, i * stride_bytes, length);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(count, length, stride_bytes, of.type, &type);
  return finish(type, std::move(bytes), text("hvector(", count, ", ", length, ", ", stride_bytes, ", ", of.text, ")"));
}

Shape indexed(const std::vector<int>& lengths, const std::vector<int>& places, const Shape& of) {
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < lengths.size(); ++i) {
    append(bytes, of, places[i] * of.extent, lengths[i]);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(count_of(lengths), lengths.data(), places.data(), of.type, &type);
  return finish(type, std::move(bytes), text("indexed(", list(lengths), ", ", list(places), ", ", of.text, ")"));
}

Shape hindexed(const std::vector<int>& lengths, const std::vector<MPI_Aint>& place_bytes, const Shape& of) {
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < lengths.size(); ++i) {
    append(bytes, of, place_bytes[i], lengths[i]);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(count_of(lengths), lengths.data(), place_bytes.data(), of.type, &type);
  return finish(type, std::move(bytes), text("hindexed(", list(lengths), ", ", list(place_bytes), ", ", of.text, ")"));
}

Shape indexed_block(int length, const std::vector<int>& places, const Shape& of) {
  std::vector<int64_t> bytes;
  for (const int place : places) {
    append(bytes, of, place * of.extent, length);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_indexed_block(count_of(places), length, places.data(), of.type, &type);
  return finish(type, std::move(bytes), text("indexed_block(", length, ", ", list(places), ", ", of.text, ")"));
}

Shape hindexed_block(int length, const std::vector<MPI_Aint>& place_bytes, const Shape& of) {
  std::vector<int64_t> bytes;
  for (const MPI_Aint place : place_bytes) {
    append(bytes, of, place, length);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(place_bytes.size()), length, place_bytes.data(), of.type, &type);
  return finish(type, std::move(bytes), text("hindexed_block(", length, ", ", list(place_bytes), ", ", of.text, ")"));
}

Shape structure(const std::vector<int>& lengths, const std::vector<MPI_Aint>& place_bytes, const std::vector<Shape>& of) {
  std::vector<int64_t> bytes;
  std::vector<MPI_Datatype> types;
  std::string parts;
  for (size_t i = 0; i < lengths.size(); ++i) {
    append(bytes, of[i], place_bytes[i], lengths[i]);
    types.push_back(of[i].type);
    parts += ", " + of[i].text;
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(count_of(lengths), lengths.data(), place_bytes.data(), types.data(), &type);
  return finish(type, std::move(bytes), text("struct(", list(lengths), ", ", list(place_bytes), parts, ")"));
}

Shape subarray(const std::vector<int>& sizes, const std::vector<int>& subsizes, const std::vector<int>& starts, int order,
               const Shape& of) {
  std::vector<int64_t> bytes;
  for_each_element(sizes, order, [&](const std::vector<int>& index, int64_t place) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (index[d] < starts[d] || index[d] >= starts[d] + subsizes[d]) {
        return;
      }
    }
    append(bytes, of, place * of.extent, 1);
  });
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(count_of(sizes), sizes.data(), subsizes.data(), starts.data(), order, of.type, &type);
  return finish(type, std::move(bytes),
                text("subarray(", list(sizes), ", ", list(subsizes), ", ", list(starts), ", ",
                     order == MPI_ORDER_C ? "C" : "Fortran", ", ", of.text, ")"));
}

Shape darray(int rank_count, int rank, const Distribution& distribution, const Shape& of) {
  const std::vector<int>& grid = distribution.grid;
  std::vector<int> mine(grid.size());
  int rest = rank;  // the process grid is always in C order
  for (size_t d = grid.size(); d-- > 0;) {
    mine[d] = rest % grid[d];
    rest /= grid[d];
  }
  std::vector<int64_t> bytes;
  for_each_element(distribution.sizes, distribution.order, [&](const std::vector<int>& index, int64_t place) {
    for (size_t d = 0; d < grid.size(); ++d) {
      if (owner(distribution, d, index[d]) != mine[d]) {
        return;
      }
    }
    append(bytes, of, place * of.extent, 1);
  });
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_darray(rank_count, rank, count_of(grid), distribution.sizes.data(), distribution.kinds.data(),
                         distribution.arguments.data(), grid.data(), distribution.order, of.type, &type);
  return finish(type, std::move(bytes),
                text("darray(rank ", rank, " of ", rank_count, ", sizes ", list(distribution.sizes), ", kinds ",
                     list(distribution.kinds), ", arguments ", list(distribution.arguments), ", grid ", list(grid), ", ",
                     distribution.order == MPI_ORDER_C ? "C" : "Fortran", ", ", of.text, ")"));
}

Shape resized(int64_t lb, int64_t extent, const Shape& of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(of.type, lb, extent, &type);
  return finish(type, of.bytes, text("resized(", lb, ", ", extent, ", ", of.text, ")"));
}

Shape duplicate(const Shape& of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(of.type, &type);
  return finish(type, of.bytes, text("dup(", of.text, ")"));
}

}  // namespace mpiio
