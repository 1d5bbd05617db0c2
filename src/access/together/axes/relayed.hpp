// Describes what a relay has for its column: the streams of many ranks, as lanes of its own for
// two-phase.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "access/request/request.hpp"
#include "access/together/axes/parcels.hpp"

namespace stria::access {

class Relayed : public StreamSource, public StreamSink {
 public:
  /// `lanes` give the hulls and groups.
  explicit Relayed(std::span<const Lane> lanes);

  /// Takes in what has arrived, which stays in place as long as this. `with_bytes`: of a write;
  /// else memory is made for what is to be read. May throw std::bad_alloc.
  Status take(Comm::Messages& arrived, int rank_count, int column_count, bool with_bytes);
  std::span<const Lane> lanes() const { return lanes_; }

  void pack(std::span<const StreamPart> parts) override;
  void unpack(std::span<const StreamPart> parts) override;

  /// Appends to `outbox`, after a read, an answer to each parcel, for the rank that sent it.
  /// Instead of a description it has the number of bytes of each stream that the file had. May
  /// throw std::bad_alloc.
  void answer(Outbox& outbox) const;

 private:
  struct Asked {
    int sender = 0;
    ParcelHeader header;
    size_t first = 0, end = 0;  // the streams, by number
    int64_t bytes = 0;
  };
  Status add(int sender, const Parcel& parcel, bool with_bytes);

  std::vector<Lane> lanes_;
  std::vector<std::byte*> places_;  // the places of the streams' bytes, by number
  std::vector<int64_t> got_;        // how many of them were read
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<Asked> asked_;
};

}  // namespace stria::access
