// Contiguous bytes beside a socket that drops them, by processor time.
#include <dirent.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "loopback.hpp"
#include "measures.hpp"

namespace stria::bench {
namespace {

using storage::ReadSegment;
using storage::WriteSegment;

constexpr int64_t kCallBytes = 4 * kMiB;

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

// Returns the processor time of all threads of another process, to the nanosecond.
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

}  // namespace

void measure_copy(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  std::vector<std::byte> data(static_cast<size_t>(arguments.size * kMiB));
  std::vector<std::byte> back(data.size());
  keep_from_children(back);
  const auto file = create(driver, arguments.directory + "/copy");
  for (int cycle = -1; cycle < arguments.cycles; ++cycle) {  // the first is of a new file
    fill(data, cycle);
    const double children = children_cpu();
    const double begin_plain = wall();
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
      figures.add("plain_s", begin - begin_plain);
      figures.add("plain_cpu_s", plain);
      figures.add("rewrite_cpu_s", before_read - before_write);
      figures.add("read_cpu_s", after - before_read);
      figures.add("rewrite_s", between - begin);
      figures.add("read_s", end - between);
    }
  }
}

}  // namespace stria::bench
