// Tests what a name means before a file takes it, what the new file keeps of the one that it
// replaces, and names that others have taken first.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "storage/conformance_test.hpp"
#include "storage/posix/posix_driver.hpp"
#include "storage/uring/uring_driver.hpp"

namespace stria::storage {
namespace {

using Mode = OpenOptions::Mode;

constexpr uid_t kUser = 1000;
constexpr uid_t kStranger = 1001;
constexpr const char* kAccessList = "system.posix_acl_access";

/// The process is another user's, without other groups, as long as this lives. Only root can.
class AsUser {
 public:
  explicit AsUser(uid_t user) {
    EXPECT_EQ(setegid(user), 0);
    EXPECT_EQ(seteuid(user), 0);
  }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;
  ~AsUser() {
    EXPECT_EQ(seteuid(0), 0);
    EXPECT_EQ(setegid(0), 0);
  }
};

class DestinationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::disk_directory() + "/stria-names-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    ASSERT_EQ(chmod(directory_.c_str(), 0755), 0);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string make(const std::string& name, const std::string& text = "old") const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static struct stat about(const std::string& path) {
    struct stat details = {};
    EXPECT_EQ(lstat(path.c_str(), &details), 0) << path;
    return details;
  }
  /// Makes a directory in which all make files, and where nobody is at home.
  std::string make_public(mode_t mode) const {
    const std::string made = path("public");
    EXPECT_TRUE(mkdir(made.c_str(), 0777) == 0 && chmod(made.c_str(), mode) == 0);
    return made;
  }
  Status refused(const std::string& path) {
    const auto found = driver_.find_destination(path);
    EXPECT_FALSE(found.ok()) << path << " leads to " << found->path;
    return found.status();
  }
  /// Makes a new file in the way of one that is to be renamed.
  Result<std::unique_ptr<File>> make_own(const std::string& path) {
    return driver_.open(path, {.mode = Mode::kCreate, .exclusive_lock = true, .mine_only = true, .permissions = 0600});
  }

  PosixDriver driver_;
  std::string directory_;
};

TEST_F(DestinationTest, LinksAreFollowedAlsoToAFileToCome) {
  std::filesystem::create_directories(path("a/b"));
  std::filesystem::create_symlink("a/one", path("first"));
  std::filesystem::create_symlink("b/../two", path("a/one"));
  std::filesystem::create_symlink(path("a/b/real"), path("a/two"));
  const std::string real = path("a/b/real");
  const auto to_come = driver_.find_destination(path("first"));
  ASSERT_TRUE(to_come.ok()) << to_come.status().message();
  EXPECT_EQ(to_come->path, real);
  EXPECT_FALSE(to_come->replaced);
  EXPECT_EQ(driver_.follow_links(path("first")), real);
  make("a/b/real");
  const auto there = driver_.find_destination(path("first"));
  ASSERT_TRUE(there.ok()) << there.status().message();
  EXPECT_EQ(there->path, real);
  EXPECT_TRUE(there->replaced);
  EXPECT_EQ(driver_.find_destination(path("new")).value().path, path("new"));
}

TEST_F(DestinationTest, WhatIsNoFileIsRefused) {
  EXPECT_NE(refused(directory_).message().find("it is a directory"), std::string::npos);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", path("link"));
  EXPECT_NE(refused(path("pipe")).message().find("it is a pipe"), std::string::npos);
  EXPECT_EQ(refused(path("link")).code(), ErrorCode::kInvalidArgument);
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  ASSERT_LT(path("socket").size(), sizeof name.sun_path);
  std::strcpy(name.sun_path, path("socket").c_str());
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(made, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  close(made);
  EXPECT_NE(refused(path("socket")).message().find("it is a socket"), std::string::npos);
  if (geteuid() == 0 && mknod(path("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0) {
    EXPECT_NE(refused(path("null")).message().find("it is a device"), std::string::npos);
  }
  std::filesystem::create_symlink("circle", path("round"));
  std::filesystem::create_symlink("round", path("circle"));
  EXPECT_EQ(refused(path("round")).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(driver_.follow_links(path("round")), path("round"));
}

// A link below /proc may mean a file that has lost its name, or a pipe.
TEST_F(DestinationTest, AFileWithoutANameIsRefused) {
  const std::string lost = make("lost");
  const int descriptor = ::open(lost.c_str(), O_RDWR | O_CLOEXEC);
  unlink(lost.c_str());
  const std::string by_number = "/proc/self/fd/" + std::to_string(descriptor);
  EXPECT_EQ(refused(by_number).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(driver_.follow_links(by_number), by_number);
  close(descriptor);
}

TEST_F(DestinationTest, AFileThatCannotBeWrittenToStays) {
  const std::string kept = make("kept");
  ASSERT_EQ(chmod(kept.c_str(), 0444), 0);
  if (geteuid() == 0) {
    EXPECT_TRUE(driver_.find_destination(kept).ok()) << "root may, as with truncation";
    ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
    const AsUser user(kUser);
    EXPECT_EQ(refused(kept).code(), ErrorCode::kPermissionDenied);
  } else {
    EXPECT_EQ(refused(kept).code(), ErrorCode::kPermissionDenied);
  }
}

// Whatever fs.protected_symlinks is.
TEST_F(DestinationTest, ALinkThatAnotherUserHasPlantedIsNotFollowed) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "it takes two users";
  }
  make("victim", "thesis");
  for (const mode_t mode : {mode_t{01777}, mode_t{0777}}) {
    const std::string shared = make_public(mode);
    const auto plant = [&](const std::string& name, uid_t owner) {
      std::filesystem::create_symlink(path("victim"), shared + "/" + name);
      EXPECT_EQ(lchown((shared + "/" + name).c_str(), owner, owner), 0);
      return shared + "/" + name;
    };
    const std::string planted = plant("planted", kStranger);
    const std::string own = plant("own", kUser);
    const std::string of_directory = plant("of_directory", 0);
    ASSERT_EQ(chown(path("victim").c_str(), kUser, kUser), 0);
    {
      const AsUser user(kUser);
      EXPECT_EQ(refused(planted).code(), ErrorCode::kPermissionDenied);
      EXPECT_EQ(driver_.find_destination(own).value().path, path("victim"));
      EXPECT_EQ(driver_.find_destination(of_directory).value().path, path("victim"));
    }
    std::filesystem::remove_all(shared);
  }
}

TEST_F(DestinationTest, ANameThatIsTakenIsLeftAlone) {
  const std::string victim = make("victim", "thesis");
  std::filesystem::create_symlink("victim", path("link"));
  std::filesystem::create_symlink("nothing", path("dangling"));
  ASSERT_EQ(link(victim.c_str(), path("hard").c_str()), 0);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* const name : {"link", "dangling", "hard", "pipe"}) {
    EXPECT_EQ(make_own(path(name)).status().code(), ErrorCode::kPermissionDenied) << name;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(path(name)))) << name;
    for (const Mode mode : {Mode::kRead, Mode::kReadWrite}) {
      EXPECT_FALSE(driver_.open(path(name), {.mode = mode, .plain_only = true}).ok()) << name;
    }
  }
  EXPECT_EQ(content_of(victim), "thesis");
  EXPECT_FALSE(std::filesystem::exists(path("nothing")));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(make("theirs").c_str(), kStranger, kStranger), 0);
    EXPECT_EQ(make_own(path("theirs")).status().code(), ErrorCode::kPermissionDenied);
    EXPECT_EQ(content_of(path("theirs")), "old");
  }
}

// Another program may have it open since it could be read by all.
TEST_F(DestinationTest, OfALeftOverNothingStays) {
  const std::string left = make("left");
  ASSERT_EQ(chmod(left.c_str(), 0666), 0);
  const auto reader = driver_.open(left, {});
  {
    const auto made = make_own(left);
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(about(left).st_mode & 0777, 0600U);
    EXPECT_EQ((*made)->size().value(), 0);
    EXPECT_NE((*reader)->identity().value(), (*made)->identity().value());
    EXPECT_EQ(make_own(left).status().code(), ErrorCode::kAlreadyExists) << "it is locked";
    STRIA_EXPECT_OK((*made)->close());
  }
  EXPECT_TRUE(make_own(left).ok());
}

/// A file system that gives all files to one user, as some shares do.
class OneUsersCalls : public SystemCalls {
 public:
  int fstat(int descriptor, struct stat* result) override {
    const int outcome = SystemCalls::fstat(descriptor, result);
    result->st_uid = 4711;
    return outcome;
  }
};

TEST_F(DestinationTest, ALeftOverIsKnownWhereAllFilesAreOneUsers) {
  OneUsersCalls calls;
  PosixDriver driver(calls);
  const OpenOptions own{.mode = Mode::kCreate, .exclusive_lock = true, .mine_only = true};
  EXPECT_TRUE(driver.open(make("left"), own).ok());
  EXPECT_EQ(content_of(path("left")), "");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(DestinationTest, AFileThatIsNotPlainIsNotTruncated) {
  const std::string victim = make("victim", "thesis");
  ASSERT_EQ(link(victim.c_str(), path("hard").c_str()), 0);
  EXPECT_FALSE(driver_.open(path("hard"), {.mode = Mode::kCreate, .plain_only = true}).ok());
  EXPECT_EQ(content_of(victim), "thesis");
}

TEST_F(DestinationTest, TheFileOfAnotherRankIsKnownByItsNumber) {
  const std::string made = make("made");
  const OpenOptions open{.mode = Mode::kReadWrite, .plain_only = true, .expected_number = about(made).st_ino};
  EXPECT_TRUE(driver_.open(made, open).ok());
  ASSERT_EQ(rename(make("other").c_str(), made.c_str()), 0);
  EXPECT_EQ(driver_.open(made, open).status().code(), ErrorCode::kIo);
}

TEST_F(DestinationTest, AttributesAreKept) {
  std::vector<std::shared_ptr<Driver>> drivers{std::make_shared<PosixDriver>()};
  if (auto uring = UringDriver::make(); uring.ok()) {
    drivers.push_back(*uring);
  }
  for (const auto& driver : drivers) {
    const std::string old = make("old");
    const bool has_attributes = setxattr(old.c_str(), "user.project", "p42", 3, 0) == 0;
    EXPECT_TRUE(has_attributes || errno == EOPNOTSUPP);
    EXPECT_TRUE(geteuid() != 0 || chown(old.c_str(), kUser, kStranger) == 0);
    ASSERT_EQ(chmod(old.c_str(), 0640), 0);
    const auto found = driver->find_destination(old).value();
    const auto file = driver->open(path("new"), {.mode = Mode::kCreate, .permissions = 0600}).value();
    STRIA_EXPECT_OK(driver->set_attributes(*file, *found.replaced));
    const struct stat made = about(path("new"));
    EXPECT_EQ(made.st_mode & 07777, 0640U);
    EXPECT_EQ(made.st_uid, about(old).st_uid);
    EXPECT_EQ(made.st_gid, about(old).st_gid);
    char value[8] = "";
    EXPECT_EQ(getxattr(path("new").c_str(), "user.project", value, sizeof value), has_attributes ? 3 : -1);
    STRIA_EXPECT_OK(driver->remove(path("new")));
  }
}

/// Returns an access list as the system takes it.
std::vector<std::byte> access_list(std::vector<std::array<uint16_t, 2>> tags_and_rights, uint32_t named_user) {
  std::vector<std::byte> list(4, std::byte{0});
  list[0] = std::byte{2};
  for (const auto& [tag, rights] : tags_and_rights) {
    const uint32_t who = tag == 2 ? named_user : ~0U;
    const size_t at = list.size();
    list.resize(at + 8);
    std::memcpy(&list[at], &tag, 2);
    std::memcpy(&list[at + 2], &rights, 2);
    std::memcpy(&list[at + 4], &who, 4);
  }
  return list;
}

// 1: the owner, 2: a user by name, 4: the group, 16: the mask, 32: others.
TEST_F(DestinationTest, AnAccessListIsKept) {
  const std::string old = make("old");
  const auto list = access_list({{1, 6}, {2, 4}, {4, 0}, {16, 4}, {32, 0}}, kStranger);
  if (setxattr(old.c_str(), kAccessList, list.data(), list.size(), 0) != 0) {
    GTEST_SKIP() << "no access lists here: " << std::strerror(errno);
  }
  const auto found = driver_.find_destination(old).value();
  const auto file = driver_.open(path("new"), {.mode = Mode::kCreate, .permissions = 0600}).value();
  STRIA_EXPECT_OK(driver_.set_attributes(*file, *found.replaced));
  std::vector<std::byte> kept(list.size());
  EXPECT_EQ(getxattr(path("new").c_str(), kAccessList, kept.data(), kept.size()), static_cast<ssize_t>(list.size()));
  EXPECT_EQ(kept, list);
  EXPECT_EQ(about(path("new")).st_mode & 0777, about(old).st_mode & 0777);
}

// The directory's list for new files must not let in whom the old file kept out.
TEST_F(DestinationTest, AListOfTheDirectoryIsNotAdded) {
  const std::string old = make("old");
  ASSERT_EQ(chmod(old.c_str(), 0640), 0);
  const auto list = access_list({{1, 7}, {2, 7}, {4, 7}, {16, 7}, {32, 0}}, kStranger);
  if (setxattr(directory_.c_str(), "system.posix_acl_default", list.data(), list.size(), 0) != 0) {
    GTEST_SKIP() << "no access lists here: " << std::strerror(errno);
  }
  const auto found = driver_.find_destination(old).value();
  const auto file = driver_.open(path("new"), {.mode = Mode::kCreate, .permissions = 0600}).value();
  EXPECT_EQ(about(path("new")).st_mode & 0077, 0U) << "nobody reads it before it has the attributes";
  STRIA_EXPECT_OK(driver_.set_attributes(*file, *found.replaced));
  EXPECT_EQ(getxattr(path("new").c_str(), kAccessList, nullptr, 0), -1);
  EXPECT_EQ(about(path("new")).st_mode & 0777, 0640U);
}

TEST_F(DestinationTest, NobodyGainsByAGroupThatCannotBeKept) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "it takes two users";
  }
  ASSERT_EQ(chmod(directory_.c_str(), 0777), 0);
  const std::vector<std::array<mode_t, 2>> before_and_after = {{0660, 0600}, {0640, 0600}, {0664, 0644},
                                                               {0644, 0644}, {0666, 0666}, {0604, 0600}};
  for (const auto& [before, after] : before_and_after) {
    const AsUser user(kUser);
    const auto file = driver_.open(path("new"), {.mode = Mode::kCreate, .permissions = 0600}).value();
    STRIA_EXPECT_OK(driver_.set_attributes(*file, {.mode = before, .owner = kUser, .group = kStranger}));
    EXPECT_EQ(about(path("new")).st_mode & 0777, after) << std::oct << before;
    EXPECT_EQ(about(path("new")).st_gid, kUser);
    STRIA_EXPECT_OK(driver_.remove(path("new")));
  }
  const auto list = access_list({{1, 6}, {2, 4}, {4, 6}, {16, 6}, {32, 4}}, kStranger);
  FileAttributes listed{.mode = 0664, .owner = kUser, .group = kStranger, .extended = {{kAccessList, list}}};
  const AsUser user(kUser);
  const auto file = driver_.open(path("new"), {.mode = Mode::kCreate, .permissions = 0600}).value();
  STRIA_EXPECT_OK(driver_.set_attributes(*file, listed));
  std::vector<std::byte> kept(list.size());
  if (getxattr(path("new").c_str(), kAccessList, kept.data(), kept.size()) > 0) {
    EXPECT_EQ(kept, access_list({{1, 6}, {2, 4}, {4, 4}, {16, 6}, {32, 4}}, kStranger));
  } else {
    EXPECT_EQ(about(path("new")).st_mode & 0777, 0644U) << "a file system without lists";
  }
}

}  // namespace
}  // namespace stria::storage
