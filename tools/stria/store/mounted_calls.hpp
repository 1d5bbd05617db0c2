// Describes what every call of a mounted store needs: the store, paths in it, errors as the
// system's numbers.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/striped/file_state.hpp"
#include "store/mounted_store.hpp"
#include "stria/status.hpp"
#include "wire/quotas.hpp"
#include "wire/tree.hpp"

namespace stria::tool {

inline MountedStore& mounted() {
  return *static_cast<MountedStore*>(fuse_get_context()->private_data);
}

inline std::string url_of(const char* path) {
  return mounted().url + path;
}

/// Returns a call's path as the manager knows it. The kernel has followed symbolic links already.
inline wire::Look name_of(const char* path) {
  return {mounted().root + path, false};
}

/// The kernel asks for a program that may not keep privileges of files that it writes.
inline bool is_asked_by_a_user() {
  return fuse_get_context()->uid != 0;
}

/// Returns the system's number for an error.
int errno_of(ErrorCode code);

inline int minus_errno(const Status& status) {
  const bool is_over_quota = wire::is_over_quota(status) || status.reason() == ErrorReason{EDQUOT};
  return status.ok() ? 0 : is_over_quota ? -EDQUOT : -errno_of(status.code());
}

/// Returns what body() returns, or the number of the error that it throws.
template <typename Body>
int answer(Body body) {
  try {
    return body();
  } catch (const Error& error) {
    return minus_errno(Status(error));
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (const std::exception&) {
    return -EIO;
  }
}

/// Sets what is to change of a name. Throws stria::Error.
void change_name(const wire::Change& change);

/// What is new belongs to who made it, where the mount's own user may give it away. True where that
/// may have changed. Throws stria::Error.
bool give_to_maker(const char* path);

/// The file was cut: times that were set before don't hold any more, and where a user has cut it,
/// neither do its privileges. Throws stria::Error.
void note_cut(const char* path);

/// A user has written the file: set-user-ID and set-group-ID don't hold any more. Throws
/// stria::Error.
void take_privileges(const char* path);

/// Waits until the kernel no longer believes a size that is in doubt, of a file that is open.
/// Throws stria::Error (kIo) where a server doesn't answer.
void check_size_is_known(const char* path, uint64_t number);

/// The kernel takes the names of a file for files of their own. Where it keeps what is written,
/// such files can only be read. False where nothing has the name.
bool has_several_names(const char* path);

/// True once for an open file that was just made: it is empty.
bool is_asked_for_the_first_time(const fuse_file_info* info);

/// Says what the manager told of a file as it was made, and the changes of the mount's files
/// before.
struct ToldState {
  wire::NameState state;
  MountedFiles::Changes before;
};
/// None of a file that was there, or where the manager tells nothing.
const std::optional<ToldState>& told_when_made(const fuse_file_info* info);

/// True where an open file's attributes are known without a request; puts them into `details`.
bool has_kept_attributes(const fuse_file_info* info, struct stat* details);

/// Adds the calls on names: attributes, directories, links, times, attributes that users give.
void add_name_calls(fuse_operations& calls);
/// Adds those that list directories.
void add_directory_calls(fuse_operations& calls);

/// What stat() tells of a name.
struct stat described(const wire::NameState& state, const storage::FileState& file);

/// Returns what the servers know of files; where some don't answer, what the others know. Aligned
/// with `places`.
std::vector<storage::FileState> states_as_known(std::span<const wire::Opened> places);

}  // namespace stria::tool
