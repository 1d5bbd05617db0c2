#include "hdf5/defer/files.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "hdf5/defer/writing.hpp"
#include "hdf5/settings/settings.hpp"
#include "hdf5/shared/shared_files.hpp"

namespace stria::hdf5 {

namespace {

// A rank writes at most so many bytes in one collective write.
constexpr int64_t kMostCollectiveBytes = 1 << 30;
// The stage keeps so many bytes of memory when a file is closed.
constexpr int64_t kKeptStageBytes = 64 << 20;
constexpr int64_t kPieceAlignment = 64;
// What a piece takes in the lists of HeldBytes, about.
constexpr int64_t kPieceBytes = 96;
constexpr int kMostErrorText = 1024;  // MPI_MAX_ERROR_STRING is 256 and 512

thread_local int opening_depth = 0;
thread_local int lost_count = 0;  // files that were closed with bytes held

/// Tells whether both name one file. Where a name tells the MPI more than a path, names are
/// compared.
bool is_same_file(const std::string& left, const std::string& right) {
  struct stat one {};
  struct stat other {};
  if (stat(left.c_str(), &one) != 0 || stat(right.c_str(), &other) != 0) {
    return left == right;
  }
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Returns how many of the pieces, from the first on, the collective write of a rank takes.
size_t count_collective(std::span<const Held> pieces) {
  int64_t bytes = 0;
  const auto is_too_much = [&bytes](const Held& piece) { return (bytes += piece.place.size()) > kMostCollectiveBytes; };
  return static_cast<size_t>(std::find_if(pieces.begin(), pieces.end(), is_too_much) - pieces.begin());
}

/// One MPI datatype of bytes; MPI_BYTE for none.
class Pieces {
 public:
  Pieces(const Mpi& mpi, const std::vector<int>& lengths, const std::vector<int64_t>& places) : mpi_(mpi), type_(mpi.byte) {
    if (!lengths.empty()) {
      type_ = 0;  // MPICH writes an int
      mpi.MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), mpi.byte, &type_);
      mpi.MPI_Type_commit(&type_);
      is_own_ = true;
    }
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() {
    if (is_own_) {
      mpi_.MPI_Type_free(&type_);
    }
  }
  MpiHandle type() const { return type_; }
  int count() const { return is_own_ ? 1 : 0; }

 private:
  const Mpi& mpi_;
  MpiHandle type_;
  bool is_own_ = false;
};

int keep_attribute(MpiHandle, int, void*, void*, void*, int* is_kept) {
  *is_kept = 0;
  return kMpiSuccess;
}

int write_at_finalize(MpiHandle, int, void*, void*) {
  DeferredFiles& files = DeferredFiles::all();
  const auto lock = files.lock();
  files.write_all_alone();
  return kMpiSuccess;
}

/// Tells what no call has written.
struct GiveUpAtEnd {
  ~GiveUpAtEnd() {
    DeferredFiles& files = DeferredFiles::all();
    if (files.has_any_held()) {
      const auto lock = files.lock();
      files.give_up_all("the program ended without H5Fclose or MPI_Finalize");
    }
  }
} give_up_at_end;

}  // namespace

std::string error_text(const Mpi& mpi, int error) {
  char text[kMostErrorText] = "";
  int length = 0;
  mpi.MPI_Error_string(error, text, &length);
  return text;
}

OpeningByHdf5::OpeningByHdf5() {
  ++opening_depth;
}

OpeningByHdf5::~OpeningByHdf5() {
  --opening_depth;
}

bool OpeningByHdf5::is_now() {
  return opening_depth > 0;
}

int files_that_lost_bytes() {
  return lost_count;
}

// They are never destroyed: programs close files late.
DeferredFiles& DeferredFiles::all() {
  static auto* instance = new DeferredFiles;
  return *instance;
}

void DeferredFiles::add(const Mpi& mpi, DeferredFile given, int mode) {
  auto file = std::make_unique<DeferredFile>(std::move(given));
  file->mpi = &mpi;
  file->may_hold = mpi.is_known && (mode & (kModeWriteOnly | kModeReadWrite)) != 0;
  if (mpi.is_known) {
    mpi.MPI_Comm_size(file->comm, &file->rank_count);
  }
  if (file->may_hold && travels_in_background() && !mpi.is_drop_in) {
    file->descriptor = open_beside_mpi(file->name);
  }
  for (const auto& other : files_) {
    if (is_same_file(other->name, file->name)) {
      other->is_open_twice = file->is_open_twice = true;
    }
  }
  files_.push_back(std::move(file));
  file_count_ = files_.size();
}

void DeferredFiles::remove(DeferredFile* file) {
  const Pause pause(*this);
  if (!file->held.empty()) {
    ++lost_count;
    give_up(*file, "the file was closed, and they could not be written");
  }
  if (file->descriptor >= 0) {
    close(file->descriptor);
  }
  if (file->owns_comm) {
    file->mpi->MPI_Comm_free(&file->comm);
  }
  std::erase_if(files_, [file](const auto& known) { return known.get() == file; });
  file_count_ = files_.size();
  settle();
  if (stage_ != nullptr && used_bytes_ == 0 && most_held_bytes() > kKeptStageBytes) {
    madvise(stage_ + kKeptStageBytes, static_cast<size_t>(most_held_bytes() - kKeptStageBytes), MADV_DONTNEED);
  }
}

DeferredFile* DeferredFiles::find(MpiFile handle) {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const auto& file) { return file->handle == handle; });
  return found == files_.end() ? nullptr : found->get();
}

DeferredFile* DeferredFiles::find_id(int64_t hdf5_id) {
  const auto found = std::find_if(files_.begin(), files_.end(), [&](const auto& file) { return file->hdf5_id == hdf5_id; });
  return found == files_.end() ? nullptr : found->get();
}

void DeferredFiles::forget_id(int64_t hdf5_id) {
  if (DeferredFile* const file = find_id(hdf5_id); file != nullptr) {
    file->hdf5_id = -1;
  }
}

std::byte* DeferredFiles::reserve(DeferredFile& file, std::span<const Held> pieces) {
  int64_t bytes = 0;
  bool touches = false;
  for (const Held& piece : pieces) {
    bytes += piece.place.size();
    touches = touches || this->touches(file, piece.place);
  }
  const int64_t needed_bytes = bytes + static_cast<int64_t>(pieces.size()) * kPieceBytes;
  if (needed_bytes > most_held_bytes() || (touches && write_alone(file) != kMpiSuccess)) {
    return nullptr;
  }
  if (used_bytes_ + list_bytes_ + needed_bytes > most_held_bytes()) {
    write_all_alone();
  }
  if (stage_ == nullptr) {
    void* const memory = mmap(nullptr, static_cast<size_t>(most_held_bytes()), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      return nullptr;
    }
    madvise(memory, static_cast<size_t>(most_held_bytes()), MADV_HUGEPAGE);
    stage_ = static_cast<std::byte*>(memory);
  }
  return used_bytes_ + list_bytes_ + needed_bytes > most_held_bytes() ? nullptr : stage_ + used_bytes_;
}

bool DeferredFiles::hold(DeferredFile& file, std::span<const Held> pieces) {
  const int64_t before_bytes = file.held.bytes();
  if (!file.held.add(pieces)) {
    return false;
  }
  const int64_t bytes = file.held.bytes() - before_bytes;
  used_bytes_ = align_up(used_bytes_ + bytes, kPieceAlignment);
  list_bytes_ += static_cast<int64_t>(pieces.size()) * kPieceBytes;
  held_bytes_ += bytes;
  arrange_last_resort(*file.mpi);
  if (file.descriptor >= 0) {
    send();
  }
  return true;
}

int DeferredFiles::write_alone(DeferredFile& file) {
  const Pause pause(*this);
  if (file.held.empty()) {
    return kMpiSuccess;
  }
  file.held.sort();
  Written written = write_pieces(file.held.pieces(), by_mpi(*file.mpi, file.handle));
  file.held.keep(std::move(written.left));
  file.last_error = written.error;
  settle();
  return written.error;
}

void DeferredFiles::write_all_alone() {
  const Pause pause(*this);  // a list that another thread may change isn't gone through
  for (const auto& file : files_) {
    static_cast<void>(write_alone(*file));
  }
}

int DeferredFiles::write_together(DeferredFile& file) {
  const Pause pause(*this);
  if (!file.has_collective || file.rank_count == 1 || !file.mpi->tells_collective_errors ||
      SharedFiles::all().has_pages(file.handle)) {
    return write_alone(file);
  }
  file.has_collective = false;
  // The error of an aggregator is of bytes of any rank.
  int error = write_collectively(file) == kMpiSuccess ? 0 : 1;
  int any_error = 1;
  file.mpi->MPI_Allreduce(&error, &any_error, 1, file.mpi->integer, file.mpi->greatest, file.comm);
  if (any_error == 0) {
    const auto& pieces = file.held.pieces();
    file.held.keep({pieces.begin() + static_cast<ptrdiff_t>(count_collective(pieces)), pieces.end()});
    settle();
  }
  return write_alone(file);
}

int DeferredFiles::write_collectively(DeferredFile& file) {
  const Mpi& mpi = *file.mpi;
  file.held.sort();
  std::vector<int> lengths;
  std::vector<int64_t> places;
  std::vector<int64_t> offsets;  // in the stage
  const std::span<const Held> pieces = file.held.pieces();
  for (const Held& piece : pieces.first(count_collective(pieces))) {
    lengths.push_back(static_cast<int>(piece.place.size()));
    places.push_back(piece.place.begin);
    offsets.push_back(piece.bytes - stage_);
  }
  const Pieces in_file(mpi, lengths, places);
  const Pieces in_memory(mpi, lengths, offsets);
  MpiStatus status;
  // HDF5 leaves files viewed as bytes, and finds them so again. All ranks make all calls.
  const int viewed = mpi.MPI_File_set_view(file.handle, 0, mpi.byte, in_file.type(), "native", file.info);
  const int written = mpi.MPI_File_write_at_all(file.handle, 0, stage_, in_memory.count(), in_memory.type(), &status);
  const int restored = mpi.MPI_File_set_view(file.handle, 0, mpi.byte, mpi.byte, "native", file.info);
  for (const int error : {viewed, written, restored}) {
    if (error != kMpiSuccess) {
      return error;
    }
  }
  return kMpiSuccess;
}

void DeferredFiles::give_up(DeferredFile& file, const char* why) {
  const std::string reason = file.last_error == kMpiSuccess ? "" : fmt::format(" ({})", error_text(*file.mpi, file.last_error));
  std::fprintf(stderr, "stria: %lld bytes of %s that STRIA_HDF5_DEFER held back are lost: %s%s\n",
               static_cast<long long>(file.held.bytes()), file.name.c_str(), why, reason.c_str());
  file.held.clear();
  settle();
}

void DeferredFiles::give_up_all(const char* why) {
  const Pause pause(*this);
  for (const auto& file : files_) {
    if (!file->held.empty()) {
      give_up(*file, why);
    }
  }
}

void DeferredFiles::settle() {
  int64_t bytes = 0;
  for (const auto& file : files_) {
    bytes += file->held.bytes();
  }
  bytes += travelling_.bytes();
  held_bytes_ = bytes;
  if (bytes == 0) {
    used_bytes_ = list_bytes_ = 0;
  }
}

void DeferredFiles::arrange_last_resort(const Mpi& mpi) {
  if (has_last_resort_) {
    return;
  }
  // Attributes go in the reverse order of their coming, so that this one goes before HDF5's, which
  // closes files.
  int key = 0;
  if (mpi.MPI_Comm_create_keyval(keep_attribute, write_at_finalize, &key, nullptr) == kMpiSuccess) {
    mpi.MPI_Comm_set_attr(mpi.self, key, nullptr);
  }
  has_last_resort_ = true;
}

}  // namespace stria::hdf5
