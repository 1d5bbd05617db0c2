// MPI_THREAD_MULTIPLE: several threads at once, each with a communicator, files, datatypes and
// handlers of its own. What the library keeps for the whole process is shared by all of them.

#include "mpiio/support/threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kThreads = 6;
constexpr int kInts = 200;

// One communicator for each thread.
class Communicators {
 public:
  // `key` gives the ranks their order: in that of MPI_COMM_WORLD, the library keeps what it needs
  // with that one.
  explicit Communicators(int key) {
    for (MPI_Comm& comm : comms_) {
      MPI_Comm_split(MPI_COMM_WORLD, 0, key, &comm);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    }
  }
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  ~Communicators() {
    for (MPI_Comm& comm : comms_) {
      MPI_Comm_free(&comm);
    }
  }
  MPI_Comm operator[](int thread) const { return comms_[static_cast<size_t>(thread)]; }

 private:
  std::array<MPI_Comm, kThreads> comms_{};
};

MPI_File open(MPI_Comm comm, const std::string& path, int more = 0) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(comm, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | more, MPI_INFO_NULL,
                           &file));
  return file;
}

// Writes each rank's numbers, in turn with those of the other ranks.
void write_and_read(MPI_File file, MPI_Comm comm, int value) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype turns = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(size * sizeof(int)), &turns);
  MPI_Type_commit(&turns);
  EXPECT_MPI(MPI_File_set_view(file, static_cast<MPI_Offset>(rank * sizeof(int)), MPI_INT, turns, "native", MPI_INFO_NULL));
  MPI_Type_free(&turns);
  const std::vector<int> written(kInts, value + rank);
  std::vector<int> found(kInts, -1);
  EXPECT_MPI(MPI_File_write_at_all(file, 0, written.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_MPI(MPI_File_read_at(file, 0, found.data(), kInts, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(found == written, "of value ", value, ", the first is ", found[0]);
  std::fill(found.begin(), found.end(), -1);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_MPI(MPI_File_iread_at(file, 0, found.data(), kInts, MPI_INT, &request));
  EXPECT_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT(found == written, "of value ", value, ", a nonblocking call found ", found[0]);
}

void with_files_of_their_own(Suite& suite) {
  const Communicators comms(suite.rank());
  in_threads(kThreads, [&](int thread) {
    for (int round = 0; round < 25; ++round) {
      MPI_File file = open(comms[thread], suite.path(text("own.", thread)));
      write_and_read(file, comms[thread], 1000 * thread + round);
      EXPECT_MPI(MPI_File_close(&file));
    }
  });
}

// Two files of each thread are open at once, and the communicators come and go.
void with_communicators_that_go(Suite& suite) {
  const Communicators comms(-suite.rank());
  in_threads(kThreads, [&](int thread) {
    for (int round = 0; round < 8; ++round) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(comms[thread], &comm);
      MPI_File one = open(comm, suite.path(text("going.", thread, ".1")));
      MPI_File other = open(comm, suite.path(text("going.", thread, ".2")));
      write_and_read(one, comm, 1000 * thread + round);
      write_and_read(other, comm, 1000 * thread + round + 500);
      EXPECT_MPI(MPI_File_close(&one));
      EXPECT_MPI(MPI_File_close(&other));
      MPI_Comm_free(&comm);
    }
  });
}

// Files of one rank each, opened on one communicator, which every rank has to itself.
void alone(Suite& suite) {
  in_threads(kThreads, [&](int thread) {
    for (int round = 0; round < 25; ++round) {
      MPI_File file = open(MPI_COMM_SELF, suite.path(text("alone.", suite.rank(), ".", thread)));
      write_and_read(file, MPI_COMM_SELF, 1000 * thread + round);
      EXPECT_MPI(MPI_File_close(&file));
    }
  });
}

std::array<std::atomic<int>, kThreads> handler_calls{};

template <int kThread>
void count_errors(MPI_File*, int*, ...) {
  ++handler_calls[kThread];
}

void with_handlers_of_their_own(Suite& suite) {
  const std::array<MPI_File_errhandler_function*, kThreads> functions{count_errors<0>, count_errors<1>, count_errors<2>,
                                                                      count_errors<3>, count_errors<4>, count_errors<5>};
  constexpr int kRounds = 40;
  in_threads(kThreads, [&](int thread) {
    MPI_File file = open(MPI_COMM_SELF, suite.path(text("handlers.", suite.rank(), ".", thread)));
    for (int round = 0; round < kRounds; ++round) {
      MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
      EXPECT_MPI(MPI_File_create_errhandler(functions[static_cast<size_t>(thread)], &handler));
      EXPECT_MPI(MPI_File_set_errhandler(file, handler));
      MPI_Errhandler_free(&handler);
      EXPECT_MPI_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
      EXPECT_MPI(MPI_File_get_errhandler(file, &handler));
      EXPECT_MPI(MPI_File_set_errhandler(file, handler));
      MPI_Errhandler_free(&handler);
    }
    EXPECT(handler_calls[static_cast<size_t>(thread)] == kRounds, "calls of the handler of thread ", thread, ": ",
           handler_calls[static_cast<size_t>(thread)].load());
    EXPECT_MPI(MPI_File_close(&file));
  });
}

void with_representations_of_their_own(Suite& suite) {
  in_threads(kThreads, [&](int thread) {
    const std::string name = text("of thread ", thread);
    const auto extent = [](MPI_Datatype type, MPI_Aint* bytes, void*) {
      MPI_Aint lower = 0;
      return MPI_Type_get_extent(type, &lower, bytes);
    };
    EXPECT_MPI(MPI_Register_datarep(name.c_str(), MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent, nullptr));
    MPI_File file = open(MPI_COMM_SELF, suite.path(text("representation.", suite.rank(), ".", thread)));
    EXPECT_MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, name.c_str(), MPI_INFO_NULL));
    int found = -1;
    EXPECT_MPI(MPI_File_write_at(file, 3, &thread, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_MPI(MPI_File_read_at(file, 3, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT(found == thread, "found ", found);
    EXPECT_MPI(MPI_File_close(&file));
  });
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv, MPI_THREAD_MULTIPLE);
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  EXPECT(level == MPI_THREAD_MULTIPLE, "this MPI gives no MPI_THREAD_MULTIPLE");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::vector<std::pair<const char*, void (*)(Suite&)>> cases = {
      {"files of their own", with_files_of_their_own},
      {"communicators that go", with_communicators_that_go},
      {"alone", alone},
      {"handlers of their own", with_handlers_of_their_own},
      {"representations of their own", with_representations_of_their_own},
  };
  for (const auto& [name, body] : cases) {
    suite.run(name, [&suite, run = body] { run(suite); });
  }
  return suite.finish();
}
