// The part of a first flush or commit that decides where a new file is written.
//
// Problem: a place where files are staged may be full. What is written there can't be taken back
// when the packed memory is gone.
// Method: before the first byte, rank 0 reserves room for all that the file can become. Where that
// fails, the file is written to its own place, as one that isn't staged.
// Cost: a broadcast, for files that are to be staged.
#include <fmt/format.h>

#include <array>
#include <span>

#include "file/write/write_session.hpp"

namespace stria::file {

namespace {

// Room to ask for besides the raw data: nobody knows yet what sums and metadata take.
constexpr int64_t kShareOfSums = 64;
constexpr int64_t kMostMetadataBytes = 1 << 20;

constexpr size_t kMostReasonBytes = 400;
using Reason = std::array<char, kMostReasonBytes>;

struct Place {
  bool is_staged = false;
  storage::Capabilities capabilities;
  storage::Identity identity;
  Reason place_trouble{};  ///< empty: none; cut where it is longer
  Reason drain_trouble{};
};

void put(Reason& reason, const Status& status) {
  status.message().copy(reason.data(), reason.size() - 1);
}

}  // namespace

void WriteSession::agree_on_place() {
  Place place;
  if (is_root()) {
    // Chunks may need as much as was put.
    const int64_t raw_bytes = layout_->end() + (has_chunks() ? report_.useful_bytes : 0);
    place.is_staged = file_.has_room(raw_bytes + raw_bytes / kShareOfSums + kMostMetadataBytes);
    const auto identity = file_.created()->identity();
    place.capabilities = file_.created()->capabilities();
    place.identity = identity.ok() ? *identity : storage::Identity();
    put(place.place_trouble, file_.place_trouble());
    put(place.drain_trouble, file_.drain_trouble());
  }
  comm().broadcast(std::as_writable_bytes(std::span(&place, 1)), 0);
  capabilities_ = place.capabilities;
  identity_.set(place.identity);
  if (!place.is_staged && !is_root()) {
    file_.leave_staging_place();
  }
  reserve_.attempt([&] {
    if (!place.is_staged) {
      environment_.hint_warnings.push_back(
          fmt::format("stria_staging: '{}' is written to its own place, because '{}' can't be used: {}", path_,
                      environment_.hints.staging_place, place.place_trouble.data()));
    }
    if (place.drain_trouble[0] != '\0') {
      environment_.hint_warnings.push_back(fmt::format("stria_staging: {}", place.drain_trouble.data()));
    }
  });
}

}  // namespace stria::file
