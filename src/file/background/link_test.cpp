// Messages between processes: cut anywhere, of strangers, and the end of a connection.
#include "file/background/link.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "file/background/listener.hpp"

namespace stria::file::test {
namespace {

class LinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const ListeningPlaces& places = listener_.places();
    ASSERT_GT(places.count, 0U);
    near_ = Link(begin_to_connect(places.all[0], places.port).value());
    Socket accepted;
    for (int attempt = 0; !accepted.is_open(); ++attempt) {
      ASSERT_LT(attempt, 100000);
      accepted = listener_.accept().value();
    }
    far_ = std::move(accepted);
  }
  void say(std::string_view bytes) const { ASSERT_EQ(::send(far_.get(), bytes.data(), bytes.size(), 0), std::ssize(bytes)); }
  /// Returns what comes next: a message, or the error.
  std::string heard() {
    for (int attempt = 0; attempt < 100000; ++attempt) {
      const auto came = near_.receive();
      if (!came.ok() || *came) {
        return came.ok() ? std::string(reinterpret_cast<const char*>((*came)->data()), (*came)->size())
                         : error_code_name(came.status().code());
      }
    }
    return "nothing";
  }

  Listener listener_ = Listener::open().value();
  Link near_;
  Socket far_;
};

TEST_F(LinkTest, MessagesComeWholeAndInOrder) {
  using namespace std::string_view_literals;
  say("\2\0"sv);
  EXPECT_FALSE(near_.receive().value().has_value());
  say("\0\0ab\0\0\0\0\1\0\0\0"sv);
  EXPECT_EQ(heard(), "ab");
  EXPECT_EQ(heard(), "");
  say("c"sv);
  far_ = Socket();
  EXPECT_EQ(heard(), "c");
  EXPECT_EQ(heard(), error_code_name(ErrorCode::kIo));
}

TEST_F(LinkTest, AMessageThatIsCutIsNone) {
  using namespace std::string_view_literals;
  say("\4\0\0\0ab"sv);
  EXPECT_FALSE(near_.receive().value().has_value());
  far_ = Socket();
  EXPECT_EQ(heard(), error_code_name(ErrorCode::kIo));
}

TEST_F(LinkTest, WhatIsNoMessageIsRefused) {
  say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(heard(), error_code_name(ErrorCode::kFormat));
}

}  // namespace
}  // namespace stria::file::test
