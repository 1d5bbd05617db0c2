// Real processes sieve their writes into each other's gaps at once. No rank's bytes may be lost.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "access/move.hpp"
#include "access/writers/writers.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "comm/self/self_comm.hpp"
#include "storage/posix/posix_driver.hpp"

namespace stria::access {
namespace {

using Bytes = std::vector<std::byte>;

class PackedSource : public StreamSource {
 public:
  explicit PackedSource(const Bytes& packed) : packed_(packed) {}
  void pack(std::span<const StreamPart> parts) override {
    for (const StreamPart& part : parts) {
      std::copy(packed_.begin() + part.begin, packed_.begin() + part.end, part.packed);
    }
  }
  const std::byte* straight_source(int) override { return packed_.data(); }

 private:
  const Bytes& packed_;
};

/// Returns where the test's file goes: into memory if that has room for it.
std::string scratch_directory() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code missing;
  const bool has_room = std::filesystem::space(memory, missing).available >= (256u << 20) && !missing;
  return (has_room ? memory : std::filesystem::temp_directory_path()).string();
}

/// A file that all ranks share as long as this lives.
class RacingWriters : public ::testing::Test {
 protected:
  void SetUp() override {
    comm_ = make_mpi_comm(MPI_COMM_WORLD).value();
    int64_t leader = getpid();
    comm_->broadcast(std::as_writable_bytes(std::span(&leader, 1)), 0);
    path_ = scratch_directory() + "/stria-racing-" + std::to_string(leader);
    if (comm_->rank() == 0) {
      driver_.open(path_, {.mode = storage::OpenOptions::Mode::kCreate}).value();
    }
    comm_->barrier();
    file_ = driver_.open(path_, {.mode = storage::OpenOptions::Mode::kReadWrite}).value();
  }
  void TearDown() override {
    comm_->barrier();
    if (comm_->rank() == 0) {
      driver_.remove(path_).throw_if_error();
    }
  }

  /// Ranks take turns, each with `piece` bytes within its `stride`. Every rank writes its pieces
  /// [0, count) in `context`.
  MoveReport write_pieces(Context& context, int64_t piece, int64_t stride, int64_t count, int value) {
    Bytes packed(static_cast<size_t>(piece * count), static_cast<std::byte>(value));
    PackedSource source(packed);
    auto type = Datatype::hvector(count, 1, stride * comm_->size(), Datatype::bytes(piece)).value();
    Lane lane{{}, 0, {{0, type, comm_->rank() * stride}}};
    return move(context, std::span(&lane, 1), Endpoint::of_write(source), Independently());
  }

  /// Every rank's pieces must hold what it wrote last.
  void check_pieces(int64_t piece, int64_t stride, int64_t count, int step) {
    comm_->barrier();
    Bytes content(static_cast<size_t>(stride * comm_->size() * count));
    storage::ReadSegment all{0, content.data(), static_cast<int64_t>(content.size())};
    ASSERT_TRUE(file_->read(std::span(&all, 1)).ok());
    const auto holds = [&](int64_t begin, int64_t bytes, int value) {
      return std::all_of(content.begin() + begin, content.begin() + begin + bytes,
                         [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
    };
    // One rank looks at all pieces.
    int64_t pieces = comm_->rank() == 0 ? count * comm_->size() : 0;
    for (int64_t i = 0; i < pieces; ++i) {
      ASSERT_TRUE(holds(i * stride, piece, value_of(static_cast<int>(i % comm_->size()), step))) << "piece " << i;
      ASSERT_TRUE(i + 1 == pieces || holds(i * stride + piece, stride - piece, 0)) << "gap after " << i;
    }
    comm_->barrier();
  }

  /// Every third time a rank writes its pieces by `plain_method`. They must not be lost in others'
  /// windows either.
  void race(Context& context, int64_t piece, int64_t stride, int64_t count, Method plain_method) {
    for (int step = 0; step < 40; ++step) {
      const bool plain = (step + comm_->rank()) % 3 == 0;
      hints_.method = plain ? plain_method : Method::kAutomatic;
      const MoveReport report = write_pieces(context, piece, stride, count, value_of(comm_->rank(), step));
      ASSERT_TRUE(report.status.ok()) << report.status.message();
      ASSERT_EQ(report.method, plain ? plain_method : Method::kHybrid) << report.reason;
      if (step % 10 == 9) {
        ASSERT_NO_FATAL_FAILURE(check_pieces(piece, stride, count, step));
      }
    }
  }

  static int value_of(int rank, int step) { return 1 + (rank * 50 + step) % 250; }

  std::unique_ptr<Comm> comm_;
  storage::PosixDriver driver_;
  std::string path_;
  std::unique_ptr<storage::File> file_;
  ResolvedHints hints_;
  PhaseTimes times_;
};

TEST_F(RacingWriters, OfOneFileOnOneNodeSieveUnasked) {
  auto locks = NodeLocks::create(*comm_).value();
  Writers writers(*locks);
  hints_.write_window_bytes = 20000;
  Context context{*comm_, file_.get(), hints_, times_};
  context.others.locks = locks.get();
  context.others.writers = &writers;
  race(context, 8, 24, 3000, Method::kMultiple);
}

TEST_F(RacingWriters, WithHandlesOfTheirOwnSieveWhenAsked) {
  auto self = make_self_comm();
  auto locks = NodeLocks::create(*self).value();
  locks->begin_notes(static_cast<uint64_t>(comm_->rank()));
  Writers writers(*locks);
  hints_.sieve_writes = Switch::kEnable;
  hints_.write_window_bytes = 30000;
  Context context{*self, file_.get(), hints_, times_};
  context.others.locks = locks.get();
  context.others.writers = &writers;
  race(context, 16, 40, 1500, Method::kListIo);
}

/// Each rank counts as a node.
class RacingNodes : public RacingWriters {
 protected:
  void SetUp() override {
    setenv("STRIA_RANKS_PER_NODE", "1", 1);
    RacingWriters::SetUp();
    unsetenv("STRIA_RANKS_PER_NODE");
  }
};

TEST_F(RacingNodes, SieveUnaskedAfterAHeader) {
  auto locks = NodeLocks::create(*comm_).value();
  locks->begin_notes(static_cast<uint64_t>(comm_->rank()));
  Writers writers(*locks);
  hints_.write_window_bytes = 20000;
  Context context{*comm_, file_.get(), hints_, times_};
  context.others.locks = locks.get();
  context.others.writers = &writers;
  if (comm_->rank() == 0) {
    const Bytes header(24, static_cast<std::byte>(value_of(0, 0)));
    PackedSource source(header);
    Lane lane{{}, 0, {{0, Datatype::bytes(8), 0}}};
    ASSERT_TRUE(move(context, std::span(&lane, 1), Endpoint::of_write(source), Independently()).status.ok());
  }
  comm_->barrier();
  race(context, 8, 24, 3000, Method::kMultiple);
}

TEST_F(RacingWriters, SpansOverSixtyFourMebibytes) {
  auto locks = NodeLocks::create(*comm_).value();
  Writers writers(*locks);
  hints_.method = Method::kDataSieving;
  hints_.write_window_bytes = 100 << 20;
  Context context{*comm_, file_.get(), hints_, times_};
  context.others.locks = locks.get();
  context.others.writers = &writers;
  const int64_t stride = (70 << 20) / comm_->size() / 20;
  for (int step = 0; step < 2; ++step) {
    const MoveReport report = write_pieces(context, 1000, stride, 20, value_of(comm_->rank(), step));
    ASSERT_TRUE(report.status.ok()) << report.status.message();
    ASSERT_NO_FATAL_FAILURE(check_pieces(1000, stride, 20, step));
  }
}

}  // namespace
}  // namespace stria::access
