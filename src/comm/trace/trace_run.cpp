#include "comm/trace/trace_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/hash.hpp"
#include "comm/trace/clock_sync.hpp"
#include "comm/waiting.hpp"

namespace stria {

namespace {

constexpr int kGoTag = 0x7c11;
constexpr int kBytesTag = 0x7c12;
constexpr int kDataTag = 0x7c13;
constexpr int64_t kChunkBytes = 4 << 20;

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  while (!text.empty() && text.back() == '\0') {
    text.pop_back();
  }
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::string program_name() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "program" : program.filename().string();
}

int64_t unix_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The name has a number of its own. Another program on another node or in a container may have the
// same process id.
std::string file_name(const std::string& program) {
  const time_t now = time(nullptr);
  tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y%m%d_%H%M%S", &parts);
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<uint32_t>(unix_ns());
  }
  return fmt::format("{}_{}_{:08x}.stria-trace", program, text, number);
}

std::string parts_directory(const std::string& path) {
  return path + ".parts";
}

Status make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? Status::from_errno(error.value(), fmt::format("create the directory '{}' for traces", path)) : Status();
}

/// Rank 0 decides for all ranks where the trace goes, and the run's number.
std::string share_path(Comm& comm, const std::string& directory, uint64_t& run_id) {
  std::string path = (std::filesystem::path(directory) / file_name(program_name())).string();
  const auto own = std::as_bytes(std::span(path.data(), path.size()));
  std::vector<std::byte> bytes(own.begin(), own.end());
  broadcast_bytes(comm, bytes, 0);
  path.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  run_id = hash_bytes(bytes) ^ static_cast<uint64_t>(unix_ns());
  comm.broadcast(std::as_writable_bytes(std::span(&run_id, 1)), 0);
  return path;
}

template <typename Number>
void send_number(Comm& comm, Number value, int to, int tag) {
  auto request = comm.send(std::as_bytes(std::span(&value, 1)), to, tag);
  comm.wait(*request);
}

int64_t receive_number(Comm& comm, int from, int tag) {
  int64_t value = 0;
  auto request = comm.receive(std::as_writable_bytes(std::span(&value, 1)), from, tag);
  comm.wait(*request);
  return value;
}

/// The file that rank 0 writes, which is new. It keeps the first failure, and drops what comes
/// after it.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ < 0) {
      status_ = Status::from_errno(errno, fmt::format("create '{}'", path));
    }
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }
  void add(std::span<const std::byte> bytes) {
    while (status_.ok() && !bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) {
        fail(Status::from_errno(errno, fmt::format("write '{}'", path_)));
      } else if (written > 0) {
        bytes = bytes.subspan(static_cast<size_t>(written));
      }
    }
  }
  void fail(const Status& status) { status_.update(status); }
  const Status& status() const { return status_; }

 private:
  std::string path_;
  int file_ = -1;
  Status status_;
};

/// Sends this rank's part to rank 0 when asked; after a failure it sends the failure in
/// place of bytes.
void send_part(Comm& comm, trace::Recorder& recorder) {
  receive_number(comm, 0, kGoTag);
  for (int64_t offset = 0;;) {
    const auto chunk = recorder.read_part(offset, kChunkBytes);
    const int64_t bytes = chunk.ok() ? static_cast<int64_t>(chunk->size()) : -1;
    send_number(comm, bytes, 0, kBytesTag);
    if (bytes <= 0) {
      return;
    }
    auto request = comm.send(*chunk, 0, kDataTag);
    comm.wait(*request);
    offset += bytes;
  }
}

void receive_part(Comm& comm, int rank, Output& output) {
  send_number(comm, int64_t{1}, rank, kGoTag);
  std::vector<std::byte> chunk;
  for (;;) {
    const int64_t bytes = receive_number(comm, rank, kBytesTag);
    if (bytes < 0) {
      output.fail(Status(ErrorCode::kIo, fmt::format("rank {} can't read its part of the trace", rank)));
    }
    if (bytes <= 0) {
      return;
    }
    chunk.resize(static_cast<size_t>(bytes));
    auto request = comm.receive(chunk, rank, kDataTag);
    comm.wait(*request);
    output.add(chunk);
  }
}

void add_own_part(trace::Recorder& recorder, Output& output) {
  for (int64_t offset = 0;;) {
    const auto chunk = recorder.read_part(offset, kChunkBytes);
    if (!chunk.ok()) {
      output.fail(chunk.status());
      return;
    }
    if (chunk->empty()) {
      return;
    }
    output.add(*chunk);
    offset += static_cast<int64_t>(chunk->size());
  }
}

}  // namespace

Result<TraceRun> begin_trace_run(Comm& comm, trace::Recorder& recorder, const trace::Options& options) {
  trace::RankHeader header;
  const std::string path = share_path(comm, options.directory, header.run_id);
  header.rank = comm.rank();
  header.rank_count = comm.size();
  header.node = comm.node_of_rank()[static_cast<size_t>(comm.rank())];
  header.process = getpid();
  header.clock_ns = recorder.clock().begin_ns();
  header.unix_ns = recorder.clock().begin_unix_ns();
  header.level = static_cast<uint32_t>(options.level);
  header.host = host_name();
  header.program = program_name();
  header.command = command_line();
  recorder.identify(header);
  const bool spans = options.level >= trace::Level::kApp;
  Status status = make_directory(spans ? parts_directory(path) : options.directory);
  if (status.ok() && spans) {
    status = recorder.open_part(fmt::format("{}/rank_{:06}.part", parts_directory(path), comm.rank()));
  }
  STRIA_RETURN_IF_ERROR(comm.agree(status));
  recorder.add_clock_samples({});  // drops those of an earlier run of fewer ranks
  recorder.add_clock_samples(compare_clocks(comm, [&recorder] { return recorder.clock().now_ns(); }));
  return TraceRun{path};
}

Status finish_trace_run(Comm& comm, trace::Recorder& recorder, const TraceRun& run) {
  recorder.add_clock_samples(compare_clocks(comm, [&recorder] { return recorder.clock().now_ns(); }));
  recorder.end_part();
  Status status;
  if (comm.rank() == 0) {
    const std::string partial = run.path + ".partial";
    Output output(partial);
    std::vector<std::byte> header;
    trace::append_header(header);
    output.add(header);
    add_own_part(recorder, output);
    for (int rank = 1; rank < comm.size(); ++rank) {
      receive_part(comm, rank, output);
    }
    status = output.status();
    if (status.ok() && std::rename(partial.c_str(), run.path.c_str()) != 0) {
      status = Status::from_errno(errno, fmt::format("rename '{}'", partial));
    }
    if (!status.ok()) {
      ::unlink(partial.c_str());
    }
  } else {
    send_part(comm, recorder);
  }
  status = comm.agree(status);
  if (!status.ok()) {
    return status.with_context(fmt::format("no trace file; the ranks' parts are in '{}'", parts_directory(run.path)));
  }
  recorder.discard_part();
  // Succeeds on the last rank, which finds the directory empty.
  ::rmdir(parts_directory(run.path).c_str());
  return {};
}

}  // namespace stria
