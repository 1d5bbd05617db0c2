// Puts whole pages straight into a file on tmpfs, without the lock that lets only one process at a
// time write to a file.
//
// Problem: the kernel holds the lock of a file's inode while it copies. Ranks that write one shared
// file wait for that lock, and together reach about the speed of one process.
// Method: the file is mapped and the mapping registered with userfaultfd. UFFDIO_COPY then
// allocates a page, copies into it and puts it into the file in one step. It doesn't take the
// inode's lock, doesn't clear the page first as a page fault would, and never replaces a page
// that the file has.
// Cost: one system call for each stretch of neighbouring pages, and a page table of 8 bytes
// per page. Inserted pages count as resident memory of the process until it lets them go, at
// 4 MiB at most.
// Limits: only tmpfs, and only where kernel and container offer userfaultfd. Pages that the file
// has already are written by write().
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

  /// True for a file that is open for reading and writing, on a tmpfs of ordinary pages, where the
  /// system lets this process insert pages. `file_system` is the magic number of statfs(2). The
  /// environment variable STRIA_INSERT_PAGES=0 turns insertion off.
  static bool can_serve(int descriptor, const struct stat& details, uint32_t file_system);

  explicit PageInserter(int descriptor);
  ~PageInserter();
  PageInserter(const PageInserter&) = delete;
  PageInserter& operator=(const PageInserter&) = delete;

  /// The whole pages of [offset, offset + bytes): where they begin, and how many bytes they are. 0
  /// bytes where inserting can't pay or the file is known to have the pages.
  struct Stretch {
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  Stretch whole_pages(int64_t offset, int64_t bytes) const;

  /// Inserts `bytes` bytes at `offset`; both are multiples of the page size and lie within the
  /// file. Returns the number of bytes inserted, counted from `offset`. It is smaller than `bytes`
  /// where the file has a page already, memory is short, or anything else is in the way. The caller
  /// writes the rest by write(), which reports an error if there is one.
  int64_t insert(int64_t offset, const std::byte* data, int64_t bytes);

  /// Ends all insertion; to be called before the file is closed. The destructor removes the
  /// mapping, which takes about 0.1 us per page.
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
  std::atomic<int64_t> occupied_end_ = 0;  ///< the file is known to have the pages before this
  bool has_inserted_ = false;
};

}  // namespace stria::storage
