// MPI's error classes: an error has its class by its code and its reason, on every rank.
#include "mpiio/mpi/outcome.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "comm/simulated/simulated_comm.hpp"

namespace stria::mpiio {
namespace {

const std::vector<std::pair<int, int>>& finer_classes() {
  static const std::vector<std::pair<int, int>> list = {
      {EDQUOT, MPI_ERR_QUOTA},   {ENAMETOOLONG, MPI_ERR_BAD_FILE}, {EISDIR, MPI_ERR_BAD_FILE},
      {ELOOP, MPI_ERR_BAD_FILE}, {ETXTBSY, MPI_ERR_FILE_IN_USE},   {EBUSY, MPI_ERR_FILE_IN_USE},
  };
  return list;
}

TEST(Outcome, HasTheClassOfTheSystemsError) {
  for (const auto& [error_number, error_class] : finer_classes()) {
    const Status status = Status::from_errno(error_number, "open 'f'");
    EXPECT_EQ(Outcome(status).error_class(), error_class) << status.message();
    EXPECT_EQ(Outcome(status.with_context("rank 3")).error_class(), error_class) << status.message();
    EXPECT_EQ(Outcome(status.with_message("other words")).error_class(), error_class) << status.message();
  }
  for (const auto& [error_number, error_class] : {std::pair(ENOSPC, MPI_ERR_NO_SPACE),
                                                  {EFBIG, MPI_ERR_NO_SPACE},
                                                  {ENOENT, MPI_ERR_NO_SUCH_FILE},
                                                  {EIO, MPI_ERR_IO},
                                                  {EACCES, MPI_ERR_ACCESS},
                                                  {EROFS, MPI_ERR_READ_ONLY},
                                                  {EEXIST, MPI_ERR_FILE_EXISTS},
                                                  {EINVAL, MPI_ERR_ARG}}) {
    EXPECT_EQ(Outcome(Status::from_errno(error_number, "open 'f'")).error_class(), error_class) << error_number;
  }
  EXPECT_EQ(Outcome(Status(ErrorCode::kNoSpace, "user 7", ErrorReason::kOverQuota)).error_class(), MPI_ERR_QUOTA);
  EXPECT_TRUE(Outcome(Status()).ok());
}

TEST(Outcome, HasNoClassByItsWords) {
  for (const auto& [error_number, error_class] : finer_classes()) {
    const Status status = Status::from_errno(error_number, "open 'f'");
    EXPECT_EQ(Outcome(Status(ErrorCode::kNotFound, status.message())).error_class(), MPI_ERR_NO_SUCH_FILE);
  }
}

TEST(Outcome, SaysTheSystemsWordsAlone) {
  EXPECT_EQ(Outcome(Status::from_errno(EISDIR, "open 'a: b'").with_context("rank 1")).system_words(), "Is a directory");
  EXPECT_EQ(Outcome(MPI_ERR_TYPE, "'a: b' has no such type").system_words(), "'a: b' has no such type");
  EXPECT_EQ(Outcome(Status(ErrorCode::kIo, "lost: it ended", ErrorReason::kMoveIsOver)).system_words(), "lost: it ended");
}

TEST(Outcome, IsOneForAllRanks) {
  constexpr int kRanks = 5;
  for (const auto& finer : finer_classes()) {
    const auto report = run_simulated({.ranks = kRanks, .ranks_per_node = 2, .seed = 1}, [&](Comm& comm) {
      for (int failing = 0; failing < kRanks; ++failing) {
        const bool fails = comm.rank() == failing;
        const Outcome agreed = agree(comm, nullptr, fails ? Outcome(Status::from_errno(finer.first, "open 'f'")) : Outcome());
        EXPECT_EQ(agreed.error_class(), finer.second);
        EXPECT_EQ(agreed.reason(), ErrorReason{finer.first});
        EXPECT_EQ(agreed.message(),
                  "rank " + std::to_string(failing) + ": " + Status::from_errno(finer.first, "open 'f'").message());
        // An error on which the engine has agreed has its class, too.
        const Status engines = comm.agree(fails ? Status::from_errno(finer.first, "open 'f'") : Status());
        EXPECT_EQ(Outcome(engines).error_class(), finer.second);
      }
    });
    EXPECT_TRUE(report.ok()) << report.status().message();
  }
}

}  // namespace
}  // namespace stria::mpiio
