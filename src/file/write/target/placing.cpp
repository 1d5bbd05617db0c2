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
PlaceInFile reserve_place(const OpenFile& file, NewFile& target, int64_t raw_bytes) {
  PlaceInFile place;
  place.is_staged = target.has_room(file, raw_bytes + raw_bytes / kShareOfSums + kMostMetadataBytes);
  const auto identity = target.created()->identity();
  place.capabilities = target.created()->capabilities();
  place.identity = identity.ok() ? *identity : storage::Identity();
  put(place.place_trouble, target.troubles().of_place);
  put(place.drain_trouble, target.troubles().of_drain);
  return place;
}

}  // namespace

void agree_on_place(OpenFile& file, NewFile& target, int64_t raw_bytes) {
  STRIA_ASSERT(target.place().awaits_agreement(), file.path);
  PlaceInFile place = file.meetings.is_root() ? reserve_place(file, target, raw_bytes) : PlaceInFile();
  file.comm().broadcast(std::as_writable_bytes(std::span(&place, 1)), 0);
  target.place().agree(place.is_staged);
  file.meetings.reserve().attempt([&] {
    std::vector<std::string>& warnings = file.environment.hint_warnings;
    if (!place.is_staged) {
      warnings.push_back(fmt::format("stria_staging: '{}' is written to its own place, because '{}' can't be used: {}",
                                     file.path, file.environment.hints.staging_place, place.place_trouble.data()));
    }
    if (place.drain_trouble[0] != '\0') {
      warnings.push_back(fmt::format("stria_staging: {}", place.drain_trouble.data()));
    }
  });
  file.capabilities = place.capabilities;
  file.identity.set(place.identity);
}

}  // namespace stria::file
