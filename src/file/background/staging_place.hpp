// A place where files are written before they come to their own: a directory near the program, or
// one of a store.
//
// Method: a file that is staged has its whole path as its name, so that a later program knows where
// it belongs. Until it is whole it has a temporary name there, as any new file. From then on it is
// a file like others. It stays until the one at its own place is whole.
// Other users may share the place: what they put there is neither read nor brought anywhere.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file/background/partial_file.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Returns where the file of this path, named from the root, is staged in `place`.
std::string staged_path(const std::string& place, const std::string& path);
/// Returns the path of a file that is staged under this name; nothing for other names.
std::optional<std::string> path_of_staged(const std::string& name);
/// Says where a file is to be read.
struct Nearest {
  std::string path;
  bool is_staged = false;
  std::string remark{};  ///< why one that may be staged is passed by; a sentence for people
};
/// Returns where it is staged, if a whole one of this user is there that isn't older than the one
/// at its own place; else there. kInvalidArgument where both are there and the storage doesn't tell
/// which is newer.
Result<Nearest> find_nearest(storage::Driver& driver, const std::string& place, const std::string& path);
/// How a file that is staged is opened to be read: another user's is not.
inline constexpr storage::OpenOptions kOpenStaged{.mine_only = true};
/// Returns the paths of the files that this user has staged in `place`, by name; none where it
/// isn't there.
Result<std::vector<std::string>> staged_files(storage::Driver& driver, const std::string& place);

/// Brings a whole file from where it is staged to its own place, piece by piece.
class Drain {
 public:
  static constexpr int64_t kPieceBytes = 8 << 20;
  /// `own` is the file at its own place under its temporary name.
  Drain(std::shared_ptr<storage::Driver> driver, std::string staged, std::unique_ptr<PartialFile> own)
      : driver_(std::move(driver)), staged_path_(std::move(staged)), own_(std::move(own)) {}

  /// Copies a piece of up to so many bytes. True once the file has its name at its own place; it is
  /// then no longer staged.
  Result<bool> step(int64_t most_bytes, bool sync);
  /// Moves all pieces.
  Status run(bool sync);
  int64_t done_bytes() const { return done_bytes_; }
  bool is_over() const { return own_->is_published(); }
  const std::string& staged_path() const { return staged_path_; }
  /// Gives up before the first step: the file at its own place, with nothing in it.
  std::unique_ptr<PartialFile> take_own() noexcept { return std::move(own_); }
  /// Removes what was brought to the own place, unless it is whole. The staged file stays.
  void discard() noexcept { own_->discard(); }

 private:
  Status open();

  std::shared_ptr<storage::Driver> driver_;
  std::string staged_path_;
  std::unique_ptr<PartialFile> own_;
  std::unique_ptr<storage::File> staged_;
  std::vector<std::byte> piece_;
  int64_t done_bytes_ = 0;
};

/// What a program that was killed has left in `place`: whole files come to their own place, or go
/// where a newer file is there; parts of files go. Leaves alone what a live program works on, what
/// belongs to others, and links. Returns the paths of the files that were brought; `failure` gets
/// the first failure, as of a file that is at both places where nothing tells which is newer.
std::vector<std::string> drain_place(const std::shared_ptr<storage::Driver>& driver, const std::string& place, Status& failure);

}  // namespace stria::file
