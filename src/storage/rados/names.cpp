#include "storage/rados/names.hpp"

#include <cerrno>
#include <chrono>

#include "storage/path.hpp"
#include "storage/rados/directory.hpp"
#include "storage/rados/object_entries.hpp"
#include "storage/rados/rados_path.hpp"

namespace stria::storage {

namespace {

/// Removes the file that has just lost its name, and ends what other programs were killed over.
void remove_file_and_left_behind(const Pool& pool, const std::string& directory, uint64_t file) {
  static_cast<void>(remove_nameless(pool, directory, file));
  remove_left_behind(pool, directory, file);
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
  return std::optional<Named>(Named{means_directory(value), from_hexadecimal(value)});
}

Result<std::string> note_new_file(const Pool& pool, const std::string& directory, uint64_t file) {
  const std::string object = directory_object(directory);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::string note = hexadecimal(static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()));
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    ObjectChange change(pool);
    change.expect(kRemovedKey, "");
    change.set(gone_key(file), note);
    const int failed = change.apply(object);
    if (failed == 0) {
      return note;
    }
    // ECANCELED: somebody removes the directory, or was killed over it.
    if (failed != ENOENT && failed != ECANCELED) {
      return pool.error(-failed, object);
    }
    STRIA_RETURN_IF_ERROR(make_directory(pool, directory));
  }
  return pool.error(-EBUSY, object);
}

void forget_new_file(const Pool& pool, const std::string& directory, uint64_t file) {
  ObjectChange change(pool);
  change.drop(gone_key(file));
  // What fails now is done by the next program that finds the note overdue.
  static_cast<void>(change.apply(directory_object(directory)));
}

Result<bool> add_name(const Pool& pool, const NewName& wanted) {
  const std::string object = directory_object(wanted.directory);
  ObjectChange change(pool);
  change.expect(name_key(wanted.name), "");
  change.expect(gone_key(wanted.file), wanted.note);
  change.set(name_key(wanted.name), hexadecimal(wanted.file));
  change.drop(gone_key(wanted.file));
  const int failed = change.apply(object);
  return failed == 0 || failed == ECANCELED ? Result<bool>(failed == 0) : pool.error(-failed, object);
}

Status remove_name(const Pool& pool, const std::string& directory, const std::string& name) {
  const std::string object = directory_object(directory);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    STRIA_ASSIGN_OR_RETURN(const std::string value, value_of(pool, directory, name));
    if (value.empty()) {
      return no_such_file();
    }
    if (means_directory(value)) {
      return Status::from_errno(EISDIR, "it is a directory");
    }
    ObjectChange change(pool);
    change.expect(name_key(name), value);
    change.drop(name_key(name));
    change.set(gone_key(from_hexadecimal(value)), "");
    const int failed = change.apply(object);
    if (failed == 0) {
      remove_file_and_left_behind(pool, directory, from_hexadecimal(value));
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
    if (means_directory(moved) || means_directory(replaced)) {
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
        remove_file_and_left_behind(pool, directory, from_hexadecimal(replaced));
      }
      return {};
    }
    if (failed != ECANCELED) {
      return pool.error(-failed, object);
    }
  }
  return pool.error(-EBUSY, object);
}

Result<std::vector<PoolEntry>> list_names(const Pool& pool, const std::string& directory) {
  const std::string object = directory_object(directory);
  Entries entries;
  const int failed = read_entries(pool, object, std::string(kNameKey), entries);
  if (failed != 0 && failed != ENOENT) {
    return pool.error(-failed, object);
  }
  if (failed == ENOENT && directory != "/") {
    // Whoever removed the object may have been killed before it removed the name.
    STRIA_ASSIGN_OR_RETURN(const auto named, look_up(pool, directory_of(directory), file_name_of(directory)));
    if (!named || !named->is_directory) {
      return no_such_file();
    }
  }
  std::vector<PoolEntry> names;
  for (const auto& [key, value] : entries) {
    names.push_back({key.substr(kNameKey.size()), means_directory(value)});
  }
  return names;
}

}  // namespace stria::storage
