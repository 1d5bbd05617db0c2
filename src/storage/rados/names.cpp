#include "storage/rados/names.hpp"

#include <cerrno>
#include <string_view>

#include "storage/path.hpp"
#include "storage/rados/header.hpp"
#include "storage/rados/object_entries.hpp"
#include "storage/rados/presence.hpp"
#include "storage/rados/rados_path.hpp"

namespace stria::storage {

namespace {

// Before a name; the value is a file's number, or kDirectory.
constexpr std::string_view kName = "name:";
// Before the number of a file that has lost its name.
constexpr std::string_view kGone = "gone:";
constexpr std::string_view kDirectory = "/";
constexpr int kMaxAttempts = 100;
// So many files that others left behind are looked at by each change that takes a name away.
constexpr size_t kLeftBehind = 4;

std::string name_key(const std::string& name) {
  return std::string(kName) + name;
}

std::string gone_key(uint64_t file) {
  return std::string(kGone) + hexadecimal(file);
}

/// What the entry of a name says; empty: there is none.
Result<std::string> value_of(const Pool& pool, const std::string& directory, const std::string& name) {
  const std::string object = directory_object(directory);
  const std::string key = name_key(name);
  // The first key with this beginning is the key itself, if it is there.
  Entries entries;
  const int failed = read_entries(pool, object, key, entries, 1);
  if (failed != 0 && failed != ENOENT) {
    return pool.error(-failed, object);
  }
  const auto found = entries.find(key);
  return found == entries.end() ? std::string() : found->second;
}

/// Makes the directory's object, and its name in the directory above.
Status make_directory(const Pool& pool, const std::string& directory) {
  if (directory != "/") {
    const std::string above = directory_of(directory);
    const std::string name = file_name_of(directory);
    STRIA_RETURN_IF_ERROR(make_directory(pool, above));
    STRIA_ASSIGN_OR_RETURN(const std::string value, value_of(pool, above, name));
    if (!value.empty() && value != kDirectory) {
      return Status::from_errno(ENOTDIR, "'" + directory + "' is a file");
    }
    ObjectChange naming(pool);
    naming.expect(name_key(name), value);
    naming.set(name_key(name), std::string(kDirectory));
    const int failed = value.empty() ? naming.apply(directory_object(above)) : 0;
    // ECANCELED: another program has just made it.
    if (failed != 0 && failed != ECANCELED) {
      return pool.error(-failed, directory_object(above));
    }
  }
  ObjectChange making(pool);
  making.create(ObjectChange::Creation::kIfMissing);
  const int failed = making.apply(directory_object(directory));
  return failed == 0 ? Status() : pool.error(-failed, directory_object(directory));
}

/// Removes the file that has just lost its name, and ends what other programs were killed over.
void remove_left_behind(const Pool& pool, const std::string& directory, uint64_t file) {
  static_cast<void>(remove_nameless(pool, directory, file));
  Entries left;
  static_cast<void>(read_entries(pool, directory_object(directory), std::string(kGone), left, kLeftBehind));
  left.erase(gone_key(file));
  for (const auto& [key, value] : left) {
    // What fails now is tried again by the next change.
    static_cast<void>(remove_nameless(pool, directory, from_hexadecimal(key.substr(kGone.size()))));
  }
}

}  // namespace

Status no_such_file() {
  return Status::from_errno(ENOENT, "the pool has no such file");
}

Result<std::optional<Named>> look_up(const Pool& pool, const std::string& directory, const std::string& name) {
  if (name.empty()) {
    return std::optional<Named>(Named{.is_directory = true});
  }
  STRIA_ASSIGN_OR_RETURN(const std::string value, value_of(pool, directory, name));
  if (value.empty()) {
    return std::optional<Named>();
  }
  return std::optional<Named>(Named{value == kDirectory, from_hexadecimal(value)});
}

Result<bool> add_name(const Pool& pool, const std::string& directory, const std::string& name, uint64_t file) {
  const std::string object = directory_object(directory);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    ObjectChange change(pool);
    change.expect(name_key(name), "");
    change.set(name_key(name), hexadecimal(file));
    const int failed = change.apply(object);
    if (failed == 0 || failed == ECANCELED) {
      return failed == 0;
    }
    if (failed != ENOENT) {
      return pool.error(-failed, object);
    }
    STRIA_RETURN_IF_ERROR(make_directory(pool, directory));
  }
  return pool.error(-EBUSY, object);
}

Status remove_name(const Pool& pool, const std::string& directory, const std::string& name) {
  const std::string object = directory_object(directory);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    STRIA_ASSIGN_OR_RETURN(const std::string value, value_of(pool, directory, name));
    if (value.empty()) {
      return no_such_file();
    }
    if (value == kDirectory) {
      return Status::from_errno(EISDIR, "a directory stays");
    }
    ObjectChange change(pool);
    change.expect(name_key(name), value);
    change.drop(name_key(name));
    change.set(gone_key(from_hexadecimal(value)), "");
    const int failed = change.apply(object);
    if (failed == 0) {
      remove_left_behind(pool, directory, from_hexadecimal(value));
      return {};
    }
    if (failed != ECANCELED) {
      return pool.error(-failed, object);
    }
  }
  return pool.error(-EBUSY, object);
}

Status change_name(const Pool& pool, const std::string& directory, const std::string& from, const std::string& to) {
  const std::string object = directory_object(directory);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    STRIA_ASSIGN_OR_RETURN(const std::string moved, value_of(pool, directory, from));
    STRIA_ASSIGN_OR_RETURN(const std::string replaced, value_of(pool, directory, to));
    if (moved.empty()) {
      return no_such_file();
    }
    if (moved == kDirectory || replaced == kDirectory) {
      return Status::from_errno(EISDIR, "a directory keeps its name");
    }
    if (from == to) {
      return {};
    }
    ObjectChange change(pool);
    change.expect(name_key(from), moved);
    change.expect(name_key(to), replaced);
    change.drop(name_key(from));
    change.set(name_key(to), moved);
    if (!replaced.empty()) {
      change.set(gone_key(from_hexadecimal(replaced)), "");
    }
    const int failed = change.apply(object);
    if (failed == 0) {
      if (!replaced.empty()) {
        remove_left_behind(pool, directory, from_hexadecimal(replaced));
      }
      return {};
    }
    if (failed != ECANCELED) {
      return pool.error(-failed, object);
    }
  }
  return pool.error(-EBUSY, object);
}

Result<std::vector<std::string>> list_names(const Pool& pool, const std::string& directory) {
  const std::string object = directory_object(directory);
  Entries entries;
  const int failed = read_entries(pool, object, std::string(kName), entries);
  if (failed != 0 && !(failed == ENOENT && directory == "/")) {
    return failed == ENOENT ? no_such_file() : pool.error(-failed, object);
  }
  std::vector<std::string> names;
  for (const auto& [key, value] : entries) {
    names.push_back(key.substr(kName.size()));
  }
  return names;
}

Status remove_nameless(const Pool& pool, const std::string& directory, uint64_t file) {
  const Status marked = mark_gone(pool, file, directory);
  if (marked.ok()) {
    STRIA_ASSIGN_OR_RETURN(const Present present, who_is_present(pool, header_object(file)));
    if (!present.none()) {
      return {};
    }
    STRIA_RETURN_IF_ERROR(remove_objects(pool, file));
  } else if (marked.code() != ErrorCode::kNotFound) {
    return marked;
  }
  const std::string object = directory_object(directory);
  ObjectChange change(pool);
  change.drop(gone_key(file));
  const int failed = change.apply(object);
  return failed == 0 ? Status() : pool.error(-failed, object);
}

}  // namespace stria::storage
