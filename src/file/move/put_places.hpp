// Finds out whether two puts of one flush or commit have an element in common.
//
// Problem: a box with its ghosts, or an offset that isn't advanced, makes two puts of the same
// elements, of which the file then holds either. Nobody hears of it until the data look wrong.
// Method: every put is noted as a box. A set of boxes is split by planes that no box crosses,
// dimension after dimension. What can't be split is compared box by box, and puts with gaps piece
// by piece; where all of them repeat after the same number of bytes, first by one repetition of
// each. A rank looks at its own puts before anything moves. Those of different ranks are
// compared by rank 0, which gets the boxes with all else that was gathered. There, equal boxes of
// several ranks are a value that all of them put, and no mistake.
// Cost: n log n in the number of puts; 32 bytes to rank 0 for each, and 16 more per dimension. Of
// many puts of whole rows, neighbours are sent as one. More than kMostPieces are not compared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "file/define/catalog.hpp"
#include "file/meet/message_fields.hpp"
#include "file/move/transfer.hpp"
#include "stria/datatype.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Says where a put has its elements.
struct PutPlace {
  int dataset = 0;
  int rank = 0;
  int64_t flush = 0;         ///< how many came before
  std::vector<int64_t> box;  ///< first elements of all dimensions, then the ends
  bool has_gaps = false;     ///< there is more in the box
  bool whole_rows = false;
  int64_t displacement = 0;  ///< the displacement of `region`
  Datatype region;           ///< the region of a put with gaps; empty where it isn't known

  size_t dims() const { return box.size() / 2; }
  int64_t begin(size_t dim) const { return box[dim]; }
  int64_t end(size_t dim) const { return box[dims() + dim]; }
};

/// Those of one rank.
class PutPlaces {
 public:
  /// More pieces of puts with gaps than this aren't compared.
  static constexpr size_t kMostPieces = size_t{1} << 20;
  /// What a rank keeps for rank 0; later puts aren't compared with those of other ranks.
  static constexpr size_t kMostKept = size_t{1} << 20;

  /// Notes what a flush or commit is about to move. kInvalidArgument, which names dataset and
  /// region, where two of these puts share an element. Local.
  Status note(std::span<const Transfer> pending, std::span<const DatasetEntry> datasets);
  void encode(FieldWriter& fields) const;

 private:
  std::vector<PutPlace> places_;
  int64_t flushes_ = 0;
};

/// Adds what encode() wrote on a rank.
void decode_put_places(FieldReader& fields, int rank, std::vector<PutPlace>& places);
/// kInvalidArgument, which names dataset, region and two ranks, where puts of different ranks in
/// one flush or commit share an element.
Status check_put_places(std::vector<PutPlace> places, std::span<const DatasetEntry> datasets);

}  // namespace stria::file
