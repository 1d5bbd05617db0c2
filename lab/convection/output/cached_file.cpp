#include "output/cached_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "stria/trace.hpp"

namespace stria::convection {

CachedFile::CachedFile(std::string path, int64_t cache_bytes, WriteSizes& sizes)
    : path_(std::move(path)), cache_bytes_(static_cast<size_t>(cache_bytes)), sizes_(sizes) {
  const trace::Region region("open");
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    status_ = Status::from_errno(errno, "'" + path_ + "' can't be made");
  }
}

CachedFile::~CachedFile() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

void CachedFile::append(const void* data, int64_t bytes) {
  const auto* next = static_cast<const std::byte*>(data);
  auto left = static_cast<size_t>(bytes);
  while (left > 0) {
    const size_t room = std::min(left, cache_bytes_ - cache_.size());
    cache_.insert(cache_.end(), next, next + room);
    next += room;
    left -= room;
    if (cache_.size() == cache_bytes_) {
      flush();
    }
  }
}

void CachedFile::flush() {
  if (cache_.empty() || !status_.ok()) {
    cache_.clear();
    return;
  }
  const trace::Region region("write");
  ++sizes_[static_cast<int64_t>(cache_.size())];
  for (size_t done = 0; done < cache_.size();) {
    const ssize_t written = ::write(file_, cache_.data() + done, cache_.size() - done);
    if (written < 0 && errno != EINTR) {
      status_ = Status::from_errno(errno, "writing '" + path_ + "'");
      break;
    }
    done += static_cast<size_t>(std::max<ssize_t>(written, 0));
  }
  cache_.clear();
}

Status CachedFile::close() {
  flush();
  const trace::Region region("close");
  if (file_ >= 0 && ::close(file_) != 0) {
    status_.update(Status::from_errno(errno, "closing '" + path_ + "'"));
  }
  file_ = -1;
  return status_;
}

}  // namespace stria::convection
