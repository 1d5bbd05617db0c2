// The public C++ API: one standard HDF5 file, written and read by all ranks of a communicator.
//
//   const auto float64 = stria::ElementType::kFloat64;
//   stria::File file = stria::File::create(comm, "run_chk_0001.h5");
//   stria::Dataset dens = file.create_dataset("dens", float64, {blocks, 8, 8, 8});
//   dens.put({{first_block, 0, 0, 0}, {my_blocks, 8, 8, 8}}, {unk, interior, float64});
//   file.commit();
//
// put() only records; commit() moves everything that was put before, as one collective write. Until
// commit() has returned, an old file of the same name stays as it was. Functions throw
// stria::Error; those marked `Collective: yes` must be called by all ranks of the communicator in
// the same order, and throw on all ranks or on none.
//
// With the library stria_serial, which needs no MPI, STRIA_NO_MPI is defined. A file then belongs
// to one process.
#pragma once

#ifndef STRIA_NO_MPI
#include <mpi.h>
#endif

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stria/datatype.hpp"
#include "stria/element_type.hpp"
#include "stria/filters.hpp"
#include "stria/hints.hpp"
#include "stria/phases.hpp"
#include "stria/status.hpp"

namespace stria {

namespace file {
class Session;
}

/// A regular region of a dataset. In each dimension, slowest first, it has `count` blocks of
/// `block` elements, `stride` apart; the first begins at `start`.
struct Hyperslab {
  std::vector<int64_t> start;
  std::vector<int64_t> count;
  std::vector<int64_t> stride{};  ///< empty: `block`
  std::vector<int64_t> block{};   ///< empty: ones
};

/// Data as they lie in the application's memory. `data` must stay valid until commit() or flush()
/// returns, and must not change while they are to be written.
struct Memory {
  Memory(const void* address, Datatype region, ElementType element_type)
      : data(const_cast<void*>(address)), type(std::move(region)), element(element_type) {}
  /// `count` consecutive numbers.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Memory(const T* numbers, int64_t count)
      : Memory(numbers, Datatype::bytes(count * static_cast<int64_t>(sizeof(T))), element_type_of<T>()) {}

  void* data;
  Datatype type;  ///< which bytes, in the order of the hyperslab's elements (C order)
  ElementType element;
};

struct CreateOptions {
  Hints hints{};
  /// Make the file survive a power loss: sync it before the rename, and the directory after it.
  bool sync = true;
  /// Store a checksum of every row of every dataset, taken while packing; see docs/formats/hdf5.md.
  bool checksums = true;
};

struct OpenOptions {
  Hints hints{};
  /// Compare what get() reads with the stored checksums; kCorrupted names dataset and rows. This is
  /// off by default. Hashing takes about a tenth of the time of reading whole blocks from the page
  /// cache. Rows that are got in part are read whole, which may be many times as much as was asked
  /// for. A file whose checksums are themselves damaged can only be opened with this off.
  bool verify = false;
};

struct DatasetOptions {
  /// Store the smallest and largest value that was put, as attributes "minimum" and "maximum" of
  /// the dataset's type.
  bool value_range = false;
  /// The raw data begin at a multiple of this. 0: the hint stria_alignment decides, for datasets of
  /// at least that size.
  int64_t alignment_bytes = 0;
  /// Store numbers in big-endian order.
  bool big_endian = false;
  /// The shape of the pieces in which the file has the dataset; none of its lengths is greater than
  /// the dataset's, and it has at most a gigabyte. Empty: one piece, unless there are filters; then
  /// whole rows, about a megabyte of them. Puts needn't know of chunks. What they put is compressed
  /// and leaves memory at the commit; a flush() copies it. A dataset of one value, or without
  /// elements, has no chunks.
  std::vector<int64_t> chunk{};
  /// What each chunk passes. A chunk that doesn't get smaller by it is stored as it is.
  Filters filters{};
};

/// What a commit or flush did, on this rank; sums of bytes are over all ranks.
struct Report {
  int64_t useful_bytes = 0;  ///< data put or got by all ranks
  int64_t file_bytes = 0;
  double seconds = 0;  ///< since create() or open()
  PhaseTimes phases;
  std::string method;  ///< how the last transfer was made: "list_io" or "two_phase"
  std::string reason;  ///< why that method
};

/// One column of a table of records.
struct Column {
  std::string name;
  int64_t offset_bytes = 0;
  /// A number; or, when string_bytes > 0, a string of fixed size padded with blanks.
  ElementType number = ElementType::kByte;
  int64_t string_bytes = 0;
};

/// What attributes() tells of one attribute.
struct AttributeInfo {
  std::string name;
  /// As Dataset::type_name(): "float64", "string[4]" …; "other": no value to be read.
  std::string type_name;
  std::vector<int64_t> dims;  ///< empty for one value
};

/// A mismatch that verify() found.
struct Damage {
  /// Empty: the file's own metadata, which are names, shapes, types and attributes.
  std::string dataset;
  /// Rows [first_row, last_row) of the first dimension; none: the dataset is missing.
  int64_t first_row = 0;
  int64_t last_row = 0;
};

/// Removes files that a killed program left in `directory` under their temporary names, where the
/// name begins with `prefix`; never one that a live program still writes. Returns their paths.
/// Collective: no; one rank calls it.
std::vector<std::string> remove_abandoned(const std::string& directory, const std::string& prefix);

class File;

/// A dataset of an open file. put() and get() throw kInvalidArgument or kAborted once the file is
/// closed or abandoned, or a new file is committed.
class Dataset {
 public:
  const std::string& path() const;
  ElementType element() const;  ///< of numbers
  const std::vector<int64_t>& dims() const;
  int64_t bytes() const;  ///< of all its elements
  /// The raw data lie in one piece.
  bool is_contiguous() const;
  /// What chunks pass: "shuffle deflate(1)"; empty where they pass nothing, or there are none.
  std::string filters() const;
  /// The bytes that the dataset takes in a file that is open for reading, by the index of its
  /// chunks where it has some; -1 when only libhdf5 can tell. Collective: no.
  int64_t stored_bytes() const;
  std::string type_name() const;  ///< "float64", "string[4]", "record[84]" …

  /// Records a write of `memory` to `slab`. Numbers are converted to the dataset's type, without a
  /// warning. A floating-point number becomes an integer by rounding towards zero; out of range it
  /// becomes the nearest end of the range, and NaN becomes 0. An integer that doesn't fit a
  /// narrower integer type wraps around (modulo 2^n). A value too large for float32 becomes
  /// infinite. Errors are local and thrown here; the file's next commit() then fails on every rank.
  /// A rank may put a dataset in any number of parts, before and after a flush(). But each element
  /// may be put only once in the life of the file: put twice, by one rank or by two, it holds
  /// either value, and its checksum may be that of the other. Elements that are never put read as
  /// zero. Collective: no.
  void put(const Hyperslab& slab, const Memory& memory);
  /// Records a read of `slab` into `memory`, which commit() does. Collective: no.
  void get(const Hyperslab& slab, const Memory& memory);

 private:
  friend class File;
  Dataset(std::shared_ptr<file::Session> session, int index) : session_(std::move(session)), index_(index) {}
  std::shared_ptr<file::Session> session_;
  int index_;
};

class File {
 public:
  /// As below, but for this process alone. MPI is not used, and may be absent. Collective: no; nor
  /// is any call on the file.
  static File create(const std::string& path, const CreateOptions& options = {});
  static File open(const std::string& path, const OpenOptions& options = {});
#ifndef STRIA_NO_MPI
  /// Begins a new file under a temporary name beside `path`. A relative path starts from the
  /// present working directory, even if that changes later. Collective: yes.
  static File create(MPI_Comm comm, const std::string& path, const CreateOptions& options = {});
  /// Opens an HDF5 file for reading, whichever program has written it. All ranks open the file that
  /// has this name now, even if another file gets the name meanwhile; ranks that can't open it
  /// fail. Collective: yes.
  static File open(MPI_Comm comm, const std::string& path, const OpenOptions& options = {});
#endif
  /// Gives up a file that was neither committed nor abandoned. The other ranks need not do the same
  /// at the same time. Their next collective call on the file throws kAborted and names this rank,
  /// with the error that it threw before, if any. At the end of the program, by MPI_Finalize or
  /// exit(), this happens to all open files. Datasets of the file can't be used afterwards. Where
  /// no exception is passing and nothing has failed before, a commit() was forgotten; rank 0 then
  /// says on standard error that a new file is lost. STRIA_VERBOSE=0 turns this message off; a call
  /// of abandon() shows that the loss is intended. Collective: no; waits for nobody.
  ~File();
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;

  // Writing.
  /// Makes a dataset of numbers, and the groups in its path. Throws kInvalidArgument, here and
  /// again at the next collective call, for a shape or a name that isn't possible. A path has at
  /// most 4,096 bytes of UTF-8 and no part "." or "..", and is not within ".stria". All ranks must
  /// pass the same arguments; flush() and commit() check this, and name the call, the argument and
  /// two ranks. Collective: yes, without communication.
  Dataset create_dataset(const std::string& path, ElementType element, const std::vector<int64_t>& dims,
                         const DatasetOptions& options = {});
  /// Makes a small dataset of records with its content: `row_count` rows of `row_bytes` each. Ranks
  /// other than 0 may pass null for `rows`; rows that they pass are compared with those of rank 0.
  /// Collective: as create_dataset().
  void create_table(const std::string& path, const std::vector<Column>& columns, int64_t row_bytes, int64_t row_count,
                    const void* rows);
  /// Makes a small dataset of strings of the fixed length `string_bytes`, padded with blanks. Its
  /// shape is {count, 1} when `as_column`. kInvalidArgument when a string is longer. Collective: as
  /// create_dataset().
  void create_strings(const std::string& path, const std::vector<std::string>& strings, int64_t string_bytes, bool as_column);
  /// Sets an attribute of a dataset or group ("/" is the root): a number, stored in its own type
  /// (bool as uint8), a string, or a list of either. Throws kInvalidArgument for a name that isn't
  /// possible. Collective: as create_dataset().
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  void set_attribute(const std::string& object, const std::string& name, T value) {
    set_numbers(object, name, stored_type<T>(), &value, -1);
  }
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  void set_attribute(const std::string& object, const std::string& name, const std::vector<T>& values) {
    set_numbers(object, name, stored_type<T>(), values.data(), static_cast<int64_t>(values.size()));
  }
  void set_attribute(const std::string& object, const std::string& name, std::string_view value);
  void set_attribute(const std::string& object, const std::string& name, const char* value) {
    set_attribute(object, name, std::string_view(value));
  }
  void set_attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values);

  // Reading.
  std::vector<std::string> datasets() const;
  bool has_dataset(const std::string& path) const;
  Dataset dataset(const std::string& path) const;
  /// Returns the records of a small compound dataset, as bytes. Fills in `columns`, which describe
  /// them, and `row_bytes`. Collective: yes.
  std::vector<std::byte> read_table(const std::string& path, std::vector<Column>* columns, int64_t* row_bytes);
  /// Returns the strings of a small dataset, without blanks and NULs at their ends.
  /// Collective: yes.
  std::vector<std::string> read_strings(const std::string& path);
  /// Returns the attributes of a dataset or group, in order of name. kNotFound when there is no
  /// such object. Collective: yes.
  std::vector<AttributeInfo> attributes(const std::string& object);
  /// Returns a numeric attribute, converted to double. Collective: yes.
  double attribute(const std::string& object, const std::string& name);
  /// Returns an attribute as a number, a std::string, or a std::vector of either. Numbers are
  /// converted as by put(). A list of one value can be read as a value, and a value as a list.
  /// kInvalidArgument when the attribute is of the other kind, or has several values where T is
  /// one; kNotFound when there is no such attribute. Collective: yes.
  template <typename T>
  T attribute(const std::string& object, const std::string& name) {
    if constexpr (std::is_same_v<T, std::string>) {
      return one_of(object, name, string_values(object, name));
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      return string_values(object, name);
    } else if constexpr (std::is_same_v<T, bool>) {
      return one_of(object, name, numbers<uint8_t>(object, name)) != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return one_of(object, name, numbers<T>(object, name));
    } else {
      return numbers<typename T::value_type>(object, name);
    }
  }
  /// True when the file carries Stria's checksums.
  bool has_checksums() const;
  /// Reads everything and compares it with its checksums; elements that were never put must be
  /// zero. `remarks`, if given, gets sentences on what can't be checked, or was changed by other
  /// programs. The ranks share the work; the result is the same on all. kUnsupported: the file has
  /// no checksums. kCorrupted: the checksums are themselves damaged. Datasets named in `except`,
  /// the same on all ranks, are left out, for instance because they were got whole with
  /// OpenOptions::verify. Collective: yes.
  std::vector<Damage> verify(std::vector<std::string>* remarks = nullptr, const std::vector<std::string>& except = {});

  // Both.
  /// Moves everything put so far. Its memory may then be reused; the file stays unfinished.
  /// Collective: yes.
  void flush();
  /// Moves everything put or got so far. A new file is completed, synced if CreateOptions::sync is
  /// set, and takes its name. After an error the new file is gone, and an old one of that name is
  /// unchanged. Collective: yes; the same outcome on every rank.
  void commit();
  /// Gives up a new file. Nothing of it is left. Collective: yes.
  void abandon();

  const std::string& path() const;
  const Report& report() const;
  /// The hints with the values in effect, and what was wrong with those given.
  Hints hints() const;
  const std::vector<std::string>& hint_warnings() const;

 private:
  /// The element type with the representation of T.
  template <typename T>
  static constexpr ElementType stored_type() {
    static_assert(sizeof(T) <= 8, "long double has no type of its own in the file");
    if constexpr (std::is_floating_point_v<T>) {
      return sizeof(T) == 4 ? ElementType::kFloat32 : ElementType::kFloat64;
    } else {
      constexpr ElementType kSigned[] = {ElementType::kInt8, ElementType::kInt16, ElementType::kInt32, ElementType::kInt64};
      constexpr ElementType kUnsigned[] = {ElementType::kUint8, ElementType::kUint16, ElementType::kUint32,
                                           ElementType::kUint64};
      constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
      return std::is_signed_v<T> ? kSigned[kWidth] : kUnsigned[kWidth];
    }
  }
  template <typename T>
  std::vector<T> numbers(const std::string& object, const std::string& name) {
    std::vector<std::byte> bytes = number_values(object, name, stored_type<T>());
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) {
      std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return values;
  }
  template <typename T>
  static T one_of(const std::string& object, const std::string& name, const std::vector<T>& values) {
    require_one(object, name, values.size());
    return values.front();
  }
  static void require_one(const std::string& object, const std::string& name, size_t count);
  /// `count` -1: one number, not a list.
  void set_numbers(const std::string& object, const std::string& name, ElementType type, const void* values, int64_t count);
  std::vector<std::byte> number_values(const std::string& object, const std::string& name, ElementType wanted);
  std::vector<std::string> string_values(const std::string& object, const std::string& name);
  /// Throws when the file was moved from.
  file::Session& session() const;

  explicit File(std::shared_ptr<file::Session> session) : session_(std::move(session)) {}
  std::shared_ptr<file::Session> session_;
};

}  // namespace stria
