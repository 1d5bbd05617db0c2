#include "access/together/domains/gathered_requests.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "access/plan/server_costs.hpp"
#include "access/request/overlap.hpp"
#include "access/together/domains/description.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

using RequestSummary = GatheredRequests::Summary;
constexpr size_t kMostDescriptionBytes = GatheredRequests::kRecordBytes - sizeof(RequestSummary);
static_assert(std::is_trivially_copyable_v<RequestSummary> && sizeof(RequestSummary) < GatheredRequests::kRecordBytes / 2);

// The bytes of the description behind the summary of the record; kTooLong where they don't fit, or
// where there is no memory to find them.
constexpr int64_t kTooLong = -1;
int64_t describe(const Lane& lane, std::span<std::byte> record) {
  try {
    std::vector<std::byte> text;
    const int number = 0;
    encode_description({&lane, 1}, lane.streams.empty() ? std::span<const int>() : std::span(&number, 1), text);
    if (text.size() > kMostDescriptionBytes) {
      return kTooLong;
    }
    std::memcpy(record.data() + sizeof(RequestSummary), text.data(), text.size());
    return static_cast<int64_t>(text.size());
  } catch (const std::bad_alloc&) {
    return kTooLong;
  }
}

RequestSummary summary_of(const std::byte* record) {
  RequestSummary one;
  std::memcpy(static_cast<void*>(&one), record, sizeof one);
  return one;
}

}  // namespace

GatheredRequests::GatheredRequests(Comm& comm, const Lane& mine, const storage::Capabilities& capabilities, int64_t stage,
                                   bool write)
    : ranks_(comm.size()), records_(new (std::nothrow) std::byte[static_cast<size_t>(ranks_) * kRecordBytes]) {
  STRIA_ASSERT(are_few(comm.size(), 1), comm.size());
  std::array<std::byte, kRecordBytes> record{};
  // A rank without memory for the records still takes part; none is described then.
  std::array<std::byte, static_cast<size_t>(kMostRanks) * kRecordBytes> spare;
  std::byte* const records = records_ == nullptr ? spare.data() : records_.get();
  const IndependentShape shape = shape_of({&mine, 1}, write);
  RequestSummary one{hull_of(mine), shape.bytes, shape.piece_count, server_cost_bytes(shape, capabilities),
                     capabilities,  stage,       kTooLong};
  if (records_ != nullptr) {
    one.description_bytes = describe(mine, record);
  }
  std::memcpy(record.data(), &one, sizeof one);
  comm.all_gather(record, std::span(records, static_cast<size_t>(ranks_) * kRecordBytes));
  all_ = {{INT64_MAX, 0}, 0, 0, 0, summary_of(records).capabilities, stage, 0};
  for (int rank = 0; rank < ranks_; ++rank) {
    const RequestSummary other = summary_of(records + static_cast<size_t>(rank) * kRecordBytes);
    STRIA_ASSERT(other.bytes >= 0 && other.pieces >= 0 && other.description_bytes >= kTooLong, rank, other.bytes, other.pieces,
                 other.description_bytes);
    all_.hull = {std::min(all_.hull.begin, other.hull.begin), std::max(all_.hull.end, other.hull.end)};
    all_.bytes += other.bytes;
    all_.pieces += other.pieces;
    all_.server_cost_bytes += other.server_cost_bytes;
    all_.stage = std::max(all_.stage, other.stage);
    all_.description_bytes = std::min(all_.description_bytes, other.description_bytes);
  }
  all_.hull.begin = std::min(all_.hull.begin, all_.hull.end);
}

std::span<const std::byte> GatheredRequests::description(int rank) const {
  STRIA_ASSERT(are_described() && 0 <= rank && rank < ranks_, rank, ranks_);
  const std::byte* record = records_.get() + static_cast<size_t>(rank) * kRecordBytes;
  STRIA_CHECK(summary_of(record).description_bytes <= static_cast<int64_t>(kMostDescriptionBytes), rank,
              summary_of(record).description_bytes);
  return {record + sizeof(RequestSummary), static_cast<size_t>(summary_of(record).description_bytes)};
}

}  // namespace stria::access
