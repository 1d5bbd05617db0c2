#include "storage/memory/memory_driver.hpp"

#include <algorithm>
#include <cerrno>
#include <random>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "storage/memory/memory_file.hpp"
#include "storage/messages.hpp"
#include "storage/path.hpp"

namespace stria::storage {

MemoryDriver::MemoryDriver() : MemoryDriver(Options{}) {}
MemoryDriver::MemoryDriver(const Options& options) : options_(options) {}
MemoryDriver::~MemoryDriver() = default;

const std::string& MemoryDriver::followed(const std::string& path) const {
  const auto link = links_.find(path);
  return link == links_.end() ? path : link->second;
}

Result<std::shared_ptr<MemoryInode>> MemoryDriver::find_or_make(const std::string& path, const OpenOptions& options) {
  const auto found = names_.find(path);
  const bool creates = options.mode == OpenOptions::Mode::kCreate || options.mode == OpenOptions::Mode::kCreateNew;
  if (found == names_.end()) {
    if (!creates) {
      return Status::from_errno(ENOENT, describe("open", path));
    }
    return std::make_shared<MemoryInode>();
  }
  if (options.mode == OpenOptions::Mode::kCreateNew) {
    return Status::from_errno(EEXIST, describe("create", path));
  }
  return found->second;
}

Result<std::unique_ptr<File>> MemoryDriver::open(const std::string& path, const OpenOptions& options) {
  if (options.direct) {
    return Status(ErrorCode::kUnsupported, describe("open", path) + ": memory offers no direct I/O");
  }
  const std::lock_guard lock(mutex_);
  const std::string& real = followed(path);
  if (real != path && (options.plain_only || options.mine_only || options.mode == OpenOptions::Mode::kCreateNew)) {
    const bool creates = options.mode == OpenOptions::Mode::kCreateNew;
    return Status::from_errno(creates ? EEXIST : EPERM, describe("open", path));
  }
  STRIA_ASSIGN_OR_RETURN(const std::shared_ptr<MemoryInode> inode, find_or_make(real, options));
  std::unique_lock inode_lock(inode->mutex);
  if (options.exclusive_lock && inode->locked) {
    return file_in_use(path);
  }
  inode->locked = inode->locked || options.exclusive_lock;
  if (options.mode == OpenOptions::Mode::kCreate) {
    inode->content.resize(0);
  }
  const bool writable = options.mode != OpenOptions::Mode::kRead;
  auto file = std::make_unique<MemoryFile>(path, inode, writable, options.exclusive_lock, options_.track_unsynced);
  inode_lock.unlock();              // The file takes it when it goes.
  names_.try_emplace(real, inode);  // last, so that a failure leaves no name
  return std::unique_ptr<File>(std::move(file));
}

Result<std::unique_ptr<File>> MemoryDriver::open_again(const File& file, const OpenOptions& options) {
  const auto* open = dynamic_cast<const MemoryFile*>(&file.plain());
  STRIA_RETURN_IF_ERROR(check_open_again(file, open != nullptr, options));
  if (options.direct) {
    return Status(ErrorCode::kUnsupported, describe("open", file.path()) + ": memory offers no direct I/O");
  }
  return open->again(options.mode == OpenOptions::Mode::kReadWrite);
}

Result<Identity> MemoryDriver::identity(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(followed(path));
  if (found == names_.end()) {
    return Status::from_errno(ENOENT, describe("look up", path));
  }
  return found->second->identity();
}

Result<NameInfo> MemoryDriver::name_info(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (links_.contains(path)) {
    return NameInfo{.is_plain_file = false};
  }
  const auto found = names_.find(path);
  if (found == names_.end()) {
    return Status::from_errno(ENOENT, describe("look up", path));
  }
  const std::lock_guard inode_lock(found->second->mutex);
  return NameInfo{.changed_ns = found->second->changed_ns};
}

Status MemoryDriver::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (auto link = links_.extract(from)) {
    names_.erase(to);
    links_[to] = std::move(link.mapped());
    return {};
  }
  const auto found = names_.find(from);
  if (found == names_.end()) {
    return Status::from_errno(ENOENT, describe("rename", from) + " to '" + to + "'");
  }
  if (from != to) {
    names_[to] = found->second;
    names_.erase(from);
    links_.erase(to);
  }
  return {};
}

Status MemoryDriver::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const bool removed = links_.erase(path) == 1 || names_.erase(path) == 1;
  return removed ? Status() : Status::from_errno(ENOENT, describe("remove", path));
}

std::string MemoryDriver::follow_links(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return followed(path);
}

Status MemoryDriver::make_link(const std::string& target, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (names_.contains(path) || links_.contains(path)) {
    return Status::from_errno(EEXIST, describe("make a link", path));
  }
  links_.emplace(path, target);
  return {};
}

Result<bool> MemoryDriver::exists(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return names_.contains(followed(path));
}

Status MemoryDriver::sync_directory(const std::string& path) {
  if (!options_.track_unsynced) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  const std::string directory = directory_of(path);
  std::erase_if(durable_names_, [&](const auto& entry) { return directory_of(entry.first) == directory; });
  std::erase_if(durable_links_, [&](const auto& entry) { return directory_of(entry.first) == directory; });
  const auto keep = [&](const auto& from, auto& to) {
    for (const auto& entry : from) {
      if (directory_of(entry.first) == directory) {
        to.insert(entry);
      }
    }
  };
  keep(names_, durable_names_);
  keep(links_, durable_links_);
  return {};
}

Result<std::vector<std::string>> MemoryDriver::list_directory(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries) {
      if (directory_of(entry.first) == directory) {
        names.push_back(file_name_of(entry.first));
      }
    }
  };
  add(names_);
  add(links_);
  std::sort(names.begin(), names.end());
  return names;
}

void MemoryDriver::crash(std::optional<uint64_t> seed) {
  STRIA_ASSERT(options_.track_unsynced);
  const std::lock_guard lock(mutex_);
  std::mt19937_64 random(seed.value_or(0));
  // Real file systems journal the changes of a directory in order. Here either all of its unsynced
  // changes survive or none.
  std::map<std::string, bool> directory_survives;
  const auto draw = [&](const auto& entries) {
    for (const auto& entry : entries) {
      directory_survives.try_emplace(directory_of(entry.first), seed.has_value() && random() % 2 == 0);
    }
  };
  draw(names_);
  draw(durable_names_);
  draw(links_);
  draw(durable_links_);
  Names survivors;
  Links links;
  const auto keep = [&](const auto& entries, bool surviving, auto& kept) {
    for (const auto& entry : entries) {
      if (directory_survives[directory_of(entry.first)] == surviving) {
        kept.insert(entry);
      }
    }
  };
  keep(names_, true, survivors);
  keep(durable_names_, false, survivors);
  keep(links_, true, links);
  keep(durable_links_, false, links);

  std::set<std::shared_ptr<MemoryInode>> all;
  for (const Names* names : {&names_, &durable_names_}) {
    for (const auto& entry : *names) {
      all.insert(entry.second);
    }
  }
  std::map<std::shared_ptr<MemoryInode>, std::shared_ptr<MemoryInode>> reborn;
  for (auto& [path, inode] : survivors) {
    std::shared_ptr<MemoryInode>& fresh = reborn[inode];
    if (fresh == nullptr) {
      const std::lock_guard inode_lock(inode->mutex);
      fresh = std::make_shared<MemoryInode>();
      fresh->content =
          seed.has_value() ? SparseBytes::mix(inode->durable_content, inode->content, random) : inode->durable_content;
      fresh->durable_content = fresh->content;
      fresh->changed_ns = inode->changed_ns;
    }
    inode = fresh;
  }
  for (const std::shared_ptr<MemoryInode>& inode : all) {
    const std::lock_guard inode_lock(inode->mutex);
    inode->lost = true;
  }
  links_ = durable_links_ = std::move(links);
  names_ = survivors;
  durable_names_ = std::move(survivors);
}

}  // namespace stria::storage
