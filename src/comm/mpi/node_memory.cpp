#include "comm/mpi/node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/available_memory.hpp"
#include "base/byte_range.hpp"
#include "base/checked.hpp"
#include "comm/mpi/mpi_request.hpp"

namespace stria {

namespace {

class NodeMemory : public SharedBuffer {
 public:
  NodeMemory(std::byte* base, int64_t bytes, std::vector<ByteRange> parts)
      : base_(base), bytes_(bytes), parts_(std::move(parts)) {}
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;
  ~NodeMemory() override {
    if (base_ != nullptr) {
      munmap(base_, static_cast<size_t>(bytes_));
    }
  }
  std::span<std::byte> part(int node_rank) const override {
    const ByteRange& range = parts_[static_cast<size_t>(node_rank)];
    return {base_ + range.begin, static_cast<size_t>(range.size())};
  }

 private:
  std::byte* base_;
  int64_t bytes_;
  std::vector<ByteRange> parts_;
};

/// Holds what the other ranks need to find the leader's memory file, and to recognise it.
struct Handle {
  int64_t process_id = 0;
  uint64_t numbering = 0;  ///< that of processes
  int64_t descriptor = -1;
  int64_t error_number = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t nonce = 0;  ///< part of its name
};

/// Says which numbering of processes this rank has; 0 where that isn't known.
uint64_t own_numbering() {
  struct stat about = {};
  return stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

Handle failed(int error_number) {
  Handle handle;
  handle.error_number = error_number;
  return handle;
}

std::string name_with(uint64_t nonce) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "stria-%016" PRIx64, nonce);
  return text.data();
}

/// Lays out the parts one after another, each on pages of its own. False when the sum overflows or
/// a size is negative.
bool lay_out(const std::vector<int64_t>& sizes, std::vector<ByteRange>* parts, int64_t* total) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  *total = 0;
  for (int64_t size : sizes) {
    int64_t end = 0;
    int64_t padded = 0;
    if (size < 0 || !checked_add(*total, size, &end) || !checked_add(end, page, &padded)) {
      return false;
    }
    parts->push_back({*total, end});
    *total = align_up(end, page);
  }
  return true;
}

Handle create_memory_file(int64_t bytes) {
  // The kernel kills a process before it refuses pages to a memory file.
  if (bytes > available_memory()) {
    return failed(ENOMEM);
  }
  Handle handle;
  if (getrandom(&handle.nonce, sizeof handle.nonce, 0) != sizeof handle.nonce) {
    return failed(errno);
  }
  const int descriptor = memfd_create(name_with(handle.nonce).c_str(), MFD_CLOEXEC);
  if (descriptor < 0) {
    return failed(errno);
  }
  struct stat about = {};
  if (ftruncate(descriptor, bytes) != 0 || fstat(descriptor, &about) != 0) {
    const int error_number = errno;
    close(descriptor);
    return failed(error_number);
  }
  handle.process_id = getpid();
  handle.numbering = own_numbering();
  handle.descriptor = descriptor;
  handle.device = about.st_dev;
  handle.inode = about.st_ino;
  return handle;
}

/// True when `descriptor` stands for the leader's memory file. It need not be open for reading.
bool is_the_file(int descriptor, const Handle& handle) {
  struct stat about = {};
  if (fstat(descriptor, &about) != 0 || about.st_dev != handle.device || about.st_ino != handle.inode) {
    return false;
  }
  std::array<char, 64> name{};
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(path.c_str(), name.data(), name.size());
  const std::string_view found(name.data(), static_cast<size_t>(std::max<ssize_t>(length, 0)));
  return found.find(name_with(handle.nonce)) != std::string_view::npos;
}

/// Opens the leader's file; -1 with an errno when that fails. If the path leads to anything else,
/// that isn't even opened, since opening some devices has effects.
int open_memory_file(const Handle& handle) {
  const std::string path = "/proc/" + std::to_string(handle.process_id) + "/fd/" + std::to_string(handle.descriptor);
  const int found = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (found < 0) {
    return -1;
  }
  int descriptor = -1;
  int error_number = ESTALE;
  if (is_the_file(found, handle)) {
    descriptor = open(("/proc/self/fd/" + std::to_string(found)).c_str(), O_RDWR | O_CLOEXEC);
    error_number = errno;
  }
  close(found);
  errno = error_number;
  return descriptor;
}

/// Allocates the pages of `mine` in the file and maps the whole. Returns an errno, or 0.
int map_memory_file(int descriptor, int64_t bytes, ByteRange mine, std::byte** base) {
  while (!mine.empty() && fallocate(descriptor, 0, mine.begin, mine.size()) != 0) {
    if (errno != EINTR) {
      return errno;
    }
  }
  void* address = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) {
    return errno;
  }
  *base = static_cast<std::byte*>(address);
  return 0;
}

/// Opens the leader's file and maps it; the leader uses its own descriptor. Returns an errno, or 0.
int open_and_map(const Handle& handle, bool leader, int64_t bytes, ByteRange mine, std::byte** base) {
  if (handle.error_number != 0) {
    return static_cast<int>(handle.error_number);
  }
  if (leader) {
    return map_memory_file(static_cast<int>(handle.descriptor), bytes, mine, base);
  }
  const int descriptor = open_memory_file(handle);
  if (descriptor < 0) {
    return errno;
  }
  const int error_number = map_memory_file(descriptor, bytes, mine, base);
  close(descriptor);
  return error_number;
}

int64_t node_maximum(MPI_Comm node, int64_t value) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, node, &request);
  wait_politely(request);
  return value;
}

void broadcast(MPI_Comm node, Handle& handle) {
  static_assert(sizeof(Handle) == 7 * sizeof(int64_t));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(&handle, 7, MPI_INT64_T, 0, node, &request);
  wait_politely(request);
}

/// True when all ranks of `node` number processes alike, so that each can ask whether another still
/// lives, and can open a memory file of the first one; the same on all.
/// Collective: over `node`.
bool all_share(MPI_Comm node) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  if (size == 1) {
    return true;
  }
  Handle handle;
  if (rank == 0) {
    handle = create_memory_file(0);
  }
  broadcast(node, handle);
  bool can = handle.error_number == 0;
  if (can && rank != 0) {
    const int descriptor = open_memory_file(handle);
    can = descriptor >= 0 && handle.numbering == own_numbering();
    if (descriptor >= 0) {
      close(descriptor);
    }
  }
  const bool all_can = node_maximum(node, can ? 0 : 1) == 0;
  if (handle.descriptor >= 0 && rank == 0) {
    close(static_cast<int>(handle.descriptor));
  }
  return all_can;
}

void divide(MPI_Comm& node, int colour) {
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(node, colour, rank, &part);
  MPI_Comm_free(&node);
  node = part;
}

/// Returns the first rank of `node` with the same numbering of processes as this rank.
/// Collective: over `node`.
int first_with_own_processes(MPI_Comm node) {
  int size = 0;
  MPI_Comm_size(node, &size);
  const uint64_t own = own_numbering();
  std::vector<uint64_t> all(static_cast<size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&own, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, node, &request);
  wait_politely(request);
  return static_cast<int>(std::find(all.begin(), all.end(), own) - all.begin());
}

}  // namespace

// Two divisions are enough: first by the numbering of processes; then, where the system still keeps
// processes apart, every rank by itself.
void keep_ranks_that_share(MPI_Comm& node) {
  if (all_share(node)) {
    return;
  }
  divide(node, first_with_own_processes(node));
  if (!all_share(node)) {
    int rank = 0;
    MPI_Comm_rank(node, &rank);
    divide(node, rank);
  }
}

Result<std::shared_ptr<SharedBuffer>> allocate_node_memory(MPI_Comm node, int64_t bytes) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  std::vector<int64_t> sizes(static_cast<size_t>(size));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(&bytes, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, node, &request);
  wait_politely(request);

  std::vector<ByteRange> parts;
  int64_t total = 0;
  if (!lay_out(sizes, &parts, &total)) {
    return Status(ErrorCode::kInvalidArgument, "shared memory: a size is negative or the sum of the node's sizes overflows");
  }
  if (total == 0) {
    return std::shared_ptr<SharedBuffer>(std::make_shared<NodeMemory>(nullptr, 0, std::move(parts)));
  }
  Handle handle;
  if (rank == 0) {
    handle = create_memory_file(total);
  }
  broadcast(node, handle);
  std::byte* base = nullptr;
  const int mine = open_and_map(handle, rank == 0, total, parts[static_cast<size_t>(rank)], &base);
  // The leader's descriptor must live until every rank has opened it. This reduction proves that.
  const int64_t worst = node_maximum(node, mine);
  if (rank == 0 && handle.descriptor >= 0) {
    close(static_cast<int>(handle.descriptor));
  }
  std::shared_ptr<SharedBuffer> memory = std::make_shared<NodeMemory>(base, total, std::move(parts));
  if (worst != 0) {
    return Status(
        ErrorCode::kResourceExhausted,
        Status::from_errno(static_cast<int>(worst), "shared memory (" + std::to_string(total) + " bytes on this node)")
            .message());
  }
  return memory;
}

}  // namespace stria
