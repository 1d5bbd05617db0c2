#include "stria/status.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stria {
namespace {

TEST(ErrorCode, EveryCodeHasItsOwnName) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const std::string name = error_code_name(static_cast<ErrorCode>(code));
    EXPECT_NE(name, "unknown") << code;
    EXPECT_TRUE(names.insert(name).second) << name << " is used twice";
  }
  EXPECT_STREQ(error_code_name(static_cast<ErrorCode>(-1)), "unknown");
}

TEST(Status, ErrnoDecidesTheCodeAndAddsTheSystemsWords) {
  const std::vector<std::pair<int, ErrorCode>> expected = {
      {ENOENT, ErrorCode::kNotFound}, {EEXIST, ErrorCode::kAlreadyExists},     {EACCES, ErrorCode::kPermissionDenied},
      {EROFS, ErrorCode::kReadOnly},  {ENOSPC, ErrorCode::kNoSpace},           {EDQUOT, ErrorCode::kNoSpace},
      {EIO, ErrorCode::kIo},          {EMFILE, ErrorCode::kResourceExhausted}, {EOPNOTSUPP, ErrorCode::kUnsupported},
  };
  for (const auto& [error_number, code] : expected) {
    EXPECT_EQ(Status::from_errno(error_number, "write").code(), code) << error_number;
  }
  EXPECT_EQ(Status::from_errno(ENOSPC, "write a.h5").message(), "write a.h5: No space left on device");
}

TEST(Status, ContextGoesInFrontOfErrorsOnly) {
  EXPECT_TRUE(Status().with_context("rank 3").ok());
  const Status status = Status(ErrorCode::kIo, "read").with_context("rank 3");
  EXPECT_EQ(status.code(), ErrorCode::kIo);
  EXPECT_EQ(status.message(), "rank 3: read");
}

TEST(Status, ThrowsWhatItSays) {
  EXPECT_NO_THROW(Status().throw_if_error());
  try {
    Status(ErrorCode::kFormat, "no superblock").throw_if_error();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFormat);
    EXPECT_STREQ(error.what(), "no superblock");
  }
}

TEST(Status, AnErrnoIsTheReasonWhateverIsSaid) {
  for (const int error_number : {ENOENT, EDQUOT, EFBIG, ELOOP, ETXTBSY}) {
    EXPECT_EQ(Status::from_errno(error_number, "write").reason(), ErrorReason{error_number});
  }
  for (const int error_number : {-ENOENT, 0, 4096, 5000}) {  // none of the system's
    EXPECT_EQ(Status::from_errno(error_number, "write").reason(), ErrorReason::kNone) << error_number;
  }
  EXPECT_EQ(Status(ErrorCode::kNoSpace, "write a.h5: Disk quota exceeded").reason(), ErrorReason::kNone);
}

TEST(Status, TheReasonStaysThroughContextCopiesResultsAndExceptions) {
  const Status status(ErrorCode::kAborted, "it ended", ErrorReason::kMoveIsOver);
  const Status told = status.with_context("server a:1").with_context("file f");
  EXPECT_EQ(told.reason(), ErrorReason::kMoveIsOver);
  EXPECT_EQ(told.message(), "file f: server a:1: it ended");
  const Status reworded = status.with_message("the end");
  EXPECT_EQ(reworded.code(), ErrorCode::kAborted);
  EXPECT_EQ(reworded.reason(), ErrorReason::kMoveIsOver);
  EXPECT_EQ(reworded.message(), "the end");
  EXPECT_TRUE(Status().with_message("no error").ok());
  EXPECT_EQ(Status().with_message("no error").message(), "");
  Status first;
  first.update(told);
  first.update(Status::from_errno(EIO, "later"));
  EXPECT_EQ(Result<int>(first).status().reason(), ErrorReason::kMoveIsOver);
  try {
    Result<int>(first).value();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.reason(), ErrorReason::kMoveIsOver);
    EXPECT_EQ(Status(error).reason(), ErrorReason::kMoveIsOver);
    EXPECT_EQ(Status(error).message(), told.message());
  }
}

Result<int> half(int value) {
  if (value % 2 != 0) {
    return Status(ErrorCode::kInvalidArgument, "odd");
  }
  return value / 2;
}

Result<int> quarter(int value) {
  STRIA_ASSIGN_OR_RETURN(const int halved, half(value));
  return half(halved);
}

Status check_quarter(int value) {
  STRIA_RETURN_IF_ERROR(quarter(value).status());
  return Status();
}

TEST(Result, MacrosReturnTheFirstError) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).status().message(), "odd");
  EXPECT_TRUE(check_quarter(8).ok());
  EXPECT_EQ(check_quarter(3).code(), ErrorCode::kInvalidArgument);
  EXPECT_THROW(quarter(3).value(), Error);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace stria
