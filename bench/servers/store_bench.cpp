// What the plainest operations cost on a store of `stria serve`, and on the machine without one:
// contiguous bytes beside a socket that drops them, a small request beside an echo, names, and
// pieces by list and by datatype.
//
// usage: store_bench MEASURE DIRECTORY SERVERS CYCLES SIZE
//   MEASURE: copy (SIZE: MiB), latency (requests), names (files), pieces (bytes of a piece),
//   lists (pieces)
//   DIRECTORY: stria://HOST:PORT/PATH, or a local one, to see what the client itself costs SERVERS:
//   process ids of the servers, with commas, whose processor time counts; 0: none
// Everything written is read again and compared. Prints one line of JSON; times are in seconds, one
// array entry per cycle.

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "storage/registry.hpp"
#include "storage/striped/frame_stream.hpp"
#include "storage/striped/striped_driver.hpp"
#include "storage/striped/striped_file.hpp"

namespace stria::bench {
namespace {

using storage::ReadSegment;
using storage::WriteSegment;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kCallBytes = 4 * kMiB;
constexpr int64_t kRequestBytes = 4096;

[[noreturn]] void stop(const std::string& what) {
  std::fprintf(stderr, "store_bench: %s\n", what.c_str());
  std::exit(2);
}

void need(const Status& status) {
  if (!status.ok()) {
    stop(status.message());
  }
}

void need(bool good, const char* what) {
  if (!good) {
    stop(what);
  }
}

struct Arguments {
  std::string measure;
  std::string directory;
  std::vector<int> servers;
  int cycles = 1;
  int64_t size = 0;
};

double wall() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double own_cpu() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double children_cpu() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The processor time of all threads of another process, to the nanosecond.
double cpu_of(int process) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  DIR* directory = opendir(tasks.c_str());
  need(directory != nullptr, "a server is gone");
  double seconds = 0;
  while (const dirent* entry = readdir(directory)) {
    std::FILE* file = std::fopen((tasks + "/" + entry->d_name + "/schedstat").c_str(), "r");
    long long nanoseconds = 0;
    if (entry->d_name[0] != '.' && file != nullptr && std::fscanf(file, "%lld", &nanoseconds) == 1) {
      seconds += 1e-9 * static_cast<double>(nanoseconds);
    }
    if (file != nullptr) {
      std::fclose(file);
    }
  }
  closedir(directory);
  return seconds;
}

double cpu(const Arguments& arguments) {
  double seconds = own_cpu();
  for (const int server : arguments.servers) {
    seconds += cpu_of(server);
  }
  return seconds;
}

/// Named lists of figures, printed as JSON.
class Figures {
 public:
  void add(const std::string& name, double value) { values_[name].push_back(value); }
  void print() const {
    std::string out;
    for (const auto& [name, values] : values_) {
      out += (out.empty() ? "{\"" : ", \"") + name + "\": [";
      for (size_t i = 0; i < values.size(); ++i) {
        char text[40];
        std::snprintf(text, sizeof text, "%s%.9g", i == 0 ? "" : ", ", values[i]);
        out += text;
      }
      out += "]";
    }
    std::puts((out + "}").c_str());
  }

 private:
  std::map<std::string, std::vector<double>> values_;
};

std::unique_ptr<storage::File> create(storage::Driver& driver, const std::string& path) {
  storage::OpenOptions options;
  options.mode = storage::OpenOptions::Mode::kCreate;
  auto file = driver.open(path, options);
  need(file.status());
  return std::move(*file);
}

void fill(std::vector<std::byte>& data, int seed) {
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::byte>((i * 2654435761u + static_cast<size_t>(seed)) >> 13);
  }
}

// A connection over loopback to a child, which does `work` with its end.
class Child {
 public:
  explicit Child(const std::function<void(int socket)>& work) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof place;
    auto* address = reinterpret_cast<sockaddr*>(&place);
    need(bind(listener, address, bytes) == 0 && listen(listener, 1) == 0, "no socket");
    getsockname(listener, address, &bytes);
    process_ = fork();
    need(process_ >= 0, "no process");
    if (process_ == 0) {
      work(tuned(accept(listener, nullptr, nullptr)));
      _exit(0);
    }
    socket_ = tuned(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    need(connect(socket_, address, bytes) == 0, "no connection");
    close(listener);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  int socket_of_ours() const { return socket_; }
  void end() {
    if (socket_ >= 0) {
      close(socket_);
      waitpid(process_, nullptr, 0);
      socket_ = -1;
    }
  }

 private:
  static int tuned(int made) {
    const int on = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
  }
  int socket_ = -1;
  pid_t process_ = 0;
};

void send_all(int socket, const std::byte* data, int64_t bytes) {
  while (bytes > 0) {
    const ssize_t now = send(socket, data, static_cast<size_t>(bytes), MSG_NOSIGNAL);
    need(now > 0, "send");
    data += now;
    bytes -= now;
  }
}

bool receive_all(int socket, std::byte* data, int64_t bytes) {
  while (bytes > 0) {
    const ssize_t now = recv(socket, data, static_cast<size_t>(bytes), 0);
    if (now <= 0) {
      return false;
    }
    data += now;
    bytes -= now;
  }
  return true;
}

void drop_everything(int socket) {
  std::vector<std::byte> buffer(256 << 10);
  while (recv(socket, buffer.data(), buffer.size(), 0) > 0) {
  }
}

// Otherwise each page that is written after a fork costs a fault, which nobody but this bench has.
void keep_from_children(std::vector<std::byte>& data) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(data.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t end = (begin + data.size()) / page * page;
  need(madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTFORK) == 0, "madvise");
}

void move_contiguous(storage::File& file, bool write, std::vector<std::byte>& data) {
  for (int64_t begin = 0; begin < static_cast<int64_t>(data.size()); begin += kCallBytes) {
    const int64_t bytes = std::min(kCallBytes, static_cast<int64_t>(data.size()) - begin);
    if (write) {
      const WriteSegment segment{begin, data.data() + begin, bytes};
      need(file.write({&segment, 1}));
    } else {
      const ReadSegment segment{begin, data.data() + begin, bytes};
      const auto moved = file.read({&segment, 1});
      need(moved.status());
      need(*moved == bytes, "a short read");
    }
  }
}

void measure_copy(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  std::vector<std::byte> data(static_cast<size_t>(arguments.size * kMiB));
  std::vector<std::byte> back(data.size());
  keep_from_children(back);
  const auto file = create(driver, arguments.directory + "/copy");
  for (int cycle = -1; cycle < arguments.cycles; ++cycle) {  // the first is of a new file
    fill(data, cycle);
    const double children = children_cpu();
    const double before_plain = own_cpu();
    Child child(drop_everything);
    for (size_t begin = 0; begin < data.size(); begin += kCallBytes) {
      send_all(child.socket_of_ours(), data.data() + begin, kCallBytes);
    }
    child.end();
    const double plain = own_cpu() - before_plain + children_cpu() - children;
    const double begin = wall();
    const double before_write = cpu(arguments);
    move_contiguous(*file, true, data);
    const double before_read = cpu(arguments);
    const double between = wall();
    move_contiguous(*file, false, back);
    const double after = cpu(arguments);
    const double end = wall();
    need(data == back, "what was read is not what was written");
    if (cycle >= 0) {
      figures.add("plain_cpu_s", plain);
      figures.add("rewrite_cpu_s", before_read - before_write);
      figures.add("read_cpu_s", after - before_read);
      figures.add("rewrite_s", between - begin);
      figures.add("read_s", end - between);
    }
  }
}

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

void measure_latency(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  std::vector<std::byte> data(kRequestBytes);
  std::vector<std::byte> back(kRequestBytes);
  fill(data, 1);
  const auto file = create(driver, arguments.directory + "/latency");
  const auto place = [](int64_t i) { return i % 256 * kRequestBytes; };
  for (int cycle = -1; cycle < arguments.cycles; ++cycle) {
    Child child([&back](int socket) {
      while (receive_all(socket, back.data(), kRequestBytes)) {
        send_all(socket, back.data(), kRequestBytes);
      }
    });
    const double echo = median_time(arguments.size, [&](int64_t) {
      send_all(child.socket_of_ours(), data.data(), kRequestBytes);
      need(receive_all(child.socket_of_ours(), back.data(), kRequestBytes), "no echo");
    });
    const double write = median_time(arguments.size, [&](int64_t i) {
      const WriteSegment segment{place(i), data.data(), kRequestBytes};
      need(file->write({&segment, 1}));
    });
    const double read = median_time(arguments.size, [&](int64_t i) {
      const ReadSegment segment{place(i), back.data(), kRequestBytes};
      need(file->read({&segment, 1}).status());
    });
    need(data == back, "what was read is not what was written");
    if (cycle >= 0) {
      figures.add("echo_s", echo);
      figures.add("write_s", write);
      figures.add("read_s", read);
    }
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

/// One piece in four of the file.
struct Pieces {
  int64_t bytes;
  std::vector<std::byte> data;

  Pieces(int64_t piece_bytes, int64_t count) : bytes(piece_bytes), data(static_cast<size_t>(piece_bytes * count)) {}
  int64_t count() const { return static_cast<int64_t>(data.size()) / bytes; }
  template <typename Segment>
  std::vector<Segment> segments() {
    std::vector<Segment> list(static_cast<size_t>(count()));
    for (int64_t i = 0; i < count(); ++i) {
      list[static_cast<size_t>(i)] = {4 * i * bytes, data.data() + i * bytes, bytes};
    }
    return list;
  }
};

/// Seconds, and bytes sent besides the data.
struct Cost {
  double seconds;
  double description_bytes;
};

template <typename Work>
Cost cost_of(int64_t data_bytes_sent, Work work) {
  int64_t before[3];
  int64_t after[3];
  storage::stria_wire_traffic(before);
  const double begin = wall();
  work();
  const double seconds = wall() - begin;
  storage::stria_wire_traffic(after);
  return {seconds, static_cast<double>(after[1] - before[1] - data_bytes_sent)};
}

void measure_pieces(const Arguments& arguments, storage::Driver& /*driver*/, Figures& figures) {
  const int64_t count = std::clamp<int64_t>(16 * kMiB / arguments.size, 1024, 1 << 19);
  Pieces written(arguments.size, count);
  Pieces back(arguments.size, count);
  storage::StripedDriver striped;
  const auto plain = create(striped, arguments.directory + "/pieces");
  auto* file = dynamic_cast<storage::StripedFile*>(plain.get());
  need(file != nullptr, "pieces are measured on a store");
  need(plain->resize(4 * arguments.size * count));
  const Datatype type = Datatype::vector(count, 1, 4, Datatype::bytes(arguments.size)).value();
  const ByteRange window{0, arguments.size * count};
  const int64_t bytes = window.size();
  for (int cycle = -1; cycle < arguments.cycles; ++cycle) {  // the first is of a new file
    fill(written.data, 2 * cycle);
    const auto to_write = written.segments<WriteSegment>();
    const auto to_read = back.segments<ReadSegment>();
    const Cost list_write = cost_of(bytes, [&] { need(file->write(to_write)); });
    const Cost type_read = cost_of(0, [&] { need(file->read_type({type, 0, window}, back.data.data()).status()); });
    need(written.data == back.data, "what was read by datatype is not what was written by list");
    fill(written.data, 2 * cycle + 1);
    const Cost type_write = cost_of(bytes, [&] { need(file->write_type({type, 0, window}, written.data.data())); });
    const Cost list_read = cost_of(0, [&] { need(file->read(to_read).status()); });
    need(written.data == back.data, "what was read by list is not what was written by datatype");
    if (cycle >= 0) {
      const std::pair<const char*, Cost> all[] = {
          {"list_write", list_write}, {"type_read", type_read}, {"type_write", type_write}, {"list_read", list_read}};
      for (const auto& [name, cost] : all) {
        figures.add(std::string(name) + "_s", cost.seconds / static_cast<double>(count));
        figures.add(std::string(name) + "_description_bytes", cost.description_bytes);
      }
    }
  }
}

// The same pieces of 8 bytes in requests of so many.
void measure_lists(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  Pieces written(8, arguments.size);
  Pieces back(8, arguments.size);
  const auto file = create(driver, arguments.directory + "/lists");
  for (int cycle = 0; cycle < arguments.cycles; ++cycle) {
    for (const size_t regions : {1, 16, 64, 256, 1024, 4096, 32768}) {
      fill(written.data, cycle);
      const auto to_write = written.segments<WriteSegment>();
      const auto to_read = back.segments<ReadSegment>();
      const auto each = [&](const auto& list, const auto& move) {
        const double begin = wall();
        for (size_t i = 0; i < list.size(); i += regions) {
          move(std::span(list).subspan(i, std::min(regions, list.size() - i)));
        }
        return (wall() - begin) / static_cast<double>(list.size());
      };
      figures.add("write_" + std::to_string(regions) + "_s", each(to_write, [&](auto part) { need(file->write(part)); }));
      figures.add("read_" + std::to_string(regions) + "_s", each(to_read, [&](auto part) { need(file->read(part).status()); }));
      need(written.data == back.data, "what was read is not what was written");
    }
  }
}

Arguments parse(int argc, char** argv) {
  if (argc != 6) {
    stop("usage: store_bench copy|latency|names|pieces|lists DIRECTORY SERVERS CYCLES SIZE");
  }
  Arguments arguments{argv[1], argv[2], {}, std::atoi(argv[4]), std::atoll(argv[5])};
  for (const char* at = argv[3]; at != nullptr; at = std::strchr(at, ',')) {
    at += *at == ',' ? 1 : 0;
    if (const int process = std::atoi(at); process > 0) {
      arguments.servers.push_back(process);
    }
  }
  need(arguments.size > 0, "SIZE is a number above 0");
  return arguments;
}

void run(const Arguments& arguments) {
  using Measure = void (*)(const Arguments&, storage::Driver&, Figures&);
  const std::map<std::string, Measure> measures = {{"copy", measure_copy},
                                                   {"latency", measure_latency},
                                                   {"names", measure_names},
                                                   {"pieces", measure_pieces},
                                                   {"lists", measure_lists}};
  const auto found = measures.find(arguments.measure);
  need(found != measures.end(), "no such measure");
  const auto driver = storage::make_driver("posix");
  need(driver.status());
  Figures figures;
  found->second(arguments, **driver, figures);
  figures.print();
}

}  // namespace
}  // namespace stria::bench

int main(int argc, char** argv) {
  stria::bench::run(stria::bench::parse(argc, argv));
  return 0;
}
