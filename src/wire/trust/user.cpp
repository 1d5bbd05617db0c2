#include "wire/trust/user.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace stria::wire {

namespace {

constexpr uint64_t kMostId = UINT32_MAX - 1;  // the last one means "leave it" to the system
constexpr uint32_t kUsualUmask = 022;
constexpr size_t kEntryBytes = 16 << 10;  // the bytes of a user in the machine's list

uint32_t get_id(Reader& reader) {
  return static_cast<uint32_t>(reader.natural_up_to(kMostId));
}

uint32_t read_umask() {
  // umask() would have to change it, for all threads.
  std::ifstream status("/proc/self/status");
  const std::string title = "Umask:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(title)) {
      return static_cast<uint32_t>(std::strtoul(line.c_str() + title.size(), nullptr, 8)) & 0777;
    }
  }
  return kUsualUmask;
}

}  // namespace

bool User::in_group(uint32_t group) const {
  return group == gid || std::find(groups.begin(), groups.end(), group) != groups.end();
}

void User::put(Writer& writer) const {
  writer.natural(uid);
  writer.natural(gid);
  writer.natural(groups.size());
  for (const uint32_t group : groups) {
    writer.natural(group);
  }
}

void User::get(Reader& reader) {
  uid = get_id(reader);
  gid = get_id(reader);
  const uint64_t count = reader.natural_up_to(kMaxGroups);
  for (uint64_t i = 0; i < count && !reader.failed(); ++i) {
    groups.push_back(get_id(reader));
  }
}

void Claim::put(Writer& writer) const {
  writer.fixed(static_cast<uint8_t>(kind));
  user.put(writer);
  writer.natural(until_s);
}

void Claim::get(Reader& reader) {
  const auto number = reader.fixed<uint8_t>();
  if (number > static_cast<uint8_t>(ClaimKind::kUserKey)) {
    reader.fail();
  }
  kind = static_cast<ClaimKind>(number);
  user.get(reader);
  until_s = reader.natural();
}

User this_user() {
  User user{geteuid(), getegid(), {}};
  std::vector<gid_t> groups(static_cast<size_t>(std::max(getgroups(0, nullptr), 0)));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<size_t>(std::clamp(count, 0, static_cast<int>(kMaxGroups))));
  user.groups.assign(groups.begin(), groups.end());
  return user;
}

std::vector<uint32_t> groups_of(const std::string& name, uint32_t gid) {
  std::vector<gid_t> groups(kMaxGroups);
  int count = static_cast<int>(groups.size());
  getgrouplist(name.c_str(), gid, groups.data(), &count);
  groups.resize(static_cast<size_t>(std::clamp(count, 0, static_cast<int>(kMaxGroups))));
  return {groups.begin(), groups.end()};
}

std::vector<uint32_t> groups_of(uint32_t uid, uint32_t gid) {
  std::vector<char> text(kEntryBytes);
  passwd entry = {};
  passwd* found = nullptr;
  getpwuid_r(uid, &entry, text.data(), text.size(), &found);
  return found == nullptr ? std::vector<uint32_t>() : groups_of(std::string(found->pw_name), gid);
}

uint32_t this_umask() {
  static const uint32_t umask = read_umask();
  return umask;
}

void Ownership::put(Writer& writer) const {
  writer.natural(uid);
  writer.natural(gid);
  writer.natural(mode);
}

void Ownership::get(Reader& reader) {
  uid = get_id(reader);
  gid = get_id(reader);
  mode = get_mode(reader);
}

}  // namespace stria::wire
