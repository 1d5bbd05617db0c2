// Whole pages put straight into a file of tmpfs, past the lock that lets one process at a time write to a file.
//
// Problem: ranks that write one shared file wait for each other at the lock of its inode, which is held while the kernel
// copies, so that a shared file is written at about the speed of one process however many write it. Method: the file is mapped,
// the mapping handed to userfaultfd, and UFFDIO_COPY allocates a page, copies into it and puts it into the file in one go. It
// takes no lock of the inode, clears no page first as a page fault would, and never replaces a page that the file has already.
// Cost: one system call a stretch of neighbouring pages; a page table of 8 bytes a page; what a process has inserted counts as
// its resident memory until it is let go, 4 MiB at most. Limits: tmpfs only, on a kernel and in a container that offer
// userfaultfd; pages that the file has are for write().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

struct stat;

namespace stria::storage {

/// The mapping of one open file. Thread-safe.
class PageInserter {
 public:
  /// Shorter stretches cost more this way than by write().
  static constexpr int64_t kLeastBytes = 32 << 10;

  /// True for a file on a tmpfs of ordinary pages that is open for reading and writing, where the system lets this process
  /// insert pages. `file_system` is the magic number of statfs(2). The environment variable STRIA_INSERT_PAGES=0 says never.
  static bool can_serve(int descriptor, const struct stat& details, uint32_t file_system);

  explicit PageInserter(int descriptor);
  ~PageInserter();
  PageInserter(const PageInserter&) = delete;
  PageInserter& operator=(const PageInserter&) = delete;

  /// Where the whole pages of [offset, offset + bytes) begin, and how many bytes they are; none, where inserting can't pay or
  /// the file is known to have them.
  struct Stretch {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  Stretch whole_pages(int64_t offset, int64_t bytes) const;

  /// Inserts `bytes` bytes at `offset`, both multiples of the page size and within the file. Returns how many it inserted, all
  /// of them from `offset` on: fewer where a page is there already, memory is short or anything else is in the way. The rest is
  /// for write(), which says what is wrong, if anything is.
  int64_t insert(int64_t offset, const std::byte* data, int64_t bytes);

  /// Ends all insertion, before the file is closed. Taking the mapping down takes some 0.1 us a page: that is the destructor's.
  void finish();

 private:
  void note_obstacle(bool page_exists);
  bool map(int64_t begin, int64_t end);
  void unmap();
  void let_go();

  const int descriptor_;
  const int64_t page_bytes_;
  std::mutex mutex_;
  std::byte* mapping_ = nullptr;
  int64_t mapped_begin_ = 0;
  int64_t mapped_end_ = 0;
  int64_t resident_bytes_ = 0;
  std::atomic<int64_t> occupied_end_ = 0;  ///< before it pages are there already, as far as is known
  bool has_inserted_ = false;
};

}  // namespace stria::storage
