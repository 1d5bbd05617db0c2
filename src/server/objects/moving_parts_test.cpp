// Tests what a server knows of parts that move: who gets at them, and when that ends.
#include "server/objects/moving_parts.hpp"

#include <gtest/gtest.h>

#include <set>

#include "storage/conformance_test.hpp"

namespace stria::server {
namespace {

constexpr uint64_t kPart = 5;
const wire::Ticket kNobody{};

wire::Ticket ticket_of(uint64_t number) {
  wire::Ticket ticket;
  ticket.rights = wire::kMayRead | wire::kMayWrite | wire::kMayMove;
  ticket.expires_ms = number;
  return ticket;
}

Status nothing() {
  return {};
}

// A manager that has taken over, without the last changes of the one before, has the part here.
TEST(MovingParts, APartThatHasGoneComesBackWhereTheManagerSaysSo) {
  MovingParts moving;
  const wire::Ticket ticket = ticket_of(1);
  STRIA_EXPECT_OK(moving.follow(kPart, ticket));
  STRIA_EXPECT_OK(moving.hold(kPart, ticket));
  STRIA_EXPECT_OK(moving.gone(kPart, ticket));
  EXPECT_EQ(moving.check(kPart, kNobody).code(), ErrorCode::kNotFound);
  auto asked = moving.questions();
  ASSERT_EQ(asked.size(), 1U);
  moving.settle(asked, {wire::PartMoves::kElsewhere});
  EXPECT_EQ(moving.check(kPart, kNobody).code(), ErrorCode::kNotFound);
  moving.settle(asked, {wire::PartMoves::kHere});
  STRIA_EXPECT_OK(moving.check(kPart, kNobody));
  EXPECT_TRUE(moving.questions().empty());
  // The answer is too late for a part that comes back meanwhile.
  STRIA_EXPECT_OK(moving.receive(kPart, ticket_of(2)));
  moving.settle(asked, {wire::PartMoves::kHere});
  EXPECT_EQ(moving.check(kPart, kNobody).code(), ErrorCode::kNotFound);
}

TEST(MovingParts, AnOpenPartIsNotOpenedTwice) {
  MovingParts moving;
  const wire::Ticket ticket = ticket_of(1);
  STRIA_EXPECT_OK(moving.receive(kPart, ticket));
  int opened = 0;
  const auto count = [&]() -> Status {
    EXPECT_EQ(++opened, 1);
    return {};
  };
  STRIA_EXPECT_OK(moving.open(kPart, ticket, count));
  STRIA_EXPECT_OK(moving.check(kPart, kNobody));
  // Its clients may have changed it since.
  STRIA_EXPECT_OK(moving.open(kPart, ticket, count));
  EXPECT_EQ(opened, 1);
  STRIA_EXPECT_OK(moving.receive(kPart, ticket_of(2)));
  EXPECT_EQ(moving.open(kPart, ticket, nothing).code(), ErrorCode::kAborted) << "another move's";
  const auto fails = [] { return Status(ErrorCode::kIo, "a bad disk"); };
  EXPECT_EQ(moving.open(kPart, ticket_of(2), fails).code(), ErrorCode::kIo);
  EXPECT_EQ(moving.check(kPart, kNobody).code(), ErrorCode::kNotFound) << "it isn't open";
}

TEST(MovingParts, ThereIsATurnForEachPartThatHasGone) {
  MovingParts moving;
  wire::MovesTold told;
  constexpr uint64_t kParts = 2 * wire::kMaxListed + 7;
  for (uint64_t part = 1; part <= kParts; ++part) {
    told.gone.push_back(part);
  }
  moving.start(told);
  std::set<uint64_t> asked;
  for (int second = 0; second < 3; ++second) {
    for (const MovingParts::Question& question : moving.questions()) {
      asked.insert(question.asked.part);
    }
  }
  EXPECT_EQ(asked.size(), kParts);
}

}  // namespace
}  // namespace stria::server
