// Another program cuts and lengthens a file while it is read. With every call and method, a status
// counts the bytes that were delivered, from the first of the buffer on.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "mpiio/support/calls.hpp"
#include "mpiio/support/files.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kPieceBytes = 3000;
constexpr int kPieces = 600;  // the pieces of a rank, in turn with the others' pieces
constexpr int kBytes = kPieceBytes * kPieces;
// Never in the file, which has ones, and zeros where it was cut.
constexpr uint8_t kUntouched = 0xee;

// Cuts the file and makes it longer again, on rank 0, as long as it lives.
class Cutter {
 public:
  Cutter(const Suite& suite, const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (suite.rank() == 0) {
      const int64_t whole = int64_t{kBytes} * suite.rank_count();
      thread_ = std::thread([this, whole] {
        for (int64_t i = 1; !ending_; ++i) {
          cut_to(i * 7919 * 4096 % whole);
          cut_to(whole);
        }
      });
    }
  }
  ~Cutter() {
    ending_ = true;
    if (thread_.joinable()) {
      thread_.join();
    }
    ::close(fd_);
  }
  Cutter(const Cutter&) = delete;
  Cutter& operator=(const Cutter&) = delete;

 private:
  void cut_to(int64_t bytes) const {
    if (ftruncate(fd_, bytes) != 0) {
      EXPECT(false, "ftruncate fails");
    }
    usleep(200);
  }

  int fd_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

void read_while_it_is_cut(const Suite& suite, const Call& call, const Hints& hints) {
  const std::string path = suite.path("cut");
  MPI_File file = open_interleaved(suite, path, hints, kPieceBytes);
  std::vector<uint8_t> data(kBytes, 1);
  EXPECT_MPI(MPI_File_write_at_all(file, 0, data.data(), kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  {
    const Cutter cutter(suite, path);
    for (int round = 0; round < 12; ++round) {
      std::fill(data.begin(), data.end(), kUntouched);
      MPI_Status status;
      EXPECT_MPI(MPI_File_seek(file, 0, MPI_SEEK_SET));
      EXPECT_MPI(perform(call, false, file, {0, data.data(), kBytes, MPI_BYTE}, &status));
      int count = -1;
      MPI_Get_count(&status, MPI_BYTE, &count);
      const auto got = std::find(data.begin(), data.end(), kUntouched) - data.begin();
      EXPECT(count == got, "the status counts ", count, " bytes, ", got, " came");
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_MPI(MPI_File_close(&file));
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const std::vector<Hints> methods = {
      {},
      {{"romio_cb_read", "enable"}},
      {{"romio_cb_read", "enable"}, {"cb_buffer_size", "262144"}, {"stria_shared_memory", "disable"}},
      {{"stria_method", "multiple"}},
      {{"stria_method", "list_io"}},
      {{"stria_method", "data_sieving"}},
  };
  for (const Hints& hints : methods) {
    for (const Call& call : private_calls()) {
      if (!call.large_count && call.pointer == Pointer::kExplicit) {
        suite.run(call_name(call, false) + Info(hints).text(), [&] { read_while_it_is_cut(suite, call, hints); });
      }
    }
  }
  return suite.finish();
}
