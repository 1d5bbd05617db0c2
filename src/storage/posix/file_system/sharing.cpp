#include "storage/posix/file_system/sharing.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "storage/posix/file_system/file_system.hpp"
#include "storage/posix/file_system/stripes.hpp"

namespace stria::storage {

namespace {

// More magic numbers of statfs(2).
constexpr uint32_t kXfs = 0x58465342;
constexpr uint32_t kBtrfs = 0x9123683E;
constexpr uint32_t kF2fs = 0xF2F52010;
constexpr uint32_t kZfs = 0x2FC12FC1;
constexpr uint32_t kOverlay = 0x794C7630;
constexpr uint32_t kNfs = 0x6969;
constexpr uint32_t kCeph = 0x00C36400;
constexpr uint32_t kFuse = 0x65735546;

bool has_option(const Mount& mount, std::string_view option) {
  return mount.options.find("," + std::string(option) + ",") != std::string::npos;
}

}  // namespace

// Finds a line: id, parent, major:minor, root, place, options, any number of fields, "-", type,
// source, options.
std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor) {
  const std::string device = std::to_string(major) + ":" + std::to_string(minor);
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string field, of_line, options, source;
    Mount mount;
    fields >> field >> field >> of_line >> field >> field >> options;
    while (fields >> field && field != "-") {
    }
    if (of_line == device && fields >> mount.type >> source >> field) {
      mount.options = "," + options + "," + field + ",";
      return mount;
    }
  }
  return std::nullopt;
}

bool is_node_local(uint32_t magic) {
  switch (magic) {
    case kExt4:
    case kXfs:
    case kBtrfs:
    case kF2fs:
    case kZfs:
    case kTmpfs:
    case kRamfs:
    case kOverlay:
      return true;
    default:
      return false;
  }
}

bool has_common_numbers(uint32_t magic) {
  switch (magic) {
    case kNfs:
    case kCeph:
    case kBeegfsMagic:
    case kLustreMagic:
    case kGpfsMagic:
      return true;
    default:
      return false;
  }
}

bool sends_whole_pages(uint32_t magic) {
  return magic == kNfs;
}

Sharing sharing_of(uint32_t magic, const Mount& mount) {
  if (is_node_local(magic)) {
    return {true, false};
  }
  switch (magic) {
    case kNfs:
      return {!has_option(mount, "nolock") && !has_option(mount, "local_lock=posix") && !has_option(mount, "local_lock=all"),
              true};
    case kLustreMagic:
      return {!has_option(mount, "localflock"), false};
    case kGpfsMagic:
    case kCeph:
      return {true, false};
    case kFuse:
      return mount.type == "fuse.ceph-fuse" ? Sharing{.locks_reach_all = true, .caches_apart = false, .hears_late = true}
                                            : Sharing{};
    default:
      return {};
  }
}

Sharing find_sharing(int descriptor, uint32_t magic) {
  struct stat details = {};
  if (is_node_local(magic) || fstat(descriptor, &details) != 0) {
    return sharing_of(magic, {});
  }
  std::ifstream file("/proc/self/mountinfo");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto mount = find_mount(text, major(details.st_dev), minor(details.st_dev));
  return mount ? sharing_of(magic, *mount) : Sharing{};
}

}  // namespace stria::storage
