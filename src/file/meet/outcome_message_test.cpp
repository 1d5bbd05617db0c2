// Outcomes as messages: what is decoded is what was encoded.
#include "file/meet/outcome_message.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

namespace stria::file {
namespace {

TEST(OutcomeMessage, HasTheContentOfASuccess) {
  for (const size_t bytes : {size_t{0}, size_t{1}, Comm::kGatherBytesMax - sizeof(int32_t)}) {
    const std::vector<std::byte> content(bytes, std::byte{7});
    const auto message = encode_outcome(Status(), content);
    EXPECT_LE(message.size(), Comm::kGatherBytesMax);
    const auto decoded = decode_outcome(message);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(*decoded, content);
  }
}

TEST(OutcomeMessage, HasCodeReasonAndWordsOfAFailure) {
  for (const Status& status : {Status(ErrorCode::kIo, ErrorReason::kNone), Status::from_errno(EDQUOT, "write"),
                               Status(ErrorCode::kAborted, "the move is over", ErrorReason::kMoveIsOver)}) {
    const Status decoded = decode_outcome(encode_outcome(status, {std::byte{1}})).status();
    EXPECT_EQ(decoded.code(), status.code());
    EXPECT_EQ(decoded.reason(), status.reason());
    EXPECT_EQ(decoded.message(), status.message());
  }
}

TEST(OutcomeMessage, HasNoWordsWhereTheyHaveNoRoom) {
  for (const Status& status : {Status(), Status::from_errno(EDQUOT, "write")}) {
    std::array<std::byte, 8> room;
    const Status decoded = decode_outcome(encode_without_words(status, room)).status();
    EXPECT_EQ(decoded.code(), status.code());
    EXPECT_EQ(decoded.reason(), status.reason());
    EXPECT_EQ(decoded.message(), Status(status.code(), ErrorReason::kNone).message());
  }
}

TEST(OutcomeMessage, CutsWordsThatAreTooLong) {
  const Status status = Status::from_errno(EDQUOT, std::string(2 * Comm::kGatherBytesMax, 'x'));
  const auto message = encode_outcome(status, {});
  EXPECT_EQ(message.size(), Comm::kGatherBytesMax);
  const Status decoded = decode_outcome(message).status();
  EXPECT_EQ(decoded.reason(), ErrorReason{EDQUOT});
  EXPECT_TRUE(status.message().starts_with(decoded.message()));
}

}  // namespace
}  // namespace stria::file
