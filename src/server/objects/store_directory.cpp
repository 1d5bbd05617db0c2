#include "server/objects/store_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "wire/key.hpp"

namespace stria::server {

namespace {

constexpr std::string_view kTitle = "stria store 3\n";
constexpr size_t kIdentityDigits = 2 * sizeof(wire::Identity);

std::string hex(const wire::Identity& identity) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte value : identity) {
    text += kDigits[static_cast<size_t>(value) / 16];
    text += kDigits[static_cast<size_t>(value) % 16];
  }
  return text;
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
    : path_(std::move(other.path_)), identity_(other.identity_), descriptor_(std::exchange(other.descriptor_, -1)) {}

StoreDirectory::~StoreDirectory() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Result<StoreDirectory> StoreDirectory::open(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    return Status::from_errno(error.value(), "make the directory '" + path + "'");
  }
  const bool is_store = std::filesystem::exists(path + "/stria_store", error);
  if (!is_store && !std::filesystem::is_empty(path, error)) {
    return Status(ErrorCode::kInvalidArgument, "'" + path + "' holds files, but no store: give an empty directory");
  }
  StoreDirectory directory(path);
  STRIA_RETURN_IF_ERROR(directory.take().with_context("'" + path + "'"));
  return directory;
}

Status StoreDirectory::take() {
  const std::string file = path_ + "/stria_store";
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    return Status::from_errno(errno, "open '" + file + "'");
  }
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    return Status(ErrorCode::kAlreadyExists, "another server uses the directory");
  }
  std::string text(kTitle.size() + kIdentityDigits, '\0');
  const ssize_t bytes = pread(descriptor_, text.data(), text.size(), 0);
  if (bytes == 0) {
    STRIA_RETURN_IF_ERROR(make_identity());
    return keep_from_others();
  }
  if (bytes != static_cast<ssize_t>(text.size()) || !text.starts_with(kTitle)) {
    return Status(ErrorCode::kFormat, "'" + file + "' is not as this version of Stria writes it");
  }
  for (size_t i = 0; i < identity_.size(); ++i) {
    const std::string digits = text.substr(kTitle.size() + 2 * i, 2);
    if (digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return Status(ErrorCode::kFormat, "'" + file + "' holds no identity");
    }
    identity_[i] = static_cast<std::byte>(std::stoi(digits, nullptr, 16));
  }
  return keep_from_others();
}

// Whom the store refuses shall not read the bytes from the disk.
Status StoreDirectory::keep_from_others() const {
  const std::string data = data_path();
  return chmod(data.c_str(), S_IRWXU) == 0 ? Status() : Status::from_errno(errno, "chmod '" + data + "'");
}

Status StoreDirectory::make_identity() {
  wire::randomise(identity_);
  const std::string text = std::string(kTitle) + hex(identity_) + "\n";
  std::error_code error;
  std::filesystem::create_directory(data_path(), error);
  const bool written = !error && pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
                       fsync(descriptor_) == 0;
  return written ? sync_directory(path_) : Status::from_errno(errno == 0 ? EIO : errno, "make a store");
}

}  // namespace stria::server
