// One file is opened twice, by two communicators, jobs or libraries. What one side writes between
// the pieces of the other stays.
//
// One side writes pieces with gaps, in every way that may read, change and write back windows, and
// is delayed for a moment between reading and writing. The other side writes into the gaps
// meanwhile. Bytes that only one side writes must be in the file afterwards. The sides may be two
// jobs: they tell each other how far they are in a file that both map. MPIIO_SIDE=holey or
// MPIIO_SIDE=other says which side a job is; without it, the last rank of a job is the other side.
// A side whose MPI-IO is not Stria's writes in atomic mode only, because other libraries' writes
// lock nothing otherwise.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "mpiio/support/fail_io.hpp"
#include "mpiio/support/info.hpp"
#include "mpiio/support/naive_file.hpp"
#include "mpiio/support/suite.hpp"

namespace {

using namespace mpiio;

constexpr int kPieces = 512;
constexpr int kStride = 96;
constexpr int kPieceBytes = 16;            // each rank of the holey side has them side by side
constexpr int kGapAt = 80;                 // here the holey side doesn't write
constexpr int kGapBytes = 8;               // the bytes of the gap's 16
constexpr int kBytes = kPieces * kStride;  // the bytes of the file's part that both write
constexpr int kEarlyAt = kBytes + 1000;    // where the other side may write before
constexpr int kHeldUpMs = 90;
constexpr int kHeadStartMs = 30;

enum class Pattern { kOneByOne, kList };

/// A way to write.
struct Way {
  const char* name;
  bool collective;
  bool atomic;
  Pattern pattern;
  Hints hints;
};

const std::vector<Way>& holey_ways() {
  static const std::vector<Way> ways = {
      {"independent", false, false, Pattern::kList, {}},
      {"independent, sieving asked for", false, false, Pattern::kList, {{"romio_ds_write", "enable"}}},
      {"independent and atomic", false, true, Pattern::kList, {}},
      {"collective", true, false, Pattern::kList, {}},
      {"collective, with aggregators", true, false, Pattern::kList, {{"romio_cb_write", "enable"}, {"cb_nodes", "1"}}},
      {"collective, sieving asked for",
       true,
       false,
       Pattern::kList,
       {{"romio_cb_write", "enable"}, {"romio_ds_write", "enable"}}},
  };
  return ways;
}

const std::vector<Way>& other_ways() {
  static const std::vector<Way> ways = {
      {"contiguous and atomic", false, true, Pattern::kOneByOne, {}},
      {"pieces, atomic", false, true, Pattern::kList, {}},
      {"contiguous", false, false, Pattern::kOneByOne, {}},
      {"pieces", false, false, Pattern::kList, {{"romio_ds_write", "disable"}}},
      {"pieces, sieving asked for", false, false, Pattern::kList, {{"romio_ds_write", "enable"}}},
  };
  return ways;
}

/// Says how far both sides are, in memory that both map.
class Meeting {
 public:
  explicit Meeting(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT(file >= 0 && ftruncate(file, sizeof(Shared)) == 0, "no file to meet in");
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    EXPECT(memory != MAP_FAILED, "no memory to meet in");
    close(file);
    shared_ = static_cast<Shared*>(memory);
  }
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  ~Meeting() { munmap(shared_, sizeof(Shared)); }

  /// One rank of each side says that it has come to the next step. Returns when the other
  /// side has come too.
  void step(bool holey) {
    ++steps_;
    (holey ? shared_->holey : shared_->other).store(steps_);
    while ((holey ? shared_->other : shared_->holey).load() < steps_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  struct Shared {
    std::atomic<int> holey, other;
  };
  Shared* shared_ = nullptr;
  int steps_ = 0;
};

class Side {
 public:
  explicit Side(const Suite& suite)
      : suite_(suite),
        is_whole_job_(std::getenv("MPIIO_SIDE") != nullptr),
        path_(directory() + "/neighbours"),
        meeting_(path_ + ".meeting") {
    const std::string_view told = is_whole_job_ ? std::getenv("MPIIO_SIDE") : "";
    holey_ = is_whole_job_ ? told == "holey" : suite.rank() < suite.rank_count() - 1;
    MPI_Comm_split(MPI_COMM_WORLD, holey_ ? 0 : 1, 0, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    step();
  }
  ~Side() {
    step();
    if (holey_ && rank_ == 0) {
      unlink(path_.c_str());
      unlink((path_ + ".meeting").c_str());
    }
    MPI_Comm_free(&comm_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// `early`: the other side has written before the holey one does.
  void run(const Way& holey, const Way& other, bool early) {
    const Way& way = holey_ ? holey : other;
    if (holey_ && rank_ == 0) {
      make_file(path_, before());
    }
    step();
    const Info info(way.hints);
    MPI_File file = MPI_FILE_NULL;
    EXPECT_MPI(MPI_File_open(comm_, path_.c_str(), MPI_MODE_RDWR, info.get(), &file));
    EXPECT_MPI(MPI_File_set_atomicity(file, way.atomic ? 1 : 0));
    if (early && !holey_) {
      const std::vector<uint8_t> bytes(kGapBytes, mark(2, 0, 0));
      EXPECT_MPI(MPI_File_write_at(file, kEarlyAt, bytes.data(), kGapBytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    step();
    if (holey_) {
      const FailIo io;
      if (io.is_loaded()) {
        io.delay_one(path_, Operation::kWrite, kHeldUpMs);
      }
      write_pieces(file, way, rank_ * kPieceBytes, kPieceBytes, 1);
      if (io.is_loaded()) {
        io.disarm();
      }
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(kHeadStartMs));
      write_pieces(file, way, kGapAt, kGapBytes, 2);
    }
    EXPECT_MPI(MPI_File_close(&file));
    step();
    if (holey_ && rank_ == 0) {
      expect_same(read_file(path_), after(early), text(holey.name, " beside ", other.name, early ? ", which came first" : ""));
    }
    step();
  }

  /// The last rank of the holey side writes into a gap in the background, while the first completes
  /// a window from the file.
  void run_with_itself() {
    if (!holey_) {
      return;
    }
    if (rank_ == 0) {
      make_file(path_, before());
    }
    MPI_Barrier(comm_);
    const Way way{"", true, false, Pattern::kList, {{"romio_cb_write", "enable"}, {"cb_nodes", "1"}}};
    const Info info(way.hints);
    MPI_File file = MPI_FILE_NULL;
    EXPECT_MPI(MPI_File_open(comm_, path_.c_str(), MPI_MODE_RDWR, info.get(), &file));
    const FailIo io;
    if (io.is_loaded()) {
      io.delay_one(path_, Operation::kWrite, rank_ == 0 ? kHeldUpMs : kHeadStartMs);
    }
    if (rank_ == 0) {
      set_view(file, way, 0, kPieceBytes);
      write_list(file, way, 0, kPieceBytes, 1);
    } else {
      EXPECT_MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info.get()));
      write_behind(file);
    }
    if (io.is_loaded()) {
      io.disarm();
    }
    EXPECT_MPI(MPI_File_close(&file));
    if (rank_ == 0) {
      std::vector<uint8_t> wanted = before();
      for (int piece = 0; piece < kPieces; ++piece) {
        put(wanted, piece * kStride, kPieceBytes, 1, 0, piece);
      }
      for (const int at : {kEarlyAt, kGapAt}) {
        std::fill_n(wanted.begin() + at, kGapBytes, mark(2, 0, 0));
      }
      expect_same(read_file(path_), wanted, "in the background");
    }
  }

 private:
  // The first request is the one that is delayed.
  void write_behind(MPI_File file) const {
    const std::vector<uint8_t> bytes(kGapBytes, mark(2, 0, 0));
    MPI_Request requests[2];
    for (int i = 0; i < 2; ++i) {
      EXPECT_MPI(MPI_File_iwrite_at(file, i == 0 ? kEarlyAt : kGapAt, bytes.data(), kGapBytes, MPI_BYTE, &requests[i]));
    }
    EXPECT_MPI(MPI_File_write_at_all(file, 0, bytes.data(), 0, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }

  std::string directory() const {
    return suite_.options().directory.empty() ? std::string("/tmp") : suite_.options().directory;
  }

  void step() {
    MPI_Barrier(comm_);
    if (rank_ == 0) {
      meeting_.step(holey_);
    }
    MPI_Barrier(comm_);
  }

  std::vector<uint8_t> before() const {
    std::vector<uint8_t> bytes;
    for (int i = 0; i < kBytes + 2000; ++i) {
      bytes.push_back(mark(0, 0, i));
    }
    return bytes;
  }

  std::vector<uint8_t> after(bool early) const {
    std::vector<uint8_t> bytes = before();
    for (int piece = 0; piece < kPieces; ++piece) {
      for (int rank = 0; rank < size_; ++rank) {
        put(bytes, piece * kStride + rank * kPieceBytes, kPieceBytes, 1, rank * kPieceBytes, piece);
      }
      put(bytes, piece * kStride + kGapAt, kGapBytes, 2, kGapAt, piece);
    }
    std::fill_n(bytes.begin() + kEarlyAt, early ? kGapBytes : 0, mark(2, 0, 0));
    return bytes;
  }

  static void put(std::vector<uint8_t>& bytes, int at, int count, int side, int place, int piece) {
    for (int i = 0; i < count; ++i) {
      bytes[static_cast<size_t>(at + i)] = mark(static_cast<uint64_t>(side), place, piece * count + i);
    }
  }

  static std::vector<uint8_t> data_of(int at, int bytes, int side) {
    std::vector<uint8_t> data(static_cast<size_t>(kPieces * bytes));
    for (int piece = 0; piece < kPieces; ++piece) {
      put(data, piece * bytes, bytes, side, at, piece);
    }
    return data;
  }

  // `bytes` bytes at `at` of each stride.
  static void set_view(MPI_File file, const Way& way, int at, int bytes) {
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    MPI_Datatype filetype = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(bytes, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, kStride, &filetype);
    MPI_Type_commit(&filetype);
    const Info info(way.hints);
    EXPECT_MPI(MPI_File_set_view(file, at, MPI_BYTE, filetype, "native", info.get()));
    MPI_Type_free(&piece);
    MPI_Type_free(&filetype);
  }

  static void write_list(MPI_File file, const Way& way, int at, int bytes, int side) {
    const std::vector<uint8_t> data = data_of(at, bytes, side);
    const int count = static_cast<int>(data.size());
    EXPECT_MPI(way.collective ? MPI_File_write_at_all(file, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE)
                              : MPI_File_write_at(file, 0, data.data(), count, MPI_BYTE, MPI_STATUS_IGNORE));
  }

  static void write_pieces(MPI_File file, const Way& way, int at, int bytes, int side) {
    if (way.pattern == Pattern::kList) {
      set_view(file, way, at, bytes);
      write_list(file, way, at, bytes, side);
      return;
    }
    const std::vector<uint8_t> data = data_of(at, bytes, side);
    for (int piece = 0; piece < kPieces; ++piece) {
      EXPECT_MPI(
          MPI_File_write_at(file, piece * kStride + at, data.data() + piece * bytes, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
  }

  const Suite& suite_;
  bool is_whole_job_;
  std::string path_;
  Meeting meeting_;
  bool holey_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Suite suite(&argc, &argv);
  suite.allow_seconds(100);
  {
    Side side(suite);
    suite.run("beside itself in the background", [&] { side.run_with_itself(); });
    const bool atomic_only = std::getenv("MPIIO_NATIVE_SIDE") != nullptr;
    for (const Way& holey : holey_ways()) {
      for (const Way& other : other_ways()) {
        if (atomic_only && !other.atomic) {
          continue;
        }
        for (const bool early : {false, true}) {
          suite.run(text(holey.name, " beside ", other.name, early ? ", which came first" : ""),
                    [&] { side.run(holey, other, early); });
        }
      }
    }
  }
  return suite.finish();
}
