// Requests of one small message each: data beside an echo, and names.
#include <algorithm>
#include <functional>
#include <thread>

#include "loopback.hpp"
#include "measures.hpp"

namespace stria::bench {
namespace {

using storage::ReadSegment;
using storage::WriteSegment;

constexpr int64_t kRequestBytes = 4096;
constexpr size_t kClients = 8;

template <typename Work>
double median_time(int64_t count, Work work) {
  std::vector<double> times;
  for (int64_t i = 0; i < count; ++i) {
    const double begin = wall();
    work(i);
    times.push_back(wall() - begin);
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[static_cast<size_t>(count / 2)];
}

/// Seconds per request of clients that each make `count` at the same time: work(client, i).
template <typename Work>
double time_of_all(int64_t count, Work work) {
  const double begin = wall();
  std::vector<std::thread> threads;
  for (size_t client = 0; client < kClients; ++client) {
    threads.emplace_back([&work, client, count] {
      for (int64_t i = 0; i < count; ++i) {
        work(client, i);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return (wall() - begin) / static_cast<double>(count * static_cast<int64_t>(kClients));
}

void send_back(int socket) {
  std::vector<std::byte> data(kRequestBytes);
  while (receive_all(socket, data.data(), kRequestBytes)) {
    send_all(socket, data.data(), kRequestBytes);
  }
}

int64_t place_of(int64_t request) {
  return request % 256 * kRequestBytes;
}

void write_one(storage::File& file, int64_t i, const std::vector<std::byte>& data) {
  const WriteSegment segment{place_of(i), data.data(), kRequestBytes};
  need(file.write({&segment, 1}));
}

void read_one(storage::File& file, int64_t i, std::vector<std::byte>& data) {
  const ReadSegment segment{place_of(i), data.data(), kRequestBytes};
  need(file.read({&segment, 1}).status());
}

void echo_one(const Child& child, const std::vector<std::byte>& data, std::vector<std::byte>& back) {
  send_all(child.socket_of_ours(), data.data(), kRequestBytes);
  need(receive_all(child.socket_of_ours(), back.data(), kRequestBytes), "no echo");
}

/// Cycle -1 only warms up.
void add_times(Figures& figures, int cycle, double echo_s, double write_s, double read_s) {
  if (cycle >= 0) {
    figures.add("echo_s", echo_s);
    figures.add("write_s", write_s);
    figures.add("read_s", read_s);
  }
}

}  // namespace

void measure_latency(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  std::vector<std::byte> data(kRequestBytes);
  std::vector<std::byte> back(kRequestBytes);
  fill(data, 1);
  const auto file = create(driver, arguments.directory + "/latency");
  for (int cycle = -1; cycle < arguments.cycles; ++cycle) {
    const Child child(send_back);
    const double echo = median_time(arguments.size, [&](int64_t) { echo_one(child, data, back); });
    const double write = median_time(arguments.size, [&](int64_t i) { write_one(*file, i, data); });
    const double read = median_time(arguments.size, [&](int64_t i) { read_one(*file, i, back); });
    need(data == back, "what was read is not what was written");
    add_times(figures, cycle, echo, write, read);
  }
}

// The same by clients that work at the same time, each on a file and a connection of its own.
void measure_rate(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  std::vector<std::vector<std::byte>> data(kClients, std::vector<std::byte>(kRequestBytes));
  auto back = data;
  std::vector<std::unique_ptr<storage::File>> files;
  for (size_t client = 0; client < kClients; ++client) {
    fill(data[client], static_cast<int>(client));
    files.push_back(create(driver, arguments.directory + "/rate" + std::to_string(client)));
  }
  for (int cycle = -1; cycle < arguments.cycles; ++cycle) {
    std::vector<std::unique_ptr<Child>> children;
    for (size_t client = 0; client < kClients; ++client) {
      children.push_back(std::make_unique<Child>(send_back));
    }
    const auto echo = [&](size_t client, int64_t) { echo_one(*children[client], data[client], back[client]); };
    const auto write = [&](size_t client, int64_t i) { write_one(*files[client], i, data[client]); };
    const auto read = [&](size_t client, int64_t i) { read_one(*files[client], i, back[client]); };
    const double echo_s = time_of_all(arguments.size, echo);
    const double write_s = time_of_all(arguments.size, write);
    const double read_s = time_of_all(arguments.size, read);
    need(data == back, "what was read is not what was written");
    add_times(figures, cycle, echo_s, write_s, read_s);
  }
}

void measure_names(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  const auto name = [&](int64_t i) { return arguments.directory + "/name" + std::to_string(i); };
  const auto timed = [&](const char* what, const std::function<Status(int64_t)>& work) {
    const double begin = wall();
    for (int64_t i = 0; i < arguments.size; ++i) {
      need(work(i));
    }
    figures.add(what, (wall() - begin) / static_cast<double>(arguments.size));
  };
  for (int cycle = 0; cycle < arguments.cycles; ++cycle) {
    storage::OpenOptions made;
    made.mode = storage::OpenOptions::Mode::kCreateNew;
    timed("create_s", [&](int64_t i) { return driver.open(name(i), made).status(); });
    timed("open_s", [&](int64_t i) { return driver.open(name(i), {}).status(); });
    timed("stat_s", [&](int64_t i) { return driver.exists(name(i)).status(); });
    timed("remove_s", [&](int64_t i) { return driver.remove(name(i)); });
  }
}

}  // namespace stria::bench
