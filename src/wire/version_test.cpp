// Messages of the version before keep their fields.
#include "wire/form/version.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "wire/frame.hpp"
#include "wire/messages.hpp"
#include "wire/moves.hpp"
#include "wire/quotas.hpp"
#include "wire/tree.hpp"
#include "wire/upkeep.hpp"

namespace stria::wire {
namespace {

using Sizes = std::map<std::string, size_t>;

/// Returns how many bytes the messages without a value take in the oldest version.
template <typename... Messages>
Sizes sizes_of() {
  return {{Messages::kName, encode(Messages(), kOldestVersion).size()}...};
}

template <typename... Messages>
bool all_are_read() {
  return (decode<Messages>(encode(Messages(), kOldestVersion), kOldestVersion).ok() && ...);
}

// A field that one of these gains shall be left out here: of a message between a server and the
// manager by Writer::version(), of another by giving it a new kind.
TEST(Version, MessagesOfTheVersionBeforeKeepTheirFields) {
  const Sizes greeting = sizes_of<Failure, Hello, Challenge, KeyProof, Credential>();
  EXPECT_EQ(greeting, (Sizes{{"challenge", 82}, {"credential", 1}, {"error", 2}, {"hello", 54}, {"proof", 32}}));
  const Sizes names = sizes_of<Open, Opened, Handle, Renewed, Path, Rename, NewDirectory, SetOwnership, Attributes, List,
                               Listed, Look, Looked, LookedAll, Change, NewLink, SetAttribute, GetAttribute, UserAttributes>();
  EXPECT_EQ(names, (Sizes{{"attributes", 35},
                          {"attributes of users", 1},
                          {"change", 10},
                          {"get attribute", 3},
                          {"handle", 4},
                          {"list", 2},
                          {"listed", 2},
                          {"look", 2},
                          {"looked", 40},
                          {"looked all", 3},
                          {"make directory", 2},
                          {"new link", 2},
                          {"open", 9},
                          {"opened", 30},
                          {"path", 1},
                          {"rename", 2},
                          {"renewed", 26},
                          {"set attribute", 5},
                          {"set ownership", 4}}));
  const Sizes servers = sizes_of<Pulse, PulseAnswer, StoreServers, Retire, Retired, ServerCondition, Conditions, NewFiles,
                                 Backup, BackupPart, Parts, PartsListed, Named, NamedListed, PartsOf, PartsKnown, Paths, Adopt,
                                 Discarded, SetQuota, Quotas, Usage, UsageAnswer>();
  EXPECT_EQ(servers,
            (Sizes{{"adopt", 3},         {"backup", 2},       {"backup part", 3},  {"condition", 18}, {"conditions", 1},
                   {"discarded", 1},     {"named", 1},        {"named listed", 2}, {"new files", 2},  {"parts", 2},
                   {"parts known", 1},   {"parts listed", 2}, {"parts of", 2},     {"paths", 1},      {"pulse", 21},
                   {"pulse answer", 42}, {"quotas", 2},       {"retire", 2},       {"retired", 2},    {"servers", 1},
                   {"set quota", 5},     {"usage", 18},       {"usage answer", 3}}));
  const Sizes parts = sizes_of<Extent, LocalFile, Scrub, Scrubbed, Figures, LockRange, Answer, ExtentsOf, Extents, MoveBegin,
                               MoveBegun, MoveOf, MovesAsked, MovesTold, Where, Places, MovePart, PartMoved>();
  EXPECT_EQ(parts, (Sizes{{"answer", 1},
                          {"extent", 2},
                          {"extents", 1},
                          {"extents of", 1},
                          {"figures", 1},
                          {"file", 34},
                          {"lock", 44},
                          {"move", 33},
                          {"move begin", 3},
                          {"move begun", 34},
                          {"move part", 36},
                          {"moves asked", 18},
                          {"moves told", 3},
                          {"part moved", 5},
                          {"places", 1},
                          {"scrub", 35},
                          {"scrubbed", 4},
                          {"where", 1}}));
  EXPECT_TRUE((all_are_read<Pulse, PulseAnswer, ServerCondition, MovesTold, UsageAnswer>()));
}

TEST(Version, AFrameSaysInWhichItIs) {
  Header header;
  header.kind = Kind::kStat;
  for (uint16_t version = kOldestVersion - 1; version <= kVersion + 1; ++version) {
    header.version = version;
    const auto frame = encode_head(header, {});
    const auto head = std::span<const std::byte>(frame).first<kHeaderBytes>();
    const bool is_spoken = version >= kOldestVersion && version <= kVersion;
    const auto decoded = decode_header(head);
    ASSERT_EQ(decoded.ok(), is_spoken) << version;
    EXPECT_EQ(decoded.ok() ? decoded->version : version, version);
    EXPECT_EQ(decode_header(head, kOldestVersion).ok(), version == kOldestVersion);
    if (!is_spoken) {
      EXPECT_EQ(decoded.status().code(), ErrorCode::kUnsupported);
      const char* const who = version > kVersion ? "upgrade this one first" : "upgrade the other first";
      EXPECT_NE(decoded.status().message().find(who), std::string::npos) << decoded.status().message();
    }
  }
}

TEST(Version, KindsOfRequestsHaveTheirFirst) {
  EXPECT_EQ(first_version_of(Kind::kOpen), kOldestVersion);
  EXPECT_EQ(first_version_of(Kind::kGetAttribute), kOldestVersion);
  EXPECT_EQ(first_version_of(Kind::kMake), 4);
}

}  // namespace
}  // namespace stria::wire
