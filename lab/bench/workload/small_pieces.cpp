// Pieces that ranks deal out among them: 1-D cyclic, block-block, turns, very many pieces of 8
// bytes, and noncontig.
#include <algorithm>

#include "workload/catalog.hpp"
#include "workload/grid.hpp"

namespace stria::bench {

namespace {

/// Every rank has `count` pieces of `piece_bytes`: one in every `across` pieces, the first behind
/// `first` pieces.
struct Deal {
  int64_t count = 0;
  int64_t piece_bytes = 0;
  int64_t across = 1;
  int64_t first = 0;
};

Workload deal(const Deal& deal, int64_t rows) {
  const int64_t length = rows * deal.across * deal.piece_bytes;
  Workload workload;
  workload.arrays = {{"data", {length}, 1}};
  workload.memory_bytes = deal.count * deal.piece_bytes;
  workload.calls = {{{{0,
                       Selection::strided(length, deal.first * deal.piece_bytes, deal.count, deal.across * deal.piece_bytes,
                                          deal.piece_bytes),
                       Selection::whole({workload.memory_bytes})}}}};
  return workload;
}

// Returns the size of equal pieces, as many as the bytes of all ranks make; at least 8 bytes each.
int64_t equal_piece(const Chosen& chosen, int ranks) {
  return std::max<int64_t>(chosen.numbers.at("mib") * kMiB / ranks / chosen.numbers.at("accesses") / 8 * 8, 8);
}

Workload make_cyclic(const Chosen& chosen, const Ranks& ranks) {
  const int64_t accesses = chosen.numbers.at("accesses");
  return deal({accesses, equal_piece(chosen, ranks.count), ranks.count, ranks.rank}, accesses);
}

// Makes a square of blocks, one per rank; a piece is a row of a block.
Workload make_block_block(const Chosen& chosen, const Ranks& ranks) {
  const int64_t side = square_side("blockblock", ranks);
  const int64_t accesses = chosen.numbers.at("accesses");
  const int64_t first = ranks.rank / side * accesses * side + ranks.rank % side;
  return deal({accesses, equal_piece(chosen, ranks.count), side, first}, accesses * side);
}

Workload make_turns(const Chosen& chosen, const Ranks& ranks) {
  const int64_t piece = chosen.numbers.at("piece-bytes");
  const int64_t count = std::max<int64_t>(chosen.numbers.at("mib") * kMiB / piece, 1);
  return deal({count, piece, ranks.count, ranks.rank}, count);
}

// Decides which of a slot's two doubles an irregular list takes: at random, but the same in every
// run.
int64_t place_in_slot(int64_t index) {
  return static_cast<int64_t>((static_cast<uint64_t>(index) * 0x9e3779b97f4a7c15u) >> 63);
}

// The ranks' pieces take turns. "gaps": 8 unused bytes lie after each piece; "full": none;
// "irregular": they lie before or after it, so that no vector describes the list.
Workload make_pieces(const Chosen& chosen, const Ranks& ranks) {
  const int64_t count = chosen.numbers.at("pieces");
  const std::string& file = chosen.words.at("file");
  const bool memory_gaps = chosen.words.at("memory") == "gaps";
  const int64_t slot = file == "full" ? 1 : 2;
  const int64_t length = count * slot * ranks.count;
  Selection places = Selection::strided(length, slot * ranks.rank, count, slot * ranks.count, 1);
  if (file == "irregular") {
    places = {{length}, {}, {}, {}, {}};
    for (int64_t i = 0; i < count; ++i) {
      places.places.push_back(slot * ranks.rank + i * slot * ranks.count + place_in_slot(i));
    }
  }
  Workload workload;
  workload.arrays = {{"data", {length}, 8}};
  const Selection memory = memory_gaps ? Selection::strided(2 * count, 0, count, 2, 1) : Selection::whole({count});
  workload.calls = {{{{0, places, memory}}}};
  workload.memory_bytes = 8 * memory.dims[0];
  return workload;
}

// Vectors of 2 ints, dealt to the ranks in turn; noncontiguous memory has the same shape.
Workload make_noncontig(const Chosen& chosen, const Ranks& ranks) {
  constexpr int64_t kElementBytes = 8;
  const int64_t elements = chosen.numbers.at("kib") * kKiB / kElementBytes;
  const int64_t all = elements * ranks.count;
  const bool memory_gaps = chosen.words.at("memory") == "gaps";
  const bool file_gaps = chosen.words.at("file") == "gaps";
  Workload workload;
  workload.arrays = {{"data", {all}, kElementBytes}};
  const Selection memory = memory_gaps ? Selection::strided(all, 0, elements, ranks.count, 1) : Selection::whole({elements});
  const Selection file = file_gaps ? Selection::strided(all, ranks.rank, elements, ranks.count, 1)
                                   : Selection::box({all}, {ranks.rank * elements}, {elements});
  workload.calls = {{{{0, file, memory}}}};
  workload.memory_bytes = memory.dims[0] * kElementBytes;
  return workload;
}

}  // namespace

WorkloadKind cyclic_kind() {
  return {"cyclic",
          "a 1-D array dealt out in turns, by so many accesses of each rank",
          {{"mib", 16, 1, 1 << 20, "of all ranks together"}, {"accesses", 1000, 1, 100'000'000, "of a rank"}},
          {},
          make_cyclic};
}

WorkloadKind block_block_kind() {
  return {"blockblock",
          "a square of blocks, one per rank, by so many accesses of each",
          {{"mib", 16, 1, 1 << 20, "of all ranks together"}, {"accesses", 1000, 1, 100'000'000, "of a rank"}},
          {},
          make_block_block};
}

WorkloadKind turns_kind() {
  return {"turns",
          "pieces of one length, taken in turns without a gap",
          {{"mib", 2, 1, 1 << 20, "of a rank"}, {"piece-bytes", 4096, 1, 1 << 30, "of a piece"}},
          {},
          make_turns};
}

WorkloadKind pieces_kind() {
  return {"pieces",
          "very many pieces of 8 bytes",
          {{"pieces", 100'000, 1, 1'000'000'000, "of a rank"}},
          {{"file", {"gaps", "full", "irregular"}, "with holes, without, or where no vector says"},
           {"memory", {"contiguous", "gaps"}, "packed, or every second double"}},
          make_pieces};
}

WorkloadKind noncontig_kind() {
  return {"noncontig",
          "vectors of 8 bytes, strided in memory, in the file, or both (ROMIO's noncontig)",
          {{"kib", 2048, 1, 1 << 30, "of a rank"}},
          {{"memory", {"gaps", "contiguous"}, "strided or not"}, {"file", {"gaps", "contiguous"}, "strided or not"}},
          make_noncontig};
}

}  // namespace stria::bench
