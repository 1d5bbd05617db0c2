// Describes what travels along an axis: a rank's bytes for one column of the grid, with their
// description. Those who pass them on look at the headers only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace stria::access {

struct ParcelHeader {
  int64_t origin = 0;  ///< the rank to which the bytes belong
  int64_t column = 0;
  int64_t description_bytes = 0;
  int64_t payload_bytes = 0;  ///< the bytes that follow
};

struct Parcel {
  ParcelHeader header;
  std::span<std::byte> description;
  std::span<std::byte> payload;
  std::span<std::byte> whole;
};

/// Appends a parcel with room for its payload; returns where that lies in the message. May throw
/// std::bad_alloc. \pre the header tells the bytes of the description
size_t append_parcel(const ParcelHeader& header, std::span<const std::byte> description, std::vector<std::byte>& message);

/// Returns the parcels of a message. kFormat when it isn't one. May throw std::bad_alloc.
Result<std::vector<Parcel>> parcels_of(std::span<std::byte> message, int rank_count, int column_count);

/// Messages that are still written, by the rank that is to get them.
using Outbox = std::map<int, std::vector<std::byte>>;

/// Passes each parcel of what has arrived on to the rank that `next(header)` names. May throw
/// std::bad_alloc.
template <typename Next>
Status pass_on(Comm::Messages& arrived, int rank_count, int column_count, Outbox& outbox, Next&& next) {
  for (auto& [from, message] : arrived) {
    STRIA_ASSIGN_OR_RETURN(const std::vector<Parcel> parcels, parcels_of(message, rank_count, column_count));
    for (const Parcel& parcel : parcels) {
      std::vector<std::byte>& out = outbox[next(parcel.header)];
      out.insert(out.end(), parcel.whole.begin(), parcel.whole.end());
    }
    message = {};
  }
  return {};
}

}  // namespace stria::access
