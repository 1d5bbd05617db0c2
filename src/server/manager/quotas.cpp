#include "server/manager/quotas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/readable.hpp"
#include "server/manager/database/names_fields.hpp"
#include "wire/address.hpp"
#include "wire/frame.hpp"

namespace stria::server {

namespace {

using wire::QuotaKind;

constexpr int64_t kTopDirectory = 1;
constexpr const char* kOverQuota = "Disk quota exceeded";  // the system's own words
// A pass over all sizes takes at most this part of the time, and comes at most once a second.
constexpr int kPassPart = 20;
constexpr std::chrono::milliseconds kBetweenPasses{900};

constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS quotas (kind INTEGER NOT NULL, id INTEGER NOT NULL, path BLOB NOT NULL, bytes INTEGER NOT NULL,
  files INTEGER NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (inode INTEGER PRIMARY KEY, directory INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sizes (server INTEGER NOT NULL, part INTEGER NOT NULL, file INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (server, part)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told_sizes (server INTEGER PRIMARY KEY);
)";

}  // namespace

Status Quotas::load() {
  STRIA_ASSIGN_OR_RETURN(const bool any, names_.database().has_table("quotas"));
  if (!any) {
    return {};
  }
  {
    Query rows = names_.database().query("SELECT kind, id, path, bytes, files FROM quotas");
    while (rows.next()) {
      const wire::Account account{static_cast<QuotaKind>(rows.number(0)), static_cast<uint64_t>(rows.number(1))};
      limits_[account] = {rows.number(3), rows.number(4)};
      if (account.kind == QuotaKind::kDirectory) {
        paths_[account.id] = rows.text(2);
      }
    }
    STRIA_RETURN_IF_ERROR(rows.status());
  }
  return limits_.empty() ? Status() : with_reserve(names_.reserve(), [&] { return count(); });
}

bool Quotas::has_directories() const {
  return !paths_.empty();
}

Result<std::vector<int64_t>> Quotas::chain(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const auto parts, wire::split_path(path));
  std::vector<int64_t> inodes{kTopDirectory};
  for (const std::string& part : parts) {
    Query found = names_.database().query("SELECT inode FROM entries WHERE parent = ? AND name = ?", inodes.back(),
                                          std::string_view(part));
    if (!found.next()) {
      STRIA_RETURN_IF_ERROR(found.status());
      break;
    }
    inodes.push_back(found.number(0));
  }
  return inodes;
}

/// Takes in all below it, but not what lies below another directory with a quota; 0: they are
/// nobody's.
Status Quotas::take_in(int64_t inode, int64_t directory, int64_t ended) {
  STRIA_ASSERT(inode > 0 && directory >= 0, inode, directory, ended);
  std::vector<int64_t> left{inode};
  while (!left.empty()) {
    const int64_t now = left.back();
    left.pop_back();
    const bool is_other =
        now != directory && now != ended && limits_.contains({QuotaKind::kDirectory, static_cast<uint64_t>(now)});
    if (is_other) {
      continue;
    }
    STRIA_RETURN_IF_ERROR(directory == 0
                              ? names_.database().run("DELETE FROM members WHERE inode = ?", now)
                              : names_.database().run("INSERT OR REPLACE INTO members VALUES (?, ?)", now, directory));
    Query entries = names_.database().query("SELECT inode FROM entries WHERE parent = ?", now);
    while (entries.next()) {
      left.push_back(entries.number(0));
    }
    STRIA_RETURN_IF_ERROR(entries.status());
  }
  return {};
}

Status Quotas::came(const std::string& path) {
  dirty_ = true;
  if (!has_directories()) {
    return {};
  }
  STRIA_ASSIGN_OR_RETURN(const auto inodes, chain(path));
  int64_t directory = 0;
  for (size_t i = 0; i < inodes.size(); ++i) {
    if (limits_.contains({QuotaKind::kDirectory, static_cast<uint64_t>(inodes[i])})) {
      directory = inodes[i];
    } else if (i + 1 < inodes.size() && directory != 0) {
      // The directory was made on the way, if it is new.
      STRIA_RETURN_IF_ERROR(names_.database().run("INSERT OR REPLACE INTO members VALUES (?, ?)", inodes[i], directory));
    }
  }
  return take_in(inodes.back(), directory);
}

Status Quotas::set(const Caller& caller, const wire::SetQuota& wanted) {
  if (!caller.is_super) {
    return Status(ErrorCode::kPermissionDenied, "only root and the manager's user set quotas");
  }
  wire::Account account{wanted.kind, wanted.uid};
  int64_t above = 0;
  if (wanted.kind == QuotaKind::kDirectory) {
    STRIA_ASSIGN_OR_RETURN(const NamedFile directory, names_.find(caller, wanted.path));
    if (!directory.is_directory) {
      return Status(ErrorCode::kInvalidArgument, "it is a file, not a directory");
    }
    account.id = directory.file;
    STRIA_ASSIGN_OR_RETURN(const auto inodes, chain(wanted.path));
    for (size_t i = 0; i + 1 < inodes.size(); ++i) {
      above = limits_.contains({QuotaKind::kDirectory, static_cast<uint64_t>(inodes[i])}) ? inodes[i] : above;
    }
  }
  const auto id = static_cast<int64_t>(account.id);
  const bool ends = wanted.bytes == 0 && wanted.files == 0;
  const auto kind = static_cast<int64_t>(account.kind);
  STRIA_RETURN_IF_ERROR(names_.database().script(kTables));
  Transaction transaction(names_.database());
  STRIA_RETURN_IF_ERROR(transaction.status());
  names_.unsynced().note();
  STRIA_RETURN_IF_ERROR(ends ? names_.database().run("DELETE FROM quotas WHERE kind = ? AND id = ?", kind, id)
                             : names_.database().run("INSERT OR REPLACE INTO quotas VALUES (?, ?, ?, ?, ?)", kind, id,
                                                     std::string_view(wanted.path), wanted.bytes, wanted.files));
  if (account.kind == QuotaKind::kDirectory) {
    STRIA_RETURN_IF_ERROR(ends ? take_in(id, above, id) : take_in(id, id));
  }
  STRIA_RETURN_IF_ERROR(transaction.commit());
  if (ends) {
    limits_.erase(account);
    paths_.erase(account.id);
  } else {
    limits_[account] = {wanted.bytes, wanted.files};
    if (account.kind == QuotaKind::kDirectory) {
      paths_[account.id] = wanted.path;
    }
  }
  if (limits_.empty()) {
    // What servers told gets old from now on.
    STRIA_RETURN_IF_ERROR(names_.database().script("DELETE FROM sizes; DELETE FROM told_sizes; DELETE FROM members;"));
  }
  dirty_ = true;
  next_count_ = {};
  return names_.unsynced().sync();
}

Status Quotas::count() {
  Database& database = names_.database();
  std::map<wire::Account, Used> used;
  const auto add = [&](const char* sql, QuotaKind kind, int64_t Used::*field) -> Status {
    Query rows = database.query(sql);
    while (rows.next()) {
      used[{kind, static_cast<uint64_t>(rows.number(0))}].*field = rows.number(1);
    }
    return rows.status();
  };
  STRIA_RETURN_IF_ERROR(database.run("DELETE FROM sizes WHERE file NOT IN (SELECT id FROM inodes)"));
  STRIA_RETURN_IF_ERROR(
      add("SELECT uid, count(*) FROM inodes WHERE directory = 0 GROUP BY uid", QuotaKind::kUser, &Used::files));
  STRIA_RETURN_IF_ERROR(
      add("SELECT uid, sum(bytes) FROM sizes JOIN inodes ON id = file GROUP BY uid", QuotaKind::kUser, &Used::bytes));
  if (has_directories()) {
    STRIA_RETURN_IF_ERROR(database.run("DELETE FROM members WHERE inode NOT IN (SELECT id FROM inodes)"));
    STRIA_RETURN_IF_ERROR(
        add("SELECT members.directory, count(*) FROM members JOIN inodes ON id = inode WHERE inodes.directory = 0 GROUP BY 1",
            QuotaKind::kDirectory, &Used::files));
    STRIA_RETURN_IF_ERROR(add("SELECT directory, sum(bytes) FROM sizes JOIN members ON inode = file GROUP BY 1",
                              QuotaKind::kDirectory, &Used::bytes));
  }
  used_ = std::move(used);
  dirty_ = false;
  return {};
}

void Quotas::tidy() {
  const auto begin = Clock::now();
  if (limits_.empty() || !dirty_ || begin < next_count_) {
    return;
  }
  // The next pass counts where memory is scarce now, or the disk fails.
  static_cast<void>(with_reserve(names_.reserve(), [&] { return count(); }));
  const auto end = Clock::now();
  next_count_ = end + std::max<Clock::duration>(kBetweenPasses, (end - begin) * kPassPart);
}

std::string Quotas::sentence(const wire::Account& account, const Limit& limit, const Used& used) const {
  const auto path = paths_.find(account.id);
  const std::string who = account.kind == QuotaKind::kUser ? fmt::format("user {}", account.id)
                          : path == paths_.end()           ? fmt::format("directory {}", account.id)
                                                           : fmt::format("the directory '{}'", path->second);
  const bool by_bytes = limit.bytes > 0 && used.bytes >= limit.bytes;
  return by_bytes ? fmt::format("{}: {} has {} of at most {}: remove files, or ask for more", kOverQuota, who,
                                readable(used.bytes), readable(limit.bytes))
                  : fmt::format("{}: {} has {} of at most {} files: remove some, or ask for more", kOverQuota, who, used.files,
                                limit.files);
}

/// kNoSpace for an account that has all that it may have.
Status Quotas::over(const wire::Account& account, bool makes_file) const {
  const auto limit = limits_.find(account);
  const auto used = used_.find(account);
  if (limit == limits_.end() || used == used_.end()) {
    return {};
  }
  const bool by_bytes = limit->second.bytes > 0 && used->second.bytes >= limit->second.bytes;
  const bool by_files = makes_file && limit->second.files > 0 && used->second.files >= limit->second.files;
  return by_bytes || by_files ? wire::over_quota(sentence(account, limit->second, used->second)) : Status();
}

Status Quotas::may_make(const Caller& caller, const std::string& path) {
  if (limits_.empty()) {
    return {};
  }
  std::vector<wire::Account> accounts{{QuotaKind::kUser, caller.user.uid}};
  if (has_directories()) {
    STRIA_ASSIGN_OR_RETURN(const auto inodes, chain(path));
    for (auto inode = inodes.rbegin(); inode != inodes.rend(); ++inode) {
      if (const wire::Account account{QuotaKind::kDirectory, static_cast<uint64_t>(*inode)}; limits_.contains(account)) {
        accounts.push_back(account);
        break;
      }
    }
  }
  for (const wire::Account& account : accounts) {
    STRIA_RETURN_IF_ERROR(over(account, true));
  }
  for (const wire::Account& account : accounts) {
    ++used_[account].files;  // until the next pass
  }
  return {};
}

Result<bool> Quotas::all_told() {
  for (const wire::Conditions::Entry& server : fleet_.conditions().entries) {
    Query told = names_.database().query("SELECT 1 FROM told_sizes WHERE server = ?", server.server);
    if (!told.next()) {
      STRIA_RETURN_IF_ERROR(told.status());
      return false;
    }
  }
  return true;
}

Result<wire::Quotas> Quotas::list(const Caller& caller) {
  wire::Quotas list;
  if (limits_.empty()) {
    return list;
  }
  STRIA_RETURN_IF_ERROR(dirty_ ? count() : Status());
  for (const auto& [account, limit] : limits_) {
    const bool is_others = account.kind == QuotaKind::kUser && account.id != caller.user.uid && !caller.is_super;
    if (is_others || list.entries.size() == wire::kMaxListed) {
      continue;
    }
    const auto path = paths_.find(account.id);
    const bool has_path = account.kind == QuotaKind::kDirectory && path != paths_.end();
    list.entries.push_back(
        {account, has_path ? path->second : "", limit.bytes, limit.files, used_[account].bytes, used_[account].files});
  }
  STRIA_ASSIGN_OR_RETURN(list.counted, all_told());
  return list;
}

Result<std::vector<wire::Account>> Quotas::accounts_of(uint64_t file) {
  std::vector<wire::Account> accounts;
  Query owner = names_.database().query("SELECT uid FROM inodes WHERE id = ?", static_cast<int64_t>(file));
  if (owner.next()) {
    accounts.push_back({QuotaKind::kUser, static_cast<uint64_t>(owner.number(0))});
  }
  STRIA_RETURN_IF_ERROR(owner.status());
  if (has_directories()) {
    Query member = names_.database().query("SELECT directory FROM members WHERE inode = ?", static_cast<int64_t>(file));
    if (member.next()) {
      accounts.push_back({QuotaKind::kDirectory, static_cast<uint64_t>(member.number(0))});
    }
    STRIA_RETURN_IF_ERROR(member.status());
  }
  return accounts;
}

Status Quotas::keep_sizes(int64_t server, const wire::Usage& usage) {
  Transaction transaction(names_.database());
  STRIA_RETURN_IF_ERROR(transaction.status());
  for (const auto& [part, bytes] : usage.parts) {
    STRIA_RETURN_IF_ERROR(
        bytes == 0
            ? names_.database().run("DELETE FROM sizes WHERE server = ? AND part = ?", server, static_cast<int64_t>(part))
            : names_.database().run("INSERT OR REPLACE INTO sizes VALUES (?, ?, ?, ?)", server, static_cast<int64_t>(part),
                                    static_cast<int64_t>(wire::file_of_part(part)), bytes));
  }
  if (usage.complete) {
    STRIA_RETURN_IF_ERROR(names_.database().run("INSERT OR IGNORE INTO told_sizes VALUES (?)", server));
  }
  return transaction.commit();
}

Result<wire::UsageAnswer> Quotas::hear(const wire::Usage& usage) {
  wire::UsageAnswer answer;
  answer.counts = !limits_.empty();
  if (!answer.counts) {
    return answer;
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t server, fleet_.index_of(usage.server));
  STRIA_RETURN_IF_ERROR(with_reserve(names_.reserve(), [&] { return keep_sizes(server, usage); }));
  dirty_ = dirty_ || !usage.parts.empty();
  for (const auto& [part, bytes] : usage.parts) {
    STRIA_ASSIGN_OR_RETURN(auto accounts, accounts_of(wire::file_of_part(part)));
    answer.accounts.push_back(std::move(accounts));
  }
  for (const auto& [account, limit] : limits_) {
    if (const Status why = over(account, false); !why.ok() && answer.over.size() < wire::kMaxListed) {
      answer.over.push_back({account, why.message()});
    }
  }
  return answer;
}

}  // namespace stria::server
