// Describes how a mounted store lists directories.
//
// The manager tells of thousands of names at once, and each server of as many files. The kernel
// takes some twenty at a time, with their attributes while these are fresh; else it looks a name up
// when it needs it. It looks up every file that is open here or was since the servers were asked:
// they didn't know yet what was just written, and the kernel would cut the file to the size that it
// is told.
#include <cerrno>
#include <chrono>

#include "storage/striped/file_states.hpp"
#include "store/mounted_calls.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kFreshFor{1};

/// A directory that is being read, as far as it has been.
struct OpenDirectory {
  struct Entry {
    std::string name;
    struct stat details = {};
    Clock::time_point complete_since = {};  // when all that was so; else kind and number are right
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  bool begun = false;
  bool more = true;
};

OpenDirectory& open_directory(const fuse_file_info* info) {
  return *reinterpret_cast<OpenDirectory*>(info->fh);
}

void add_page(OpenDirectory& directory, const wire::LookedAll& page, bool complete) {
  std::vector<wire::Opened> places;
  if (complete) {
    for (const wire::LookedAll::Entry& entry : page.entries) {
      places.push_back(wire::place_of(entry.state, page.places));
    }
  }
  const auto now = Clock::now();
  const std::vector<storage::FileState> states = states_as_known(places);
  for (size_t i = 0; i < page.entries.size(); ++i) {
    const auto& [name, state] = page.entries[i];
    const bool is_complete = complete && states[i].trouble.ok();
    directory.entries.push_back(
        {name, described(state, complete ? states[i] : storage::FileState()), is_complete ? now : Clock::time_point()});
  }
}

/// Adds the names alone, of a directory that the mount's user may read but not enter.
void add_names(OpenDirectory& directory, const std::string& url) {
  for (const StoreEntry& entry : entries_of(url)) {
    struct stat details = {};
    details.st_mode = entry.is_directory ? S_IFDIR : S_IFREG;
    directory.entries.push_back({entry.name, details});
  }
  directory.more = false;
}

void load_more(OpenDirectory& directory, const char* path, bool complete) {
  const std::string after = directory.begun ? directory.entries.back().name : "";
  const auto page = storage::look_all(*mounted().store, {name_of(path).path, after});
  if (page.status().code() == ErrorCode::kPermissionDenied && !directory.begun) {
    add_names(directory, url_of(path));
  } else {
    page.status().throw_if_error();
    directory.more = page->more && !page->entries.empty();
    add_page(directory, *page, complete);
  }
  directory.begun = !directory.entries.empty();
}

int open_for_listing(const char*, fuse_file_info* info) {
  return answer([&] {
    info->fh = reinterpret_cast<uint64_t>(new OpenDirectory());
    return 0;
  });
}

int close_listing(const char*, fuse_file_info* info) {
  delete &open_directory(info);
  return 0;
}

// Places count the entries behind "." and "..", which have the places 1 and 2.
int read_directory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t place, fuse_file_info* info,
                   fuse_readdir_flags flags) {
  constexpr off_t kDots = 2;
  return answer([&] {
    OpenDirectory& directory = open_directory(info);
    const std::lock_guard lock(directory.mutex);
    const bool with_attributes = (flags & FUSE_READDIR_PLUS) != 0;
    if (place == 0) {
      directory.entries.clear();
      directory.begun = false;
      directory.more = true;
    }
    for (; place < kDots; ++place) {
      if (fill(buffer, place == 0 ? "." : "..", nullptr, place + 1, {}) != 0) {
        return 0;
      }
    }
    for (;; ++place) {
      const auto index = static_cast<size_t>(place - kDots);
      if (index >= directory.entries.size() && directory.more) {
        load_more(directory, path, with_attributes);
      }
      if (index >= directory.entries.size()) {
        return 0;
      }
      const OpenDirectory::Entry& entry = directory.entries[index];
      const bool fresh = Clock::now() - entry.complete_since < kFreshFor &&
                         !mounted().open_files.has_had(entry.details.st_ino, entry.complete_since);
      if (fill(buffer, entry.name.c_str(), &entry.details, place + 1,
               with_attributes && fresh ? FUSE_FILL_DIR_PLUS : fuse_fill_dir_flags()) != 0) {
        return 0;
      }
    }
  });
}

}  // namespace

void add_directory_calls(fuse_operations& calls) {
  calls.opendir = open_for_listing;
  calls.readdir = read_directory;
  calls.releasedir = close_listing;
}

}  // namespace stria::tool
