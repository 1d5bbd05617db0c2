// Small independent accesses, which a library may gather: what other ranks and the rank itself see
// of them, and when; and failures that come after the call has returned.
//
// Where the prefix makes the file one behind a network ("nfs:"), the drop-in keeps small writes and
// reads ahead. Any MPI-IO passes these cases: programs that order their ranks by any call of MPI
// see what they would see without.

#include <cerrno>
#include <cstring>
#include <numeric>
#include <vector>

#include "mpiio/support/fail_io.hpp"
#include "mpiio/support/files.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kRecordBytes = 40;
constexpr int kRecords = 300;  // the records of each rank

MPI_File open_file(const Suite& suite, const std::string& name, MPI_Comm comm = MPI_COMM_WORLD) {
  const Info info(Hints{{"stria_cache_bytes", "8388608"}});
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(comm, (suite.options().prefix + suite.path(name)).c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                           info.get(), &file));
  return file;
}

MPI_Offset place_of(const Suite& suite, int rank, int record) {
  return MPI_Offset{record} * suite.rank_count() * kRecordBytes + MPI_Offset{rank} * kRecordBytes;
}

std::vector<char> record_of(int rank, int record, int round) {
  return std::vector<char>(kRecordBytes, static_cast<char>(1 + (rank * 7 + record * 3 + round * 11) % 100));
}

void write_own(const Suite& suite, MPI_File file, int round) {
  for (int record = 0; record < kRecords; ++record) {
    const auto data = record_of(suite.rank(), record, round);
    EXPECT_MPI(
        MPI_File_write_at(file, place_of(suite, suite.rank(), record), data.data(), kRecordBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  }
}

void expect_records(const Suite& suite, MPI_File file, int rank, int round) {
  int wrong = 0;
  for (int record = 0; record < kRecords; ++record) {
    std::vector<char> data(kRecordBytes);
    MPI_Status status;
    EXPECT_MPI(MPI_File_read_at(file, place_of(suite, rank, record), data.data(), kRecordBytes, MPI_BYTE, &status));
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    wrong += count == kRecordBytes && data == record_of(rank, record, round) ? 0 : 1;
  }
  EXPECT(wrong == 0, wrong, " records of rank ", rank, " are not those of round ", round);
}

void expect_all(const Suite& suite, MPI_File file, int round) {
  for (int rank = 0; rank < suite.rank_count(); ++rank) {
    expect_records(suite, file, rank, round);
  }
}

/// A way by which ranks hear that all have written.
struct Order {
  const char* name;
  void (*pass)(const Suite&, MPI_File);
};

void pass_token(const Suite& suite, MPI_File) {
  int token = 0;
  const int next = (suite.rank() + 1) % suite.rank_count();
  const int before = (suite.rank() + suite.rank_count() - 1) % suite.rank_count();
  for (int round = 0; round < 2; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&token, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &request);
    // A ring twice around, so that the last hears of the first and the first of the last.
    if (suite.rank() == 0) {
      MPI_Send(&token, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (suite.rank() != 0) {
      MPI_Send(&token, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
    }
  }
}

const std::vector<Order>& orders() {
  static const std::vector<Order> list = {
      {"sync", [](const Suite&, MPI_File file) { EXPECT_MPI(MPI_File_sync(file)); }},
      {"barrier", [](const Suite&, MPI_File) { MPI_Barrier(MPI_COMM_WORLD); }},
      {"messages", pass_token},
      {"reduction",
       [](const Suite&, MPI_File) {
         int sum = 1;
         MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
       }},
      {"communicator of a topology",
       [](const Suite& suite, MPI_File) {
         const int ranks = suite.rank_count();
         const int periodic = 0;
         MPI_Comm line = MPI_COMM_NULL;
         MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);
         MPI_Comm_free(&line);
       }},
      {"window",
       [](const Suite&, MPI_File) {
         // Some builds of Open MPI have no windows, or none of ranks on several nodes.
         MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
         MPI_Win window = MPI_WIN_NULL;
         void* memory = nullptr;
         const bool has_windows = MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window) == MPI_SUCCESS;
         MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
         if (has_windows) {
           MPI_Win_free(&window);
         } else {
           MPI_Barrier(MPI_COMM_WORLD);
         }
       }},
      {"nonblocking barrier",
       [](const Suite&, MPI_File) {
         MPI_Request request = MPI_REQUEST_NULL;
         MPI_Ibarrier(MPI_COMM_WORLD, &request);
         for (int done = 0; done == 0;) {
           MPI_Test(&request, &done, MPI_STATUS_IGNORE);
         }
       }},
  };
  return list;
}

void others_see_after(const Suite& suite, const Order& order) {
  MPI_File file = open_file(suite, "order");
  for (int round = 0; round < 3; ++round) {
    write_own(suite, file, round);
    expect_records(suite, file, suite.rank(), round);
    order.pass(suite, file);
    expect_all(suite, file, round);  // fetches ahead what the next round changes
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_MPI(MPI_File_close(&file));
  file = open_file(suite, "order");
  expect_all(suite, file, 2);
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, suite.path("order"));
}

// Every other access of the same rank sees what it has written before.
void own_calls_see(const Suite& suite) {
  MPI_File file = open_file(suite, "own" + std::to_string(suite.rank()), MPI_COMM_SELF);
  const auto data = record_of(suite.rank(), 1, 1);
  std::vector<char> back(2 * kRecordBytes, 'x');
  MPI_Offset size = 0;
  EXPECT_MPI(MPI_File_write_at(file, 10, data.data(), kRecordBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_get_size(file, &size));
  EXPECT(size == 10 + kRecordBytes, size);
  EXPECT_MPI(MPI_File_write_at(file, 1000, data.data(), kRecordBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_MPI(MPI_File_iread_at(file, 1000, back.data(), kRecordBytes, MPI_BYTE, &request));
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT(std::memcmp(back.data(), data.data(), kRecordBytes) == 0, "a nonblocking read");
  const auto other = record_of(suite.rank(), 2, 2);
  EXPECT_MPI(MPI_File_write_at(file, 1000, data.data(), kRecordBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_iwrite_at(file, 1000, other.data(), kRecordBytes, MPI_BYTE, &request));
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_read_at(file, 1000, back.data(), kRecordBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT(std::memcmp(back.data(), other.data(), kRecordBytes) == 0, "after a nonblocking write");
  EXPECT_MPI(MPI_File_write_at(file, 2000, data.data(), kRecordBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_set_size(file, 2010));
  MPI_Status status;
  EXPECT_MPI(MPI_File_read_at(file, 2000, back.data(), kRecordBytes, MPI_BYTE, &status));
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT(count == 10, count);
  // Another handle of this process.
  MPI_File second = open_file(suite, "own" + std::to_string(suite.rank()), MPI_COMM_SELF);
  EXPECT_MPI(MPI_File_read_at(second, 2000, back.data(), 10, MPI_BYTE, MPI_STATUS_IGNORE));
  EXPECT(std::memcmp(back.data(), data.data(), 10) == 0, "through another handle");
  EXPECT_MPI(MPI_File_close(&second));
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, suite.path("own" + std::to_string(suite.rank())));
}

// A write of one rank that fails late is told to all, once: by a sync or by the close.
void late_failures_are_told(const Suite& suite, const FailIo& fail_io, bool by_sync) {
  MPI_File file = open_file(suite, "late");
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    fail_io.arm(suite.path("late"), Operation::kWrite, 0, ENOSPC);
    const auto data = record_of(0, 0, 0);
    const int code = MPI_File_write_at(file, 0, data.data(), kRecordBytes, MPI_BYTE, MPI_STATUS_IGNORE);
    EXPECT(code == MPI_SUCCESS || error_class(code) == MPI_ERR_NO_SPACE, error_text(code));
  }
  const int code = by_sync ? MPI_File_sync(file) : MPI_File_close(&file);
  if (suite.options().prefix == "nfs:" && suite.is_stria()) {
    EXPECT(error_class(code) == MPI_ERR_NO_SPACE, error_text(code));
    EXPECT(suite.rank() != 0 || fail_io.hits() == 1, fail_io.hits());
  }
  fail_io.disarm();
  if (by_sync) {
    write_own(suite, file, 1);
    EXPECT_MPI(MPI_File_sync(file));
    expect_all(suite, file, 1);
    EXPECT_MPI(MPI_File_close(&file));
  }
  remove_later(suite, suite.path("late"));
}

// What atomic mode writes is there when the call returns.
void atomic_mode_keeps_nothing(const Suite& suite) {
  MPI_File file = open_file(suite, "atomic");
  write_own(suite, file, 1);
  EXPECT_MPI(MPI_File_set_atomicity(file, 1));
  expect_all(suite, file, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  write_own(suite, file, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_all(suite, file, 2);
  EXPECT_MPI(MPI_File_close(&file));
  remove_later(suite, suite.path("atomic"));
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  const FailIo fail_io;
  for (const Order& order : orders()) {
    suite.run(text("others see after: ", order.name), [&] { others_see_after(suite, order); });
  }
  suite.run("own calls see", [&] { own_calls_see(suite); });
  suite.run("atomic mode keeps nothing", [&] { atomic_mode_keeps_nothing(suite); });
  if (fail_io.is_loaded()) {
    suite.run("late failure, told by sync", [&] { late_failures_are_told(suite, fail_io, true); });
    suite.run("late failure, told by close", [&] { late_failures_are_told(suite, fail_io, false); });
  }
  return suite.finish();
}
