// The parts of a new file: files beside it that hold its raw data, each a plain HDF5 file with
// some rows of each dataset.
//
// Problem: ranks of many nodes, or many ranks of one, that write one file wait for each other.
// Method: the raw data go into several files. The file itself, their master, has the metadata, and
// virtual datasets that join the rows. Parts have their final names from the beginning, of a new
// generation; what makes them valid is the master that names them, and that gets its own name by
// the one rename of every commit. Rows are divided evenly and in order, as ranks usually divide
// them, so that most ranks meet one part.
// Parts are made as the temporary name is: anew, and with the attributes of the file that they help
// to replace; a rank that opens another's part compares its number. In a store, parts with parity
// lie on a server each (part_servers.hpp).
// Cost: one broadcast, one agreement and one sum when the file is made; the header of each part,
// which the ranks share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "file/define/definitions.hpp"
#include "file/parts/parted_layout.hpp"
#include "file/session/environment.hpp"

namespace stria::file {

/// Returns how many parts a new file gets by its hints; 0: none.
int part_count(const Environment& environment);

/// Returns the generation of the parts that the file at `path` has; 0: none, -1: not known. Local.
int64_t present_generation(storage::Driver& driver, const std::string& path);

/// Each call gets the file that they are of: their master.
class Parts {
 public:
  /// `layout` places the raw data in the parts, and must outlive this.
  explicit Parts(PartedLayout& layout);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  /// Makes the files. `written_path`: where the master is until it has its name. Collective: yes;
  /// the same outcome everywhere.
  Status create(const StoredFile& file, const std::string& written_path);
  const std::shared_ptr<storage::PartMap>& map() const { return layout_.map(); }
  int64_t generation() const { return generation_; }
  /// Adds the table of parts to the definitions, when all datasets are made.
  Status define_table(const Definitions::Target& target, Definitions& definitions) const;
  /// Says where a lost server takes more than the parity makes up for; else empty. It is the same
  /// on every rank.
  const std::string& server_warning() const { return server_warning_; }
  /// Says in the datasets of `catalog` which rows lie where, for the master's headers.
  void name_sources(Catalog& catalog) const;
  /// Completes those parts that this rank has made, once everything is defined.
  Status finish(const StoredFile& file, const Catalog& catalog, bool sync);
  /// Removes those parts that this rank has made.
  void discard(storage::Driver& driver) noexcept;
  /// Rank 0, when the file has its name: removes the parts of other generations, and
  /// their parity.
  void clear_others(const StoredFile& file) noexcept;

 private:
  /// Removes, on rank 0, what killed programs left behind, and returns a generation of which there
  /// is no part.
  static Result<int64_t> find_generation(const StoredFile& file);
  /// Returns how many files there are with the master and its parity.
  int set_files(const StoredFile& file) const {
    return map()->part_count() + static_cast<int>(file.environment.hints.parity_count) + 1;
  }
  /// Notes, where parts lie on a server each, which is near the rank that makes each part.
  Status find_near_servers(const StoredFile& file);
  /// Chooses, on rank 0, on which server of a store each part lies.
  Status choose_servers(const StoredFile& file, const std::string& written_path, int64_t& up_count);
  bool is_own(const StoredFile& file, int part) const;
  void note_server_count(const StoredFile& file, int servers);
  Status make_own(const StoredFile& file);
  std::vector<int64_t> own_numbers() const;
  Status finish_part(const StoredFile& file, int number, const Catalog& catalog, bool sync) const;

  PartedLayout& layout_;
  int64_t generation_ = 0;
  std::vector<int64_t> servers_;  // the servers of each part; -1: the storage's choice
  std::string server_warning_;
  std::map<int, std::unique_ptr<storage::File>> own_;
};

}  // namespace stria::file
