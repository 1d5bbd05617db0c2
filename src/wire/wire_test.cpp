// Frames and messages: what is written is read, the documented example is what is sent, and
// anything else is refused.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "wire/address.hpp"
#include "wire/frame.hpp"
#include "wire/messages.hpp"
#include "wire/moves.hpp"
#include "wire/quotas.hpp"
#include "wire/standby.hpp"
#include "wire/tree.hpp"
#include "wire/upkeep.hpp"

namespace stria::wire {
namespace {

TEST(Address, TakesWhatItPrints) {
  for (const std::string text : {"127.0.0.1:7000", "[::1]:80", "node3.cluster:65535", "unix:/run/stria.socket"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->text(), text);
  }
  for (const std::string text : {"", "host", "host:", ":80", "host:x", "host:99999", "a:b:80", "unix:", "host:-1"}) {
    EXPECT_EQ(Address::parse(text).status().code(), ErrorCode::kInvalidArgument) << text;
  }
}

TEST(Address, StorePathsAreTakenApart) {
  const auto check = [](const std::string& text, const std::string& server, const std::string& path) {
    const auto parsed = StorePath::parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(parsed->server, server) << text;
    EXPECT_EQ(parsed->path, path) << text;
  };
  check("stria://h:1", "h:1", "/");
  check("stria://h:1/", "h:1", "/");
  check("stria://h:1/a//b/./c/", "h:1", "/a/b/c");
  check("stria://[::1]:9/x", "[::1]:9", "/x");
  check("stria://unix:/run/s:/x/y", "unix:/run/s", "/x/y");
  check("stria://unix:/run/s:", "unix:/run/s", "/");
  check("stria://h:1,g:2/x", "h:1,g:2", "/x");
  check("stria://h:1,[::1]:9", "h:1,[::1]:9", "/");
  check("stria://h:1/a,b:2", "h:1", "/a,b:2");
  check("stria://unix:/run/s,unix:/run/t:/x", "unix:/run/s,unix:/run/t", "/x");
  check("stria://h:1,unix:/run/s:/x", "h:1,unix:/run/s", "/x");
  for (const std::string text : {"stria://h:1,/a", "stria://,h:1/a", "stria://h:1,g/a", "/a", "stria://", "stria://h",
                                 "stria://h:1/../etc", "stria://h:1/a/../../b"}) {
    EXPECT_FALSE(StorePath::parse(text).ok()) << text;
  }
  EXPECT_FALSE(split_path(std::string("/a\0b", 4)).ok());
  EXPECT_FALSE(split_path("/" + std::string(256, 'x')).ok());
  EXPECT_TRUE(split_path("/" + std::string(255, 'x')).ok());
}

TEST(Address, ListsOfManagersAreTakenApart) {
  const auto texts = [](const std::string& list) {
    std::vector<std::string> all;
    for (const Address& address : parse_addresses(list).value()) {
      all.push_back(address.text());
    }
    return all;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts("h:1"), (Texts{"h:1"}));
  EXPECT_EQ(texts("h:1,[::1]:2,g:3"), (Texts{"h:1", "[::1]:2", "g:3"}));
  EXPECT_EQ(texts("unix:/a,b"), (Texts{"unix:/a,b"})) << "a socket's name may have commas";
  EXPECT_EQ(texts("unix:/a,unix:/b"), (Texts{"unix:/a", "unix:/b"}));
  for (const std::string list : {"", "h:1,", ",h:1", "h:1,g", "h:1,,g:2", "a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9"}) {
    EXPECT_EQ(parse_addresses(list).status().code(), ErrorCode::kInvalidArgument) << list;
  }
}

TEST(Frame, EveryFlippedBitIsSeen) {
  Header header;
  header.kind = Kind::kStat;
  header.request = 7;
  const auto body = encode(Path{"/a"});
  const auto frame = encode_head(header, body);
  const auto judge = [&](std::span<const std::byte> bytes) {
    const auto head = bytes.first<kHeaderBytes>();
    const auto decoded = decode_header(head);
    return decoded.ok() && check_body(head, bytes.subspan(kHeaderBytes)).ok();
  };
  ASSERT_TRUE(judge(frame));
  for (size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    auto flipped = frame;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(judge(flipped)) << "bit " << bit;
    const auto head = std::span<const std::byte>(flipped).first<kHeaderBytes>();
    EXPECT_EQ(decode_header(head).ok(), bit >= 8 * (kHeaderBytes - 4)) << "lengths are believed before the body has come";
  }
}

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < text.size(); i += 3) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

const StoreSecret kExampleSecret{};
const Ticket kExampleTicket = issue_ticket(kExampleSecret, 2, kMayRead, 1700000000000);

// The same bytes as in docs/formats/wire.md.
TEST(Frame, TheDocumentedExampleIsWhatIsSent) {
  std::vector<std::byte> body;
  Writer writer(body);
  Transfer{2, kExampleTicket, {65536, 2}, 1}.put(writer);
  encode_list(writer, std::vector<ByteRange>{{0, 100}, {65536, 65544}});
  Header header;
  header.kind = Kind::kRead;
  header.request = 3;
  EXPECT_EQ(encode_head(header, body),
            from_hex("53 54 52 31 04 00 21 00 03 00 00 00 00 00 00 00 00 00 00 00 2e 00 00 00 00 00 00 00 "
                     "00 00 00 00 00 00 00 00 00 00 00 00 01 e0 23 72 05 3d 2d d0 "
                     "02 00 00 00 00 00 00 00 04 00 68 e5 cf 8b 01 00 00 6f 28 00 27 54 3f 32 5a 56 da 8c 9c e0 70 c8 d2 "
                     "80 80 04 02 01 02 02 00 64 b8 fe 07 08"));
}

template <typename Message>
void check_prefixes(const Message& message) {
  const auto body = encode(message);
  ASSERT_TRUE(decode<Message>(body).ok()) << Message::kName;
  EXPECT_EQ(encode(*decode<Message>(body)), body) << Message::kName;
  for (size_t bytes = 0; bytes < body.size(); ++bytes) {
    EXPECT_FALSE(decode<Message>(std::span(body).first(bytes)).ok()) << Message::kName << " cut to " << bytes;
  }
  auto longer = body;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode<Message>(longer).ok()) << Message::kName;
}

/// Returns the status at the side that gets it, where both speak that version.
Status sent(const Status& status, uint16_t version) {
  const auto body = encode(Failure{status.code(), status.message(), status.reason()}, version);
  return decode<Failure>(body, version).value().status();
}

struct Judged {
  Status status;
  bool (*is_it)(const Status&);
};

std::vector<Judged> errors_that_are_told_apart() {
  return {{move_is_over(), is_move_over},
          {over_quota("Disk quota exceeded: user 7 has 2 of at most 1 files"), is_over_quota},
          {no_manager("b:2"), is_no_manager},
          {replaced_manager("b:2"), is_no_manager},
          {foreign_ticket(), is_foreign_ticket}};
}

TEST(Failures, TheirReasonTravels) {
  for (const auto& [status, is_it] : errors_that_are_told_apart()) {
    EXPECT_TRUE(is_it(status)) << status.message();
    EXPECT_TRUE(is_it(status.with_context("server a:1"))) << status.message();
    const Status told = sent(status, kVersion);
    EXPECT_TRUE(is_it(told)) << status.message();
    EXPECT_EQ(told.code(), status.code());
    EXPECT_EQ(told.reason(), status.reason());
    EXPECT_EQ(told.message(), status.message());
  }
  EXPECT_EQ(sent(Status::from_errno(ELOOP, "open"), kVersion).reason(), ErrorReason{ELOOP});
  const ErrorReason later{70000};  // one that a later program has
  EXPECT_EQ(sent(Status(ErrorCode::kIo, "read", later), kVersion).reason(), later);
}

TEST(Failures, TheirWordsAreNoReason) {
  for (const auto& [status, is_it] : errors_that_are_told_apart()) {
    const Status words(status.code(), status.message());
    EXPECT_FALSE(is_it(words)) << words.message();
    EXPECT_FALSE(is_it(sent(words, kVersion))) << words.message();
  }
}

// It sends none, and understands none.
TEST(Failures, OfTheVersionBeforeHaveTheirReasonInTheirWords) {
  for (const auto& [status, is_it] : errors_that_are_told_apart()) {
    const auto body = encode(Failure{status.code(), status.message(), status.reason()}, kOldestVersion);
    EXPECT_EQ(body.size(), 2 + status.message().size()) << "it would be malformed to the version before";
    EXPECT_EQ(sent(status, kOldestVersion).reason(), status.reason()) << status.message();
    const Status other(ErrorCode::kIo, status.message());
    EXPECT_EQ(sent(other, kOldestVersion).reason(), ErrorReason::kNone) << status.message();
  }
  const Status of_another(ErrorCode::kUnsupported, "server b:2: " + no_manager("").message());
  EXPECT_EQ(sent(of_another, kOldestVersion).reason(), ErrorReason::kNone);
  EXPECT_EQ(sent(Status(ErrorCode::kNoSpace, "full"), kOldestVersion).reason(), ErrorReason::kNone);
}

TEST(Messages, AreReadAsWrittenAndNeverCut) {
  check_prefixes(Failure{ErrorCode::kNoSpace, "full"});
  check_prefixes(Failure{ErrorCode::kUnsupported, "elsewhere", ErrorReason::kNoManager});
  check_prefixes(Hello{{}, {}, {ClaimKind::kUserKey, {1000, 100, {5, 4000000000}}, 1800000000}, std::nullopt});
  check_prefixes(Challenge{ProofKind::kKey, {}, {}, ExchangeKey{}, {}, {}});
  check_prefixes(Challenge{ProofKind::kMunge, {}, {}, std::nullopt, {}, "MUNGE:AwQ="});
  check_prefixes(Credential{"MUNGE:AwQ="});
  check_prefixes(Open{"/a/b", OpenMode::kCreateNew, true, 300, 1 << 20, 4, 2, true, 0640});
  const Opened opened{12345678901234, 65536, true, {{0, "a:1"}, {3, "b:2"}}, kExampleTicket, 300000};
  check_prefixes(opened);
  check_prefixes(Handle{1, 2, true, kMayWrite});
  check_prefixes(Renewed{kExampleTicket, 5});
  check_prefixes(NewDirectory{"/d", 02775});
  check_prefixes(SetOwnership{"/f", 0, std::nullopt, 0600});
  check_prefixes(Rename{"/a", "/b"});
  check_prefixes(Attributes{false, -5, {1000, 100, 0644}, opened});
  check_prefixes(List{"/d", "x"});
  check_prefixes(Listed{{{"a", true}, {"b", false}}, true});
  check_prefixes(Pulse{{}, "h:1", 1000, 500, 1 << 30, {1, 2, 3}});
  check_prefixes(PulseAnswer{4, {}, 1700000000000, {9}, 300});
  check_prefixes(StoreServers{{{{1, "x:1"}, 5, 4, -1, 300}}});
  check_prefixes(Extent{4096, 99});
  check_prefixes(LocalFile{7, kExampleTicket, 8});
  check_prefixes(Scrub{7, kExampleTicket, 4096, true});
  check_prefixes(Figures{{{"a_total{kind=\"b\"}", 5}, {"c", -1}}});
  check_prefixes(Scrubbed{5000, 2, true, {{0, BlockFault::kDamaged}, {1, BlockFault::kUnreadable}}});
  check_prefixes(LockRange{7, kExampleTicket, {1, INT64_MAX}, true, 5});
}

TEST(Messages, ThoseOfUpkeepAreReadAsWrittenAndNeverCut) {
  check_prefixes(ServerCondition{{}, Condition::kReadOnly, "why"});
  check_prefixes(Conditions{{{1, Condition::kLeaving, true, "x"}, {2, Condition::kGood, false, ""}}});
  check_prefixes(NewFiles{3, false});
  check_prefixes(Backup{9, 1 << 20});
  check_prefixes(Role{RoleStep::kFence, {2, 7, {}}, "a:1", {1, 300, {}}, true});
  check_prefixes(RoleTold{RoleKind::kReplaced, {2, 7, {}}, "a:1"});
  check_prefixes(Follow{{}, 1234567, true, 5, 300});
  check_prefixes(
      Followed{9, 5000, 7, std::vector<std::byte>(300), {{8, ChangeForm::kSchema, true, false, {std::byte{1}}}}, true});
  check_prefixes(Promote{true});
  check_prefixes(Promoted{3, "a:1", true, {"b:2", ""}});
  check_prefixes(BackupPart{9, 5000, std::vector<std::byte>(300)});
  check_prefixes(Parts{7, {8, 9}});
  check_prefixes(PartsListed{{{7, PartState::kOtherSize, 10, 20, {65536, 4, 3}}}, true});
  check_prefixes(Named{300});
  check_prefixes(NamedListed{{{300, false, 65536, {0, 2, 1}}}, false});
  check_prefixes(PartsOf{2, {1, 2, 300}});
  NameState state{.kind = NameKind::kFile, .number = 7, .names = 2, .stripe_bytes = 65536, .servers = {3, 0}};
  state.times = {.created_ns = 5, .changed_ns = 6, .accessed_ns = -1, .modified_ns = 8, .written_before_ns = 9};
  const std::vector<ServerPlace> places{{0, "here:1"}, {3, "there:2"}};
  check_prefixes(Looked{state, places});
  check_prefixes(LookedAll{{{"name", state}}, places, true});
  check_prefixes(Made{{7, 65536, false, places, kExampleTicket, 5}, state, state});
  check_prefixes(Handles{{1, 300, 70000}});
  check_prefixes(Change{.what = {"/a", false}, .mode = 0600, .modified = {TimeChange::How::kGiven, -7}, .written_ns = 9});
  check_prefixes(NewLink{"/link", "../target"});
  check_prefixes(SetAttribute{{"/a", true}, SetAttribute::How::kReplace, "user.a", "value"});
  check_prefixes(UserAttributes{{{"user.a", "value"}}});
  check_prefixes(ExtentsOf{{{7, {}}}});
  check_prefixes(Extents{{{ErrorCode::kCorrupted, {}, 0}, {ErrorCode::kOk, {100, 5}, 4096}}});
  EXPECT_EQ(place_of(state, places).slots[0].address, "there:2");
  check_prefixes(PartsKnown{{{PartKnown::kHere, {65536, 4, 3}}, {PartKnown::kLeaves, {}}}});
  check_prefixes(Paths{{"/a", "", "/b/c"}});
  check_prefixes(Adopt{300, 65536, {1, 0}});
  check_prefixes(Discarded{4});
}

}  // namespace
}  // namespace stria::wire
