#include "comm/mpi/node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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

/// What the other ranks need to find the leader's memory file.
struct Handle {
  int64_t process_id = 0;
  int64_t descriptor = -1;
  int64_t error_number = 0;
};

/// Lays the parts out one after another, each on pages of its own. False when the sum overflows or a size is negative.
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

/// Bytes that the system can give without pushing others out; "unlimited" when it doesn't tell.
int64_t available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  while (meminfo >> word) {
    int64_t kibibytes = 0;
    if (word == "MemAvailable:" && meminfo >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return std::numeric_limits<int64_t>::max();
}

Handle create_memory_file(int64_t bytes) {
  // The kernel would rather kill a process than refuse pages to a memory file.
  if (bytes > available_memory()) {
    return {0, -1, ENOMEM};
  }
  const int descriptor = memfd_create("stria", MFD_CLOEXEC);
  if (descriptor < 0) {
    return {0, -1, errno};
  }
  if (ftruncate(descriptor, bytes) != 0) {
    const int error_number = errno;
    close(descriptor);
    return {0, -1, error_number};
  }
  return {getpid(), descriptor, 0};
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

/// Opens the leader's file (the leader: uses its own descriptor) and maps it. Returns an errno, or 0.
int open_and_map(const Handle& handle, bool leader, int64_t bytes, ByteRange mine, std::byte** base) {
  if (handle.error_number != 0) {
    return static_cast<int>(handle.error_number);
  }
  if (leader) {
    return map_memory_file(static_cast<int>(handle.descriptor), bytes, mine, base);
  }
  const std::string path = "/proc/" + std::to_string(handle.process_id) + "/fd/" + std::to_string(handle.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
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

}  // namespace

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
  MPI_Ibcast(&handle, 3, MPI_INT64_T, 0, node, &request);
  wait_politely(request);
  std::byte* base = nullptr;
  const int mine = open_and_map(handle, rank == 0, total, parts[static_cast<size_t>(rank)], &base);
  // The leader's descriptor must live until everybody has opened it, which this reduction proves.
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
