#include "storage/rados/directory.hpp"

#include <cerrno>
#include <chrono>
#include <span>

#include "storage/path.hpp"
#include "storage/rados/header.hpp"
#include "storage/rados/names.hpp"
#include "storage/rados/presence.hpp"
#include "storage/rados/rados_path.hpp"
#include "wire/trust/key.hpp"

namespace stria::storage {

namespace {

constexpr const char* kDirectory = "/";
// The name of a directory that somebody removes.
constexpr const char* kLeaving = "/-";
// Each change looks at so many files that others left behind.
constexpr size_t kLeftBehind = 4;
// A program makes a file in so many steps; it was killed if they take longer than the cluster has
// for them.
constexpr int kStepsOfMaking = 4;

/// True for a file whose maker has had time enough. What it does then fails.
bool is_overdue(const std::string& noted_s) {
  const auto since = std::chrono::seconds(static_cast<int64_t>(from_hexadecimal(noted_s)));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return now - since > kStepsOfMaking * rados_patience();
}

/// Writes the name of a directory in the one above it. \returns 0 or an errno value
int write_name(const Pool& pool, const std::string& directory, const std::string& before, const char* after) {
  const std::string key = name_key(file_name_of(directory));
  ObjectChange change(pool);
  change.expect(key, before);
  change.expect(kRemovedKey, "");
  change.set(key, after);
  return change.apply(directory_object(directory_of(directory)));
}

/// \returns 0, or an errno value: ENOTDIR when the name is a file's
int name_directory(const Pool& pool, const std::string& directory) {
  const std::string key = name_key(file_name_of(directory));
  Entries entries;
  if (const int failed = read_entries(pool, directory_object(directory_of(directory)), key, entries, 1); failed != 0) {
    return failed;
  }
  const std::string& value = entries[key];
  if (value == kDirectory) {
    return 0;
  }
  return value.empty() || means_directory(value) ? write_name(pool, directory, value, kDirectory) : ENOTDIR;
}

/// Makes the object, and takes the mark of a removal away. \returns 0 or an errno value
int make_object(const Pool& pool, const std::string& directory) {
  ObjectChange change(pool);
  change.create(ObjectChange::Creation::kIfMissing);
  change.drop(kRemovedKey);
  return change.apply(directory_object(directory));
}

Status not_empty(const char* why) {
  return Status(ErrorCode::kInvalidArgument, std::string("the directory is not empty: ") + why);
}

/// The mark of a removal, on a directory's object. The destructor takes it away.
class RemovalMark {
 public:
  RemovalMark(const Pool& pool, const std::string& directory) : pool_(pool), object_(directory_object(directory)) {
    uint64_t number = 0;
    wire::randomise(std::as_writable_bytes(std::span(&number, 1)));
    token_ = hexadecimal(number);
    ObjectChange change(pool);
    change.must_exist();
    change.set(kRemovedKey, token_);
    failed_ = change.apply(object_);
  }
  RemovalMark(const RemovalMark&) = delete;
  RemovalMark& operator=(const RemovalMark&) = delete;
  ~RemovalMark() {
    if (failed_ == 0) {
      ObjectChange change(pool_);
      change.expect(kRemovedKey, token_);
      change.drop(kRemovedKey);
      static_cast<void>(change.apply(object_));
    }
  }

  /// Returns 0, or an errno value: why there is no mark.
  int failed() const { return failed_; }
  /// \returns 0, or an errno value: ECANCELED when somebody has taken the mark away
  int remove_object() {
    ObjectChange change(pool_);
    change.expect(kRemovedKey, token_);
    change.remove();
    const int failed = change.apply(object_);
    failed_ = failed == 0 ? ENOENT : failed_;
    return failed;
  }

 private:
  const Pool& pool_;
  std::string object_;
  std::string token_;
  int failed_ = 0;
};

/// Removes the object of a directory, unless there is none any more.
Status remove_object_of(const Pool& pool, const std::string& directory) {
  const std::string object = directory_object(directory);
  RemovalMark mark(pool, directory);
  if (mark.failed() != 0) {
    return mark.failed() == ENOENT ? Status() : pool.error(-mark.failed(), object);
  }
  remove_left_behind(pool, directory, 0);
  // One request: between two, a file may get its name, or lose it. The mark is an entry too.
  Entries held;
  int failed = read_entries(pool, object, "", held, 2);
  if (failed != 0) {
    return pool.error(-failed, object);
  }
  held.erase(kRemovedKey);
  if (!held.empty()) {
    const bool nameless = held.begin()->first.starts_with(kGoneKey);
    return not_empty(nameless ? "a program has a file of it open, or makes one" : "remove what is in it first");
  }
  failed = mark.remove_object();
  if (failed == ECANCELED) {
    return not_empty("another program has just used it");
  }
  return failed == 0 || failed == ENOENT ? Status() : pool.error(-failed, object);
}

}  // namespace

std::string name_key(const std::string& name) {
  return std::string(kNameKey) + name;
}

std::string gone_key(uint64_t file) {
  return std::string(kGoneKey) + hexadecimal(file);
}

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

Status make_directory(const Pool& pool, const std::string& directory) {
  if (directory == "/") {
    const int failed = make_object(pool, directory);
    return failed == 0 ? Status() : pool.error(-failed, directory_object(directory));
  }
  int failed = 0;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    STRIA_RETURN_IF_ERROR(make_directory(pool, directory_of(directory)));
    // The name comes first, so that no object is left without one; and once more, since whoever
    // removes the directory may have taken it away meanwhile.
    failed = name_directory(pool, directory);
    failed = failed == 0 ? make_object(pool, directory) : failed;
    failed = failed == 0 ? name_directory(pool, directory) : failed;
    if (failed == 0) {
      return {};
    }
    if (failed == ENOTDIR) {
      return Status::from_errno(ENOTDIR, "'" + directory + "' is a file");
    }
    // Otherwise another program has just made it, or removes the one above.
    if (failed != ECANCELED && failed != ENOENT) {
      break;
    }
  }
  return pool.error(-failed, directory_object(directory));
}

Status remove_directory(const Pool& pool, const std::string& directory) {
  const std::string above = directory_of(directory);
  STRIA_ASSIGN_OR_RETURN(const std::string value, value_of(pool, above, file_name_of(directory)));
  if (!means_directory(value)) {
    return no_such_file();
  }
  // First, so that whoever makes it anew meanwhile is seen to have done so.
  if (const int failed = write_name(pool, directory, value, kLeaving); failed != 0) {
    return failed == ECANCELED ? not_empty("another program has just used it") : pool.error(-failed, directory_object(above));
  }
  if (const Status outcome = remove_object_of(pool, directory); !outcome.ok()) {
    static_cast<void>(write_name(pool, directory, kLeaving, kDirectory));
    return outcome;
  }
  const std::string key = name_key(file_name_of(directory));
  ObjectChange change(pool);
  change.expect(key, kLeaving);
  change.drop(key);
  const int failed = change.apply(directory_object(above));
  return failed == 0 || failed == ECANCELED ? Status() : pool.error(-failed, directory_object(above));
}

void remove_left_behind(const Pool& pool, const std::string& directory, uint64_t but_not) {
  const std::string object = directory_object(directory);
  Entries left;
  static_cast<void>(read_entries(pool, object, std::string(kGoneKey), left, kLeftBehind));
  left.erase(gone_key(but_not));
  for (const auto& [key, noted] : left) {
    if (!noted.empty()) {
      // It can't get a name from now on.
      ObjectChange change(pool);
      change.expect(key, noted);
      change.set(key, "");
      if (!is_overdue(noted) || change.apply(object) != 0) {
        continue;
      }
    }
    // What fails now is tried again by the next change.
    static_cast<void>(remove_nameless(pool, directory, from_hexadecimal(std::string_view(key).substr(kGoneKey.size()))));
  }
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
