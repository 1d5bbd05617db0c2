#include "file/meet/meetings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"

namespace stria::file {

namespace {

constexpr size_t kReserveBytes = 64 << 10;
constexpr size_t kReserveBytesARank = 64;

// What a rank adds to the first sum of a meeting, by which all ranks count those that failed.
constexpr int64_t kOneFailed = 1;
constexpr int64_t kPutsOff = int64_t{1} << 32;

}  // namespace

// If there is too little memory even for this, twice, the others can't be told.
std::shared_ptr<RollCall> begin_roll_call(Comm& comm) {
  access::MemoryReserve none;
  const int number = comm.innermost().count_file();
  return none.surely([&] { return std::make_shared<RollCall>(comm, number); });
}

Status give_up_opening(Comm& comm, RollCall& roll_call, Call call, const Status& why) {
  std::array<int64_t, 1> failures = {kOneFailed};
  access::MemoryReserve none;
  STRIA_RETURN_IF_ERROR(roll_call.meet(call, failures, none));
  return comm.agree(why);
}

Meetings::Meetings(std::shared_ptr<Comm> comm, std::shared_ptr<RollCall> roll_call, std::string path, bool puts_off)
    : comm_(std::move(comm)), roll_call_(std::move(roll_call)), path_(std::move(path)), puts_off_(puts_off) {}

Status Meetings::set_reserve_aside() {
  return or_out_of_memory([&] {
    reserve_.set_aside(kReserveBytes + kReserveBytesARank * static_cast<size_t>(comm_->size()));
    return Status();
  });
}

Status Meetings::check_open() const {
  if (!roll_call_->ended().ok()) {
    return roll_call_->ended().with_context(fmt::format("'{}'", path_));
  }
  return is_open_ ? Status()
                  : Status(ErrorCode::kInvalidArgument, fmt::format("'{}' was committed or abandoned before", path_));
}

void Meetings::leave(std::string_view reason) noexcept {
  is_open_ = false;
  roll_call_->leave(reason, reserve_);
}

void Meetings::poison(const Status& status) {
  if (poisoned_.ok() && !status.ok()) {
    poisoned_ = status;
  }
}

Status Meetings::refuse(const Status& status) {
  const Status why = status.with_context(fmt::format("'{}'", path_));
  poison(why);
  return why;
}

Status Meetings::meet(Call call, const Status& mine, std::span<int64_t> sums, std::span<int64_t> least) {
  STRIA_RETURN_IF_ERROR(check_open());
  STRIA_CHECK(sums.size() < RollCall::kMostSums, sums.size());
  std::array<int64_t, RollCall::kMostSums> words{};
  const std::span<int64_t> all = std::span(words).first(1 + sums.size());
  all[0] = mine.ok() ? 0 : kOneFailed + (puts_off_ ? kPutsOff : 0);
  std::copy(sums.begin(), sums.end(), all.begin() + 1);
  STRIA_RETURN_IF_ERROR(roll_call_->meet(call, all, reserve_, least));
  if (all[0] != 0) {
    was_put_off_ = all[0] >= kPutsOff;
    return comm_->agree(mine);
  }
  std::copy(all.begin() + 1, all.end(), sums.begin());
  return Status();
}

Status Meetings::meet_and_share(Call call, const Status& mine, std::vector<std::byte>& bytes) {
  std::array<int64_t, 1> size = {is_root() ? static_cast<int64_t>(bytes.size()) : 0};
  STRIA_RETURN_IF_ERROR(meet(call, mine, size));
  return share_bytes(*comm_, size[0], bytes);
}

// Returns the hash of the calls, that of the contents where this rank has given all, and how many
// ranks have.
std::array<int64_t, Meetings::kLogTerms> Meetings::log_terms() const {
  std::array<int64_t, kLogTerms> terms{};
  const auto calls = equality_terms(log_.hash());
  std::copy(calls.begin(), calls.end(), terms.begin());
  if (log_.has_all_contents()) {
    const auto contents = equality_terms(log_.content_hash());
    std::copy(contents.begin(), contents.end(), terms.begin() + kEqualityTerms);
    terms.back() = 1;
  }
  return terms;
}

Status Meetings::check_log_terms(std::span<const int64_t, kLogTerms> sums) const {
  const auto giving = static_cast<int>(sums.back());
  if (all_equal(sums.first<kEqualityTerms>(), comm_->size()) &&
      all_equal(sums.subspan<kEqualityTerms, kEqualityTerms>(), giving)) {
    return Status();
  }
  const Status difference = log_.explain(*comm_);
  return Status(
      ErrorCode::kInvalidArgument,
      fmt::format("the ranks don't define the same datasets, attributes and tables, or differ in options or hints: {}",
                  difference.message()));
}

}  // namespace stria::file
