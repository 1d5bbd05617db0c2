// The oracle for datatypes: it lists every byte, in stream order, by MPI's rules for
// typemaps and bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "stria/datatype.hpp"

namespace stria::test {

/// Offsets of all bytes, and the bounds.
struct NaiveType {
  std::vector<int64_t> offsets;
  int64_t lower = 0;
  int64_t upper = 0;

  int64_t extent() const { return upper - lower; }
  bool is_void() const { return offsets.empty() && lower == 0 && upper == 0; }
};

/// A Datatype and what it must be.
struct TypePair {
  Datatype type;
  NaiveType naive;
};

/// Puts together copies of naive types.
class NaiveBuilder {
 public:
  void add(const NaiveType& old, int64_t displacement) {
    for (int64_t offset : old.offsets) {
      result_.offsets.push_back(offset + displacement);
    }
    if (!old.is_void()) {
      result_.lower = is_empty_ ? old.lower + displacement : std::min(result_.lower, old.lower + displacement);
      result_.upper = is_empty_ ? old.upper + displacement : std::max(result_.upper, old.upper + displacement);
      is_empty_ = false;
    }
  }
  void add_block(const NaiveType& old, int64_t displacement, int64_t block_length) {
    for (int64_t i = 0; i < block_length; ++i) {
      add(old, displacement + i * old.extent());
    }
  }
  NaiveType take() { return std::move(result_); }

 private:
  NaiveType result_;
  bool is_empty_ = true;
};

/// Random nested types: most small, some with gaps, overlaps, negative strides, zero counts
/// and odd bounds.
class TypeGenerator {
 public:
  explicit TypeGenerator(uint64_t seed, int64_t unit_bytes = 1) : random_(seed), unit_bytes_(unit_bytes) {}

  TypePair any(int depth) {
    if (depth == 0) {
      return leaf();
    }
    const TypePair old = any(pick(0, 4) == 0 ? 0 : depth - 1);
    switch (pick(0, 7)) {
      case 0:
        return contiguous(old);
      case 1:
        return vector(old);
      case 2:
        return hvector(old);
      case 3:
        return indexed(old);
      case 4:
        return hindexed(old);
      case 5:
        return structure(old, any(depth - 1));
      case 6:
        return subarray(old);
      default:
        return resized(old);
    }
  }

  /// Makes a pair like any(), with increasing offsets.
  TypePair sorted(int depth) {
    while (true) {
      TypePair pair = any(depth);
      if (pair.type.is_sorted()) {
        return pair;
      }
    }
  }

  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  std::mt19937_64& random() { return random_; }

 private:
  int64_t units(int64_t low, int64_t high) { return unit_bytes_ * pick(low, high); }

  TypePair leaf() {
    const int64_t bytes = pick(0, 9) == 0 ? 0 : units(1, 5);
    NaiveType naive;
    for (int64_t i = 0; i < bytes; ++i) {
      naive.offsets.push_back(i);
    }
    naive.upper = bytes;
    return {Datatype::bytes(bytes), naive};
  }

  TypePair contiguous(const TypePair& old) {
    const int64_t count = pick(0, 4);
    NaiveBuilder builder;
    builder.add_block(old.naive, 0, count);
    return {Datatype::contiguous(count, old.type).value(), builder.take()};
  }

  TypePair vector(const TypePair& old) {
    const int64_t count = pick(0, 4);
    const int64_t block = pick(0, 3);
    const int64_t stride = pick(-2, 5);
    NaiveBuilder builder;
    for (int64_t i = 0; i < count; ++i) {
      builder.add_block(old.naive, i * stride * old.naive.extent(), block);
    }
    return {Datatype::vector(count, block, stride, old.type).value(), builder.take()};
  }

  TypePair hvector(const TypePair& old) {
    const int64_t count = pick(0, 4);
    const int64_t block = pick(0, 3);
    const int64_t stride = pick(0, 3) == 0 ? units(-20, 20) : block * old.naive.extent() + units(0, 6);
    NaiveBuilder builder;
    for (int64_t i = 0; i < count; ++i) {
      builder.add_block(old.naive, i * stride, block);
    }
    return {Datatype::hvector(count, block, stride, old.type).value(), builder.take()};
  }

  /// Block lengths and displacements in steps of `step` bytes, mostly increasing, sometimes
  /// touching or regular.
  void lists(int64_t extent_in_steps, int64_t step, std::vector<int64_t>& lengths, std::vector<int64_t>& displacements) {
    const int64_t count = pick(0, 5);
    const bool is_regular = pick(0, 3) == 0;
    int64_t at = pick(-3, 6) * step;
    for (int64_t i = 0; i < count; ++i) {
      lengths.push_back(is_regular ? 2 : pick(0, 3));
      displacements.push_back(pick(0, 9) == 0 && !is_regular ? pick(-5, 5) * step : at);
      at += (lengths.back() * extent_in_steps + (is_regular ? 1 : pick(0, 2))) * step;
    }
  }

  TypePair indexed(const TypePair& old) {
    std::vector<int64_t> lengths;
    std::vector<int64_t> displacements;
    lists(1, 1, lengths, displacements);
    NaiveBuilder builder;
    for (size_t i = 0; i < lengths.size(); ++i) {
      builder.add_block(old.naive, displacements[i] * old.naive.extent(), lengths[i]);
    }
    return {Datatype::indexed(lengths, displacements, old.type).value(), builder.take()};
  }

  TypePair hindexed(const TypePair& old) {
    std::vector<int64_t> lengths;
    std::vector<int64_t> displacements;
    lists(old.naive.extent() / unit_bytes_, unit_bytes_, lengths, displacements);
    NaiveBuilder builder;
    for (size_t i = 0; i < lengths.size(); ++i) {
      builder.add_block(old.naive, displacements[i], lengths[i]);
    }
    return {Datatype::hindexed(lengths, displacements, old.type).value(), builder.take()};
  }

  TypePair structure(const TypePair& a, const TypePair& b) {
    const TypePair* parts[] = {&a, &b};
    std::vector<int64_t> lengths;
    std::vector<int64_t> displacements;
    std::vector<Datatype> types;
    NaiveBuilder builder;
    int64_t at = units(-2, 3);
    for (int64_t count = pick(0, 4), i = 0; i < count; ++i) {
      const TypePair& part = *parts[pick(0, 1)];
      lengths.push_back(pick(0, 2));
      displacements.push_back(at);
      types.push_back(part.type);
      builder.add_block(part.naive, at, lengths.back());
      at += lengths.back() * part.naive.extent() + units(0, 3);
    }
    return {Datatype::structure(lengths, displacements, types).value(), builder.take()};
  }

  TypePair subarray(const TypePair& old) {
    const auto dimensions = static_cast<size_t>(pick(1, 3));
    const Order order = pick(0, 1) == 0 ? Order::kC : Order::kFortran;
    std::vector<int64_t> sizes(dimensions);
    std::vector<int64_t> subsizes(dimensions);
    std::vector<int64_t> starts(dimensions);
    for (size_t d = 0; d < dimensions; ++d) {
      sizes[d] = pick(1, 4);
      subsizes[d] = pick(0, 2) == 0 ? sizes[d] : pick(0, sizes[d]);
      starts[d] = pick(0, sizes[d] - subsizes[d]);
    }
    NaiveType naive;
    int64_t total = 1;
    for (int64_t size : sizes) {
      total *= size;
    }
    for (int64_t cell = 0; cell < total; ++cell) {
      if (is_inside(cell, sizes, subsizes, starts, order)) {
        for (int64_t offset : old.naive.offsets) {
          naive.offsets.push_back(cell * old.naive.extent() + offset);
        }
      }
    }
    naive.upper = total * old.naive.extent();
    return {Datatype::subarray(sizes, subsizes, starts, order, old.type).value(), naive};
  }

  static bool is_inside(int64_t cell, std::span<const int64_t> sizes, std::span<const int64_t> subsizes,
                        std::span<const int64_t> starts, Order order) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const size_t d = order == Order::kC ? sizes.size() - 1 - i : i;
      const int64_t index = cell % sizes[d];
      cell /= sizes[d];
      if (index < starts[d] || index >= starts[d] + subsizes[d]) {
        return false;
      }
    }
    return true;
  }

  TypePair resized(const TypePair& old) {
    const int64_t lower = units(-3, 3);
    const int64_t extent = pick(0, 2) == 0 ? units(0, 8) : (old.naive.extent() / unit_bytes_ + pick(0, 3)) * unit_bytes_;
    NaiveType naive = old.naive;
    naive.lower = lower;
    naive.upper = lower + extent;
    return {Datatype::resized(old.type, lower, extent).value(), naive};
  }

  std::mt19937_64 random_;
  int64_t unit_bytes_;
};

/// Returns the seed of a randomised test's run `index`; print it on failure.
inline uint64_t seed_of(int index) {
  return 0x57121aull * 1000003u + static_cast<uint64_t>(index);
}

}  // namespace stria::test
