// The public C++ API: one standard HDF5 file, written and read by all ranks of a communicator.
//
//   stria::File file = stria::File::create(comm, "run_chk_0001.h5");
//   stria::Dataset dens = file.create_dataset("dens", stria::ElementType::kFloat64, {blocks, 8, 8, 8});
//   dens.put({{first_block, 0, 0, 0}, {my_blocks, 8, 8, 8}}, stria::Memory(unk, interior, stria::ElementType::kFloat64));
//   file.commit();
//
// put() records, commit() moves: everything put before a commit travels as one collective write. Until commit() has returned, a
// file of the same name stays as it was. Functions throw stria::Error; those marked `Collective: yes` must be called by all
// ranks of the communicator in the same order, and throw on all ranks or on none.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "stria/datatype.hpp"
#include "stria/element_type.hpp"
#include "stria/hints.hpp"
#include "stria/phases.hpp"
#include "stria/status.hpp"

namespace stria {

namespace file {
class Session;
}

/// A regular region of a dataset: per dimension, slowest first, `count` blocks of `block` elements, `stride` apart, from
/// `start`.
struct Hyperslab {
  std::vector<int64_t> start;
  std::vector<int64_t> count;
  std::vector<int64_t> stride{};  ///< empty: `block`
  std::vector<int64_t> block{};   ///< empty: ones
};

/// Data as it lies in the application's memory. `data` must stay valid, and for writing unchanged, until commit() or flush()
/// returns.
struct Memory {
  Memory(const void* address, Datatype region, ElementType element_type)
      : data(const_cast<void*>(address)), type(std::move(region)), element(element_type) {}
  /// `count` consecutive numbers.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Memory(const T* numbers, int64_t count)
      : Memory(numbers, Datatype::bytes(count * static_cast<int64_t>(sizeof(T))), element_type_of<T>()) {}

  void* data;
  Datatype type;  ///< which bytes, in the order in which the hyperslab takes them (C order)
  ElementType element;
};

struct CreateOptions {
  Hints hints{};
  /// Survive a power loss: sync before the rename and the directory after it.
  bool sync = true;
  /// Store a checksum of every row of every dataset, taken while packing; see docs/formats/hdf5.md.
  bool checksums = true;
};

struct OpenOptions {
  Hints hints{};
  /// Compare what get() reads with the stored checksums; kCorrupted names dataset and rows.
  bool verify = false;
};

struct DatasetOptions {
  /// Keep the smallest and largest value put as attributes "minimum" and "maximum" of the dataset's type.
  bool value_range = false;
  /// The raw data begin at a multiple of this; 0: the hint stria_alignment for datasets of at least that size.
  int64_t alignment_bytes = 0;
  /// Put numbers into the file in big-endian order.
  bool big_endian = false;
};

/// What a commit or flush did, on this rank; sums of bytes are over all ranks.
struct Report {
  int64_t useful_bytes = 0;  ///< data put or got by all ranks
  int64_t file_bytes = 0;
  double seconds = 0;  ///< since create() or open(), on this rank
  PhaseTimes phases;
  std::string method;  ///< of the last transfer: "list_io" or "two_phase"
  std::string reason;  ///< why that method
};

/// One column of a table of records.
struct Column {
  std::string name;
  int64_t offset_bytes = 0;
  ElementType number = ElementType::kByte;  ///< a number; or, when string_bytes > 0, a string of fixed size padded with blanks
  int64_t string_bytes = 0;
};

/// A mismatch that verify() found.
struct Damage {
  std::string dataset;
  int64_t first_row = 0;  ///< rows [first_row, last_row) of the first dimension
  int64_t last_row = 0;
};

/// Removes files that begin with `prefix` in `directory` which a killed program left under their temporary names, but none that
/// a live program still writes; returns their paths. Local: one rank calls it.
std::vector<std::string> remove_abandoned(const std::string& directory, const std::string& prefix);

class File;

/// A dataset of an open file; valid as long as the file is.
class Dataset {
 public:
  const std::string& path() const;
  ElementType element() const;  ///< of numbers
  const std::vector<int64_t>& dims() const;
  int64_t bytes() const;          ///< of all its elements
  bool is_contiguous() const;     ///< raw data lie in one piece that the engine reads itself
  std::string type_name() const;  ///< "float64", "string[4]", "record[84]" …

  /// Records a write of `memory` to `slab`. Numbers are converted to the dataset's type while packing. Errors are local and
  /// thrown here; the file's next commit() then fails on every rank. Any rank may put a dataset in any number of parts, also on
  /// both sides of a flush(), but each element only once in the life of the file: put twice, by one rank or by two, it holds
  /// either value, and its checksum may be that of the other. What nobody puts reads as zero. Collective: no.
  void put(const Hyperslab& slab, const Memory& memory);
  /// Records a read of `slab` into `memory`, done by commit(). Collective: no.
  void get(const Hyperslab& slab, const Memory& memory);

 private:
  friend class File;
  Dataset(std::shared_ptr<file::Session> session, int index) : session_(std::move(session)), index_(index) {}
  std::shared_ptr<file::Session> session_;
  int index_;
};

class File {
 public:
  /// Begins a new file under a temporary name beside `path`. Collective: yes.
  static File create(MPI_Comm comm, const std::string& path, const CreateOptions& options = {});
  /// Opens an HDF5 file, Stria's or another's, for reading. Collective: yes.
  static File open(MPI_Comm comm, const std::string& path, const OpenOptions& options = {});
  /// A file that was neither committed nor abandoned is abandoned.
  ~File();
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;

  // Writing.
  /// Makes a dataset of numbers; groups in its path are made too. All ranks pass the same arguments, which commit() checks.
  /// Collective: yes, without communication.
  Dataset create_dataset(const std::string& path, ElementType element, const std::vector<int64_t>& dims,
                         const DatasetOptions& options = {});
  /// Makes a small dataset of records, whole: `row_count` rows of `row_bytes` each. Rank 0's content counts. Collective: as
  /// create_dataset.
  void create_table(const std::string& path, const std::vector<Column>& columns, int64_t row_bytes, int64_t row_count,
                    const void* rows);
  /// Makes a small dataset of fixed-length strings of `string_bytes`, padded with blanks; shape {count, 1} when `as_column`.
  /// Collective: as create_dataset.
  void create_strings(const std::string& path, const std::vector<std::string>& strings, int64_t string_bytes, bool as_column);
  /// Sets an attribute of a dataset or group ("/" is the root). Collective: as create_dataset.
  void set_attribute(const std::string& object, const std::string& name, double value);
  void set_attribute(const std::string& object, const std::string& name, int64_t value);
  void set_attribute(const std::string& object, const std::string& name, const std::string& value);

  // Reading.
  std::vector<std::string> datasets() const;
  bool has_dataset(const std::string& path) const;
  Dataset dataset(const std::string& path) const;
  /// The records of a small compound dataset: bytes as they are described by `columns`, which are filled in. Collective: yes.
  std::vector<std::byte> read_table(const std::string& path, std::vector<Column>* columns, int64_t* row_bytes);
  /// The strings of a small dataset, blanks and NULs at their ends cut off. Collective: yes.
  std::vector<std::string> read_strings(const std::string& path);
  /// A numeric attribute, converted. Collective: yes.
  double attribute(const std::string& object, const std::string& name);
  /// True when the file carries Stria's checksums.
  bool has_checksums() const;
  /// Reads everything that has a checksum and compares; work is shared among the ranks, the result is the same on all.
  /// Collective: yes.
  std::vector<Damage> verify();

  // Both.
  /// Moves everything put so far, so that its memory may be reused; the file stays unfinished. Collective: yes.
  void flush();
  /// Moves everything put or got so far; a new file is completed, synced if asked, and takes its name. Collective: yes; the
  /// same outcome on every rank. After an error a new file is gone and the old one of that name is untouched.
  void commit();
  /// Gives up a new file: nothing of it is left. Collective: yes.
  void abandon();

  const std::string& path() const;
  const Report& report() const;
  /// Hints with the values really in effect, and what was wrong with those given.
  Hints hints() const;
  const std::vector<std::string>& hint_warnings() const;

 private:
  explicit File(std::shared_ptr<file::Session> session) : session_(std::move(session)) {}
  std::shared_ptr<file::Session> session_;
};

}  // namespace stria
