#include "file/write/target/placing.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/check.hpp"

namespace stria::file {

namespace {

// Room to ask for besides the raw data: nobody knows yet what sums and metadata take.
constexpr int64_t kShareOfSums = 64;
constexpr int64_t kMostMetadataBytes = 1 << 20;

constexpr size_t kMostReasonBytes = 400;
using Reason = std::array<char, kMostReasonBytes>;

struct PlaceInFile {
  bool is_staged = false;
  storage::Capabilities capabilities;
  storage::Identity identity;
  Reason place_trouble{};  ///< empty: none; cut where it is longer
  Reason drain_trouble{};
};

void put(Reason& reason, const Status& status) {
  status.message().copy(reason.data(), reason.size() - 1);
}

// Rank 0 calls this.
PlaceInFile reserve_place(NewFile& file, int64_t raw_bytes) {
  PlaceInFile place;
  place.is_staged = file.has_room(raw_bytes + raw_bytes / kShareOfSums + kMostMetadataBytes);
  const auto identity = file.created()->identity();
  place.capabilities = file.created()->capabilities();
  place.identity = identity.ok() ? *identity : storage::Identity();
  put(place.place_trouble, file.troubles().of_place);
  put(place.drain_trouble, file.troubles().of_drain);
  return place;
}

}  // namespace

AgreedPlace agree_on_place(const std::string& path, int64_t raw_bytes, NewFile& file, Environment& environment,
                           access::MemoryReserve& reserve) {
  STRIA_ASSERT(file.place().awaits_agreement(), path);
  Comm& comm = *environment.comm;
  PlaceInFile place = comm.rank() == 0 ? reserve_place(file, raw_bytes) : PlaceInFile();
  comm.broadcast(std::as_writable_bytes(std::span(&place, 1)), 0);
  file.place().agree(place.is_staged);
  reserve.attempt([&] {
    std::vector<std::string>& warnings = environment.hint_warnings;
    if (!place.is_staged) {
      warnings.push_back(fmt::format("stria_staging: '{}' is written to its own place, because '{}' can't be used: {}", path,
                                     environment.hints.staging_place, place.place_trouble.data()));
    }
    if (place.drain_trouble[0] != '\0') {
      warnings.push_back(fmt::format("stria_staging: {}", place.drain_trouble.data()));
    }
  });
  return {.capabilities = place.capabilities, .identity = place.identity};
}

}  // namespace stria::file
