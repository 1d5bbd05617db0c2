#include "network/timed_comm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "comm/private_memory.hpp"
#include "comm/reduced.hpp"
#include "comm/simulated/announced_messages.hpp"

namespace stria::simulate {

namespace {

constexpr int kMostRanks = 1 << 20;
constexpr int64_t kLeastStackBytes = 16 << 10;
constexpr double kShortestPauseS = 1e-6;
constexpr int kDoubledPauses = 10;
/// A rank that waits for seconds would make thousands of pauses. So later ones grow, and stay at a
/// twentieth of the wait. A message ends each at once.
constexpr double kGrowth = 1.05;

/// A collective call of all ranks, or of those of a node.
struct Meeting {
  int present = 0;
  int left = 0;
  double end = -1;  ///< when all may leave; below 0: not all have come
  std::vector<int> waiting;
  std::vector<int64_t> numbers;
  std::vector<std::byte> bytes;
  std::vector<std::vector<std::byte>> pieces;  ///< by rank
  std::shared_ptr<SharedBuffer> memory;
  Status failure;
};

class NodeParts : public SharedBuffer {
 public:
  explicit NodeParts(int node_size) : owned_(static_cast<size_t>(node_size)), parts_(static_cast<size_t>(node_size)) {}
  std::span<std::byte> part(int node_rank) const override { return parts_[static_cast<size_t>(node_rank)]; }
  void own(int node_rank, PrivateMemory memory) {
    parts_[static_cast<size_t>(node_rank)] = memory.bytes();
    owned_[static_cast<size_t>(node_rank)] = std::move(memory);
  }
  void borrow(int node_rank, std::span<std::byte> memory) { parts_[static_cast<size_t>(node_rank)] = memory; }

 private:
  std::vector<PrivateMemory> owned_;
  std::vector<std::span<std::byte>> parts_;
};

std::vector<int> lay_out_nodes(int ranks, int ranks_per_node) {
  std::vector<int> nodes(static_cast<size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    nodes[static_cast<size_t>(rank)] = rank / ranks_per_node;
  }
  return nodes;
}

/// All that the ranks of a run share.
struct World {
  World(const Machine& of, const WorldOptions& with, Clock& by)
      : machine(of),
        options(with),
        clock(by),
        node_of_rank(lay_out_nodes(with.ranks, of.nodes.ranks_per_node)),
        messages(clock, of.nodes, node_of_rank, {.carries_payload = with.carries_payload}) {}

  /// Steps of a tree over the ranks.
  double steps() const { return std::bit_width(static_cast<unsigned>(options.ranks - 1)) * machine.nodes.step_s; }
  /// Returns a region that stands for any payload, where none is carried.
  Result<std::span<std::byte>> nowhere(int64_t bytes) {
    if (static_cast<int64_t>(nowhere_.empty() ? 0 : nowhere_.back().bytes().size()) < bytes) {
      STRIA_ASSIGN_OR_RETURN(auto memory, PrivateMemory::allocate(bytes));
      nowhere_.push_back(std::move(memory));
    }
    return nowhere_.empty() ? std::span<std::byte>() : nowhere_.back().bytes().first(static_cast<size_t>(bytes));
  }

  const Machine& machine;
  WorldOptions options;
  Clock& clock;
  std::vector<int> node_of_rank;
  Messages messages;
  std::unordered_map<int64_t, Meeting> meetings;             ///< by the number of the call
  std::map<std::pair<int, int64_t>, Meeting> node_meetings;  ///< by node, and by its number there
  AnnouncedMessages announced;
  std::vector<std::unique_ptr<CommRequest>> parked;

 private:
  std::vector<PrivateMemory> nowhere_;
};

class TimedRequest : public CommRequest {
 public:
  TimedRequest(World& world, std::shared_ptr<Transfer> transfer, const char* what)
      : world_(world), transfer_(std::move(transfer)), what_(what) {}
  bool test() override { return transfer_->done; }
  void wait() {
    const double begin_s = world_.clock.free_at();
    while (!transfer_->done && !world_.clock.is_cancelled()) {
      transfer_->waiting_rank = world_.clock.current();
      world_.clock.block(what_);
    }
    world_.clock.charge(std::exchange(transfer_->copy_s, 0));
    world_.clock.note(trace::BuiltIn::kMessageWait, begin_s);
  }

 private:
  World& world_;
  std::shared_ptr<Transfer> transfer_;
  const char* what_;
};

class TimedComm : public Comm {
 public:
  TimedComm(World& world, int rank) : world_(world), rank_(rank), node_(world.node_of_rank[static_cast<size_t>(rank)]) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.options.ranks; }
  std::span<const int> node_of_rank() const override { return world_.node_of_rank; }
  int node_rank() const override { return rank_ % world_.machine.nodes.ranks_per_node; }
  int node_size() const override {
    const int each = world_.machine.nodes.ranks_per_node;
    return std::min(each, size() - node_ * each);
  }

  void barrier() override {
    meet(
        trace::BuiltIn::kBarrier, world_.steps(), [](Meeting&) {}, [](Meeting&) {});
  }
  void broadcast(std::span<std::byte> data, int root) override {
    meet(
        trace::BuiltIn::kBroadcast, world_.steps() + seconds_of(data.size()),
        [&](Meeting& meeting) {
          if (rank_ == root) {
            meeting.bytes.assign(data.begin(), data.end());
          }
        },
        [&](Meeting& meeting) { std::copy(meeting.bytes.begin(), meeting.bytes.end(), data.begin()); });
  }
  void all_reduce(std::span<int64_t> values, ReduceOp op) override;
  void exclusive_scan(std::span<int64_t> values) override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) override;
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) override;

  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override {
    return std::make_unique<TimedRequest>(world_, world_.messages.send(data, to, tag), "waits for a message to leave");
  }
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override {
    return std::make_unique<TimedRequest>(world_, world_.messages.receive(data, from, tag), "waits for a message");
  }
  void wait(CommRequest& request) override { static_cast<TimedRequest&>(request).wait(); }
  void park(std::unique_ptr<CommRequest>&& request) override { world_.parked.push_back(std::move(request)); }
  void pause(int attempt) override {
    world_.clock.settle();
    const double doubled = kShortestPauseS * (1 << std::min(attempt, kDoubledPauses));
    world_.messages.pause_until(world_.clock.now() + doubled * std::pow(kGrowth, std::max(attempt - kDoubledPauses, 0)));
  }
  /// The time is that of nonblocking consensus: a barrier, and the messages.
  Messages sparse_exchange(const Messages& outgoing) override {
    return world_.announced.exchange(*this, exchanges_++, outgoing);
  }

 private:
  double seconds_of(size_t bytes) const { return static_cast<double>(bytes) / world_.machine.nodes.link_rate; }

  template <typename Join, typename Leave>
  void meet(trace::BuiltIn kind, double seconds, Join&& join, Leave&& leave) {
    const double begin_s = world_.clock.free_at();
    const int64_t number = calls_++;
    Meeting& meeting = world_.meetings[number];
    hold(meeting, size(), seconds, std::forward<Join>(join));
    world_.clock.note(kind, begin_s);
    leave(meeting);
    if (++meeting.left == size()) {
      world_.meetings.erase(number);
    }
  }

  // Joins, and waits until all have come and the meeting is over.
  template <typename Join>
  void hold(Meeting& meeting, int members, double seconds, Join&& join) {
    Clock& clock = world_.clock;
    join(meeting);
    const double moment = clock.free_at();
    meeting.end = std::max(meeting.end, moment);  // the latest so far
    if (++meeting.present == members) {
      meeting.end += seconds;
      for (const int rank : meeting.waiting) {
        clock.wake(rank, meeting.end);
      }
    } else {
      meeting.waiting.push_back(rank_);
      while (meeting.present < members && !clock.is_cancelled()) {
        clock.block("waits in a collective");
      }
    }
    clock.sleep_until(meeting.end);
  }

  World& world_;
  int rank_;
  int node_;
  int64_t calls_ = 0;
  int64_t node_calls_ = 0;
  int64_t exchanges_ = 0;
};

void TimedComm::all_reduce(std::span<int64_t> values, ReduceOp op) {
  meet(
      trace::BuiltIn::kReduce, 2 * (world_.steps() + seconds_of(values.size_bytes())),
      [&](Meeting& meeting) {
        std::vector<int64_t>& all = meeting.numbers;
        if (meeting.present == 0) {
          all.assign(values.begin(), values.end());
          return;
        }
        for (size_t i = 0; i < values.size(); ++i) {
          all[i] = reduced(all[i], values[i], op);
        }
      },
      [&](Meeting& meeting) { std::copy(meeting.numbers.begin(), meeting.numbers.end(), values.begin()); });
}

void TimedComm::exclusive_scan(std::span<int64_t> values) {
  const size_t count = values.size();
  const auto mine = [&](Meeting& meeting) {
    meeting.numbers.resize(count * static_cast<size_t>(size()));
    return meeting.numbers.begin() + static_cast<std::ptrdiff_t>(count) * rank_;
  };
  meet(
      trace::BuiltIn::kReduce, world_.steps(),
      [&](Meeting& meeting) { std::copy(values.begin(), values.end(), mine(meeting)); },
      [&](Meeting& meeting) {
        if (meeting.left == 0) {
          std::vector<int64_t> before(count, 0);
          for (size_t i = 0; i < meeting.numbers.size(); ++i) {
            before[i % count] += std::exchange(meeting.numbers[i], before[i % count]);
          }
        }
        std::copy_n(mine(meeting), count, values.begin());
      });
}

void TimedComm::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  meet(
      trace::BuiltIn::kGather, world_.steps() + seconds_of(all.size()),
      [&](Meeting& meeting) {
        meeting.bytes.resize(all.size());
        std::copy(mine.begin(), mine.end(), meeting.bytes.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank_);
      },
      [&](Meeting& meeting) { std::copy(meeting.bytes.begin(), meeting.bytes.end(), all.begin()); });
}

void TimedComm::gather(std::span<const std::byte> mine, int root, const PieceTaker& take) {
  meet(
      trace::BuiltIn::kGather, world_.steps() + world_.machine.nodes.message_s * size(),
      [&](Meeting& meeting) {
        meeting.pieces.resize(static_cast<size_t>(size()));
        meeting.pieces[static_cast<size_t>(rank_)].assign(mine.begin(), mine.end());
      },
      [&](Meeting& meeting) {
        for (int from = 0; rank_ == root && from < size(); ++from) {
          take(from, meeting.pieces[static_cast<size_t>(from)]);
        }
      });
}

Result<std::shared_ptr<SharedBuffer>> TimedComm::allocate_shared(SharedBytes wanted) {
  const bool nowhere = wanted.pass_through && !world_.options.carries_payload;
  const std::pair<int, int64_t> key{node_, node_calls_++};
  Meeting& meeting = world_.node_meetings[key];
  hold(meeting, node_size(), world_.machine.nodes.local_latency_s, [&](Meeting& all) {
    if (all.memory == nullptr) {
      all.memory = std::make_shared<NodeParts>(node_size());
    }
    auto& parts = static_cast<NodeParts&>(*all.memory);
    if (nowhere) {
      const auto region = world_.nowhere(wanted.bytes);
      all.failure.update(Status(region.status()));
      parts.borrow(node_rank(), region.ok() ? *region : std::span<std::byte>());
      return;
    }
    auto memory = PrivateMemory::allocate(wanted.bytes);
    all.failure.update(Status(memory.status()));
    if (memory.ok()) {
      parts.own(node_rank(), std::move(*memory));
    }
  });
  const std::shared_ptr<SharedBuffer> memory = meeting.memory;
  const Status failure = meeting.failure;
  if (++meeting.left == node_size()) {
    world_.node_meetings.erase(key);
  }
  STRIA_RETURN_IF_ERROR(failure);
  return memory;
}

}  // namespace

Result<RunReport> run_ranks(const Machine& machine, const WorldOptions& options, Clock& clock,
                            const std::function<void(Comm&)>& body) {
  if (options.ranks < 1 || options.ranks > kMostRanks || options.stack_bytes < kLeastStackBytes) {
    return Status(ErrorCode::kInvalidArgument,
                  "a simulation wants 1 to " + std::to_string(kMostRanks) + " ranks, and stacks of 16 KiB or more");
  }
  STRIA_ASSIGN_OR_RETURN(const FiberStacks stacks, FiberStacks::allocate(options.ranks, options.stack_bytes, false));
  World world(machine, options, clock);
  for (int rank = 0; rank < options.ranks; ++rank) {
    clock.add_rank(stacks.stack(rank), [&world, &body, rank] {
      TimedComm comm(world, rank);
      body(comm);
    });
  }
  const Status outcome = clock.run();
  if (clock.exception() != nullptr) {
    std::rethrow_exception(clock.exception());
  }
  STRIA_RETURN_IF_ERROR(outcome);
  return RunReport{clock.now(), clock.events(), world.messages.traffic()};
}

}  // namespace stria::simulate
