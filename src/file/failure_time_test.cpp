// From the moment at which storage fails under one rank until the last rank has the error: never until all data would have been
// written. The storage here is so slow that writing everything takes many seconds. Ranks share a machine and so its clock.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "comm/mpi/mpi_comm.hpp"
#include "file/file_fixture_test.hpp"
#include "file/write_session.hpp"
#include "storage/fault/fault_driver.hpp"
#include "storage/registry.hpp"

namespace stria::file {
namespace {

using storage::FaultRule;
using storage::Operation;

constexpr double kBoundSeconds = 1;
// A busy machine may hold up any run: only software that is slow is so every time.
constexpr int kTries = 4;
constexpr int64_t kRowsARank = 512, kRowElements = 1024;  // 4 MiB a rank
constexpr int64_t kWriteDelayMs = 30;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Failure {
  const char* name;
  access::Method method;
  Operation operation;
  int rank;  ///< -1: on every rank
  int64_t nth;
  int error_number;
  const char* reason;
};

struct Timed {
  Status status;
  double seconds = 0;        ///< from the first fault to this rank's return
  double whole_seconds = 0;  ///< of the whole attempt
};

class FailureTime : public test::FileTest {
 protected:
  Timed attempt(const Failure& failure) const {
    double failed_at = std::numeric_limits<double>::infinity();
    FaultRule slow, note, fail;
    slow.operations = {Operation::kWrite};
    slow.count = storage::kUnlimited;
    slow.action = FaultRule::Action::kDelay;
    slow.delay_ms = kWriteDelayMs;
    note.operations = fail.operations = {failure.operation};
    note.rank = fail.rank = failure.rank;
    note.nth = fail.nth = failure.nth;
    note.action = FaultRule::Action::kCallback;
    note.callback = [&] { failed_at = std::min(failed_at, now()); };
    fail.error_number = failure.error_number;
    auto script = std::make_shared<storage::FaultScript>(std::vector<FaultRule>{slow, note, fail}, rank_);

    Environment environment;
    environment.comm = cached_mpi_comm(MPI_COMM_WORLD).value();
    environment.driver = storage::make_fault_driver("posix", script).value();
    environment.hints.method = failure.method;
    environment.hints.aggregator_count = 2;
    environment.hints.collective_buffer_bytes = 128 << 10;
    environment.hints.staging_bytes = 64 << 10;
    double begin = now();
    Timed timed;
    timed.status = write(std::move(environment));
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
    STRIA_RETURN_IF_ERROR(session->create_dataset(spec, {}).status());
    Memory memory(values.data(), kRowsARank * kRowElements);
    STRIA_RETURN_IF_ERROR(session->record(0, {{rank_ * kRowsARank, 0}, {kRowsARank, kRowElements}}, memory));
    return session->commit();
  }

  /// The time of the slowest rank in the best of some tries; checks that all ranks have the same error each time.
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

TEST_F(FailureTime, EveryRankHasTheErrorWithinASecond) {
  using access::Method;
  const Failure failures[] = {
      {"a device under one rank", Method::kListIo, Operation::kWrite, 1, 2, EIO, "Input/output error"},
      {"a full disk", Method::kListIo, Operation::kWrite, -1, 3, ENOSPC, "No space left on device"},
      {"one of two aggregators", Method::kTwoPhase, Operation::kWrite, 1, 2, EIO, "Input/output error"},
      {"both aggregators", Method::kTwoPhase, Operation::kWrite, -1, 2, ENOSPC, "No space left on device"},
      {"too many open files", Method::kListIo, Operation::kOpen, 2, 1, EMFILE, "Too many open files"},
      {"a directory that is read-only", Method::kListIo, Operation::kOpen, 0, 1, EROFS, "Read-only file system"},
  };
  for (const Failure& failure : failures) {
    SCOPED_TRACE(failure.name);
    EXPECT_LT(best_seconds(failure), kBoundSeconds);
    EXPECT_TRUE(names().empty());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Without this the test above would pass on storage that is fast, whatever the ranks do.
TEST_F(FailureTime, WritingEverythingTakesFarLonger) {
  Timed timed = attempt({"at the very end", access::Method::kTwoPhase, Operation::kRename, 0, 1, EACCES, ""});
  EXPECT_FALSE(timed.status.ok());
  EXPECT_GT(timed.whole_seconds, 2 * kBoundSeconds);
  EXPECT_LT(timed.seconds, timed.whole_seconds);
}

}  // namespace
}  // namespace stria::file
