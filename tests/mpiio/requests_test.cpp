// Very many nonblocking operations at once, and every call that waits for them.
//
// Posting must never wait for another rank, however many operations are under way. Every way to
// wait for n requests takes time in proportion to n. Each request has its own status, index and
// error, among requests of messages too. Freed and cancelled requests do what they were begun for.

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace mpiio;

constexpr int kPieceBytes = 16;

MPI_File open(const std::string& path, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(comm, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  return file;
}

void close(const Suite& suite, MPI_File& file, const std::string& path) {
  EXPECT_MPI(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<uint8_t> data_of(int rank, int count) {
  std::vector<uint8_t> data(static_cast<size_t>(count) * kPieceBytes);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = mark(3, rank, static_cast<int64_t>(i));
  }
  return data;
}

MPI_Offset place(const Suite& suite, int number) {
  return (MPI_Offset{number} * suite.rank_count() + suite.rank()) * kPieceBytes;
}

// Returns the pieces of this rank, read without MPI-IO.
std::vector<uint8_t> stored(const Suite& suite, const std::string& path, int count) {
  std::vector<uint8_t> mine(static_cast<size_t>(count) * kPieceBytes);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < count; ++i) {
    if (pread(fd, mine.data() + i * kPieceBytes, kPieceBytes, place(suite, i)) != kPieceBytes) {
      EXPECT(false, "piece ", i, " is not there");
    }
  }
  ::close(fd);
  return mine;
}

int bytes_of(const MPI_Status& status) {
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return count;
}

// ---- posting

// Rank 0 posts all of its operations before the last rank posts any.
void posting_waits_for_nobody(Suite& suite) {
  suite.allow_seconds(60);
  const int count = suite.options().count > 0 ? suite.options().count : 10000;
  const std::string path = suite.path("posting");
  MPI_File file = open(path);
  const std::vector<uint8_t> data = data_of(suite.rank(), count);
  const int last = suite.rank_count() - 1;
  if (suite.rank() == last && last > 0) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  std::vector<MPI_Request> requests(static_cast<size_t>(count), MPI_REQUEST_NULL);
  for (int i = 0; i < count; ++i) {
    EXPECT_MPI(MPI_File_iwrite_at_all(file, place(suite, i), data.data() + i * kPieceBytes, kPieceBytes, MPI_BYTE,
                                      &requests[static_cast<size_t>(i)]));
  }
  if (suite.rank() == 0 && last > 0) {
    MPI_Send(nullptr, 0, MPI_INT, last, 1, MPI_COMM_WORLD);
  }
  EXPECT_MPI(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
  expect_same(stored(suite, path, count), data, "the file");
  close(suite, file, path);
}

// The same with failures on some ranks. Every rank learns of them, each with the
// operation that failed.
void failures_among_many(Suite& suite) {
  suite.allow_seconds(60);
  const int count = 3000;
  const std::string path = suite.path("failing");
  MPI_File file = open(path);
  const std::vector<uint8_t> data = data_of(suite.rank(), count);
  const auto failing_rank = [&](int i) { return i % 3 == 0 ? i / 3 % suite.rank_count() : -1; };
  std::vector<MPI_Request> requests(static_cast<size_t>(count), MPI_REQUEST_NULL);
  for (int i = 0; i < count; ++i) {
    const MPI_Offset offset = failing_rank(i) == suite.rank() ? -1 : place(suite, i);
    EXPECT_MPI(MPI_File_iwrite_at_all(file, offset, data.data() + i * kPieceBytes, kPieceBytes, MPI_BYTE,
                                      &requests[static_cast<size_t>(i)]));
  }
  std::vector<MPI_Status> statuses(static_cast<size_t>(count));
  const int code = MPI_Waitall(count, requests.data(), statuses.data());
  EXPECT(error_class(code) == MPI_ERR_IN_STATUS, error_text(code));
  for (int i = 0; i < count; ++i) {
    const int wanted = failing_rank(i) >= 0 ? MPI_ERR_ARG : MPI_SUCCESS;
    const int got = statuses[static_cast<size_t>(i)].MPI_ERROR;
    EXPECT((got == MPI_SUCCESS ? MPI_SUCCESS : error_class(got)) == wanted, "operation ", i, ": ", error_text(got));
  }
  close(suite, file, path);
}

// ---- waiting

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

using Requests = std::vector<MPI_Request>;

// Each function finds out by itself how many requests there are, and returns how many it
// has completed.
int by_waitany(Requests& requests) {
  for (int done = 0;; ++done) {
    int index = MPI_UNDEFINED;
    MPI_Status status;
    EXPECT_MPI(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, &status));
    if (index == MPI_UNDEFINED) {
      return done;
    }
  }
}

int by_testany(Requests& requests) {
  for (int done = 0;;) {
    int index = MPI_UNDEFINED;
    int flag = 0;
    MPI_Status status;
    EXPECT_MPI(MPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag, &status));
    if (flag == 0) {
      usleep(200);
    } else if (index == MPI_UNDEFINED) {
      return done;
    } else {
      ++done;
    }
  }
}

template <typename Some>
int by_some(Requests& requests, const Some& some) {
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  for (int all = 0;;) {
    int done = 0;
    EXPECT_MPI(some(static_cast<int>(requests.size()), requests.data(), &done, indices.data(), statuses.data()));
    if (done == MPI_UNDEFINED) {
      return all;
    }
    all += done;
    if (done == 0) {
      usleep(200);
    }
  }
}

int by_waitsome(Requests& requests) {
  return by_some(requests, MPI_Waitsome);
}

int by_testsome(Requests& requests) {
  return by_some(requests, MPI_Testsome);
}

int by_wait(Requests& requests) {
  for (MPI_Request& request : requests) {
    EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  return static_cast<int>(requests.size());
}

int by_test(Requests& requests) {
  for (MPI_Request& request : requests) {
    for (int flag = 0; flag == 0;) {
      EXPECT_MPI(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
      if (flag == 0) {
        usleep(200);
      }
    }
  }
  return static_cast<int>(requests.size());
}

int by_testall(Requests& requests) {
  for (int flag = 0; flag == 0;) {
    EXPECT_MPI(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, MPI_STATUSES_IGNORE));
    if (flag == 0) {
      usleep(200);
    }
  }
  return static_cast<int>(requests.size());
}

struct Way {
  const char* name;
  int (*wait)(Requests&);
};

const std::vector<Way>& ways() {
  static const std::vector<Way> list = {
      {"MPI_Waitany", by_waitany}, {"MPI_Testany", by_testany}, {"MPI_Waitsome", by_waitsome}, {"MPI_Testsome", by_testsome},
      {"MPI_Wait", by_wait},       {"MPI_Test", by_test},       {"MPI_Testall", by_testall}};
  return list;
}

// Measures processor time of this thread, which doesn't depend on how busy the machine is. MPI
// itself walks the list at each call of MPI_Waitany: 5e7 looks for 10,000 requests take some tenths
// of a second. A search in a table at each look would take 9 s.
void waiting_is_linear(Suite& suite, const Way& way) {
  suite.allow_seconds(60);
  const int count = suite.options().count > 0 ? suite.options().count : 10000;
  const std::string path = suite.path("waiting");
  MPI_File file = open(path);
  const std::vector<uint8_t> data = data_of(suite.rank(), count);
  Requests requests(static_cast<size_t>(count), MPI_REQUEST_NULL);
  for (int i = 0; i < count; ++i) {
    EXPECT_MPI(MPI_File_iwrite_at(file, place(suite, i), data.data() + i * kPieceBytes, kPieceBytes, MPI_BYTE,
                                  &requests[static_cast<size_t>(i)]));
  }
  const double begin = thread_seconds();
  const int done = way.wait(requests);
  const double seconds = thread_seconds() - begin;
  EXPECT(done == count, done, " of ", count, " requests");
  const double allowed = (stria::kSanitized ? 20.0 : 2.0) * count / 10000;
  EXPECT(seconds < allowed, seconds, " s of processor time for ", count, " requests");
  expect_same(stored(suite, path, count), data, "the file");
  close(suite, file, path);
}

// ---- what is each request's own

// Files' requests, some of which fail, among those of messages to itself.
struct Mixture {
  static constexpr int kCount = 60;
  std::array<int, kCount> sent{};
  std::array<int, kCount> received{};
  Requests requests = Requests(static_cast<size_t>(2 * kCount), MPI_REQUEST_NULL);
  std::vector<bool> seen = std::vector<bool>(static_cast<size_t>(2 * kCount));

  // Requests of even numbers are messages; of the others every third is a write to no place.
  static bool is_message(int index) { return index % 2 == 0; }
  static bool fails(int index) { return !is_message(index) && index / 2 % 3 == 0; }
  static int bytes(int index) { return is_message(index) ? static_cast<int>(sizeof(int)) : 1 + index % kPieceBytes; }

  void start(MPI_File file, const std::vector<uint8_t>& data) {
    for (int index = 0; index < 2 * kCount; ++index) {
      MPI_Request& request = requests[static_cast<size_t>(index)];
      const auto slot = static_cast<size_t>(index / 2);
      if (is_message(index)) {
        EXPECT_MPI(MPI_Irecv(&received[slot], 1, MPI_INT, 0, index, MPI_COMM_SELF, &request));
      } else {
        EXPECT_MPI(
            MPI_File_iwrite_at_all(file, fails(index) ? -1 : 100 * index, data.data(), bytes(index), MPI_BYTE, &request));
      }
    }
    for (int index = 0; index < 2 * kCount; index += 2) {
      const auto slot = static_cast<size_t>(index / 2);
      sent[slot] = index + 1;
      MPI_Send(&sent[slot], 1, MPI_INT, 0, index, MPI_COMM_SELF);
    }
  }

  void take(int index, int code, const MPI_Status& status) {
    EXPECT(index >= 0 && index < 2 * kCount && !seen[static_cast<size_t>(index)], "index ", index);
    seen[static_cast<size_t>(index)] = true;
    EXPECT(requests[static_cast<size_t>(index)] == MPI_REQUEST_NULL, "request ", index, " is left");
    const int wanted = fails(index) ? MPI_ERR_ARG : MPI_SUCCESS;
    EXPECT((code == MPI_SUCCESS ? MPI_SUCCESS : error_class(code)) == wanted, "request ", index, ": ", error_text(code));
    if (wanted == MPI_SUCCESS) {
      EXPECT(bytes_of(status) == bytes(index), "request ", index, ": ", bytes_of(status), " bytes");
    }
    if (is_message(index)) {
      EXPECT(received[static_cast<size_t>(index / 2)] == index + 1, "message ", index);
    }
  }
};

template <typename Any>
void take_any(Mixture& mixture, const Any& any) {
  for (int done = 0; done < 2 * Mixture::kCount;) {
    int index = MPI_UNDEFINED;
    int flag = 1;
    MPI_Status status;
    const int code = any(2 * Mixture::kCount, mixture.requests.data(), &index, &flag, &status);
    if (flag != 0) {
      mixture.take(index, code, status);
      ++done;
    }
  }
}

template <typename Some>
void take_some(Mixture& mixture, const Some& some) {
  std::array<int, 2 * Mixture::kCount> indices{};
  std::array<MPI_Status, 2 * Mixture::kCount> statuses{};
  for (int all = 0; all < 2 * Mixture::kCount;) {
    int done = 0;
    for (MPI_Status& status : statuses) {
      status.MPI_ERROR = MPI_SUCCESS;
    }
    const int code = some(2 * Mixture::kCount, mixture.requests.data(), &done, indices.data(), statuses.data());
    EXPECT(code == MPI_SUCCESS || error_class(code) == MPI_ERR_IN_STATUS, error_text(code));
    bool failed = false;
    for (int i = 0; i < done; ++i) {
      const auto at = static_cast<size_t>(i);
      mixture.take(indices[at], statuses[at].MPI_ERROR, statuses[at]);
      failed = failed || Mixture::fails(indices[at]);
    }
    EXPECT(failed == (code != MPI_SUCCESS), error_text(code), ", and a request failed: ", failed);
    all += done;
  }
}

template <typename All>
void take_all(Mixture& mixture, const All& all) {
  std::array<MPI_Status, 2 * Mixture::kCount> statuses{};
  int flag = 1;
  int code = MPI_SUCCESS;
  do {
    code = all(2 * Mixture::kCount, mixture.requests.data(), &flag, statuses.data());
  } while (flag == 0);
  EXPECT(error_class(code) == MPI_ERR_IN_STATUS, error_text(code));
  for (int index = 0; index < 2 * Mixture::kCount; ++index) {
    mixture.take(index, statuses[static_cast<size_t>(index)].MPI_ERROR, statuses[static_cast<size_t>(index)]);
  }
}

void mixed_requests(const Suite& suite) {
  const std::string path = suite.path(text("mixed", suite.rank()));
  const std::vector<uint8_t> data = data_of(suite.rank(), 1);
  MPI_File file = open(path, MPI_COMM_SELF);
  const auto with = [&](const auto& take) {
    Mixture mixture;
    mixture.start(file, data);
    take(mixture);
  };
  with([](Mixture& mixture) {
    take_any(mixture, [](int count, MPI_Request* requests, int* index, int*, MPI_Status* status) {
      return MPI_Waitany(count, requests, index, status);
    });
  });
  with([](Mixture& mixture) { take_any(mixture, MPI_Testany); });
  with([](Mixture& mixture) { take_some(mixture, MPI_Waitsome); });
  with([](Mixture& mixture) { take_some(mixture, MPI_Testsome); });
  with([](Mixture& mixture) { take_all(mixture, MPI_Testall); });
  with([](Mixture& mixture) {
    take_all(mixture, [](int count, MPI_Request* requests, int*, MPI_Status* statuses) {
      return MPI_Waitall(count, requests, statuses);
    });
  });
  EXPECT_MPI(MPI_File_close(&file));
  unlink(path.c_str());
}

// Freed requests are complete at the close at the latest. A cancelled one is finished nevertheless.
void freed_and_cancelled(const Suite& suite) {
  constexpr int kCount = 500;
  const std::string path = suite.path("freed");
  MPI_File file = open(path);
  const std::vector<uint8_t> data = data_of(suite.rank(), kCount);
  for (int i = 0; i < kCount; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    const auto write = i % 2 == 0 ? MPI_File_iwrite_at : MPI_File_iwrite_at_all;
    EXPECT_MPI(write(file, place(suite, i), data.data() + i * kPieceBytes, kPieceBytes, MPI_BYTE, &request));
    if (i % 5 == 0) {
      EXPECT_MPI(MPI_Cancel(&request));
      MPI_Status status;
      EXPECT_MPI(MPI_Wait(&request, &status));
      int cancelled = 1;
      MPI_Test_cancelled(&status, &cancelled);
      EXPECT(cancelled == 0 && bytes_of(status) == kPieceBytes, "cancelled: ", cancelled, ", ", bytes_of(status), " bytes");
    } else {
      EXPECT_MPI(MPI_Request_free(&request));
    }
  }
  EXPECT_MPI(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same(stored(suite, path, kCount), data, "the file");
  file = open(path);
  close(suite, file, path);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  suite.run("posting waits for nobody", [&] { posting_waits_for_nobody(suite); });
  suite.run("failures among many", [&] { failures_among_many(suite); });
  for (const Way& way : ways()) {
    suite.run(text("waiting is linear, ", way.name), [&] { waiting_is_linear(suite, way); });
  }
  suite.run("mixed requests", [&] { mixed_requests(suite); });
  suite.run("freed and cancelled", [&] { freed_and_cancelled(suite); });
  return suite.finish();
}
