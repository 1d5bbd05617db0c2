// A new file under its temporary name, or an old one that grows: this rank's handles, and on rank 0
// the change of the name, or of the bytes that make what was added valid.
//
// Until then, an old file of the final name stays as it was. Nothing here communicates. What it has
// made, it also removes: it keeps that, and the open file comes with each call.
#pragma once

#include <memory>
#include <string>

#include "container/image.hpp"
#include "file/background/background_commit.hpp"
#include "file/background/staging_place.hpp"
#include "file/background/unpublished_file.hpp"
#include "file/session/open_file.hpp"
#include "file/write/target/data_handles.hpp"
#include "file/write/target/file_place.hpp"
#include "file/write/target/growing_file.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

class NewFile {
 public:
  using Use = DataHandles::Use;

  /// `path` is as the storage knows it. `grows`: the file is there.
  NewFile(const access::ResolvedHints& hints, const std::string& path, bool grows)
      : place_(hints, path, grows), grows_(grows) {}

  /// Makes the file, on rank 0. Links are followed: place().path() may be another one then, which
  /// other ranks are told.
  Status create(OpenFile& file);
  FilePlace& place() { return place_; }
  /// Rank 0, where the file is staged at a place of its own and nothing is written yet: reserves
  /// room for so many bytes there. Where there is none, or storage fails, the file is written to
  /// its own place. True where it is staged.
  bool has_room(const OpenFile& file, int64_t bytes);
  /// Holds what rank 0 has met; each is a success where there was none.
  struct Troubles {
    Status of_place;  ///< why has_room() is false
    Status of_drain;  ///< why what a killed program has staged there wasn't brought from it
  };
  const Troubles& troubles() const { return troubles_; }
  /// Rank 0, of a file that grows: opens it, and keeps out other writers. kAlreadyExists when there
  /// is one. Nothing of the file changes. Links are followed likewise.
  Status open_old(OpenFile& file);
  /// Rank 0, of a file that grows; else null.
  GrowingFile* growing() const { return grows_ ? static_cast<GrowingFile*>(target_.get()) : nullptr; }
  /// Rank 0's handle; null before create() and on other ranks.
  storage::File* created() const { return target_ != nullptr ? target_->file() : nullptr; }

  /// This rank's handles for the raw data.
  DataHandles& handles() { return handles_; }

  /// What is written from now on is staged in `commit`, which also gets the end of the file. It
  /// must outlive this, or be taken by depart().
  void stage(BackgroundCommit& commit) { background_ = &commit; }
  /// Rank 0 tells this: the commit in the background makes this parity too.
  void protect(std::unique_ptr<LoneParity> parity) noexcept { parity_ = std::move(parity); }
  /// Returns where what is written is staged, or null.
  Staging* staging() const { return background_ != nullptr ? &background_->staging() : nullptr; }
  /// Gives the handles to the commit that was staged. Local.
  void depart(const OpenFile& file) noexcept;

  /// Opens the handles that a transfer needs and that are not open.
  Status open(OpenFile& file, const Use& use);
  /// Reserves, on rank 0, the file's space up to `end` where the storage can. So a full device is
  /// found before anything is moved, and direct writes into reserved space run side by side.
  Status reserve_space(OpenFile& file, int64_t end);
  /// Makes what this node has written durable. What is staged isn't written yet: then it only opens
  /// the handle that is to do so.
  Status sync(const OpenFile& file);
  /// Closes all handles except rank 0's first one, which holds the file's lock, and those of a
  /// commit that was staged.
  Status close_handles(OpenFile& file);
  /// Rank 0 calls this.
  Status write(OpenFile& file, const container::SparseImage& image);
  /// Rank 0, when all ranks have written: size, sync, name, sync of the directory. Where the file
  /// grows: size, sync, the bytes that make it valid, sync.
  Status publish(OpenFile& file, int64_t file_bytes, bool sync);
  /// Tells whether the file has its name. The other ranks are told.
  bool is_published() const { return published_; }
  void note_published(bool published) { published_ = published; }
  /// Releases everything, once all ranks know the outcome.
  void release();
  /// Leaves nothing behind. Rank 0 removes the temporary file, which other ranks may
  /// still have open.
  void discard() noexcept;

 private:
  /// Returns where the handles lead.
  DataHandles::Place present(const OpenFile& file) const;
  Status reserve_own_place(const Environment& environment, std::unique_ptr<PartialFile> own);
  void write_to_own_place(const Status& why);

  FilePlace place_;
  bool published_ = false;
  bool grows_ = false;
  std::unique_ptr<UnpublishedFile> target_;  // rank 0
  Troubles troubles_;
  std::unique_ptr<Drain> drain_;  // where the file is staged
  DataHandles handles_;
  BackgroundCommit* background_ = nullptr;
  std::unique_ptr<LoneParity> parity_;  // rank 0's, of a commit in the background
};

}  // namespace stria::file
