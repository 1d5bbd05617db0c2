// Our clock beside SimGrid's, at sizes that SimGrid holds.
//
// Problem: queues that serve one message after another are no proof that times come out right.
// Method: programs of ranks (messages, then writes to servers, step by step) run on our
// communicator and store, and as actors of SimGrid on a platform of the same numbers. There,
// messages under way at the same time share a link, and writes share a disk.
// Limits: SimGrid shares fairly where our queues serve in turn. So single messages end at other
// times, and programs whose steps depend on them differ by some per cent. Disks are tried in both
// ways.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

// clang-format off
#include <simgrid/version.h>  // needs what s4u.hpp defines
// clang-format on

#include "network/timed_comm.hpp"
#include "storage/memory/memory_driver.hpp"
#include "store/timed_driver.hpp"

namespace stria::simulate {
namespace {

namespace sg = simgrid::s4u;

constexpr int kTag = 7;
constexpr int64_t kMiB = 1 << 20;

struct Message {
  int peer;
  int64_t bytes;
};
struct Write {
  int64_t offset;
  int64_t bytes;
};
/// Says what a rank does at once; it waits for all of it.
struct Step {
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::vector<Write> writes;  ///< when the messages are over
};
/// Each rank has its steps.
using Program = std::vector<std::vector<Step>>;

Machine machine_of(int servers) {
  Machine machine;
  machine.nodes.link_rate = 1e9;
  machine.nodes.memory_rate = 1e15;
  machine.nodes.latency_s = 10e-6;
  machine.nodes.eager_bytes = 0;
  machine.servers.count = machine.servers.stripe_count = servers;
  machine.servers.stripe_bytes = kMiB;
  machine.servers.write_rate = 3e8;
  return machine;
}

int server_of(const Machine& machine, int64_t offset) {
  return static_cast<int>(offset / static_cast<int64_t>(machine.servers.stripe_bytes) % machine.servers.count);
}

// Each message is known to both sides, in one order.
void add_message(Program& program, size_t step, int from, int to, int64_t bytes) {
  program[static_cast<size_t>(from)][step].sends.push_back({to, bytes});
  program[static_cast<size_t>(to)][step].receives.push_back({from, bytes});
}

Program steps_of(int ranks, size_t steps) {
  return Program(static_cast<size_t>(ranks), std::vector<Step>(steps));
}

double by_our_clock(const Machine& machine, const Program& program) {
  Clock clock;
  Store store(clock, machine, {.ranks = static_cast<int>(program.size())});
  storage::MemoryDriver memory;
  const auto driver = make_timed_driver(clock, store, memory, false);
  std::vector<std::byte> bytes(static_cast<size_t>(64 * kMiB));  // nobody looks at them
  const auto body = [&](Comm& comm) {
    const auto file = driver->open("file", {.mode = storage::OpenOptions::Mode::kCreate}).value();
    for (const Step& step : program[static_cast<size_t>(comm.rank())]) {
      std::vector<std::unique_ptr<CommRequest>> requests;
      for (const Message& message : step.receives) {
        requests.push_back(comm.receive(std::span(bytes).first(static_cast<size_t>(message.bytes)), message.peer, kTag));
      }
      for (const Message& message : step.sends) {
        requests.push_back(comm.send(std::span(bytes).first(static_cast<size_t>(message.bytes)), message.peer, kTag));
      }
      for (const auto& request : requests) {
        comm.wait(*request);
      }
      std::vector<storage::WriteSegment> segments;
      for (const Write& write : step.writes) {
        segments.push_back({write.offset, bytes.data(), write.bytes});
      }
      if (!segments.empty()) {
        file->write(segments).throw_if_error();
      }
    }
  };
  return run_ranks(machine, {.ranks = static_cast<int>(program.size())}, clock, body).value().seconds;
}

// SimGrid has a root zone from 4.0 on, and none without an engine.
sg::NetZone* whole_zone([[maybe_unused]] sg::Engine& engine) {
#if SIMGRID_VERSION_MAJOR >= 4
  return engine.get_netzone_root()->add_netzone_full("machine");
#else
  return sg::create_full_zone("machine");
#endif
}

sg::Link* link_of(sg::NetZone* zone, const std::string& name, double rate, double latency_s) {
  return zone->create_link(name, rate)->set_latency(latency_s)->seal();
}

std::string mailbox_of(int from, int to, size_t number) {
  return std::to_string(from) + ">" + std::to_string(to) + "." + std::to_string(number);
}

enum class Disks { kShared, kInTurn };

/// Takes what clients send and writes it to its disk: one request after another, or all at once.
void serve(int server, Disks disks) {
  sg::Actor::self()->daemonize();
  sg::Mailbox* mailbox = sg::Mailbox::by_name("server" + std::to_string(server));
  mailbox->set_receiver(sg::Actor::self());  // messages travel before they are asked for
  sg::Disk* disk = sg::this_actor::get_host()->get_disks().front();
  const sg::MutexPtr turn = sg::Mutex::create();
  while (true) {
    auto request = mailbox->get_unique<std::pair<double, std::string>>();
    sg::Actor::create("write", sg::this_actor::get_host(), [disk, disks, turn, request = *request] {
      if (disks == Disks::kInTurn) {
        turn->lock();
      }
      disk->write(static_cast<sg_size_t>(request.first));
      if (disks == Disks::kInTurn) {
        turn->unlock();
      }
      sg::Mailbox::by_name(request.second)->put(new int(0), 0);
    });
  }
}

void follow(const Machine& machine, const Program& program, int rank) {
  std::map<std::pair<int, int>, size_t> numbers;
  for (const Step& step : program[static_cast<size_t>(rank)]) {
    std::vector<sg::CommPtr> under_way;
    std::vector<int*> taken(step.receives.size());
    for (size_t i = 0; i < step.receives.size(); ++i) {
      const int from = step.receives[i].peer;
      under_way.push_back(sg::Mailbox::by_name(mailbox_of(from, rank, numbers[{from, rank}]++))->get_async<int>(&taken[i]));
    }
    for (const Message& message : step.sends) {
      const size_t number = numbers[{rank, message.peer}]++;
      under_way.push_back(sg::Mailbox::by_name(mailbox_of(rank, message.peer, number))
                              ->put_async(new int(0), static_cast<uint64_t>(message.bytes)));
    }
    for (const sg::CommPtr& one : under_way) {
      one->wait();
    }
    for (int* one : taken) {
      delete one;
    }
    const std::string answers = "answers" + std::to_string(rank);
    std::vector<sg::CommPtr> writes;
    for (const Write& write : step.writes) {
      sg::Mailbox* server = sg::Mailbox::by_name("server" + std::to_string(server_of(machine, write.offset)));
      auto* request = new std::pair<double, std::string>(static_cast<double>(write.bytes), answers);
      writes.push_back(server->put_async(request, static_cast<uint64_t>(write.bytes)));
    }
    for (const sg::CommPtr& one : writes) {
      one->wait();
    }
    for (size_t i = 0; i < step.writes.size(); ++i) {
      sg::Mailbox::by_name(answers)->get_unique<int>();
    }
  }
}

double simgrids_seconds(const Machine& machine, const Program& program, Disks disks) {
  // A message takes latency and bytes / rate, with no factors for TCP.
  int count = 2;
  std::string name = "simgrid_test";
  std::string quiet = "--log=root.thres:warning";
  std::array<char*, 3> arguments{name.data(), quiet.data(), nullptr};
  sg::Engine engine(&count, arguments.data());
  for (const char* setting : {"network/model:CM02", "network/crosstraffic:0", "network/bandwidth-factor:1",
                              "network/latency-factor:1", "network/weight-S:0", "network/TCP-gamma:0"}) {
    sg::Engine::set_config(setting);
  }
  sg::NetZone* zone = whole_zone(engine);
  std::vector<sg::Host*> hosts;
  std::vector<sg::Link*> out, in;
  const double half_s = machine.nodes.latency_s / 2;
  for (size_t rank = 0; rank < program.size(); ++rank) {
    hosts.push_back(zone->create_host("rank" + std::to_string(rank), 1e9)->seal());
    out.push_back(link_of(zone, "out" + std::to_string(rank), machine.nodes.link_rate, half_s));
    in.push_back(link_of(zone, "in" + std::to_string(rank), machine.nodes.link_rate, half_s));
  }
  for (size_t i = 0; i < hosts.size(); ++i) {
    for (size_t k = 0; k < hosts.size(); ++k) {
      if (i != k) {
        const std::vector<sg::LinkInRoute> route{sg::LinkInRoute(out[i]), sg::LinkInRoute(in[k])};
        zone->add_route(hosts[i]->get_netpoint(), hosts[k]->get_netpoint(), nullptr, nullptr, route, false);
      }
    }
  }
  sg::Link* to_servers = link_of(zone, "to servers", 1e15, half_s);
  to_servers->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
  for (int server = 0; server < machine.servers.count; ++server) {
    sg::Host* host = zone->create_host("server" + std::to_string(server), 1e9);
    host->create_disk("disk", machine.servers.read_rate, machine.servers.write_rate)->seal();
    host->seal();
    for (size_t i = 0; i < hosts.size(); ++i) {
      const std::vector<sg::LinkInRoute> route{sg::LinkInRoute(out[i]), sg::LinkInRoute(to_servers)};
      zone->add_route(hosts[i]->get_netpoint(), host->get_netpoint(), nullptr, nullptr, route, false);
      const std::vector<sg::LinkInRoute> back{sg::LinkInRoute(to_servers)};
      zone->add_route(host->get_netpoint(), hosts[i]->get_netpoint(), nullptr, nullptr, back, false);
    }
    sg::Actor::create("serve", host, [server, disks] { serve(server, disks); });
  }
  zone->seal();
  for (size_t rank = 0; rank < program.size(); ++rank) {
    sg::Actor::create("rank", hosts[rank], [&, rank] { follow(machine, program, static_cast<int>(rank)); });
  }
  engine.run();
  return sg::Engine::get_clock();
}

/// SimGrid's engine can be made once in a process, so that each program gets a process.
double by_simgrid(const Machine& machine, const Program& program, Disks disks) {
  int ends[2];
  if (pipe(ends) != 0) {
    return NAN;
  }
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const double seconds = simgrids_seconds(machine, program, disks);
    _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  close(ends[1]);
  double seconds = NAN;
  if (child < 0 || read(ends[0], &seconds, sizeof seconds) != sizeof seconds) {
    seconds = NAN;
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return seconds;
}

/// `most_apart` is a factor.
void compare(const char* what, const Machine& machine, const Program& program, double most_apart) {
  const double ours = by_our_clock(machine, program);
  for (const Disks disks : {Disks::kInTurn, Disks::kShared}) {
    const double theirs = by_simgrid(machine, program, disks);
    std::printf("%s, %zu ranks: ours %.6f s, SimGrid's %.6f s, ratio %.3f\n", what, program.size(), ours, theirs,
                ours / theirs);
    ASSERT_GT(theirs, 0) << what;
    EXPECT_LE(std::abs(std::log(ours / theirs)), std::log(most_apart)) << what;
  }
}

TEST(BesideSimGrid, AllSendToOne) {
  for (const int ranks : {2, 64, 256}) {
    Program program = steps_of(ranks, 1);
    for (int rank = 1; rank < ranks; ++rank) {
      add_message(program, 0, rank, 0, kMiB);
    }
    compare("all send to one", machine_of(1), program, 1.02);
  }
}

TEST(BesideSimGrid, NeighboursShiftInTurn) {
  for (const int ranks : {16, 256}) {
    Program program = steps_of(ranks, 5);
    for (size_t step = 0; step < 5; ++step) {
      for (int rank = 0; rank < ranks; ++rank) {
        add_message(program, step, rank, (rank + 1) % ranks, kMiB * static_cast<int64_t>(step + 1));
      }
    }
    compare("each sends to the next", machine_of(1), program, 1.02);
  }
}

TEST(BesideSimGrid, RandomMessages) {
  for (const uint32_t seed : {1U, 2U, 3U}) {
    std::minstd_rand random(seed);
    constexpr int kRanks = 128;
    Program program = steps_of(kRanks, 4);
    for (size_t step = 0; step < 4; ++step) {
      for (int message = 0; message < 8 * kRanks; ++message) {
        const int from = static_cast<int>(random() % kRanks);
        const int to = static_cast<int>((static_cast<unsigned>(from) + 1 + random() % (kRanks - 1)) % kRanks);
        add_message(program, step, from, to, 65536 + static_cast<int64_t>(random() % kMiB));
      }
    }
    compare("random messages", machine_of(1), program, 1.15);
  }
}

TEST(BesideSimGrid, TwoPhaseRounds) {
  for (const int ranks : {64, 256}) {
    const Machine machine = machine_of(8);
    constexpr int kAggregators = 8;
    constexpr size_t kRounds = 4;
    Program program = steps_of(ranks, kRounds);
    for (size_t round = 0; round < kRounds; ++round) {
      for (int aggregator = 0; aggregator < kAggregators; ++aggregator) {
        const int place = aggregator * ranks / kAggregators;
        for (int rank = 0; rank < ranks; ++rank) {
          if (rank != place) {
            add_message(program, round, rank, place, 4 * kMiB / ranks);
          }
        }
        for (int64_t i = 0; i < 4; ++i) {  // each server gets as much in a round, in another order
          const int64_t stripe = (static_cast<int64_t>(round) * kAggregators + aggregator) * 4 + i;
          program[static_cast<size_t>(place)][round].writes.push_back({stripe * kMiB, kMiB});
        }
      }
    }
    compare("two-phase, 8 aggregators and servers", machine, program, 1.15);
  }
}

TEST(BesideSimGrid, WritesToUnequalServers) {
  for (const uint32_t seed : {1U, 2U}) {
    std::minstd_rand random(seed);
    const Machine machine = machine_of(6);
    Program program = steps_of(96, 1);
    for (auto& steps : program) {
      for (int i = 0; i < 4; ++i) {
        const auto place = static_cast<int64_t>(random() % 32 % 13);  // some servers get more
        steps[0].writes.push_back({place * kMiB, kMiB});
      }
    }
    compare("writes to unequal servers", machine, program, 1.05);
  }
}

}  // namespace
}  // namespace stria::simulate
