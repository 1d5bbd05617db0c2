// Measures the time from the moment at which storage fails under one rank until the last rank has
// the error. It must be far shorter than writing or reading all data. The storage here is so slow
// that everything takes many seconds. The ranks share a machine, and so its clock.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>

#include "access/move.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "comm/self/self_comm.hpp"
#include "file/read/read_session.hpp"
#include "file/tests/file_fixture_test.hpp"
#include "file/write/defining.hpp"
#include "file/write/write_session.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/registry/registry.hpp"

namespace stria::file {
namespace {

using storage::FaultRule;
using storage::Operation;

// Some ten times what is needed: a failure shows at the second or third request.
constexpr double kBoundSeconds = 2;
// A busy machine may delay any run; only slow software is slow every time.
constexpr int kTries = 10;
constexpr int64_t kRowsARank = 512, kRowElements = 1024;  // 4 MiB per rank
constexpr int64_t kDelayMs = 60;
constexpr int kManyDatasets = 50;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A communicator in which each rank is on a node of its own.
class ApartComm : public Comm {
 public:
  explicit ApartComm(std::shared_ptr<Comm> inner) : inner_(std::move(inner)) {
    for (int rank = 0; rank < inner_->size(); ++rank) {
      nodes_.push_back(rank);
    }
  }
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::span<const int> node_of_rank() const override { return nodes_; }
  int node_rank() const override { return 0; }
  int node_size() const override { return 1; }
  void barrier() override { inner_->barrier(); }
  void broadcast(std::span<std::byte> data, int root) override { inner_->broadcast(data, root); }
  void all_reduce(std::span<int64_t> values, ReduceOp op) override { inner_->all_reduce(values, op); }
  void exclusive_scan(std::span<int64_t> values) override { inner_->exclusive_scan(values); }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override { inner_->all_gather(mine, all); }
  void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) override { inner_->gather(mine, root, take); }
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) override {
    return own_node_->allocate_shared(wanted);
  }
  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override {
    return inner_->send(data, to, tag);
  }
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override {
    return inner_->receive(data, from, tag);
  }
  Messages sparse_exchange(const Messages& outgoing) override { return inner_->sparse_exchange(outgoing); }
  void wait(CommRequest& request) override { inner_->wait(request); }
  void pause(int attempt) override { inner_->pause(attempt); }
  Comm& innermost() override { return inner_->innermost(); }

 private:
  std::shared_ptr<Comm> inner_;
  std::unique_ptr<Comm> own_node_ = make_self_comm();
  std::vector<int> nodes_;
};

struct Failure {
  const char* name;
  access::Method method;
  Operation operation;
  int rank;  ///< -1: on every rank
  int64_t nth;
  int error_number;
  const char* reason;
  enum class Way {
    kFile,        ///< a file of the library
    kApart,       ///< the same, with each rank on a node of its own
    kCollective,  ///< the collective calls of MPI-IO's layer, which use the node's windows
    kLong,        ///< the same, each rank's bytes in one piece, which goes before the ranks meet
    kVerify,      ///< all of a file's data compared with their checksums
  } way = Way::kFile;

  bool reads() const { return operation == Operation::kRead; }
  bool is_call() const { return way == Way::kCollective || way == Way::kLong; }
};

/// A source and a sink without memory.
struct NoMemory : access::StreamSource, access::StreamSink {
  void pack(std::span<const access::StreamPart>) override {}
  void unpack(std::span<const access::StreamPart>) override {}
};

struct Timed {
  Status status;
  double seconds = 0;        ///< from the first fault to this rank's return
  double whole_seconds = 0;  ///< the seconds of the whole attempt
};

class FailureTime : public test::FileTest {
 protected:
  Timed attempt(const Failure& failure) const {
    double failed_at = std::numeric_limits<double>::infinity();
    FaultRule slow, note, fail;
    slow.operations = {failure.reads() ? Operation::kRead : Operation::kWrite};
    slow.count = storage::kUnlimited;
    slow.action = FaultRule::Action::kDelay;
    slow.delay_ms = kDelayMs;
    note.operations = fail.operations = {failure.operation};
    note.rank = fail.rank = failure.rank;
    note.nth = fail.nth = failure.nth;
    note.action = FaultRule::Action::kCallback;
    note.callback = [&] { failed_at = std::min(failed_at, now()); };
    fail.error_number = failure.error_number;
    auto script = std::make_shared<storage::FaultScript>(std::vector<FaultRule>{slow, note, fail}, rank_);

    Environment environment;
    environment.comm = cached_mpi_comm(MPI_COMM_WORLD).value();
    if (failure.way == Failure::Way::kApart) {
      environment.comm = std::make_shared<ApartComm>(environment.comm);
    }
    environment.driver = storage::make_fault_driver("posix", script).value();
    environment.hints.method = failure.method;
    environment.hints.aggregator_count = failure.is_call() ? 0 : 2;
    environment.hints.collective_buffer_bytes = 128 << 10;
    environment.hints.staging_bytes = 64 << 10;
    double begin = now();
    Timed timed;
    timed.status = failure.is_call() ? move_together(environment, failure)
                   : failure.reads() ? read(std::move(environment), failure.way == Failure::Way::kVerify)
                                     : write(std::move(environment));
    double end = now();
    MPI_Allreduce(MPI_IN_PLACE, &failed_at, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    timed.seconds = end - failed_at;
    timed.whole_seconds = end - begin;
    return timed;
  }

  Status write(Environment environment) const {
    std::vector<double> values(static_cast<size_t>(kRowsARank * kRowElements), rank_);
    STRIA_ASSIGN_OR_RETURN(auto session, WriteSession::create(std::move(environment), path(), {}));
    container::DatasetSpec spec;
    spec.path = "dens";
    spec.dims = {kRowsARank * ranks_, kRowElements};
    DatasetOptions turned;
    turned.big_endian = true;  // Memory can't be moved as it is then.
    STRIA_RETURN_IF_ERROR(create_dataset(*session, spec, turned).status());
    Memory memory(values.data(), kRowsARank * kRowElements);
    STRIA_RETURN_IF_ERROR(session->record(0, {{rank_ * kRowsARank, 0}, {kRowsARank, kRowElements}}, memory));
    return session->commit();
  }

  /// Writes datasets of one row per rank. A verification needs two reads for each.
  Status write_many() const {
    Environment environment;
    environment.comm = cached_mpi_comm(MPI_COMM_WORLD).value();
    environment.driver = storage::make_driver("posix", rank_).value();
    const std::vector<double> row(kRowElements, rank_);
    STRIA_ASSIGN_OR_RETURN(auto session, WriteSession::create(std::move(environment), path(), {}));
    for (int i = 0; i < kManyDatasets; ++i) {
      container::DatasetSpec spec;
      spec.path = "dataset " + std::to_string(i);
      spec.dims = {ranks_, kRowElements};
      STRIA_RETURN_IF_ERROR(create_dataset(*session, spec, {}).status());
      STRIA_RETURN_IF_ERROR(session->record(i, {{rank_, 0}, {1, kRowElements}}, Memory(row.data(), kRowElements)));
    }
    return session->commit();
  }

  Status read(Environment environment, bool verifies) const {
    std::vector<double> values(static_cast<size_t>(kRowsARank * kRowElements));
    STRIA_ASSIGN_OR_RETURN(auto session, ReadSession::open(std::move(environment), path(), {}));
    if (verifies) {
      return session->verify().status();
    }
    Memory memory(values.data(), kRowsARank * kRowElements);
    STRIA_RETURN_IF_ERROR(
        session->record(session->find("dens").value(), {{rank_ * kRowsARank, 0}, {kRowsARank, kRowElements}}, memory));
    return session->commit();
  }

  /// The ranks' bytes lie in turn, so that all ranks use each window, or one behind the other.
  Status move_together(const Environment& environment, const Failure& failure) const {
    constexpr int64_t kBytesARank = kRowsARank * kRowElements * 8;
    const int64_t piece_bytes = failure.way == Failure::Way::kLong ? kBytesARank : 1024;
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    auto file = environment.driver->open(path(), open);
    STRIA_RETURN_IF_ERROR(environment.comm->agree(file.status()));
    access::Stream stream;
    stream.file_type =
        Datatype::hvector(kBytesARank / piece_bytes, 1, piece_bytes * ranks_, Datatype::bytes(piece_bytes)).value();
    stream.displacement = rank_ * piece_bytes;
    const access::Lane lane{{}, 0, {stream}};
    PhaseTimes times;
    access::Kept kept;
    access::Context context{*environment.comm, file->get(), environment.hints, times};
    NoMemory memory;
    const auto endpoint = failure.reads() ? access::Endpoint::of_read(memory) : access::Endpoint::of_write(memory);
    return access::move(context, std::span(&lane, 1), endpoint, access::Collectively{&kept}).status;
  }

  /// Returns the time of the slowest rank in the best of a few tries. Checks that all ranks have
  /// the same error each time.
  double best_seconds(const Failure& failure) const {
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kTries && best >= kBoundSeconds; ++i) {
      Timed timed = attempt(failure);
      std::string message =
          test::error_of([&] { timed.status.throw_if_error(); }, Status::from_errno(failure.error_number, "").code());
      EXPECT_NE(message.find("run.h5"), std::string::npos) << message;
      EXPECT_NE(message.find(failure.rank < 0 ? "rank " : "rank " + std::to_string(failure.rank)), std::string::npos)
          << message;
      EXPECT_NE(message.find(failure.reason), std::string::npos) << message;
      MPI_Allreduce(MPI_IN_PLACE, &timed.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      best = std::min(best, timed.seconds);
    }
    return best;
  }
};

TEST_F(FailureTime, EveryRankHasTheErrorSoon) {
  using access::Method;
  const Failure failures[] = {
      {"a device under one rank", Method::kListIo, Operation::kWrite, 1, 2, EIO, "Input/output error"},
      {"a full disk", Method::kListIo, Operation::kWrite, -1, 3, ENOSPC, "No space left on device"},
      {"one of two aggregators", Method::kTwoPhase, Operation::kWrite, 1, 2, EIO, "Input/output error"},
      {"both aggregators", Method::kTwoPhase, Operation::kWrite, -1, 2, ENOSPC, "No space left on device"},
      {"too many open files", Method::kListIo, Operation::kOpen, 2, 1, EMFILE, "Too many open files"},
      {"a directory that is read-only", Method::kListIo, Operation::kOpen, 0, 1, EROFS, "Read-only file system"},
      {"one of several nodes", Method::kListIo, Operation::kWrite, 3, 2, EIO, "Input/output error", Failure::Way::kApart},
      {"pieces one by one", Method::kMultiple, Operation::kWrite, 1, 2, EIO, "Input/output error"},
      {"an aggregator among several nodes", Method::kTwoPhase, Operation::kWrite, 1, 2, EIO, "Input/output error",
       Failure::Way::kApart},
  };
  for (const Failure& failure : failures) {
    SCOPED_TRACE(failure.name);
    EXPECT_LT(best_seconds(failure), kBoundSeconds);
    EXPECT_TRUE(names().empty());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(FailureTime, EveryRankHasTheErrorOfAReadSoon) {
  using access::Method;
  using Way = Failure::Way;
  Environment environment;
  environment.comm = cached_mpi_comm(MPI_COMM_WORLD).value();
  environment.driver = storage::make_driver("posix", rank_).value();
  ASSERT_TRUE(write(std::move(environment)).ok());
  const Failure failures[] = {
      {"a device under one rank", Method::kListIo, Operation::kRead, 1, 2, EIO, "Input/output error"},
      {"one of several nodes", Method::kListIo, Operation::kRead, 3, 2, EIO, "Input/output error", Way::kApart},
      {"pieces one by one", Method::kMultiple, Operation::kRead, 2, 2, EIO, "Input/output error"},
      {"one of two aggregators", Method::kTwoPhase, Operation::kRead, 1, 2, EIO, "Input/output error"},
      {"an aggregator among several nodes", Method::kTwoPhase, Operation::kRead, 1, 2, EIO, "Input/output error", Way::kApart},
  };
  for (const Failure& failure : failures) {
    SCOPED_TRACE(failure.name);
    EXPECT_LT(best_seconds(failure), kBoundSeconds);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(FailureTime, EveryRankHasTheErrorOfAVerificationSoon) {
  ASSERT_TRUE(write_many().ok());
  const Failure failure = {"checksums", access::Method::kAutomatic, Operation::kRead,     1, 2,
                           EIO,         "Input/output error",       Failure::Way::kVerify};
  EXPECT_LT(best_seconds(failure), kBoundSeconds);
}

TEST_F(FailureTime, EveryRankHasTheErrorOfACollectiveCallSoon) {
  using access::Method;
  using Way = Failure::Way;
  const int64_t bytes = kRowsARank * kRowElements * 8 * ranks_;
  if (rank_ == 0) {
    std::ofstream(path()) << "";
    std::filesystem::resize_file(path(), static_cast<uintmax_t>(bytes));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Failure failures[] = {
      {"windows, writing", Method::kTwoPhase, Operation::kWrite, -1, 2, EIO, "Input/output error", Way::kCollective},
      {"windows, reading", Method::kTwoPhase, Operation::kRead, -1, 2, EIO, "Input/output error", Way::kCollective},
      {"each by itself, writing", Method::kListIo, Operation::kWrite, 2, 2, EIO, "Input/output error", Way::kCollective},
      {"each by itself, reading", Method::kListIo, Operation::kRead, 2, 2, EIO, "Input/output error", Way::kCollective},
      {"long pieces, writing", Method::kAutomatic, Operation::kWrite, 1, 2, ENOSPC, "No space left on device", Way::kLong},
      {"long pieces, reading", Method::kAutomatic, Operation::kRead, 1, 2, EIO, "Input/output error", Way::kLong},
  };
  for (const Failure& failure : failures) {
    SCOPED_TRACE(failure.name);
    EXPECT_LT(best_seconds(failure), kBoundSeconds);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Otherwise the tests above would pass on fast storage, whatever the ranks do.
TEST_F(FailureTime, WritingEverythingTakesFarLonger) {
  Timed timed = attempt({"at the very end", access::Method::kTwoPhase, Operation::kRename, 0, 1, EACCES, ""});
  EXPECT_FALSE(timed.status.ok());
  EXPECT_GT(timed.whole_seconds, 2 * kBoundSeconds);
  EXPECT_LT(timed.seconds, timed.whole_seconds);
}

}  // namespace
}  // namespace stria::file
