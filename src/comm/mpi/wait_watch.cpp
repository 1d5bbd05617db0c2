#include "comm/mpi/wait_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <thread>

#include "comm/end_of_mpi.hpp"
#include "comm/job_end.hpp"
#include "comm/mpi/mpi_request.hpp"
#include "comm/mpi/parking.hpp"
#include "comm/pause.hpp"

namespace stria {

namespace {

constexpr std::chrono::milliseconds kLookInterval(50);
// How long to wait for answers, as a part of the limit. Ranks look for questions every 50 ms.
constexpr double kPatienceOfLimit = 0.25;
constexpr double kLeastPatienceSeconds = 0.5;
constexpr double kMostPatienceSeconds = 2;
constexpr auto kTimeToAbort = std::chrono::seconds(5);
constexpr size_t kMostCalls = 4;  // calls that a line names
constexpr size_t kMessageBytes = 64;

std::chrono::steady_clock::duration in_seconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

/// A question, or the answer to one.
struct WaitWatch::Message {
  int64_t question = 0;
  int64_t is_answer = 0;
  std::array<char, 48> call{};  ///< the call in which the answering rank waits; ends with a zero
};

/// A message with its bytes. It lives until it is sent.
class WaitWatch::Sent final : public MpiMessage {
 public:
  explicit Sent(const Message& message) : message_(message) {}
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(&message_, 1)); }

 private:
  Message message_;
};

WaitWatch::WaitWatch(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {
  note_job_end(give_up_job);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

void WaitWatch::set_names(const std::vector<int>* node_of_rank, const std::vector<std::string>* hosts) {
  node_of_rank_ = node_of_rank;
  hosts_ = hosts;
}

void WaitWatch::look(bool begins) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (begins) {
    wait_.begin();
    stage_ = Stage::kQuiet;
    next_look_ = now + kLookInterval;
  }
  if (now < next_look_) {
    return;
  }
  next_look_ = now + kLookInterval;
  try {
    take_messages();
    go_on();
  } catch (const std::bad_alloc&) {
    // This rank makes no report where it lacks memory, but goes on waiting.
    stage_ = Stage::kQuiet;
  }
}

void WaitWatch::go_on() {
  if (stage_ == Stage::kQuiet) {
    const bool too_late = wait_.is_over_deadline();
    if (!wait_.is_due() && !too_late) {
      return;
    }
    std::vector<int> lower;
    for (int step = 1; step <= rank_; step *= 2) {
      lower.push_back(rank_ - step);
    }
    if (rank_ > 0 && lower.back() != 0) {
      lower.push_back(0);
    }
    begin_asking(Stage::kAskedLower, std::move(lower));
  }
  if (Clock::now() < stage_end_) {
    return;
  }
  if (stage_ == Stage::kAskedLower) {
    if (somebody_answered()) {
      stage_ = wait_.is_over_deadline() ? Stage::kGivingUp : Stage::kQuiet;
      // The other rank reports first.
      stage_end_ = Clock::now() + 2 * in_seconds(kMostPatienceSeconds);
      return;
    }
    std::vector<int> all(static_cast<size_t>(size_));
    std::iota(all.begin(), all.end(), 0);
    std::erase(all, rank_);
    begin_asking(Stage::kAskedAll, std::move(all));
    return;
  }
  if (stage_ == Stage::kAskedAll) {
    say_wait(rank_, wait_.seconds(), find_out());
    stage_ = Stage::kQuiet;
    if (!wait_.is_over_deadline()) {
      return;
    }
    say_line(
        fmt::format("rank {} ends the job: the deadline of {:.0f} s for a wait is over", rank_, wait_.limits().deadline_s));
  }
  give_up_job();
}

void WaitWatch::begin_asking(Stage stage, std::vector<int> ranks) {
  const auto [warning_s, deadline_s] = wait_.limits();
  const double limit = warning_s > 0 && deadline_s > 0 ? std::min(warning_s, deadline_s) : std::max(warning_s, deadline_s);
  const double patience = kPatienceOfLimit * limit;
  stage_ = stage;
  stage_end_ = ranks.empty() ? Clock::now()
                             : Clock::now() + in_seconds(std::clamp(patience, kLeastPatienceSeconds, kMostPatienceSeconds));
  asked_ = std::move(ranks);
  calls_.assign(static_cast<size_t>(size_), std::string());
  ++question_;
  for (const int to : asked_) {
    send({question_, 0, {}}, to);
  }
}

void WaitWatch::send(const Message& message, int to) {
  static_assert(sizeof(Message) == kMessageBytes);
  auto sent = std::make_unique<Sent>(message);
  sent->start_send(comm_, sent->bytes(), to, tag_);
  park_message(comm_, std::move(sent));
}

void WaitWatch::take_messages() {
  while (true) {
    int found = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag_, comm_, &found, &handle, &status);
    if (found == 0) {
      return;
    }
    Message message;
    MPI_Mrecv(&message, sizeof message, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    message.call.back() = '\0';
    if (message.is_answer == 0) {
      Message answer{message.question, 1, {}};
      CallNote::call().copy(answer.call.data(), answer.call.size() - 1);
      send(answer, status.MPI_SOURCE);
    } else if (message.question == question_ && !calls_.empty()) {
      const std::string call = message.call.data();
      calls_[static_cast<size_t>(status.MPI_SOURCE)] = call.empty() ? "a call" : call;
    }
  }
}

bool WaitWatch::somebody_answered() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const std::string& call) { return !call.empty(); });
}

std::string WaitWatch::find_out() const {
  std::vector<int> silent;
  std::copy_if(asked_.begin(), asked_.end(), std::back_inserter(silent),
               [&](int rank) { return calls_[static_cast<size_t>(rank)].empty(); });
  if (silent.empty()) {
    return "others, and all of them wait as well, " + describe_calls() + ": do all ranks make the same calls, in one order?";
  }
  return describe_ranks(silent, *node_of_rank_, *hosts_) +
         (silent.size() == 1 ? ", which still reads or writes, is not in this call, has ended, or can't be reached"
                             : ", which still read or write, are not in this call, have ended, or can't be reached");
}

// Says which calls the others are in, each with its lowest rank.
std::string WaitWatch::describe_calls() const {
  std::map<std::string, int> lowest;
  for (const int rank : asked_) {
    lowest.emplace(calls_[static_cast<size_t>(rank)], rank);
  }
  std::string text;
  size_t named = 0;
  for (const auto& [call, rank] : lowest) {
    if (named++ < kMostCalls) {
      text += fmt::format("{}rank {} in {}", text.empty() ? "" : ", ", rank, call);
    }
  }
  return text;
}

void drain_wait_messages(MPI_Comm comm, int tag) {
  for (int found = 1; found != 0;) {
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &found, &handle, MPI_STATUS_IGNORE);
    if (found != 0) {
      std::array<std::byte, kMessageBytes> message;
      MPI_Mrecv(message.data(), static_cast<int>(message.size()), MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    }
  }
}

void wait_for_all(MPI_Comm comm, MPI_Request& request) {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  LongWait wait;
  for (int attempt = 0; done == 0; ++attempt) {
    polite_pause(attempt);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0 || attempt < kYieldingPauses) {
      continue;
    }
    if (attempt == kYieldingPauses) {
      wait.begin();
    }
    if (wait.is_due()) {
      int rank = 0;
      MPI_Comm_rank(comm, &rank);
      if (rank <= 1) {
        say_wait(rank, wait.seconds(), "ranks that have not made this call");
      }
    }
    if (wait.is_over_deadline()) {
      give_up_job();
    }
  }
}

void give_up_job() {
  // MPI_Abort may wait for the very connection that is lost.
  try {
    std::thread([] {
      std::this_thread::sleep_for(kTimeToAbort);
      _exit(EXIT_FAILURE);
    }).detach();
  } catch (const std::exception&) {
    // MPI alone ends the job where there is no thread.
  }
  abort_job(EXIT_FAILURE);
}

}  // namespace stria
