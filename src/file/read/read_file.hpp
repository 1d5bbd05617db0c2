// A file that is read, on one rank: where it is, by what it is read, and its turn to parity.
//
// Problem: a program may add to the file while it is opened. A part of it may be damaged or
// missing, but most files are whole, and must not pay for those that aren't.
// Method: rank 0 reads the head first, and all ranks go by it. A file is read as if it were whole.
// Where that fails and there is parity, what was opened is dropped, and opened anew on the parity
// set, which compares every unit with its sum.
// Cost: one read of 512 bytes on rank 0; nothing else for a whole file.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/formats/lazy_reader.hpp"
#include "file/parity/parity_set.hpp"
#include "file/session/open_file.hpp"
#include "storage/driver.hpp"
#include "storage/parted/part_map.hpp"
#include "storage/steady/steady_file.hpp"
#include "stria/status.hpp"

namespace stria::file {

struct ReadFile {
  std::string path;                                 ///< the path as the storage knows it
  bool verify = false;                              ///< data must not differ from their sums
  bool is_staged = false;                           ///< true: this is where it is staged
  std::vector<std::byte> head{};                    ///< the head as rank 0 has read it
  std::shared_ptr<const storage::PartMap> parts{};  ///< null: all data are in the file itself
  std::shared_ptr<ParitySet> parity{};              ///< by which it is read; null: as it is
  std::string healing_remark{};                     ///< why it is read by that, for people
  std::unique_ptr<storage::File> file{};            ///< null: it isn't open
  storage::SteadyFile* steady = nullptr;            ///< rank 0's, within `file`
  container::LazyReader reader{};                   ///< the reader of `file`
};

/// Opens it, unless it is open. Local.
Status open_handle(OpenFile& file, ReadFile& source);
/// Has its reader too. Local. \pre it is open
Status open_reader(ReadFile& source);
void close_handles(ReadFile& source) noexcept;
/// Takes up the parts of which it has a `table`, unless that is empty. Local.
Status take_parts(std::span<const std::byte> table, ReadFile& source);
/// Reads the raw data from its parts, where it has some. Local.
void join_parts(const OpenFile& file, ReadFile& source);

/// Tells whether a failure may come from damage that parity heals.
bool may_be_damage(const Status& failure);
/// Takes up the parity. Local.
Status find_parity(const OpenFile& file, ReadFile& source);
/// Notes why the file is read by its parity. Local.
void note_healing(const OpenFile& file, const Status& failure, ReadFile& source);
/// Rank 0, before the others take part: turns to the parity where a failure may come from damage.
/// Whether it has.
Result<bool> turn_to_parity(const OpenFile& file, const Status& failure, ReadFile& source);

}  // namespace stria::file
