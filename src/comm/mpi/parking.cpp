#include "comm/mpi/parking.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "comm/end_of_mpi.hpp"
#include "comm/mpi/mpi_request.hpp"
#include "comm/mpi/wait_watch.hpp"
#include "comm/pause.hpp"

namespace stria {

namespace {

struct ParkedMessage {
  MPI_Comm comm = MPI_COMM_NULL;
  std::unique_ptr<CommRequest> message;
};

struct Parking {
  std::mutex mutex;
  std::vector<ParkedMessage> messages;
  std::vector<ParkedComm> comms;  // in the order of parking
};

// Never destroyed, because MPI calls back late.
Parking& parking() {
  static Parking* instance = new Parking;
  return *instance;
}

/// True when no message on `comm`, or on any for MPI_COMM_NULL, is under way.
bool messages_done(MPI_Comm comm) {
  const std::lock_guard lock(parking().mutex);
  std::erase_if(parking().messages, [](const ParkedMessage& parked) { return parked.message->test(); });
  return std::none_of(parking().messages.begin(), parking().messages.end(),
                      [comm](const ParkedMessage& parked) { return comm == MPI_COMM_NULL || parked.comm == comm; });
}

// All ranks have parked it, so that they have sent all that they had to send.
void free_communicator(ParkedComm comm) {
  for (int attempt = 0; !messages_done(comm.world); ++attempt) {
    polite_pause(attempt);
  }
  drain_wait_messages(comm.world, comm.wait_tag);
  if (comm.node != comm.world) {
    MPI_Comm_free(&comm.node);
  }
  MPI_Comm_free(&comm.world);
}

std::vector<ParkedComm> all_parked() {
  const std::lock_guard lock(parking().mutex);
  return parking().comms;
}

/// Returns the numbers that the ranks of `comm` have parked, sorted.
std::vector<uint64_t> gather_numbers(MPI_Comm comm, const std::vector<ParkedComm>& mine) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::vector<int> counts(static_cast<size_t>(ranks));
  std::vector<int> begins(static_cast<size_t>(ranks));
  const int count = static_cast<int>(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm, &request);
  wait_politely(request);
  int total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    begins[i] = std::exchange(total, total + counts[i]);
  }
  std::vector<uint64_t> numbers;
  for (const ParkedComm& parked : mine) {
    numbers.push_back(parked.number);
  }
  std::vector<uint64_t> all(static_cast<size_t>(total));
  MPI_Iallgatherv(numbers.data(), count, MPI_UINT64_T, all.data(), counts.data(), begins.data(), MPI_UINT64_T, comm, &request);
  wait_politely(request);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

void park_message(MPI_Comm comm, std::unique_ptr<CommRequest>&& message) {
  STRIA_ASSERT(message != nullptr);
  messages_done(comm);
  const std::lock_guard lock(parking().mutex);
  // Room is made before the message moves: it stays the caller's where memory runs out.
  parking().messages.emplace_back();
  parking().messages.back() = {comm, std::move(message)};
}

void park_communicator(const ParkedComm& comm) {
  const std::lock_guard lock(parking().mutex);
  parking().comms.push_back(comm);
}

uint64_t number_communicator(MPI_Comm comm) {
  std::random_device device;
  uint64_t number = uint64_t{device()} << 32 | device();
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&number, 1, MPI_UINT64_T, 0, comm, &request);
  wait_politely(request);
  return number;
}

void free_parked(MPI_Comm comm) {
  std::vector<ParkedComm> mine = all_parked();
  int most = static_cast<int>(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, comm, &request);
  wait_politely(request);
  if (most == 0) {
    return;
  }
  const std::vector<uint64_t> numbers = gather_numbers(comm, mine);
  std::sort(mine.begin(), mine.end(), [](const ParkedComm& a, const ParkedComm& b) { return a.number < b.number; });
  for (const ParkedComm& parked : mine) {
    // Another thread may have freed it by now, so that MPI must not be asked about it.
    const auto [first, last] = std::equal_range(numbers.begin(), numbers.end(), parked.number);
    if (last - first < parked.ranks) {
      continue;
    }
    size_t erased = 0;  // 0 where another thread was first
    {
      const std::lock_guard lock(parking().mutex);
      erased = std::erase_if(parking().comms, [&](const ParkedComm& one) { return one.number == parked.number; });
    }
    if (erased > 0) {
      free_communicator(parked);
    }
  }
}

size_t parked_communicator_count() {
  return all_parked().size();
}

void free_all_parked() {
  wait_for_parked_messages(-1);
  std::vector<ParkedComm> mine = all_parked();
  std::sort(mine.begin(), mine.end(), [](const ParkedComm& a, const ParkedComm& b) { return a.number < b.number; });
  for (const ParkedComm& parked : mine) {
    free_communicator(parked);
  }
  const std::lock_guard lock(parking().mutex);
  parking().comms.clear();
}

void wait_for_parked_messages(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  for (int attempt = 0; !messages_done(MPI_COMM_NULL); ++attempt) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (seconds >= 0 && waited.count() > seconds) {
      return;
    }
    polite_pause(attempt);
  }
}

}  // namespace stria
