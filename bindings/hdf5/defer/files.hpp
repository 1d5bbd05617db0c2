// Files of which this process holds bytes back (STRIA_HDF5_DEFER), and when they are written.
//
// Problem: a checkpoint of many variables is as many writes, and each collective one waits for all
// ranks.
// Method: bytes are held in memory below HDF5, at its MPI_File. All that HDF5 does with the file
// passes by this library's MPI_File_ calls: what touches a byte that is held writes first, and so
// do MPI_File_sync and MPI_File_close, which H5Fflush and H5Fclose end in. Ranks that write on
// their own accord do so alone. Where MPI makes a call collective, and the program has written
// collectively, all of a file goes in one collective write.
// Invariant: whether a file has a collective write in hand is the same on all its ranks, because it
// depends on collective calls alone. What a rank can't hold, it writes at once and alone, so that
// no rank waits for another in H5Dwrite.
// In the background (STRIA_HDF5_DEFER=256M,background), a thread writes what is held as soon as the
// write before it has ended, by a descriptor of its own, because a program may allow one thread
// alone to call MPI. What it can't write is held on, and written as without it.
// Cost: a copy; a look into a map for each call of HDF5 on its file.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hdf5/defer/held_bytes.hpp"
#include "hdf5/defer/mpi.hpp"

namespace stria::hdf5 {

/// Returns how many files this thread has closed whose last bytes could not be written.
int files_that_lost_bytes();

std::string error_text(const Mpi& mpi, int error);

/// While one lives, the MPI_Files that this thread opens are HDF5's.
class OpeningByHdf5 {
 public:
  OpeningByHdf5();
  OpeningByHdf5(const OpeningByHdf5&) = delete;
  OpeningByHdf5& operator=(const OpeningByHdf5&) = delete;
  ~OpeningByHdf5();
  static bool is_now();
};

/// An MPI_File that HDF5 has open.
struct DeferredFile {
  const Mpi* mpi = nullptr;
  MpiFile handle = nullptr;
  MpiHandle comm = 0;  ///< HDF5's own, which lives as long as the file is open, or a copy
  bool owns_comm = false;
  MpiHandle info = 0;  ///< the info as HDF5 opened it
  int rank_count = 1;
  std::string name;
  int64_t hdf5_id = -1;          ///< by which HDF5 last named it
  bool may_hold = false;         ///< the same on all ranks: opened for writing, not atomic
  bool has_collective = false;   ///< the same on all ranks: a collective write may be held
  bool is_open_twice = false;    ///< here: nothing is held, because another handle may look
  int last_error = kMpiSuccess;  ///< here, of the last try to write alone
  int descriptor = -1;           ///< here, by which its bytes travel in the background; -1 for none
  HeldBytes held;
};

/// Holds what all threads share. lock() is held in all calls but has_any() and has_any_held(), and
/// HDF5 isn't called meanwhile: it has a lock of its own.
class DeferredFiles {
 public:
  static DeferredFiles& all();
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  /// `file` has its handles and its name.
  void add(const Mpi& mpi, DeferredFile file, int mode);
  /// Gives up what is still held of it.
  void remove(DeferredFile* file);
  /// Null where it isn't known.
  DeferredFile* find(MpiFile handle);
  DeferredFile* find_id(int64_t hdf5_id);
  /// HDF5 ends its use of this number, which it may give another file.
  void forget_id(int64_t hdf5_id);
  bool has_any() const { return file_count_.load(std::memory_order_relaxed) > 0; }
  bool has_any_held() const { return held_bytes_.load(std::memory_order_relaxed) > 0; }

  /// Room for bytes of these places, until they are held. Writes first what they touch, and all
  /// where there is too little room. Null where there is none.
  std::byte* reserve(DeferredFile& file, std::span<const Held> pieces);
  /// Holds what was packed into that room. False where one piece touches another.
  bool hold(DeferredFile& file, std::span<const Held> pieces);

  /// Bytes are held that lie there.
  bool touches(const DeferredFile& file, ByteRange place) const;

  // These return MPI's error, of this rank. Bytes that couldn't be written are held on, for another
  // try.

  /// Writes what is held of the file. Not collective.
  int write_alone(DeferredFile& file);
  void write_all_alone();
  /// Collective over the file's ranks. In one collective write where a collective write may be
  /// held, and otherwise each rank alone.
  int write_together(DeferredFile& file);
  /// Gives up what is held, and says why.
  void give_up_all(const char* why);

 private:
  /// While one lives, nothing travels in the background. The lock goes meanwhile, so that other
  /// threads may add and remove files.
  class Pause {
   public:
    explicit Pause(DeferredFiles& files);
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause();

   private:
    DeferredFiles& files_;
  };

  int write_collectively(DeferredFile& file);
  void give_up(DeferredFile& file, const char* why);
  void settle();
  void send();
  void travel();
  DeferredFile* next_traveller();
  void arrange_last_resort(const Mpi& mpi);

  std::mutex mutex_;
  std::vector<std::unique_ptr<DeferredFile>> files_;
  std::byte* stage_ = nullptr;
  int64_t used_bytes_ = 0;  // the bytes of the stage
  int64_t list_bytes_ = 0;  // bytes that lists of pieces take
  std::atomic<int64_t> held_bytes_{0};
  std::atomic<size_t> file_count_{0};
  bool has_last_resort_ = false;

  // What travels in the background: all that one file had in hand, taken at once. (travel.cpp)
  std::condition_variable_any changed_;  // there is something to send, or nothing travels
  bool has_thread_ = false;
  int pauses_ = 0;
  DeferredFile* traveller_ = nullptr;
  HeldBytes travelling_;
};

}  // namespace stria::hdf5
