#include "trace/record/part_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace stria::trace {

namespace {

// The most that is kept in memory while there is no file for it.
constexpr size_t kPendingBytesMax = 64 << 20;

Status write_at(int file, std::span<const std::byte> bytes, int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno != EINTR) {
      return Status::from_errno(errno, "write a part of the trace");
    }
    if (written > 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
      offset += written;
    }
  }
  return {};
}

std::vector<std::byte> header_bytes(const RankHeader& header) {
  std::vector<std::byte> bytes;
  append(bytes, header);
  return bytes;
}

}  // namespace

PartWriter::~PartWriter() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

void PartWriter::identify(const RankHeader& header) {
  header_ = header;
  if (file_ >= 0) {
    // Only numbers change, so that the section keeps its size. If this write fails, the error shows
    // when the part is read.
    (void)write_at(file_, header_bytes(header_), kHeaderBytes);
  }
}

Status PartWriter::open(const std::string& path) {
  if (file_ >= 0) {
    const int renamed = ::rename(path_.c_str(), path.c_str());
    path_ = renamed == 0 ? path : path_;
    return renamed == 0 ? Status() : Status::from_errno(errno, "rename '" + path_ + "'");
  }
  // The directory is new, so that what has the name is another program's.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) {
    return Status::from_errno(errno, "create '" + path + "'");
  }
  std::vector<std::byte> start;
  append_header(start);
  append(start, header_);
  Status status = write_at(file, start, 0);
  if (!status.ok()) {
    ::close(file);
    return status;
  }
  file_ = file;
  has_file_.store(true, std::memory_order_relaxed);
  path_ = path;
  file_bytes_ = static_cast<int64_t>(start.size());
  const std::vector<std::byte> before = std::exchange(pending_, {});
  write(before);
  return {};
}

void PartWriter::write(std::span<const std::byte> bytes, int64_t record_count) {
  if (ended_) {
    dropped_.fetch_add(record_count, std::memory_order_relaxed);
    return;
  }
  if (file_ >= 0) {
    if (write_at(file_, bytes, file_bytes_).ok()) {
      file_bytes_ += static_cast<int64_t>(bytes.size());
      return;
    }
  } else if (record_count == 0 || pending_.size() + bytes.size() <= kPendingBytesMax) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    return;
  }
  dropped_.fetch_add(record_count, std::memory_order_relaxed);
}

void PartWriter::write_records(uint32_t thread, std::span<const Record> records) {
  if (!records.empty()) {
    encoded_.clear();
    append(encoded_, thread, records);
    write(encoded_, static_cast<int64_t>(records.size()));
  }
}

void PartWriter::end(int64_t clock_ns) {
  std::vector<std::byte> bytes;
  append(bytes, EndOfPart{clock_ns, static_cast<uint64_t>(dropped())});
  write(bytes);
  ended_ = true;
}

Result<std::vector<std::byte>> PartWriter::read(int64_t offset, int64_t bytes) const {
  if (file_ < 0) {
    std::vector<std::byte> whole = header_bytes(header_);
    whole.insert(whole.end(), pending_.begin(), pending_.end());
    const int64_t begin = std::min<int64_t>(offset, static_cast<int64_t>(whole.size()));
    const int64_t end = std::min<int64_t>(begin + bytes, static_cast<int64_t>(whole.size()));
    return std::vector<std::byte>(whole.begin() + begin, whole.begin() + end);
  }
  offset += static_cast<int64_t>(kHeaderBytes);
  std::vector<std::byte> read(static_cast<size_t>(std::clamp<int64_t>(file_bytes_ - offset, 0, bytes)));
  for (size_t done = 0; done < read.size();) {
    const ssize_t got = ::pread(file_, read.data() + done, read.size() - done, offset + static_cast<int64_t>(done));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return Status::from_errno(got == 0 ? EIO : errno, "read '" + path_ + "'");
    }
    done += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return read;
}

void PartWriter::discard() {
  pending_.clear();
  if (file_ >= 0) {
    ::close(file_);
    file_ = -1;
    has_file_.store(false, std::memory_order_relaxed);
    ::unlink(path_.c_str());
  }
}

}  // namespace stria::trace
