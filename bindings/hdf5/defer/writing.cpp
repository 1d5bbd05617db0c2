#include "hdf5/defer/writing.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "hdf5/shared/shared_files.hpp"

namespace stria::hdf5 {

namespace {

// A write of MPI counts in int; this many bytes go in one.
constexpr int64_t kMostWriteBytes = 1 << 30;
// Shorter pieces that follow each other in the file are joined, in a buffer of so many bytes.
constexpr int64_t kShortBytes = 64 << 10;
constexpr int64_t kJoinedBytes = 1 << 20;

/// Returns how many of the pieces, from the first on, go into one write.
size_t count_joined(std::span<const Held> pieces) {
  size_t count = 1;
  int64_t bytes = pieces[0].place.size();
  while (count < pieces.size() && pieces[count].place.begin == pieces[count - 1].place.end &&
         pieces[count - 1].place.size() < kShortBytes && bytes + pieces[count].place.size() <= kJoinedBytes) {
    bytes += pieces[count].place.size();
    ++count;
  }
  return count;
}

int write_joined(std::span<const Held> pieces, const WriteBytes& write, std::vector<std::byte>& joined) {
  if (pieces.size() == 1) {
    return write(pieces[0].place, pieces[0].bytes);
  }
  joined.clear();
  for (const Held& piece : pieces) {
    joined.insert(joined.end(), piece.bytes, piece.bytes + piece.place.size());
  }
  return write({pieces.front().place.begin, pieces.back().place.end}, joined.data());
}

}  // namespace

WriteBytes by_mpi(const Mpi& mpi, MpiFile handle) {
  return [&mpi, handle](ByteRange place, const std::byte* bytes) {
    if (SharedFiles::all().write_pages(handle, place, bytes)) {
      return kMpiSuccess;
    }
    while (!place.empty()) {
      const auto some = static_cast<int>(std::min(place.size(), kMostWriteBytes));
      MpiStatus status;
      int count = 0;
      int error = mpi.MPI_File_write_at(handle, place.begin, bytes, some, mpi.byte, &status);
      if (error == kMpiSuccess) {
        error = mpi.MPI_Get_count(&status, mpi.byte, &count);
      }
      if (error != kMpiSuccess || count != some) {
        return error != kMpiSuccess ? error : mpi.failed;
      }
      place.begin += some;
      bytes += some;
    }
    return kMpiSuccess;
  };
}

WriteBytes by_descriptor(int descriptor, MpiFile handle) {
  return [descriptor, handle](ByteRange place, const std::byte* bytes) {
    if (SharedFiles::all().write_pages(handle, place, bytes)) {
      return 0;
    }
    while (!place.empty()) {
      const ssize_t count = pwrite(descriptor, bytes, static_cast<size_t>(place.size()), place.begin);
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count <= 0) {
        return count < 0 ? errno : EIO;
      }
      place.begin += count;
      bytes += count;
    }
    return 0;
  };
}

Written write_pieces(std::span<const Held> pieces, const WriteBytes& write) {
  Written written;
  std::vector<std::byte> joined;
  for (size_t at = 0; at < pieces.size();) {
    const size_t count = count_joined(pieces.subspan(at));
    const std::span<const Held> together = pieces.subspan(at, count);
    const int error = write_joined(together, write, joined);
    if (error != 0) {
      written.error = written.error == 0 ? error : written.error;
      written.left.insert(written.left.end(), together.begin(), together.end());
    }
    at += count;
  }
  return written;
}

int open_beside_mpi(const std::string& name) {
  const int descriptor = open(name.c_str(), O_WRONLY | O_CLOEXEC);
  struct stat about {};
  struct statfs system {};
  const bool is_fit = descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                      fstatfs(descriptor, &system) == 0 && system.f_type != NFS_SUPER_MAGIC;
  if (descriptor >= 0 && !is_fit) {
    close(descriptor);
  }
  return is_fit ? descriptor : -1;
}

}  // namespace stria::hdf5
