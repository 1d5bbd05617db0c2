#include "file/session/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "file/meet/outcome_message.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

namespace {

/// Says where the bytes of transfers lie, if all are of one dataset; of all ranks once they have
/// met.
struct OneRegion {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  // The numbers of the first and of the last dataset, and the first byte and the end within it; of
  // lasts the negative ones, of which the least is wanted too.
  std::array<int64_t, RollCall::kMostLeast> least = {kNone, kNone, kNone, kNone};

  explicit OneRegion(std::span<const Transfer> transfers) {
    for (const Transfer& transfer : transfers) {
      const std::array<int64_t, 4> own = {transfer.dataset, -transfer.dataset,
                                          transfer.displacement + transfer.region.true_lower_bound(),
                                          -transfer.displacement - transfer.region.true_upper_bound()};
      std::transform(own.begin(), own.end(), least.begin(), least.begin(), [](int64_t a, int64_t b) { return std::min(a, b); });
    }
  }
  /// Counts from the first to the last; 0 where they are of several datasets, or there are none.
  int64_t bytes() const { return least[0] != kNone && least[0] == -least[1] ? -least[3] - least[2] : 0; }
};

// Gives rank 0's path, on every rank.
Result<std::string> share_path(Comm& comm, int64_t path_bytes, const std::string& path) {
  std::vector<std::byte> bytes;
  if (comm.rank() == 0) {
    const auto mine = std::as_bytes(std::span(path));
    bytes.assign(mine.begin(), mine.end());
  }
  STRIA_RETURN_IF_ERROR(share_bytes(comm, path_bytes, bytes));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

void add_to(access::RequestShape& shape, const Transfer& transfer) {
  shape.total_bytes += transfer.region.size();
  shape.piece_count += transfer.region.piece_count();
  shape.span_bytes += transfer.region.true_upper_bound() - transfer.region.true_lower_bound();
}

access::RequestShape with_lanes(access::RequestShape shape, const Catalog& catalog) {
  shape.lane_count = 0;
  for (const DatasetEntry& dataset : catalog.datasets()) {
    if (dataset.data_offset >= 0) {
      shape.hull_bytes += dataset.is_interleaved() ? dataset.data_bytes() : dataset.extent().size();
      ++shape.lane_count;
    }
  }
  return shape;
}

Result<Agreed> agree_on_request(Meetings& meetings, Call call, std::span<const Transfer> pending, bool write,
                                const Aside& aside) {
  const trace::Span span(trace::kind(trace::BuiltIn::kPlan));
  access::RequestShape own;
  for (const Transfer& transfer : pending) {
    add_to(own, transfer);
  }
  OneRegion region(pending);
  // One sum tells everything.
  const auto terms = meetings.log_terms();
  constexpr size_t kFirst = 5;
  std::array<int64_t, kFirst + terms.size()> sums = {own.total_bytes, own.piece_count, aside.useful_bytes, aside.sum_bytes,
                                                     own.span_bytes};
  std::copy(terms.begin(), terms.end(), sums.begin() + kFirst);
  STRIA_RETURN_IF_ERROR(meetings.meet(call, meetings.failure(), sums, region.least));
  STRIA_RETURN_IF_ERROR(meetings.check_log_terms(std::span(sums).last<terms.size()>()));
  return Agreed{.shape = {.total_bytes = sums[0],
                          .piece_count = sums[1],
                          .write = write,
                          .in_lockstep = true,
                          .span_bytes = sums[4],
                          .region_bytes = region.bytes()},
                .sum_bytes = sums[3],
                .useful_bytes = sums[2]};
}

Result<FoundFile> agree_on_open(Meetings& meetings, Call call, const Status& mine, const Opening& opening) {
  struct Opened {
    storage::Capabilities capabilities;
    storage::Identity identity;
    int64_t file_bytes = 0;
    int64_t path_bytes = 0;  // 0: it is the one that all ranks have
  };
  static_assert(std::is_trivially_copyable_v<Opened>);
  constexpr size_t kWords = (sizeof(Opened) + sizeof(int64_t) - 1) / sizeof(int64_t);
  const auto terms = meetings.log_terms();
  std::array<int64_t, kWords + terms.size()> words{};  // the sum of the first ones is rank 0's
  std::copy(terms.begin(), terms.end(), words.begin() + kWords);
  Opened opened;
  if (meetings.is_root() && opening.file != nullptr) {
    const auto identity = opening.file->identity();
    const bool is_elsewhere = opening.found_path != opening.known_path;
    opened = {opening.file->capabilities(), identity.ok() ? *identity : storage::Identity(), opening.file_bytes,
              is_elsewhere ? static_cast<int64_t>(opening.found_path.size()) : 0};
    std::memcpy(words.data(), &opened, sizeof opened);
  }
  STRIA_RETURN_IF_ERROR(meetings.meet(call, mine, words));
  STRIA_RETURN_IF_ERROR(meetings.check_log_terms(std::span(words).last<terms.size()>()));
  std::memcpy(static_cast<void*>(&opened), words.data(), sizeof opened);
  FoundFile found{.capabilities = opened.capabilities, .identity = opened.identity, .file_bytes = opened.file_bytes};
  if (opened.path_bytes > 0) {
    STRIA_ASSIGN_OR_RETURN(found.path, share_path(meetings.comm(), opened.path_bytes, opening.found_path));
  }
  return found;
}

}  // namespace stria::file
