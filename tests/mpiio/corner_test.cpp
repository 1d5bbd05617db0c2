// Rare uses that the standard allows: several threads with one file, handlers freed while files
// have them, views without data.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <set>
#include <thread>
#include <vector>

#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"
#include "mpiio/support/threads.hpp"

namespace {

using namespace mpiio;

constexpr int kFewInts = 300;

MPI_File open(const std::string& path, int mode = MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, &file));
  return file;
}

constexpr int kThreads = 4;

// MPI 3.1, section 12.4.1: calls of several threads have the effect of calls made one after the
// other, in some order.
void threads_share_a_pointer(Suite& suite) {
  constexpr int kCalls = 5000;
  constexpr int kInts = 16;
  const std::string path = suite.path(text("threads.", suite.rank()));
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_COMM_SELF);
  in_threads(kThreads, [file](int thread) {
    for (int call = 0; call < kCalls; ++call) {
      std::array<int, kInts> values;
      values.fill(thread * kCalls + call);
      MPI_Request request = MPI_REQUEST_NULL;
      if (call % 100 == 0) {
        MPI_File_iwrite(file, values.data(), kInts, MPI_INT, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        MPI_File_write(file, values.data(), kInts, MPI_INT, MPI_STATUS_IGNORE);
      }
    }
  });
  MPI_Offset position = 0;
  EXPECT_MPI(MPI_File_get_position(file, &position));
  EXPECT(position == kThreads * kCalls * kInts * 4, "the pointer is at ", position);
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  std::array<std::set<int>, kThreads> seen;
  std::array<int, kThreads> mixed{};
  in_threads(kThreads, [&](int thread) {
    for (int call = 0; call < kCalls; ++call) {
      std::array<int, kInts> values;
      values.fill(-1);
      MPI_File_read(file, values.data(), kInts, MPI_INT, MPI_STATUS_IGNORE);
      seen[static_cast<size_t>(thread)].insert(values[0]);
      mixed[static_cast<size_t>(thread)] += std::count(values.begin(), values.end(), values[0]) != kInts;
    }
  });
  std::set<int> all;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    all.merge(seen[thread]);
    EXPECT(mixed[thread] == 0, mixed[thread], " records of more than one write");
  }
  EXPECT(all.size() == kThreads * kCalls && *all.begin() == 0, all.size(), " different records were read");
  EXPECT_MPI(MPI_File_close(&file));
}

// The first nonblocking accesses of a file come from several threads at once, and beside them one
// moves the pointer.
void threads_begin_at_once(Suite& suite) {
  constexpr int kFiles = 30;
  for (int number = 0; number < kFiles; ++number) {
    const std::string path = suite.path(text("at_once.", suite.rank()));
    MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_COMM_SELF);
    in_threads(kThreads, [file](int thread) {
      std::vector<int> values(kFewInts, thread);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_File_iwrite_at(file, thread * kFewInts * 4, values.data(), kFewInts, MPI_INT, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_File_seek(file, thread, MPI_SEEK_SET);
      MPI_File_write_at(file, (kThreads + thread) * kFewInts * 4, values.data(), kFewInts, MPI_INT, MPI_STATUS_IGNORE);
    });
    std::vector<int> found(2 * kThreads * kFewInts, -1);
    EXPECT_MPI(MPI_File_read_at(file, 0, found.data(), static_cast<int>(found.size()), MPI_INT, MPI_STATUS_IGNORE));
    for (size_t i = 0; i < found.size(); ++i) {
      const int thread = static_cast<int>(i) / kFewInts % kThreads;
      EXPECT(found[i] == thread, "number ", i, " is ", found[i]);
    }
    EXPECT_MPI(MPI_File_close(&file));
  }
}

int handler_calls = 0;
void count_errors(MPI_File*, int*, ...) {
  ++handler_calls;
}

void ignore_errors(MPI_Comm*, int*, ...) {}

// A handler lives as long as a file has it, whatever the program frees and makes meanwhile.
void freed_handler(Suite& suite) {
  const std::string path = suite.path("freed_handler");
  MPI_File first = open(path);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_create_errhandler(count_errors, &handler));
  EXPECT_MPI(MPI_File_set_errhandler(first, handler));
  EXPECT_MPI(MPI_Errhandler_free(&handler));
  for (int i = 0; i < 20; ++i) {
    MPI_Errhandler other = MPI_ERRHANDLER_NULL;
    EXPECT_MPI(MPI_Comm_create_errhandler(ignore_errors, &other));
    EXPECT_MPI(MPI_Errhandler_free(&other));
  }
  EXPECT_MPI(MPI_File_get_errhandler(first, &handler));
  MPI_File second = open(path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  EXPECT_MPI(MPI_File_set_errhandler(second, handler));
  EXPECT_MPI(MPI_Errhandler_free(&handler));
  EXPECT_MPI(MPI_File_close(&first));
  handler_calls = 0;
  MPI_File_seek(second, -1, MPI_SEEK_SET);
  EXPECT(handler_calls == 1, "the handler was called ", handler_calls, " times");
  EXPECT_MPI(MPI_File_close(&second));
}

// A filetype without data shows nothing of the file, to reads and to writes.
void view_without_data(Suite& suite) {
  const std::string path = suite.path("view_without_data");
  if (suite.rank() == 0) {
    make_file(path, {1, 2, 3, 4, 5, 6, 7, 8});
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = open(path, MPI_MODE_RDWR);
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  EXPECT_MPI(MPI_File_set_view(file, 4, MPI_BYTE, nothing, "native", MPI_INFO_NULL));
  MPI_Type_free(&nothing);
  std::array<uint8_t, 4> bytes{9, 9, 9, 9};
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_all(file, bytes.data(), 0, MPI_BYTE, &status));
  for (const int code : {MPI_File_write(file, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE),
                         MPI_File_write_at(file, 0, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE),
                         MPI_File_write_at_all(file, 0, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE),
                         MPI_File_read(file, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE)}) {
    EXPECT_MPI_ERROR(code, MPI_ERR_ARG);
  }
  MPI_Offset offset = -1;
  EXPECT_MPI(MPI_File_get_byte_offset(file, 3, &offset));
  EXPECT(offset == 4, "byte offset ", offset);
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_END));
  EXPECT_MPI(MPI_File_close(&file));
  EXPECT(bytes == (std::array<uint8_t, 4>{9, 9, 9, 9}), "the buffer was written");
  if (suite.rank() == 0) {
    expect_same(read_file(path), {1, 2, 3, 4, 5, 6, 7, 8}, "the file");
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Offsets beyond any file are refused; sums of them don't overflow.
void far_places(Suite& suite) {
  constexpr MPI_Offset kLast = std::numeric_limits<MPI_Offset>::max();
  const std::string path = suite.path("far_places");
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  std::array<char, 4> bytes{};
  const auto expect_refused = [&] {
    MPI_Offset offset = 0;
    EXPECT(MPI_File_get_byte_offset(file, kLast, &offset) != MPI_SUCCESS, "byte offset ", offset);
    EXPECT(MPI_File_read_at(file, kLast, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS, "read");
    EXPECT(MPI_File_write_at(file, kLast, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS, "write");
    EXPECT(MPI_File_write_at_all(file, kLast - 4, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS, "write_all");
    EXPECT_MPI(MPI_File_seek(file, kLast, MPI_SEEK_SET));
    EXPECT(MPI_File_read(file, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE) != MPI_SUCCESS, "read at the pointer");
    EXPECT_MPI_ERROR(MPI_File_seek(file, 1, MPI_SEEK_CUR), MPI_ERR_ARG);
  };
  expect_refused();
  EXPECT_MPI(MPI_File_set_view(file, kLast / 4, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  expect_refused();
  MPI_Datatype sparse = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_BYTE, 0, MPI_Aint{1} << 40, &sparse);
  MPI_Type_commit(&sparse);
  EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, sparse, "native", MPI_INFO_NULL));
  MPI_Type_free(&sparse);
  expect_refused();
  MPI_Offset size = -1;
  EXPECT_MPI(MPI_File_get_size(file, &size));
  EXPECT(size == 0, "something was written: ", size, " bytes");
  EXPECT_MPI(MPI_File_close(&file));
}

// A refused write moves the shared pointer to a place beyond any file; no view begins there.
void far_shared_pointer(Suite& suite) {
  MPI_File file =
      open(suite.path("far_shared"), MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Datatype sparse = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_BYTE, 0, MPI_Aint{1} << 61, &sparse);
  MPI_Type_commit(&sparse);
  EXPECT_MPI(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, sparse, "native", MPI_INFO_NULL));
  const std::array<char, 4> bytes{};
  EXPECT_MPI_ERROR(MPI_File_write_shared(file, bytes.data(), 4, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_MPI_ERROR(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, sparse, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  MPI_Type_free(&sparse);
  EXPECT_MPI(MPI_File_close(&file));
}

// Each rank opens the file by itself; the first rank that closes it deletes it.
void deleted_by_all(Suite& suite) {
  MPI_File file = open(suite.path("deleted_by_all"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_COMM_SELF);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_MPI(MPI_File_close(&file));
}

void fail_once(MPI_File*, int* code, ...) {
  ++handler_calls;
  *code = MPI_SUCCESS;
}

// A profiling tool behind the drop-in sees the calls that the drop-in passes on. A failure is
// reported once.
void tool_behind(Suite& suite) {
  using Calls = int();
  auto* tool_calls = reinterpret_cast<Calls*>(dlsym(RTLD_DEFAULT, "mpi_tool_calls"));
  if (tool_calls == nullptr) {
    EXPECT(suite.options().only.empty(), "the tool is not preloaded");
    return;
  }
  EXPECT(tool_calls() > 0, "the tool did not see MPI begin");
  MPI_File file = open(suite.path("tool"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_create_errhandler(fail_once, &handler));
  EXPECT_MPI(MPI_File_set_errhandler(file, handler));
  EXPECT_MPI(MPI_Errhandler_free(&handler));
  handler_calls = 0;
  int value = 7;
  int before = tool_calls();
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_MPI(MPI_File_iwrite_at(file, 4 * suite.rank(), &value, 1, MPI_INT, &request));
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT(tool_calls() == before + 1 && handler_calls == 0, "MPI_Wait: the tool saw ", tool_calls() - before, " calls");
  // A collective call that can't be done fails when the program waits for it.
  before = tool_calls();
  EXPECT_MPI(MPI_File_iwrite_at_all(file, -1, &value, 1, MPI_INT, &request));
  MPI_Status status;
  EXPECT_MPI(MPI_Wait(&request, &status));
  EXPECT(tool_calls() == before + 1 && handler_calls == 1, "the handler was called ", handler_calls, " times");
  EXPECT_MPI(MPI_File_iwrite_at_all(file, -1, &value, 1, MPI_INT, &request));
  EXPECT_MPI_ERROR(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS);
  EXPECT(tool_calls() == before + 2 && handler_calls == 2, "the handler was called ", handler_calls, " times");
  EXPECT_MPI(MPI_File_close(&file));
}

// Two nonblocking collective calls at once, and a split one after them.
void several_collectives(Suite& suite) {
  MPI_File file = open(suite.path("several"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  const MPI_Offset place = 4 * kFewInts * suite.rank();
  std::array<int, kFewInts> values{};
  std::array<int, kFewInts> back{};
  values.fill(suite.rank() + 1);
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  EXPECT_MPI(MPI_File_iwrite_at_all(file, place, values.data(), kFewInts, MPI_INT, requests.data()));
  EXPECT_MPI(MPI_File_iread_at_all(file, place, back.data(), kFewInts, MPI_INT, &requests[1]));
  EXPECT_MPI(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  EXPECT(back == values, "read back ", back[0]);
  back.fill(0);
  EXPECT_MPI(MPI_File_read_at_all_begin(file, place, back.data(), kFewInts, MPI_INT));
  EXPECT_MPI(MPI_File_read_at_all_end(file, back.data(), MPI_STATUS_IGNORE));
  EXPECT(back == values, "read back by a split collective ", back[0]);
  EXPECT_MPI(MPI_File_close(&file));
}

// Sizes that differ between ranks are refused on all of them, and change nothing.
void different_sizes(Suite& suite) {
  MPI_File file = open(suite.path("sizes"), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
  const MPI_Offset own = 1000 + suite.rank();
  const int wanted = suite.rank_count() > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS;
  EXPECT_MPI_ERROR(MPI_File_set_size(file, own), wanted);
  EXPECT_MPI_ERROR(MPI_File_preallocate(file, own), wanted);
  EXPECT_MPI_ERROR(MPI_File_seek_shared(file, own, MPI_SEEK_SET), wanted);
  EXPECT_MPI_ERROR(MPI_File_set_size(file, suite.rank() == 0 ? -1 : 5), MPI_ERR_ARG);
  MPI_Offset size = -1;
  EXPECT_MPI(MPI_File_get_size(file, &size));
  EXPECT(size == (suite.rank_count() > 1 ? 0 : 1000), "the size is ", size);
  EXPECT_MPI(MPI_File_close(&file));
}

// Opens as many files at once as --count says. With 1100, MPICH runs out of communicators if a
// file takes two.
void many_files(Suite& suite) {
  suite.allow_seconds(90);
  const int count = suite.options().count > 0 ? suite.options().count : 100;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(count) + 200);
  setrlimit(RLIMIT_NOFILE, &limit);
  const std::string path = suite.path("many_files");
  std::vector<MPI_File> files;
  for (int i = 0; i < count; ++i) {
    files.push_back(open(path));
  }
  for (int i = 0; i < count; ++i) {
    const MPI_Offset place = i * suite.rank_count() + suite.rank();
    EXPECT_MPI(MPI_File_write_at_all(files[static_cast<size_t>(i)], 4 * place, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  for (MPI_File& file : files) {
    EXPECT_MPI(MPI_File_close(&file));
  }
  if (suite.rank() == 0) {
    EXPECT(read_file(path).size() == static_cast<size_t>(4 * count * suite.rank_count()), "the file");
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Locks of ranges hold between two openings of a file, even within one process.
struct flock first_bytes(short type) {
  struct flock where = {};
  where.l_type = type;
  where.l_whence = SEEK_SET;
  where.l_len = kFewInts * sizeof(int);
  return where;
}

// Accesses respect the locks of others where "nfs:" stands before the path.
void named_as_nfs(Suite& suite) {
  if (!suite.is_stria()) {
    return;
  }
  const std::string path = suite.path(text("nfs.", suite.rank()));
  MPI_File file = open("nfs:" + path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_COMM_SELF);
  const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT(other >= 0, "there is no ", path);
  std::vector<int> values(kFewInts, 7);
  for (const bool writes : {true, false}) {
    struct flock where = first_bytes(F_WRLCK);
    EXPECT(fcntl(other, F_OFD_SETLK, &where) == 0, "no locks here");
    std::atomic<bool> is_free{false};
    std::thread holder([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      is_free = true;
      struct flock gone = first_bytes(F_UNLCK);
      fcntl(other, F_OFD_SETLK, &gone);
    });
    EXPECT_MPI(writes ? MPI_File_write_at(file, 0, values.data(), kFewInts, MPI_INT, MPI_STATUS_IGNORE)
                      : MPI_File_read_at(file, 0, values.data(), kFewInts, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT(is_free.load(), writes ? "wrote" : "read", " what somebody else had locked");
    holder.join();
  }
  struct flock where = first_bytes(F_WRLCK);
  EXPECT(fcntl(other, F_OFD_SETLK, &where) == 0, "a lock is left");
  ::close(other);
  EXPECT(values == std::vector<int>(kFewInts, 7), "other values came back");
  EXPECT_MPI(MPI_File_close(&file));
  unlink(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv, MPI_THREAD_MULTIPLE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::vector<std::pair<const char*, void (*)(Suite&)>> cases = {
      {"threads share a pointer", threads_share_a_pointer},
      {"threads begin at once", threads_begin_at_once},
      {"freed handler", freed_handler},
      {"view without data", view_without_data},
      {"far places", far_places},
      {"far shared pointer", far_shared_pointer},
      {"deleted by all", deleted_by_all},
      {"different sizes", different_sizes},
      {"several collectives", several_collectives},
      {"tool behind", tool_behind},
      {"many files", many_files},
      {"named as NFS", named_as_nfs},
  };
  for (const auto& [name, body] : cases) {
    suite.run(name, [&suite, run = body] { run(suite); });
  }
  return suite.finish();
}
