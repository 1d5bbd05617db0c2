#include "mpiio/types/decode.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/checked.hpp"
#include "mpiio/types/basic_types.hpp"
#include "mpiio/types/type_contents.hpp"

namespace stria::mpiio {

namespace {

using Numbers = std::span<const int64_t>;

// Moves `type` by `displacement` elements of `extent_bytes` and gives it the bounds [0,
// extent_bytes * whole).
Result<Datatype> place_in_dimension(const Datatype& type, int64_t first, int64_t extent_bytes, int64_t whole) {
  int64_t offset = 0;
  int64_t span = 0;
  if (!checked_multiply(first, extent_bytes, &offset) || !checked_multiply(whole, extent_bytes, &span)) {
    return Status(ErrorCode::kInvalidArgument, "a distributed array of more than 2^63 bytes");
  }
  const int64_t one = 1;
  STRIA_ASSIGN_OR_RETURN(Datatype placed, Datatype::structure({&one, 1}, {&offset, 1}, {&type, 1}));
  return Datatype::resized(placed, 0, span);
}

// One dimension of a distributed array (MPI 3.1, section 4.1.4).
struct Dimension {
  int64_t size;
  int distribution;
  int64_t argument;  // MPI_DISTRIBUTE_DFLT_DARG or the size of a block
  int64_t process_count;
  int64_t coordinate;
};

// `type` holds this process's part of the faster dimensions, `extent_bytes` apart.
Result<Datatype> distribute(const Dimension& dim, const Datatype& type, int64_t extent_bytes) {
  if (dim.distribution == MPI_DISTRIBUTE_NONE) {
    STRIA_ASSIGN_OR_RETURN(Datatype all, Datatype::hvector(dim.size, 1, extent_bytes, type));
    return place_in_dimension(all, 0, extent_bytes, dim.size);
  }
  const bool by_blocks = dim.distribution == MPI_DISTRIBUTE_BLOCK;
  int64_t block = dim.argument;
  if (dim.argument == MPI_DISTRIBUTE_DFLT_DARG) {
    block = by_blocks ? (dim.size + dim.process_count - 1) / dim.process_count : 1;
  }
  if (block < 1) {
    return Status(ErrorCode::kInvalidArgument, "a distributed array with blocks of " + std::to_string(block) + " elements");
  }
  const int64_t first = std::min(block * dim.coordinate, dim.size);
  const int64_t cycle = block * dim.process_count;
  const int64_t left = dim.size - first;
  const int64_t whole_blocks = by_blocks ? (left >= block ? 1 : 0) : (left + cycle - block) / cycle;
  const int64_t rest_at = whole_blocks * (by_blocks ? block : cycle);
  const int64_t rest = std::clamp<int64_t>(left - rest_at, 0, by_blocks && whole_blocks == 1 ? 0 : block);
  STRIA_ASSIGN_OR_RETURN(Datatype one_block, Datatype::hvector(block, 1, extent_bytes, type));
  STRIA_ASSIGN_OR_RETURN(Datatype blocks, Datatype::hvector(whole_blocks, 1, cycle * extent_bytes, one_block));
  STRIA_ASSIGN_OR_RETURN(Datatype tail, Datatype::hvector(rest, 1, extent_bytes, type));
  const std::array<int64_t, 2> ones{1, 1};
  const std::array<int64_t, 2> places{0, rest_at * extent_bytes};
  const std::array<Datatype, 2> parts{blocks, tail};
  STRIA_ASSIGN_OR_RETURN(Datatype mine, Datatype::structure(ones, places, parts));
  return place_in_dimension(mine, first, extent_bytes, dim.size);
}

class Decoder {
 public:
  /// Decodes with these sizes; null: as in memory.
  explicit Decoder(const ElementBytes* element_bytes) : element_bytes_(element_bytes) {}

  Result<Datatype> decode(MPI_Datatype type) const {
    if (type == MPI_DATATYPE_NULL) {
      return Status(ErrorCode::kInvalidArgument, "the datatype is MPI_DATATYPE_NULL");
    }
    if (is_basic(combiner_of(type))) {
      return leaf(type);
    }
    const Bounds bounds = bounds_of(type);
    return decode_contents(contents_of(type), bounds);
  }

  static Result<Datatype> darray(Numbers n, const Datatype& old) {
    const auto dims = static_cast<size_t>(n[2]);
    std::vector<Dimension> dimensions;
    int64_t processes = n[0];
    int64_t rank = n[1];
    for (size_t i = 0; i < dims; ++i) {
      Dimension dim{n[3 + i], static_cast<int>(n[3 + dims + i]), n[3 + 2 * dims + i], n[3 + 3 * dims + i], 0};
      processes /= std::max<int64_t>(dim.process_count, 1);
      dim.coordinate = rank / std::max<int64_t>(processes, 1);
      rank %= std::max<int64_t>(processes, 1);
      dimensions.push_back(dim);
    }
    if (n[3 + 4 * dims] == MPI_ORDER_C) {
      std::reverse(dimensions.begin(), dimensions.end());
    }
    Datatype made = old;
    int64_t extent_bytes = old.extent();
    for (const Dimension& dim : dimensions) {
      STRIA_ASSIGN_OR_RETURN(made, distribute(dim, made, extent_bytes));
      extent_bytes = made.extent();
    }
    return made;
  }

 private:
  struct Bounds {
    MPI_Count lower_bound = 0;
    MPI_Count extent = 0;
  };

  static Bounds bounds_of(MPI_Datatype type) {
    Bounds bounds;
    MPI_Type_get_extent_x(type, &bounds.lower_bound, &bounds.extent);
    return bounds;
  }

  // MPI may widen a struct's extent to its members' alignment, and may know bounds from
  // types of MPI-1.
  static Result<Datatype> with_bounds(const Bounds& bounds, const Datatype& made) {
    if (made.lower_bound() == bounds.lower_bound && made.extent() == bounds.extent) {
      return made;
    }
    return Datatype::resized(made, bounds.lower_bound, bounds.extent);
  }

  // Frees the type as soon as its contents are known, because Open MPI returns a copy with a whole
  // list of its own.
  Result<Datatype> decode_held(HeldType type) const {
    if (is_basic(combiner_of(type.get()))) {
      return leaf(type.get());
    }
    const Bounds bounds = bounds_of(type.get());
    TypeContents contents = contents_of(type.get());
    type.free();
    return decode_contents(std::move(contents), bounds);
  }

  Result<Datatype> decode_contents(TypeContents contents, const Bounds& bounds) const {
    STRIA_ASSIGN_OR_RETURN(Datatype made, construct(contents));
    return element_bytes_ == nullptr ? with_bounds(bounds, made) : made;
  }

  Result<Datatype> leaf(MPI_Datatype type) const {
    if (auto pair = pair_members(type)) {
      STRIA_ASSIGN_OR_RETURN(Datatype first, leaf(pair->first));
      STRIA_ASSIGN_OR_RETURN(Datatype second, leaf(pair->second));
      const std::array<int64_t, 2> ones{1, 1};
      const std::array<int64_t, 2> places{0, element_bytes_ == nullptr ? pair->offset_bytes : first.size()};
      const std::array<Datatype, 2> members{first, second};
      STRIA_ASSIGN_OR_RETURN(Datatype made, Datatype::structure(ones, places, members));
      return element_bytes_ == nullptr ? with_bounds(bounds_of(type), made) : made;
    }
    if (element_bytes_ != nullptr) {
      STRIA_ASSIGN_OR_RETURN(const int64_t bytes, (*element_bytes_)(type));
      return Datatype::bytes(bytes);
    }
    MPI_Count bytes = 0;
    MPI_Type_size_x(type, &bytes);
    return with_bounds(bounds_of(type), Datatype::bytes(bytes));
  }

  // Uses up the types in `contents`.
  Result<Datatype> construct(TypeContents& contents) const {
    const Numbers n = contents.integers;
    const Numbers a = contents.addresses;
    if (contents.combiner == MPI_COMBINER_STRUCT) {
      return structure(contents);
    }
    STRIA_ASSIGN_OR_RETURN(Datatype old, decode_held(std::move(contents.types.at(0))));
    const auto list_bytes = [&n](size_t from) { return n.subspan(from, static_cast<size_t>(n[0])); };
    switch (contents.combiner) {
      case MPI_COMBINER_DUP:
        return old;
      case MPI_COMBINER_CONTIGUOUS:
        return Datatype::contiguous(n[0], old);
      case MPI_COMBINER_VECTOR:
        return Datatype::vector(n[0], n[1], n[2], old);
      case MPI_COMBINER_HVECTOR:
        return Datatype::hvector(n[0], n[1], a[0], old);
      case MPI_COMBINER_INDEXED:
        return Datatype::indexed(list_bytes(1), list_bytes(1 + static_cast<size_t>(n[0])), old);
      case MPI_COMBINER_HINDEXED:
        return Datatype::hindexed(list_bytes(1), a, old);
      case MPI_COMBINER_INDEXED_BLOCK:
        return Datatype::indexed_block(n[1], list_bytes(2), old);
      case MPI_COMBINER_HINDEXED_BLOCK:
        return Datatype::hindexed_block(n[1], a, old);
      case MPI_COMBINER_SUBARRAY:
        return subarray(n, old);
      case MPI_COMBINER_DARRAY:
        return darray(n, old);
      case MPI_COMBINER_RESIZED:
        return Datatype::resized(old, a[0], a[1]);
      default:
        return Status(ErrorCode::kUnsupported, "a datatype of the unknown combiner " + std::to_string(contents.combiner));
    }
  }

  Result<Datatype> structure(TypeContents& contents) const {
    std::vector<Datatype> members;
    for (HeldType& type : contents.types) {
      STRIA_ASSIGN_OR_RETURN(Datatype member, decode_held(std::move(type)));
      members.push_back(std::move(member));
    }
    return Datatype::structure(Numbers(contents.integers).subspan(1), contents.addresses, members);
  }

  static Result<Datatype> subarray(Numbers n, const Datatype& old) {
    const auto dims = static_cast<size_t>(n[0]);
    const Order order = n[3 * dims + 1] == MPI_ORDER_C ? Order::kC : Order::kFortran;
    return Datatype::subarray(n.subspan(1, dims), n.subspan(1 + dims, dims), n.subspan(1 + 2 * dims, dims), order, old);
  }

  const ElementBytes* element_bytes_;
};

// ---- type signatures

constexpr size_t kMostRuns = size_t{1} << 24;

class SignatureBuilder {
 public:
  Status add(MPI_Datatype type, int64_t copies) {
    if (copies <= 0) {
      return {};
    }
    const int combiner = combiner_of(type);
    if (is_basic(combiner)) {
      if (auto pair = pair_members(type); pair && pair->first != pair->second) {
        return repeat(copies, [&] { return append(pair->first, 1) && append(pair->second, 1); });
      } else {
        return append(pair ? pair->first : type, pair ? 2 * copies : copies) ? Status() : too_long();
      }
    }
    return add_constructed(contents_of(type), copies);
  }

  std::vector<SignatureRun> take() { return std::move(runs_); }

 private:
  static Status too_long() {
    return Status(ErrorCode::kUnsupported, "a datatype of mixed elements too long to convert (more than 2^24 runs)");
  }

  bool append(MPI_Datatype basic, int64_t count) {
    if (!runs_.empty() && runs_.back().basic == basic) {
      runs_.back().count += count;
      return true;
    }
    runs_.push_back({basic, count});
    return runs_.size() <= kMostRuns;
  }

  template <typename Once>
  static Status repeat(int64_t copies, Once once) {
    for (int64_t i = 0; i < copies; ++i) {
      if (!once()) {
        return too_long();
      }
    }
    return {};
  }

  // Equal elements multiply; others are written out.
  Status add_copies_of(MPI_Datatype old, int64_t copies) {
    SignatureBuilder inner;
    STRIA_RETURN_IF_ERROR(inner.add(old, 1));
    if (inner.runs_.size() == 1) {
      return append(inner.runs_[0].basic, inner.runs_[0].count * copies) ? Status() : too_long();
    }
    return repeat(copies, [&] {
      return std::all_of(inner.runs_.begin(), inner.runs_.end(),
                         [&](const SignatureRun& run) { return append(run.basic, run.count); });
    });
  }

  Status add_constructed(const TypeContents& contents, int64_t copies) {
    if (contents.combiner == MPI_COMBINER_STRUCT) {
      for (int64_t copy = 0; copy < copies; ++copy) {
        for (size_t i = 0; i < contents.types.size(); ++i) {
          STRIA_RETURN_IF_ERROR(add_copies_of(contents.types[i].get(), contents.integers[i + 1]));
        }
      }
      return {};
    }
    // Whatever the constructor, an item holds so many of the old type.
    MPI_Datatype old = contents.types.at(0).get();
    return add_copies_of(old, copies * old_items(contents));
  }

  static int64_t old_items(const TypeContents& contents) {
    const Numbers n = contents.integers;
    switch (contents.combiner) {
      case MPI_COMBINER_CONTIGUOUS:
        return n[0];
      case MPI_COMBINER_VECTOR:
      case MPI_COMBINER_HVECTOR:
      case MPI_COMBINER_INDEXED_BLOCK:
      case MPI_COMBINER_HINDEXED_BLOCK:
        return n[0] * n[1];
      case MPI_COMBINER_INDEXED:
      case MPI_COMBINER_HINDEXED: {
        int64_t sum = 0;
        for (int64_t length : n.subspan(1, static_cast<size_t>(n[0]))) {
          sum += length;
        }
        return sum;
      }
      case MPI_COMBINER_SUBARRAY: {
        int64_t product = 1;
        for (int64_t length : n.subspan(1 + static_cast<size_t>(n[0]), static_cast<size_t>(n[0]))) {
          product *= length;
        }
        return product;
      }
      case MPI_COMBINER_DARRAY: {
        // A rank's part is its number of bytes where elements have one byte.
        auto part = Decoder::darray(n, Datatype::bytes(1));
        return part.ok() ? part->size() : 0;
      }
      default:  // DUP, RESIZED
        return 1;
    }
  }

  std::vector<SignatureRun> runs_;
};

}  // namespace

Result<Datatype> decode(MPI_Datatype type) {
  return Decoder(nullptr).decode(type);
}

Result<Datatype> decode_as(MPI_Datatype type, const ElementBytes& element_bytes) {
  return Decoder(&element_bytes).decode(type);
}

Result<std::vector<SignatureRun>> signature_of(MPI_Datatype type) {
  SignatureBuilder builder;
  STRIA_RETURN_IF_ERROR(builder.add(type, 1));
  return builder.take();
}

}  // namespace stria::mpiio
