// The members and parity of a file as they are found: what of them is right, and what can be made
// again.
//
// Problem: a disk gives back other bytes than were written, or a file is gone, and what is left has
// to serve as the whole.
// Method: a unit counts if its sum is the one in the stripe's record; any parity file has the
// record. What doesn't count is made again from the units of the stripe that do. In a store, a file
// whose server doesn't answer is missing.
// Cost: a unit that is right is read once. One that isn't takes all others of its stripe: memory
// for members + parities units in each handle, however large the files are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file/parity/parity_code.hpp"
#include "file/parity/parity_head.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Says what was found missing or damaged.
struct ParityTrouble {
  std::string words{};     ///< "'a.h5.part-1-0' is missing"
  bool is_unseen = false;  ///< it lies on a disk of another node; or that disk is lost
};
/// Returns their words, with commas between.
std::string in_words(const std::vector<ParityTrouble>& troubles);

class ParitySet {
 public:
  /// Finds the parity of the file at `path`, which may itself be missing. Where there is that of
  /// several generations, it is the one that more of what is there agrees with. kNotFound where
  /// there is none that can be read.
  static Result<std::shared_ptr<ParitySet>> find(const std::shared_ptr<storage::Driver>& driver, const std::string& path);

  const ParityHead& head() const { return head_; }
  const std::string& path() const { return path_; }
  /// Returns the path of a unit's file: those of data, then those of parity.
  const std::string& path_of(int unit) const { return files_[file_of_unit_[static_cast<size_t>(unit)]].path; }
  bool is_missing(int unit) const { return files_[file_of_unit_[static_cast<size_t>(unit)]].file == nullptr; }
  /// Tells whether the file had its name when its parity was completed.
  bool is_committed() const { return is_committed_; }
  /// Returns the bytes that a file of the set has: of the one that is protected, or of a part.
  int64_t bytes_of_file(const std::string& name) const;
  /// Returns the open file of this path; null where it is missing.
  storage::File* file_at(const std::string& path);

  enum class Which { kFileItself, kAll };
  /// Checks that the file, and its parts where `which` says so, are no younger than their parity,
  /// as far as the storage tells. kInvalidArgument: a program has written into them since.
  Status check_age(Which which) const;

  /// Reads a unit, or makes it again. `to` has room for head().unit_bytes. kCorrupted says what is
  /// lost.
  Status read_unit(int64_t stripe, int unit, std::byte* to);

  /// A stripe as a whole. The units are right unless `is_beyond_repair`.
  struct Stripe {
    std::vector<std::byte*> units;
    std::vector<bool> was_wrong;
    std::vector<uint64_t> record;
    std::vector<bool> was_record_wrong;  ///< by number of parity
    bool is_beyond_repair = false;
  };
  Result<const Stripe*> read_stripe(int64_t stripe);

  /// Returns what was found missing or damaged so far.
  std::vector<ParityTrouble> troubles() const;

 private:
  struct OneFile {
    std::string path;
    std::unique_ptr<storage::File> file;  // null where it is missing
    std::string why_away;                 // where it has a name, but its server doesn't answer
    bool is_unseen = false;               // on a disk that this node doesn't see
    int64_t wrong_units = 0;
  };

  ParitySet(std::shared_ptr<storage::Driver> driver, std::string path, ParityHead head);
  static Result<std::shared_ptr<ParitySet>> open(const std::shared_ptr<storage::Driver>& driver, const std::string& path,
                                                 int64_t generation);
  void open_files();
  bool has_its_length() const;
  size_t add_file(const std::string& path);
  void give_up_if_away(OneFile& one);
  bool read_record(int64_t stripe, int parity, std::vector<uint64_t>& record);
  /// Reads what a file has of a unit, and zeros behind it. Whether it is right.
  bool read_as_it_is(int64_t stripe, int unit, uint64_t sum, std::byte* to);
  void note_wrong(int unit) { ++files_[file_of_unit_[static_cast<size_t>(unit)]].wrong_units; }
  /// Returns how many units of a sample are right.
  int agreement();
  /// Tells whether the units of stripe_, as they are, have the parity that they should.
  bool agrees_with_parity() const;
  std::vector<uint64_t> record_of_units(int64_t stripe) const;
  Status beyond_repair(int64_t stripe) const;
  std::optional<int64_t> changed_ns(int unit) const;

  std::shared_ptr<storage::Driver> driver_;
  std::string path_;
  ParityHead head_;
  ParityCode code_;
  bool is_committed_ = false;
  std::vector<OneFile> files_;
  std::vector<size_t> file_of_unit_;
  std::vector<bool> has_head_;  // by number of parity
  std::vector<std::byte> memory_;
  Stripe stripe_;
  int64_t stripe_number_ = -1;  // the number that stripe_ has
};

}  // namespace stria::file
