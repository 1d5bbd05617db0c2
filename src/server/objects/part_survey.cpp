#include "server/objects/part_survey.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "server/objects/blocks/block_sums.hpp"
#include "server/objects/part_place.hpp"
#include "server/objects/part_record.hpp"
#include "server/objects/removal_record.hpp"

namespace stria::server {

namespace {

constexpr uint64_t kFolders = 256;  // the number that objects.hpp has
constexpr size_t kMostOnPage = wire::kMaxListed;

/// Returns the parts' numbers in the directory, sorted. Other names are left out.
Result<std::vector<uint64_t>> numbers_in(const std::string& directory) {
  std::vector<uint64_t> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const uint64_t file = std::strtoull(name.c_str(), nullptr, 16);
    if (name == part_name(file)) {
      files.push_back(file);
    }
  }
  if (error) {
    return Status::from_errno(error.value(), "list '" + directory + "' on the server");
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string folder_of(const ObjectPaths& paths, uint64_t folder) {
  constexpr char kDigits[] = "0123456789abcdef";
  return paths.data + "/" + kDigits[folder / 16] + kDigits[folder % 16];
}

class Survey {
 public:
  explicit Survey(const ObjectPaths& paths) : paths_(paths), record_(paths.parts), removals_(paths.removed) {}

  Result<wire::PartsListed::Entry> look_at(uint64_t file) const {
    wire::PartsListed::Entry entry;
    entry.file = file;
    const std::string path = folder_of(paths_, file % kFolders) + "/" + part_name(file);
    const std::string sums_path = path + ".sums";
    struct stat before = {};
    if (stat(path.c_str(), &before) != 0) {
      if (errno != ENOENT) {
        return Status::from_errno(errno, "look at '" + path + "' on the server");
      }
      STRIA_ASSIGN_OR_RETURN(const bool removed, removals_.has(file));
      const bool lost = record_.has(file) || access(sums_path.c_str(), F_OK) == 0;
      // It may have been made since, with all that belongs to it.
      if (stat(path.c_str(), &before) != 0) {
        entry.state = lost ? wire::PartState::kLost : removed ? wire::PartState::kRemoved : wire::PartState::kAbsent;
        return entry;
      }
    }
    entry.state = wire::PartState::kPresent;
    entry.bytes = int64_t{before.st_size};
    entry.striped = noted_place(sums_path);
    // Where the size stays the same meanwhile, nobody writes behind the end.
    const auto expected = BlockSums::clean_bytes(sums_path);
    struct stat after = {};
    const bool stays = stat(path.c_str(), &after) == 0 && after.st_size == before.st_size;
    if (stays && expected && *expected != entry.bytes) {
      entry.state = wire::PartState::kOtherSize;
      entry.expected_bytes = *expected;
    }
    return entry;
  }

  /// Goes through the folders, from the one of the last part on.
  Result<wire::PartsListed> list_present(uint64_t after) const {
    wire::PartsListed page;
    for (uint64_t folder = after % kFolders; folder < kFolders; ++folder) {
      STRIA_ASSIGN_OR_RETURN(const auto files, numbers_in(folder_of(paths_, folder)));
      // Number 0 is no file's, so that it means the beginning.
      const bool goes_on = after != 0 && folder == after % kFolders;
      for (auto file = goes_on ? std::upper_bound(files.begin(), files.end(), after) : files.begin(); file != files.end();
           ++file) {
        if (page.entries.size() == kMostOnPage) {
          page.more = true;
          return page;
        }
        STRIA_RETURN_IF_ERROR(add(*file, page));
      }
    }
    return page;
  }

 private:
  /// One that has gone meanwhile is left out.
  Status add(uint64_t file, wire::PartsListed& page) const {
    STRIA_ASSIGN_OR_RETURN(const auto entry, look_at(file));
    if (entry.state == wire::PartState::kPresent || entry.state == wire::PartState::kOtherSize) {
      page.entries.push_back(entry);
    }
    return {};
  }

  const ObjectPaths& paths_;
  PartRecord record_;
  RemovalRecord removals_;
};

}  // namespace

Result<wire::PartsListed> survey_parts(const ObjectPaths& paths, const wire::Parts& request) {
  const Survey survey(paths);
  if (request.files.empty()) {
    return survey.list_present(request.after);
  }
  wire::PartsListed page;
  for (const uint64_t file : request.files) {
    STRIA_ASSIGN_OR_RETURN(const auto entry, survey.look_at(file));
    page.entries.push_back(entry);
  }
  return page;
}

}  // namespace stria::server
