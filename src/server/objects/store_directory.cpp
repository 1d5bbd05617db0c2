#include "server/objects/store_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "wire/trust/key.hpp"

namespace stria::server {

namespace {

constexpr std::string_view kStoreTitle = "stria store 3\n";
constexpr size_t kIdentityDigits = 2 * sizeof(wire::Identity);
constexpr size_t kStorePlace = kStoreTitle.size() + kIdentityDigits + 1;  // where the identity is

std::string hex(const wire::Identity& identity) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte value : identity) {
    text += kDigits[static_cast<size_t>(value) / 16];
    text += kDigits[static_cast<size_t>(value) % 16];
  }
  return text;
}

Result<wire::Identity> parse_identity(const std::string& digits) {
  if (digits.size() != kIdentityDigits || digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return Status(ErrorCode::kFormat, "'stria_store' holds no identity where one belongs");
  }
  wire::Identity identity{};
  for (size_t i = 0; i < identity.size(); ++i) {
    identity[i] = static_cast<std::byte>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
  }
  return identity;
}

}  // namespace

Status sync_directory(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = descriptor >= 0 && fsync(descriptor) == 0;
  const Status outcome = done ? Status() : Status::from_errno(errno, "sync '" + path + "' on the server");
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  return outcome;
}

StoreDirectory::StoreDirectory(StoreDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      identity_(other.identity_),
      store_(other.store_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

StoreDirectory::~StoreDirectory() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

namespace {

/// Asks who may write to the directory: they could put links there in place of the store's files. A
/// new one is made as the umask says, which may say too little.
Status check_writers(const std::string& path, bool is_new) {
  struct stat details = {};
  if (stat(path.c_str(), &details) != 0 || (details.st_mode & S_IWOTH) == 0) {
    return {};
  }
  if (is_new) {
    return chmod(path.c_str(), details.st_mode & 0755) == 0 ? Status() : Status::from_errno(errno, "chmod '" + path + "'");
  }
  return Status(ErrorCode::kPermissionDenied,
                "all may write to '" + path + "': give a store a directory of its user (chmod o-w)");
}

/// A copy of the names was put there, for a manager whose disk is lost.
bool has_only_names(const std::string& path) {
  std::error_code error;
  size_t others = 0;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    others += entry->path().filename() == "names.sqlite" ? 0 : 1;
  }
  return !error && others == 0;
}

}  // namespace

Result<StoreDirectory> StoreDirectory::open(const std::string& path) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(path, error);
  if (error) {
    return Status::from_errno(error.value(), "make the directory '" + path + "'");
  }
  STRIA_RETURN_IF_ERROR(check_writers(path, is_new));
  const bool is_store = std::filesystem::exists(path + "/stria_store", error);
  if (!is_store && !std::filesystem::is_empty(path, error) && !has_only_names(path)) {
    return Status(ErrorCode::kInvalidArgument, "'" + path + "' holds files, but no store: give an empty directory");
  }
  StoreDirectory directory(path);
  STRIA_RETURN_IF_ERROR(directory.take().with_context("'" + path + "'"));
  return directory;
}

Status StoreDirectory::take() {
  const std::string file = path_ + "/stria_store";
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    return Status::from_errno(errno, "open '" + file + "'");
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    return Status(ErrorCode::kAlreadyExists, "another server uses the directory");
  }
  std::string text(kStoreTitle.size() + kIdentityDigits, '\0');
  const ssize_t bytes = pread(descriptor_, text.data(), text.size(), 0);
  if (bytes == 0) {
    STRIA_RETURN_IF_ERROR(make_identity());
    return keep_from_others();
  }
  if (bytes != static_cast<ssize_t>(text.size()) || !text.starts_with(kStoreTitle)) {
    return Status(ErrorCode::kFormat, "'" + file + "' is not as this version of Stria writes it");
  }
  STRIA_ASSIGN_OR_RETURN(identity_, parse_identity(text.substr(kStoreTitle.size())));
  STRIA_RETURN_IF_ERROR(read_store());
  return keep_from_others();
}

// A line without its end was not synced, and nothing was done after it.
Status StoreDirectory::read_store() {
  std::string line(kIdentityDigits + 1, '\0');
  const ssize_t bytes = pread(descriptor_, line.data(), line.size(), kStorePlace);
  if (bytes < 0) {
    return Status::from_errno(errno, "read 'stria_store'");
  }
  if (bytes == static_cast<ssize_t>(line.size())) {
    STRIA_ASSIGN_OR_RETURN(store_, parse_identity(line.substr(0, kIdentityDigits)));
  }
  return {};
}

Status StoreDirectory::belongs_to(const wire::Identity& store) {
  if (store_ == store) {
    return {};
  }
  if (store_) {
    return Status(ErrorCode::kInvalidArgument,
                  "'" + path_ + "' has parts of another store's files: empty it, or join that store");
  }
  const std::string line = hex(store) + "\n";
  if (pwrite(descriptor_, line.data(), line.size(), kStorePlace) != static_cast<ssize_t>(line.size()) ||
      fsync(descriptor_) != 0) {
    return Status::from_errno(errno == 0 ? EIO : errno, "note in '" + path_ + "' to which store it belongs");
  }
  store_ = store;
  return {};
}

Status StoreDirectory::may_keep_names() const {
  if (!store_ || access(names_path().c_str(), F_OK) == 0) {
    return {};
  }
  return Status(ErrorCode::kInvalidArgument, "'" + path_ +
                                                 "' has parts of a store's files, and not its names: join that store's manager "
                                                 "(--join), bring names.sqlite back, or empty it");
}

// Users whom the store refuses must not read the bytes from the disk.
Status StoreDirectory::keep_from_others() const {
  const std::string data = data_path();
  return chmod(data.c_str(), S_IRWXU) == 0 ? Status() : Status::from_errno(errno, "chmod '" + data + "'");
}

Status StoreDirectory::make_identity() {
  wire::randomise(identity_);
  const std::string text = std::string(kStoreTitle) + hex(identity_) + "\n";
  std::error_code error;
  std::filesystem::create_directory(data_path(), error);
  const bool written = !error && pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
                       fsync(descriptor_) == 0;
  return written ? sync_directory(path_) : Status::from_errno(errno == 0 ? EIO : errno, "make a store");
}

}  // namespace stria::server
