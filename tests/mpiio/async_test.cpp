// Writes that are staged by the hint stria_async=enable: when the program gets its memory back, who
// sees the bytes when, and which calls tell that the storage has failed.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/fail_io.hpp"
#include "mpiio/support/files.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kRecord = 4096;
constexpr int kBytes = 24 * kRecord;  // per rank

const Hints kStaged = {{"stria_async", "enable"}};

std::vector<uint8_t> data_of(int rank, uint64_t seed) {
  std::vector<uint8_t> data(kBytes);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = mark(seed, rank, static_cast<int64_t>(i));
  }
  return data;
}

// Returns a rank's bytes of the file, read without MPI-IO.
std::vector<uint8_t> stored(const Suite& suite, const std::string& path, int rank) {
  std::vector<uint8_t> bytes(kBytes, 0);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < kBytes; i += kRecord) {
    const int64_t offset = (int64_t{i} / kRecord * suite.rank_count() + rank) * kRecord;
    EXPECT(pread(fd, bytes.data() + i, kRecord, offset) >= 0, "pread of ", path);
  }
  ::close(fd);
  return bytes;
}

bool is_staged(const Call& call) {
  return call.collective && call.waiting != Waiting::kBlocking && !call.large_count;
}

std::vector<Call> staged_calls() {
  std::vector<Call> calls = private_calls();
  std::erase_if(calls, [](const Call& call) { return !is_staged(call); });
  return calls;
}

// Writes the data, and then spoils the memory.
int write_and_spoil(const Call& call, MPI_File file, std::vector<uint8_t>& data) {
  MPI_Status status;
  const int code = perform(call, true, file, {0, data.data(), kBytes, MPI_BYTE}, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT(code != MPI_SUCCESS || count == kBytes, "the status counts ", count);
  std::fill(data.begin(), data.end(), uint8_t{0xee});
  return code;
}

void memory_is_free_before_the_bytes_are_written(const Suite& suite, const FailIo& fail, const Call& call) {
  const std::string path = suite.path("free");
  MPI_File file = open_interleaved(suite, path, kStaged, kRecord);
  const std::vector<uint8_t> wanted = data_of(suite.rank(), 2);
  std::vector<uint8_t> data = wanted;
  fail.delay_one(path, Operation::kWrite, 600);
  EXPECT_MPI(write_and_spoil(call, file, data));
  EXPECT(stored(suite, path, suite.rank()) != wanted, "the call has waited for the storage");
  MPI_Offset bytes = 0;
  EXPECT_MPI(MPI_File_get_size(file, &bytes));
  EXPECT(bytes >= (MPI_Offset{kBytes} / kRecord - 1) * kRecord * suite.rank_count(), "the size is ", bytes);
  // What a rank has written it sees at once.
  std::vector<uint8_t> got(kBytes, 0);
  MPI_Status status;
  EXPECT_MPI(MPI_File_read_at(file, 0, got.data(), kBytes, MPI_BYTE, &status));
  expect_same(got, wanted, "its own bytes");
  fail.disarm();
  // What others have written it sees after a sync.
  EXPECT_MPI(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  const int other = (suite.rank() + 1) % suite.rank_count();
  expect_same(stored(suite, path, other), data_of(other, 2), "another rank's bytes");
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

void later_writes_come_later(const Suite& suite, const FailIo& fail, const Call& call) {
  const std::string path = suite.path("later");
  MPI_File file = open_interleaved(suite, path, kStaged, kRecord);
  std::vector<uint8_t> data = data_of(suite.rank(), 2);
  fail.delay_one(path, Operation::kWrite, 200);
  EXPECT_MPI(write_and_spoil(call, file, data));
  data = data_of(suite.rank(), 3);
  MPI_Status status;
  EXPECT_MPI(MPI_File_write_at_all(file, 0, data.data(), kBytes, MPI_BYTE, &status));
  EXPECT_MPI(MPI_File_close(&file));
  fail.disarm();
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same(stored(suite, path, suite.rank()), data, "the file");
  remove_later(suite, path);
}

void no_memory_for_it(const Suite& suite, const Call& call) {
  const std::string path = suite.path("limit");
  MPI_File file = open_interleaved(suite, path, {{"stria_async", "enable"}, {"stria_staging_limit", "1000"}}, kRecord);
  const std::vector<uint8_t> wanted = data_of(suite.rank(), 2);
  std::vector<uint8_t> data = wanted;
  EXPECT_MPI(write_and_spoil(call, file, data));
  expect_same(stored(suite, path, suite.rank()), wanted, "after the call");
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

// The first rank's storage fails: the call that has staged succeeds, the rank's own next access
// fails, and the sync or the close fails everywhere, once.
void failure_is_told_later(const Suite& suite, const FailIo& fail, const Call& call, bool syncs) {
  const std::string path = suite.path("failure");
  MPI_File file = open_interleaved(suite, path, kStaged, kRecord);
  std::vector<uint8_t> data = data_of(suite.rank(), 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    fail.arm(path, Operation::kWrite, 0, EIO);
  }
  EXPECT_MPI(write_and_spoil(call, file, data));
  MPI_Status status;
  std::vector<uint8_t> got(kBytes, 0);
  const int read = MPI_File_read_at(file, 0, got.data(), kBytes, MPI_BYTE, &status);
  if (suite.rank() == 0) {
    EXPECT(fail.hits() > 0, "nothing failed");
    EXPECT(error_class(read) == MPI_ERR_IO, error_text(read), " from the read after a failed write");
    fail.disarm();
  }
  if (syncs) {
    EXPECT_MPI_ERROR(MPI_File_sync(file), MPI_ERR_IO);
    EXPECT_MPI(MPI_File_sync(file));
    data = data_of(suite.rank(), 4);
    const std::vector<uint8_t> wanted = data;
    EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
    EXPECT_MPI(write_and_spoil(call, file, data));
    EXPECT_MPI(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    expect_same(stored(suite, path, suite.rank()), wanted, "afterwards");
  } else {
    EXPECT_MPI_ERROR(MPI_File_close(&file), MPI_ERR_IO);
  }
  remove_later(suite, path);
}

// A write that is done can be seen by all in atomic mode, so that it isn't staged.
void atomic_mode(const Suite& suite, const Call& call) {
  const std::string path = suite.path("atomic");
  MPI_File file = open_interleaved(suite, path, kStaged, kRecord);
  EXPECT_MPI(MPI_File_set_atomicity(file, 1));
  const std::vector<uint8_t> wanted = data_of(suite.rank(), 2);
  std::vector<uint8_t> data = wanted;
  EXPECT_MPI(write_and_spoil(call, file, data));
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same(stored(suite, path, suite.rank()), wanted, "after the call");
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

void many_at_once(const Suite& suite) {
  constexpr int kCount = 2000;
  constexpr int kPiece = 40;
  const std::string path = suite.path("many");
  const Info info(kStaged);
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info.get(), &file));
  const auto place = [&](int i, int rank) { return (MPI_Offset{i} * suite.rank_count() + rank) * kPiece; };
  std::vector<MPI_Request> requests(kCount, MPI_REQUEST_NULL);
  std::vector<uint8_t> piece(kPiece);
  for (int i = 0; i < kCount; ++i) {
    std::fill(piece.begin(), piece.end(), mark(5, suite.rank(), i));
    MPI_Request& request = requests[static_cast<size_t>(i)];
    EXPECT_MPI(MPI_File_iwrite_at_all(file, place(i, suite.rank()), piece.data(), kPiece, MPI_BYTE, &request));
    EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  EXPECT_MPI(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int rank = 0; rank < suite.rank_count(); ++rank) {
    for (int i = 0; i < kCount; i += 7) {
      MPI_Status status;
      EXPECT_MPI(MPI_File_read_at(file, place(i, rank), piece.data(), kPiece, MPI_BYTE, &status));
      EXPECT(std::count(piece.begin(), piece.end(), mark(5, rank, i)) == kPiece, "piece ", i, " of rank ", rank);
    }
  }
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, path);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const FailIo fail;
  if (!suite.is_stria() || !fail.is_loaded()) {
    return suite.finish();  // the hint is Stria's, and the storage must be held up
  }
  for (const Call& call : staged_calls()) {
    const std::string name = call_name(call, true);
    suite.run(text(name, ", memory"), [&] { memory_is_free_before_the_bytes_are_written(suite, fail, call); });
    suite.run(text(name, ", order"), [&] { later_writes_come_later(suite, fail, call); });
    suite.run(text(name, ", limit"), [&] { no_memory_for_it(suite, call); });
    suite.run(text(name, ", failure and sync"), [&] { failure_is_told_later(suite, fail, call, true); });
    suite.run(text(name, ", failure and close"), [&] { failure_is_told_later(suite, fail, call, false); });
    suite.run(text(name, ", atomic mode"), [&] { atomic_mode(suite, call); });
  }
  suite.run("many", [&] { many_at_once(suite); });
  return suite.finish();
}
