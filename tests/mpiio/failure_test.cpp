// Storage that fails under a call: EIO and a full disk on one rank or on all, at once or later, in
// every kind of call.
//
// Each must give an error of the right class on every rank concerned within a second, and a status
// that counts no byte that is not in the file. There is no success where bytes are missing, no rank
// that waits for ever, and no lock left on the file. The file can be used and closed afterwards.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/fail_io.hpp"
#include "mpiio/support/files.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kRecord = 8192;
constexpr int kBytes = 48 * kRecord;  // per rank; several rounds of the smallest collective buffer

const std::vector<Hints>& methods() {
  static const std::vector<Hints> list = {
      {},
      {{"romio_cb_write", "enable"}, {"romio_cb_read", "enable"}, {"cb_buffer_size", "65536"}},
      {{"romio_cb_write", "disable"}, {"romio_cb_read", "disable"}, {"stria_method", "data_sieving"}},
      {{"romio_cb_write", "disable"}, {"romio_cb_read", "disable"}, {"romio_ds_write", "enable"}, {"romio_ds_read", "enable"}},
      {{"stria_method", "list_io"}},
  };
  return list;
}

struct Fault {
  const char* name;
  bool every_rank;
  int skip;  // operations of a rank that still work
  int error;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> list = {
      {"EIO on the first rank at once", false, 0, EIO},
      {"ENOSPC on every rank at once", true, 0, ENOSPC},
      {"ENOSPC on the first rank later", false, 2, ENOSPC},
      {"EIO on every rank later", true, 1, EIO},
  };
  return list;
}

// Returns where a rank's bytes are: records of kRecord bytes, those of the ranks in turn.
int64_t offset_of(const Suite& suite, int rank, int64_t position) {
  return (position / kRecord * suite.rank_count() + rank) * kRecord + position % kRecord;
}

std::vector<uint8_t> data_of(int rank, uint64_t seed) {
  std::vector<uint8_t> data(kBytes);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = mark(seed, rank, static_cast<int64_t>(i));
  }
  return data;
}

// This rank's bytes of the file, read without MPI-IO.
std::vector<uint8_t> stored(const Suite& suite, const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<uint8_t> bytes(kBytes, 0);
  for (int64_t i = 0; i < kBytes; i += kRecord) {
    if (pread(fd, bytes.data() + i, kRecord, offset_of(suite, suite.rank(), i)) < 0) {
      EXPECT(false, "pread of ", path, ": ", std::strerror(errno));
    }
  }
  close(fd);
  return bytes;
}

void expect_free(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    const int fd = ::open(path.c_str(), O_RDWR);
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    // The writers of an open file show beyond it that they are there.
    whole.l_len = off_t{1} << 62;
    const bool free = fd >= 0 && fcntl(fd, F_SETLK, &whole) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    _exit(free ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a lock is left on ", path);
}

// Expects that another process gets every kind of lock on the file at once. Collective, so that no
// other rank disturbs the one that asks.
void expect_no_lock(const Suite& suite, const std::string& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    expect_free(path);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

bool any_rank(bool here) {
  int any = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return any != 0;
}

// Tells whether this rank must hear of a failure. Every kind of collective call tells all ranks.
bool is_concerned(const Call& call, bool here) {
  const bool anywhere = any_rank(here);
  return call.collective ? anywhere : here;
}

int wanted_class(int error) {
  return error == ENOSPC ? MPI_ERR_NO_SPACE : MPI_ERR_IO;
}

struct Outcome {
  int code = MPI_SUCCESS;
  int count = 0;  // bytes in the status
};

Outcome timed(const Suite& suite, const Call& call, bool write, MPI_File file, std::vector<uint8_t>& memory) {
  Outcome outcome;
  MPI_Status status;
  std::memset(&status, 0, sizeof status);
  const double begin = suite.awake_seconds();
  outcome.code = perform(call, write, file, {0, memory.data(), kBytes, MPI_BYTE}, &status);
  const double seconds = suite.awake_seconds() - begin;
  EXPECT(seconds < 1.5, "the call came back after ", seconds, " s");
  MPI_Get_count(&status, MPI_BYTE, &outcome.count);
  return outcome;
}

// Judges the outcome of a failed write on this rank by what really is in the file.
void judge_write(const Suite& suite, const Call& call, const Outcome& outcome, bool hit, int error, const std::string& path) {
  const std::vector<uint8_t> data = data_of(suite.rank(), 2);
  const std::vector<uint8_t> there = stored(suite, path);
  const auto common = std::mismatch(data.begin(), data.end(), there.begin()).first - data.begin();
  const bool whole = common == kBytes;
  const bool concerned = is_concerned(call, hit);
  EXPECT(whole || outcome.code != MPI_SUCCESS, "success, but byte ", common, " is missing");
  if (concerned) {
    EXPECT(error_class(outcome.code) == wanted_class(error), error_text(outcome.code), " after ", std::strerror(error));
  }
  if (outcome.code != MPI_SUCCESS && outcome.count != MPI_UNDEFINED) {
    EXPECT(outcome.count <= common, "the status counts ", outcome.count, " bytes, of which ", common, " are in the file");
  }
  if (outcome.code == MPI_SUCCESS) {
    EXPECT(outcome.count == kBytes, "the status counts ", outcome.count);
  }
}

// Uses the same file again; nothing fails any more.
void use_again(const Suite& suite, MPI_File file, const Call& call, const std::string& path) {
  std::vector<uint8_t> data = data_of(suite.rank(), 3);
  Outcome outcome = timed(suite, call, true, file, data);
  EXPECT(outcome.code == MPI_SUCCESS && outcome.count == kBytes, "afterwards: ", error_text(outcome.code));
  MPI_File_sync(file);
  expect_same(stored(suite, path), data, "afterwards");
}

void failing_write(const Suite& suite, const FailIo& fail, const Call& call, const Fault& fault, const Hints& hints) {
  const std::string path = suite.path("failing");
  MPI_File file = open_interleaved(suite, path, hints, kRecord);
  std::vector<uint8_t> data = data_of(suite.rank(), 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (fault.every_rank || suite.rank() == 0) {
    fail.arm(path, Operation::kWrite, fault.skip, fault.error);
  }
  const Outcome outcome = timed(suite, call, true, file, data);
  const bool hit = fail.hits() > 0;
  fail.disarm();
  EXPECT(data == data_of(suite.rank(), 2), "the write changed the memory");
  judge_write(suite, call, outcome, hit, fault.error, path);
  expect_no_lock(suite, path);
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  use_again(suite, file, call, path);
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void failing_read(const Suite& suite, const FailIo& fail, const Call& call, const Fault& fault, const Hints& hints) {
  const std::string path = suite.path("failing_read");
  MPI_File file = open_interleaved(suite, path, hints, kRecord);
  std::vector<uint8_t> data = data_of(suite.rank(), 2);
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_at_all(file, 0, data.data(), kBytes, MPI_BYTE, &status));
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (fault.every_rank || suite.rank() == 0) {
    fail.arm(path, Operation::kRead, fault.skip, EIO);
  }
  std::vector<uint8_t> memory(kBytes, 0xcd);
  const Outcome outcome = timed(suite, call, false, file, memory);
  const bool hit = fail.hits() > 0;
  fail.disarm();
  const auto common = std::mismatch(data.begin(), data.end(), memory.begin()).first - data.begin();
  const bool concerned = is_concerned(call, hit);
  EXPECT(common == kBytes || outcome.code != MPI_SUCCESS, "success, but byte ", common, " was not read");
  if (concerned) {
    EXPECT(error_class(outcome.code) == MPI_ERR_IO, error_text(outcome.code), " after EIO");
  }
  if (outcome.code != MPI_SUCCESS && outcome.count != MPI_UNDEFINED) {
    EXPECT(outcome.count <= common, "the status counts ", outcome.count, " bytes, of which ", common, " were read");
  }
  expect_no_lock(suite, path);
  EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
  std::fill(memory.begin(), memory.end(), 0);
  const Outcome again = timed(suite, call, false, file, memory);
  EXPECT(again.code == MPI_SUCCESS && memory == data, "afterwards: ", error_text(again.code));
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// fsync fails on one rank: MPI_File_sync is collective and gives every rank the error.
void failing_sync(const Suite& suite, const FailIo& fail, int error, int wanted) {
  const std::string path = suite.path("failing_sync");
  MPI_File file = open_interleaved(suite, path, {}, kRecord);
  std::vector<uint8_t> data = data_of(suite.rank(), 2);
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_all(file, data.data(), kBytes, MPI_BYTE, &status));
  const int failing_rank = suite.rank_count() - 1;
  if (suite.rank() == failing_rank) {
    fail.arm(path, Operation::kSync, 0, error);
  }
  const int code = MPI_File_sync(file);
  const bool hit = any_rank(fail.hits() > 0);
  fail.disarm();
  if (hit) {
    EXPECT(error_class(code) == wanted, error_text(code), " after ", std::strerror(error));
  } else {
    EXPECT(suite.rank_count() > 1, "no fsync at all");
  }
  EXPECT_MPI(MPI_File_sync(file));
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Short pieces of the ranks' own, which may go without the other ranks: the one that fails says so,
// nobody waits, and the next calls work.
void failing_short_piece(const Suite& suite, const FailIo& fail, Operation operation) {
  constexpr int kPiece = 64;
  constexpr int kCalls = 4;
  const std::string path = suite.path("failing_short");
  MPI_File file = open_interleaved(suite, path, {}, kRecord);
  EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  const auto place = [](int rank, int call) { return (MPI_Offset{1} << 20) * rank + call * kPiece; };
  const bool write = operation == Operation::kWrite;
  std::vector<uint8_t> data = data_of(suite.rank(), 2);
  MPI_Status status;
  for (int i = 0; i < kCalls; ++i) {
    EXPECT_MPI(MPI_File_write_at_all(file, place(suite.rank(), i), data.data() + i * kPiece, kPiece, MPI_BYTE, &status));
  }
  // What the next rank wrote, without a sync: all come together when writing turns to reading.
  const int other = (suite.rank() + 1) % suite.rank_count();
  const std::vector<uint8_t> wanted = data_of(other, 2);
  std::vector<uint8_t> memory(kBytes, 0);
  for (int i = 0; i < kCalls && !write; ++i) {
    EXPECT_MPI(MPI_File_read_at_all(file, place(other, i), memory.data() + i * kPiece, kPiece, MPI_BYTE, &status));
  }
  EXPECT(write || std::equal(memory.begin(), memory.begin() + kCalls * kPiece, wanted.begin()), "other bytes were read");
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    fail.arm(path, operation, 0, EIO);
  }
  const double begin = suite.awake_seconds();
  const int code = write ? MPI_File_write_at_all(file, place(suite.rank(), 0), data.data(), kPiece, MPI_BYTE, &status)
                         : MPI_File_read_at_all(file, place(suite.rank(), 0), memory.data(), kPiece, MPI_BYTE, &status);
  EXPECT(suite.awake_seconds() - begin < 1.5, "the call did not come back");
  if (fail.hits() > 0) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT(error_class(code) == MPI_ERR_IO, error_text(code), " after EIO");
    EXPECT(count == 0 || count == MPI_UNDEFINED, "the status counts ", count);
  }
  EXPECT(suite.rank() != 0 || fail.hits() > 0, "nothing failed");
  fail.disarm();
  EXPECT_MPI(MPI_File_write_at_all(file, place(suite.rank(), 0), data.data(), kPiece, MPI_BYTE, &status));
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// A file system of 2 MiB that fills up within the call (needs root to mount it).
class SmallDisk {
 public:
  explicit SmallDisk(const Suite& suite) : suite_(suite), directory_(suite.path("disk")) {
    int mounted = 0;
    if (suite.rank() == 0) {
      mkdir(directory_.c_str(), 0700);
      mounted = mount("tmpfs", directory_.c_str(), "tmpfs", 0, "size=600k") == 0 ? 1 : 0;
    }
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    is_mounted_ = mounted != 0;
    set_hang_cleanup([directory = directory_] { umount2(directory.c_str(), MNT_DETACH); });
  }
  ~SmallDisk() {
    set_hang_cleanup({});
    MPI_Barrier(MPI_COMM_WORLD);
    if (suite_.rank() == 0) {
      if (is_mounted_) {
        umount2(directory_.c_str(), MNT_DETACH);
      }
      rmdir(directory_.c_str());
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool is_mounted() const { return is_mounted_; }
  std::string path() const { return directory_ + "/file"; }

 private:
  const Suite& suite_;
  std::string directory_;
  bool is_mounted_ = false;
};

// When a run is killed, its small disks stay mounted in the directory; the next run unmounts them.
void unmount_abandoned(const Suite& suite) {
  if (suite.rank() != 0) {
    return;
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(suite.options().directory, ignored)) {
    const std::string name = entry.path().filename();
    int owner = 0;
    int length = 0;
    if (std::sscanf(name.c_str(), "mpiio_failures.%d.disk%n", &owner, &length) == 1 &&
        static_cast<size_t>(length) == name.size() && kill(owner, 0) != 0 && errno == ESRCH) {
      umount2(entry.path().c_str(), MNT_DETACH);
      rmdir(entry.path().c_str());
    }
  }
}

// Other nodes don't see what one node mounts.
bool are_of_one_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(MPI_COMM_WORLD, node, &result);
  MPI_Comm_free(&node);
  return result == MPI_CONGRUENT;
}

void full_disk(const Suite& suite, const Call& call, const Hints& hints) {
  const SmallDisk disk(suite);
  if (!disk.is_mounted()) {
    return;
  }
  MPI_File file = open_interleaved(suite, disk.path(), hints, kRecord);
  std::vector<uint8_t> data = data_of(suite.rank(), 2);
  const Outcome outcome = timed(suite, call, true, file, data);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<uint8_t> there = stored(suite, disk.path());
  const bool missing = there != data;
  judge_write(suite, call, outcome, missing, ENOSPC, disk.path());
  expect_no_lock(suite, disk.path());
  EXPECT_MPI(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const FailIo fail;
  unmount_abandoned(suite);
  const bool mounts_disks = suite.rank_count() > 1 && geteuid() == 0 && are_of_one_node();
  for (const Hints& hints : methods()) {
    const std::string by = Info(hints).text();
    for (const Call& call : private_calls()) {
      if (call.large_count) {
        continue;
      }
      for (const Fault& fault : faults()) {
        if (fail.is_loaded()) {
          suite.run(text(call_name(call, true), by, ", ", fault.name), [&] { failing_write(suite, fail, call, fault, hints); });
          suite.run(text(call_name(call, false), by, ", ", fault.name), [&] { failing_read(suite, fail, call, fault, hints); });
        }
      }
      if (mounts_disks) {
        suite.run(text("full disk, ", call_name(call, true), by), [&] { full_disk(suite, call, hints); });
        Hints uring = hints;
        uring.emplace_back("stria_driver", "uring");
        suite.run(text("full disk, ", call_name(call, true), Info(uring).text()), [&] { full_disk(suite, call, uring); });
      }
    }
  }
  if (fail.is_loaded()) {
    suite.run("sync, EIO on the last rank", [&] { failing_sync(suite, fail, EIO, MPI_ERR_IO); });
    suite.run("sync, EDQUOT on the last rank", [&] { failing_sync(suite, fail, EDQUOT, MPI_ERR_QUOTA); });
    suite.run("short piece, write, EIO on the first rank", [&] { failing_short_piece(suite, fail, Operation::kWrite); });
    suite.run("short piece, read, EIO on the first rank", [&] { failing_short_piece(suite, fail, Operation::kRead); });
  }
  return suite.finish();
}
