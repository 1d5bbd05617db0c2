// Decides which chunks are worth compressing, by how those before them shrank.
//
// Problem: compressing numbers that don't shrink takes three times as long as writing them.
// Method: while a dataset's chunks shrink, each is compressed. Else a sample of each chunk is
// compressed first: a few stretches, spread over all of it. Where that doesn't shrink, the chunk is
// stored as it is, but for every 64th in a row, which is tried all the same.
// Cost: a sixty-fourth of what compressing takes, for chunks that don't shrink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/byte_range.hpp"
#include "container/spec.hpp"

namespace stria::file {

/// The stretches of a chunk that are its sample: whole elements.
class ChunkSample {
 public:
  static constexpr int64_t kStretches = 8;

  ChunkSample(int64_t chunk_bytes, int64_t element_bytes)
      : chunk_bytes_(chunk_bytes),
        element_bytes_(element_bytes),
        stretch_bytes_((kLeastStretchBytes + element_bytes - 1) / element_bytes * element_bytes) {}

  int64_t bytes() const { return kStretches * stretch_bytes_; }
  int64_t stretch_bytes() const { return stretch_bytes_; }
  /// Returns where a stretch begins in the chunk.
  int64_t begin(int64_t stretch) const {
    return (chunk_bytes_ - stretch_bytes_) / element_bytes_ * stretch / (kStretches - 1) * element_bytes_;
  }
  /// Tells whether it takes much less than the chunk.
  bool is_small() const { return bytes() * kLeastPart <= chunk_bytes_; }

 private:
  static constexpr int64_t kLeastStretchBytes = 512;
  static constexpr int64_t kLeastPart = 8;

  int64_t chunk_bytes_;
  int64_t element_bytes_;
  int64_t stretch_bytes_;
};

class ChunkTrials {
 public:
  explicit ChunkTrials(size_t dataset_count) : states_(dataset_count) {}

  /// Tells whether a sample tells if the dataset's next chunk is compressed.
  bool wants_sample(int dataset, const container::DatasetSpec& spec, const ChunkSample& sample) const {
    const Filters& filters = spec.chunking->filters;
    const bool compresses = (filters.deflate || filters.zstd) && !filters.scale_offset && !filters.zfp();
    return compresses && !state(dataset).shrinks && sample.is_small();
  }
  /// Tells whether that chunk is stored as it is.
  bool stays_raw(int dataset, bool sample_shrinks) {
    State& of = state(dataset);
    of.raw_in_a_row = sample_shrinks ? 0 : of.raw_in_a_row + 1;
    return of.raw_in_a_row % kTriedEvery != 0;
  }
  /// A chunk was compressed, or tried.
  void note(int dataset, int64_t chunk_bytes, int64_t stored_bytes) {
    State& of = state(dataset);
    of.shrinks = chunk_bytes - stored_bytes >= chunk_bytes / kWorthPart;
    of.has_compressed |= stored_bytes < chunk_bytes;
  }
  /// Tells whether any chunk of the dataset has shrunk.
  bool has_compressed(int dataset) const { return state(dataset).has_compressed; }

 private:
  static constexpr int kTriedEvery = 64;
  static constexpr int64_t kWorthPart = 32;  // less isn't worth the time of the chunks that follow
  struct State {
    bool shrinks = false;
    bool has_compressed = false;
    int raw_in_a_row = 0;
  };
  State& state(int dataset) { return states_[static_cast<size_t>(dataset)]; }
  const State& state(int dataset) const { return states_[static_cast<size_t>(dataset)]; }

  std::vector<State> states_;
};

}  // namespace stria::file
