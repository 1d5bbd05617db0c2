// The handles by which a rank moves the raw data of a file: through the page cache and past it,
// into the file itself or into its parts, at once or staged.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "file/background/staging.hpp"
#include "file/session/environment.hpp"
#include "file/session/file_identity.hpp"
#include "storage/driver.hpp"
#include "storage/parted/parted_file.hpp"
#include "stria/status.hpp"

namespace stria::file {

class DataHandles {
 public:
  /// Holds what a transfer needs on this rank.
  struct Use {
    bool writes = false;  ///< the rank writes to the file itself
    bool has_data = false;
    bool direct = false;  ///< aligned stretches go past the page cache
  };
  /// The file that it goes to.
  struct Place {
    StoredFile file;                   ///< the file as it lies now
    const FileIdentity& of_rank_0;     ///< the identity of rank 0's file
    bool grows = false;                ///< it was there before
    storage::File* created = nullptr;  ///< rank 0's handle
    Staging* staging = nullptr;        ///< what is written is staged here
  };

  /// The raw data go to parts beside the file.
  void spread(std::shared_ptr<const storage::PartMap> parts) { parts_ = std::move(parts); }
  bool are_spread() const { return parts_ != nullptr; }

  /// Opens the handles that a transfer needs and that are not open.
  Status open(const Use& use, const Place& place);
  /// This rank's handle on the file itself, opened where none was needed.
  Result<storage::File*> own(const Place& place);
  /// Returns the handle that data go through; null where none was needed.
  storage::File* cached() const { return staged_ != nullptr ? staged_.get() : parted_ != nullptr ? parted_.get() : file_; }
  /// Returns the same file past the page cache, or null.
  storage::File* direct() const { return direct_parted_ != nullptr ? direct_parted_.get() : direct_file_.get(); }
  /// What is written is staged by this; null where it isn't.
  storage::File* staged() const { return staged_.get(); }

  /// Makes what this rank has written to parts durable if asked, and closes them.
  Status close_parts(bool sync);
  /// Closes those of parts and past the page cache; with `own_too`, this rank's own.
  Status close(bool own_too);
  /// Frees those that close() has closed.
  void release(bool own_too);
  /// Gives this rank's own handle to a commit in the background; null: it has none.
  std::unique_ptr<storage::File> depart() noexcept;
  void discard() noexcept;

 private:
  Status open_direct(storage::OpenOptions open, const Environment& environment);

  std::unique_ptr<storage::File> opened_;  // other ranks, when the first transfer needs it
  storage::File* file_ = nullptr;          // that, or rank 0's
  std::shared_ptr<storage::Driver> direct_driver_;
  std::unique_ptr<storage::File> direct_file_;
  std::shared_ptr<const storage::PartMap> parts_;
  std::unique_ptr<storage::PartedFile> parted_;         // around file_
  std::unique_ptr<storage::PartedFile> direct_parted_;  // the same; in place of direct_file_
  std::unique_ptr<storage::File> staged_;               // around file_
};

}  // namespace stria::file
