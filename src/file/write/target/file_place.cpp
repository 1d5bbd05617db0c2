#include "file/write/target/file_place.hpp"

#include "file/background/partial_file.hpp"
#include "file/background/staging_place.hpp"

namespace stria::file {

// A file in parts is not staged, because its parts lie beside it.
FilePlace::FilePlace(const access::ResolvedHints& hints, const std::string& path, bool grows)
    : staging_place_(hints.subfile_count != 0 || hints.parity_count != 0 ? std::string() : hints.staging_place), grows_(grows) {
  follow(path);
}

void FilePlace::follow(const std::string& path) {
  path_ = path;
  written_path_ = grows_ || staging_place_.empty() ? path : staged_path(staging_place_, path);
  partial_path_ = grows_ ? path : partial_path(written_path_);
  own_partial_path_ = partial_path(path);
}

void FilePlace::write_to_own() noexcept {
  is_own_ = true;
  partial_path_.swap(own_partial_path_);
}

void FilePlace::agree(bool is_staged) noexcept {
  is_agreed_ = true;
  if (!is_staged && !is_own_) {  // rank 0 has left it already
    write_to_own();
  }
}

}  // namespace stria::file
