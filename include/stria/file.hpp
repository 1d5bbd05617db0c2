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
// Threads: different files may be used from different threads at the same time, where MPI was
// initialised with MPI_THREAD_MULTIPLE and each file has a communicator of its own, or the files
// are of one process. A file and its datasets are
// used by one thread at a time: a call that comes while another thread is in one throws
// kInvalidArgument and does nothing, and the file's next collective call fails on every rank.
//
// With the library stria_serial, which needs no MPI, STRIA_NO_MPI is defined. A file then belongs
// to one process.
#pragma once

#ifndef STRIA_NO_MPI
#include <mpi.h>
#endif

#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stria/commit.hpp"
#include "stria/dataset.hpp"
#include "stria/fill_value.hpp"
#include "stria/filters.hpp"
#include "stria/format.hpp"
#include "stria/hints.hpp"
#include "stria/meaning.hpp"
#include "stria/phases.hpp"

namespace stria {

struct CreateOptions {
  Hints hints{};
  /// Make the file survive a power loss: sync it before the rename, and the directory after it.
  bool sync = true;
  /// Store a checksum of every row of every dataset, taken while packing; see docs/formats/hdf5.md.
  /// Of the records of a netCDF file: docs/formats/netcdf.md.
  bool checksums = true;
  /// Classic netCDF has no groups, records of columns, chunks and empty dimensions: such a call
  /// throws kUnsupported or kInvalidArgument, and names the object. See docs/formats/netcdf.md.
  Format format = Format::kAutomatic;
  /// Keep the order in which groups, datasets, links and attributes were made: programs that ask
  /// for it list them so, as does Stria; others go by name. It is that of the calls; a group comes
  /// with its first member. netCDF files always keep it. A group of many members takes readers
  /// longer to search.
  bool track_order = false;
};

struct OpenOptions {
  Hints hints{};
  /// Compare what get() reads with the stored checksums; kCorrupted names dataset and rows. This is
  /// off by default. Hashing takes about a tenth of the time of reading whole blocks from the page
  /// cache. Rows that are got in part are read whole, which may be many times as much as was asked
  /// for. A file whose checksums are themselves damaged can only be opened with this off.
  bool verify = false;
};

struct AppendOptions {
  Hints hints{};
  /// The same as CreateOptions::sync. Without it, a power loss during the commit may cost the file.
  bool sync = true;
};

/// The first dimension of a new dataset that has no rows yet, and may get any number.
inline constexpr int64_t kUnlimited = -1;

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
  /// the dataset's, but for kUnlimited, and it has at most a gigabyte. Empty: one piece, unless
  /// there are filters or kUnlimited; then whole rows, about a megabyte of them, or 16 KiB where
  /// rows can be appended. Puts needn't know of chunks. What they put is compressed and leaves
  /// memory at the commit; a flush() copies it. A dataset of one value, or without elements, has no
  /// chunks.
  std::vector<int64_t> chunk{};
  /// What each chunk passes. A chunk that doesn't get smaller by it is stored as it is.
  Filters filters{};
  /// The names of the dimensions, for xarray and other readers of netCDF. Datasets with the same
  /// name share the dimension, and so its length; a dataset of one dimension that has its name
  /// holds its coordinates. A name that is empty is made from the length. In HDF5 files names are
  /// paths, of the dataset's group or one above; where none is given at all, dimensions have none.
  /// A first dimension of kUnlimited needs a name, which others of kUnlimited may share; it is as
  /// long as the longest of them.
  std::vector<std::string> dimensions{};
  /// What other programs take the numbers for. See Meaning.
  Meaning meaning = Meaning::kNumber;
  /// Names of the values of integers, an enumeration of HDF5: h5py's enum_dtype. Numbers are put
  /// and got as ever, also those that have no name. kInvalidArgument for a name that is empty or
  /// comes twice, a value that comes twice or that the type can't hold, and other types;
  /// kUnsupported in netCDF files.
  std::vector<NamedNumber> enumeration{};
  /// The dataset can get more rows, as one of kUnlimited can, but has those of its shape to begin
  /// with. netCDF: the first dimension is the unlimited one, of which a file has one at most. All
  /// such datasets have as many rows (records), which other programs may add to, and are defined
  /// before the first flush().
  bool unlimited = false;
  /// What elements read as that nobody puts; not given: zero. Where the dataset lies in one piece
  /// and isn't put whole before the first flush() or commit() that has puts of it, the ranks write
  /// it everywhere first. netCDF files, and datasets with names of dimensions, have it as the
  /// attribute "_FillValue" too, for readers that leave such elements out. kInvalidArgument where
  /// the type can't hold it. Of half precision it is the bits, a uint16_t.
  FillValue fill_value{};
  /// A hash of data that all ranks have alike, of which one puts them: the commit fails where the
  /// ranks' hashes differ. 0: none.
  uint64_t data_hash = 0;
  /// File::create_string_dataset() declares that shorter strings end with blanks, as in Fortran;
  /// else that they end with NULs.
  bool blank_padded = false;
};

/// Says what a commit or flush did, on this rank; sums of bytes are over all ranks.
struct Report {
  int64_t useful_bytes = 0;  ///< data put or got by all ranks
  int64_t file_bytes = 0;
  double seconds = 0;  ///< since create() or open()
  PhaseTimes phases;
  std::string method;  ///< how the last transfer was made: "list_io" or "two_phase"
  std::string reason;  ///< why that method
  /// What append() has found behind the end of the file, left there by a commit that did not
  /// complete, and has cleared.
  int64_t cleared_bytes = 0;
  /// The most memory that copies of puts have taken on this rank at a time: of Dataset::put_copy(),
  /// Memory::copied(), and small puts.
  int64_t copied_bytes = 0;
};

/// Records as they lie in memory, `row_bytes` apart: of each the columns. What lies between them is
/// neither put nor got. They go to the dataset's columns of the same names, in whatever order, and
/// are converted as numbers of datasets are: width, integers and floating point, half precision.
/// Records that aren't the file's byte for byte are copied: at put(), after which their memory may
/// change, or until a get is done. What is put has all columns of the file; what is got may have
/// some of them. A string goes to a longer one, padded as the file says, and to a shorter one if it
/// fits. kInvalidArgument for a column that isn't within its row, and from put() and get() where
/// the dataset has no such column, or one of another kind; kUnsupported for one whose type isn't
/// known.
Memory records(const void* rows, int64_t row_count, int64_t row_bytes, const std::vector<Column>& columns);
/// Records of an array of structs: stria::records(particles.data(), n, columns).
template <typename Struct>
Memory records(const Struct* rows, int64_t row_count, const std::vector<Column>& columns) {
  return records(rows, row_count, static_cast<int64_t>(sizeof(Struct)), columns);
}

/// The numbers and strings of columns, without records and arrays, for programs that know neither:
/// those of a member or an element by its path, "pos.x", "v[2]", and the parts of a complex number
/// as "z.r" and "z.i". kUnsupported for more than 2^20.
std::vector<Column> flat_columns(const std::vector<Column>& columns, int64_t row_bytes);

/// An object of the same file, as the value of an attribute.
struct Reference {
  std::string path;
};

/// Says what attributes() tells of one attribute.
struct AttributeInfo {
  std::string name;
  /// The same as Dataset::type_name(): "float64", "bool", "complex128", "string[4]", "reference" …;
  /// "other": no value to be read.
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

/// Says how far a commit() or flush() has come on this rank.
struct Progress {
  int64_t done_bytes = 0;   ///< the bytes of what this rank has put or got, as it lies in the file
  int64_t total_bytes = 0;  ///< the bytes of the whole call
};

/// Removes files that a killed program left in `directory` under their temporary names, where the
/// name begins with `prefix`; never one that a live program still writes, nor what isn't this
/// user's own. Where such a name is a link, it looks beside the file to which that leads. Returns
/// their paths. Collective: no; one rank calls it.
std::vector<std::string> remove_abandoned(const std::string& directory, const std::string& prefix);

/// Brings whole files to their own place that a killed program has left where the hint
/// stria_staging was `place`, and removes what isn't whole; never what a live program works on.
/// Returns their paths. Throws stria::Error with the first failure, after it has tried all.
/// Collective: no; one rank calls it.
std::vector<std::string> drain_staged(const std::string& place);

struct DistributedArray;

class File {
 public:
  /// Do the same as those below, but for this process alone. MPI is not used, and may be absent.
  /// Collective: no; nor is any call on the file.
  static File create(const std::string& path, const CreateOptions& options = {});
  static File open(const std::string& path, const OpenOptions& options = {});
  static File append(const std::string& path, const AppendOptions& options = {});
#ifndef STRIA_NO_MPI
  /// Begins a new file under a temporary name beside `path`. A relative path starts from the
  /// present working directory, even if that changes later. A link is followed, also to a file that
  /// is still to come. A file that is replaced hands on its mode, group, access list and extended
  /// attributes; other names of it (hard links) keep the old content. kInvalidArgument for what is
  /// no file, such as a directory or a pipe; kPermissionDenied for a file that can't be written to,
  /// and where another user has taken the temporary name. Collective: yes.
  static File create(MPI_Comm comm, const std::string& path, const CreateOptions& options = {});
  /// Opens an HDF5 or classic netCDF file for reading, whichever program has written it. All ranks
  /// open the file that has this name now, even if another file gets the name meanwhile; ranks that
  /// can't open it fail. Collective: yes.
  static File open(MPI_Comm comm, const std::string& path, const OpenOptions& options = {});
  /// Opens an HDF5 file to add to it: datasets, tables, attributes (one of the same name is
  /// replaced) and rows; a classic netCDF file: records, and values of attributes where they lie.
  /// All that is new goes behind the end. What the file has stays readable throughout; only the
  /// commit's last write makes the new visible, all of it at once, and not to programs that have
  /// the file open. A killed commit leaves the file as it was; the next append() clears the rest.
  /// New data get checksums where the file has them. kAlreadyExists when another program writes to
  /// the file; kUnsupported when its structure can't be added to. Collective: yes.
  static File append(MPI_Comm comm, const std::string& path, const AppendOptions& options = {});
#endif
  /// Gives up a file that was neither committed nor abandoned. The other ranks need not do the same
  /// at the same time. Their next collective call on the file throws kAborted and names this rank,
  /// with the error that it threw before, if any. At the end of the program, by MPI_Finalize or
  /// exit(), this happens to all open files. Datasets of the file can't be used afterwards. Where
  /// no exception is passing and nothing has failed before, a commit() was forgotten; rank 0 then
  /// says on standard error that a new file is lost. STRIA_VERBOSE=0 turns this message off; a call
  /// of abandon() shows that the loss is intended. Collective: no; waits for no other rank, but
  /// for a call of another thread on one of the file's datasets.
  ~File();
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  /// Ends this rank's part as the destructor does, because its own work has failed: nothing is said
  /// on standard error, and the other ranks' next collective call throws kAborted with the first
  /// 200 bytes of `reason`. Later calls throw kInvalidArgument or kAborted. Collective: no; waits
  /// as the destructor.
  void give_up(const std::string& reason);

  // Writing.
  /// Makes a dataset of numbers, and the groups in its path. Throws kInvalidArgument, here and
  /// again at the next collective call, for a shape or a name that isn't possible. The first of
  /// `dims` may be kUnlimited: append_rows() then gives the dataset rows; in netCDF files once the
  /// file is there (append()). A path has at most 4,096 bytes of UTF-8 and no part "." or "..", and
  /// is not within ".stria". All ranks must pass the same arguments; flush() and commit() check
  /// this, and name the call, the argument and two ranks. Collective: yes, without communication.
  Dataset create_dataset(const std::string& path, ElementType element, const std::vector<int64_t>& dims,
                         const DatasetOptions& options = {});
  /// Gives a dataset that was made with kUnlimited `rows` more rows in all: the last ones of the
  /// result, for puts: of numbers, records, or strings of a fixed length, which are put as bytes.
  /// What it has before can't be put again. Each commit writes the index of its
  /// chunks anew, so that few long appends are better than many short ones. kNotFound; kUnsupported
  /// when the dataset has a fixed number of rows. Collective: as create_dataset().
  Dataset append_rows(const std::string& path, int64_t rows);
  /// Appends rows of ranks that each have another number, as particles: as many more as all
  /// have together, and a put of this rank's `count` behind those of lower ranks. It is
  /// place_rows(), append_rows() and Dataset::put_rows() in one. Collective: yes; an error in what
  /// one rank passes is that of the next collective call on the others.
  Dataset append_rows(const std::string& path, int64_t count, const Memory& memory);
  /// Takes up a dataset that a file opened by append() has: what is put into it takes the place of
  /// what the file has there, in the file itself. That is not crash-safe: whatever ends the program
  /// during a flush() or the commit leaves a part of it, and readers may see a part; verify() then
  /// reports the rows. At the commit checksums follow, and the attributes "minimum" and "maximum"
  /// get wider where the dataset has them. Elements that aren't put stay. kNotFound; kUnsupported
  /// for a dataset that is not of numbers in one piece of the file or in chunks without filters;
  /// from flush() or commit(), before anything is overwritten, where elements are put into a chunk
  /// that the file doesn't have yet. Collective: as create_dataset().
  Dataset update(const std::string& path);
  /// Makes a dataset of the array's shape and records a write of each rank's box as Dataset::put()
  /// does, whose promises hold; `stored`: of another type. Ghosts are left out. Boxes of the ranks
  /// must not overlap; what no box covers reads as the fill value. Needs
  /// stria/distributed_array.hpp. Collective: as create_dataset().
  void put(const std::string& path, const DistributedArray& array);
  void put(const std::string& path, const DistributedArray& array, ElementType stored, const DatasetOptions& options = {});
  /// Makes a dataset of records, of which every rank puts its own: Dataset::put() and get() take
  /// memory of records(). In the file a record has its columns one behind the other, in the order
  /// given, in the byte order that each says; h5py and C's libhdf5 see a compound type, whose
  /// strings are declared as padded with NULs. Options for numbers alone throw kUnsupported:
  /// value_range, big_endian, meaning, enumeration, fill_value. Other records in a file are got
  /// likewise, by the columns of columns(). Memory of bytes without columns has records as
  /// columns() tells. Collective: as create_dataset().
  Dataset create_records(const std::string& path, const std::vector<Column>& columns, const std::vector<int64_t>& dims,
                         const DatasetOptions& options = {});
  /// Makes a dataset of strings of `string_bytes` each, of which every rank puts its own, as many
  /// bytes for each element: memory of ElementType::kByte. They are got likewise. Options for
  /// numbers alone throw kUnsupported: value_range, big_endian, meaning, enumeration, fill_value.
  /// Collective: as create_dataset().
  Dataset create_string_dataset(const std::string& path, int64_t string_bytes, const std::vector<int64_t>& dims,
                                const DatasetOptions& options = {});
  /// Makes a small dataset of records with its content: `row_count` rows of `row_bytes` each. Ranks
  /// other than 0 may pass null for `rows`; rows that they pass are compared with those of rank 0.
  /// What lies between the columns of a row is neither compared nor kept.
  /// Collective: as create_dataset().
  void create_table(const std::string& path, const std::vector<Column>& columns, int64_t row_bytes, int64_t row_count,
                    const void* rows);
  /// Makes a small dataset of strings of the fixed length `string_bytes`, padded with blanks. Its
  /// shape is {count, 1} when `as_column`. kInvalidArgument when a string is longer. Collective: as
  /// create_dataset().
  void create_strings(const std::string& path, const std::vector<std::string>& strings, int64_t string_bytes, bool as_column);
  /// Makes a small dataset of strings in the shape `dims`, padded with NULs, as h5py has them; as
  /// long as the longest where `string_bytes` is 0. kInvalidArgument when one is longer, or when
  /// there are more or fewer than the shape has. Collective: as create_dataset().
  void create_string_array(const std::string& path, const std::vector<int64_t>& dims, const std::vector<std::string>& strings,
                           int64_t string_bytes = 0);
  /// Makes a small dataset of texts of any length in UTF-8, in the shape `dims`, as h5py has lists
  /// of Python's strings; in netCDF files as create_string_array(). A text ends at its first NUL.
  /// kInvalidArgument when there are more or fewer than the shape has. `dimensions`: as
  /// DatasetOptions::dimensions. Collective: as create_dataset().
  void create_texts(const std::string& path, const std::vector<int64_t>& dims, const std::vector<std::string>& texts,
                    const std::vector<std::string>& dimensions = {});
  /// Does the same with the element type of T, a number, bool or std::complex: other programs see
  /// bool and complex numbers, unless the options have another meaning. Datasets of complex numbers
  /// get a last dimension of 2, which `dims` and DatasetOptions::chunk leave out.
  template <typename T>
  requires(Number<T> || kIsComplex<T>) Dataset
      create_dataset(const std::string& path, const std::vector<int64_t>& dims, const DatasetOptions& options = {}) {
    DatasetOptions typed = options;
    typed.meaning = options.meaning == Meaning::kNumber ? meaning_of<T>() : options.meaning;
    if constexpr (kIsComplex<T>) {
      std::vector<int64_t> parts = dims;
      parts.push_back(2);
      if (!typed.chunk.empty()) {
        typed.chunk.push_back(2);
      }
      return create_dataset(path, element_type_of<typename T::value_type>(), parts, typed);
    } else {
      return create_dataset(path, element_type_of<T>(), dims, typed);
    }
  }
  /// Makes another name for an object at `target`, which may come later, or not be there: a soft
  /// link. With `file`, of an object of another file; a relative path begins at the directory of
  /// this one. kUnsupported in netCDF files. Collective: as create_dataset().
  void create_link(const std::string& path, const std::string& target);
  void create_link(const std::string& path, const std::string& target, const std::string& file);
  /// Sets an attribute of a dataset or group ("/" is the root): a number, stored in its own type, a
  /// bool, a complex number, a string, a Reference to an object, or a list of one of these. Throws
  /// kInvalidArgument for a name that isn't possible, and kUnsupported for what the file can't
  /// hold: in HDF5 more than 60,000 bytes.
  /// Collective: as create_dataset().
  template <Number T>
  void set_attribute(const std::string& object, const std::string& name, T value) {
    set_numbers(object, name, {.type = element_type_of<T>(), .meaning = meaning_of<T>(), .values = &value});
  }
  template <typename T, size_t N>
  requires Number<std::remove_const_t<T>>
  void set_attribute(const std::string& object, const std::string& name, std::span<T, N> values) {
    set_attribute(object, name, {static_cast<int64_t>(values.size())}, values);
  }
  /// Sets an array of numbers of shape `dims`, slowest first: kInvalidArgument where that isn't
  /// the shape of `values`; kUnsupported in netCDF files for more than one dimension. attribute()
  /// returns the numbers as a list, attributes() their shape.
  template <typename T, size_t N>
  requires Number<std::remove_const_t<T>>
  void set_attribute(const std::string& object, const std::string& name, const std::vector<int64_t>& dims,
                     std::span<T, N> values) {
    using Value = std::remove_const_t<T>;
    set_numbers(object, name,
                {.type = element_type_of<Value>(),
                 .meaning = meaning_of<Value>(),
                 .values = values.data(),
                 .count = static_cast<int64_t>(values.size()),
                 .dims = dims});
  }
  template <Number T>
  requires(!std::is_same_v<T, bool>) void set_attribute(const std::string& object, const std::string& name,
                                                        const std::vector<int64_t>& dims, const std::vector<T>& values) {
    set_attribute(object, name, dims, std::span(values));
  }
  template <std::floating_point T>
  void set_attribute(const std::string& object, const std::string& name, const std::complex<T>& value) {
    set_numbers(object, name, {.type = element_type_of<T>(), .meaning = Meaning::kComplex, .values = &value});
  }
  template <std::floating_point T>
  void set_attribute(const std::string& object, const std::string& name, const std::vector<std::complex<T>>& values) {
    const auto count = static_cast<int64_t>(values.size());
    set_numbers(
        object, name,
        {.type = element_type_of<T>(), .meaning = Meaning::kComplex, .values = values.data(), .count = count, .dims = {count}});
  }
  void set_attribute(const std::string& object, const std::string& name, const Reference& value);
  void set_attribute(const std::string& object, const std::string& name, const std::vector<Reference>& values);
  template <Number T>
  requires(!std::is_same_v<T, bool>) void set_attribute(const std::string& object, const std::string& name,
                                                        const std::vector<T>& values) {
    set_attribute(object, name, std::span(values));
  }
  void set_attribute(const std::string& object, const std::string& name, std::string_view value);
  void set_attribute(const std::string& object, const std::string& name, const char* value) {
    set_attribute(object, name, std::string_view(value));
  }
  void set_attribute(const std::string& object, const std::string& name, const std::vector<std::string>& values);

  /// Sets an attribute to a text of any length in UTF-8, as h5py sets a string of Python's, or to a
  /// list of them; set_attribute() makes strings of one length. Errors and netCDF files: as
  /// set_attribute(). Collective: as create_dataset().
  void set_text(const std::string& object, const std::string& name, std::string_view text);
  void set_texts(const std::string& object, const std::string& name, const std::vector<std::string>& texts);

  // Reading.
  std::vector<std::string> datasets() const;
  /// Tells whether there is a group at `path`; "/" is one. Collective: no.
  bool has_group(const std::string& path) const;
  /// Returns the names in a group, in order, or in that of creation where it keeps one: datasets,
  /// groups and links, but for Stria's own group. kNotFound where there is no such group.
  /// Collective: no.
  std::vector<std::string> members(const std::string& group) const;
  /// Returns, where the link at `path` leads to another file, the object's path and the file's, as
  /// the link has them; empty texts where there is none. Collective: no.
  std::pair<std::string, std::string> link_to_file(const std::string& path) const;
  bool has_dataset(const std::string& path) const;
  Dataset dataset(const std::string& path) const;
  /// Records a read of this rank's box of a dataset, which commit() does. Ghosts stay as they are.
  /// kInvalidArgument, here and at the next collective call of every rank, when the dataset has
  /// another shape. Needs stria/distributed_array.hpp. Collective: no.
  void get(const std::string& path, const DistributedArray& array);
  /// Reads a dataset of numbers whole, at once, as Dataset::read(). Collective: yes.
  template <Number T>
  requires(!std::is_same_v<T, bool>) std::vector<T> read(const std::string& path) {
    return dataset(path).template read<T>();
  }
  /// Returns the records of a small compound dataset, as bytes. Fills in `columns`, which describe
  /// them, and `row_bytes`. Collective: yes.
  std::vector<std::byte> read_table(const std::string& path, std::vector<Column>* columns, int64_t* row_bytes);
  /// Returns the columns of a dataset of records, with their places in a record of read_table(),
  /// and fills in `row_bytes`, the size of one. Numbers have the machine's byte order there,
  /// whatever the file has. The file may also be one that is added to. kUnsupported names a column
  /// whose type isn't known; others can be got all the same. Collective: no.
  std::vector<Column> columns(const std::string& path, int64_t* row_bytes);
  /// Returns the strings of a small dataset, without blanks and NULs at their ends.
  /// Collective: yes.
  std::vector<std::string> read_strings(const std::string& path);
  /// Returns the attributes of a dataset or group, in order of name, or of creation where the file
  /// keeps that. kNotFound when there is no such object. Collective: yes.
  std::vector<AttributeInfo> attributes(const std::string& object);
  /// Returns a numeric attribute, converted to double. Collective: yes.
  double attribute(const std::string& object, const std::string& name);
  /// Returns an attribute as a number, std::complex, std::string, Reference or std::vector of one.
  /// Numbers are converted as by put(). A list of one value can be read as a value, and a value as
  /// a list. kInvalidArgument when the attribute is of another kind, or has several values if T is
  /// one; kNotFound when there is no such attribute. Collective: yes.
  template <typename T>
  T attribute(const std::string& object, const std::string& name) {
    if constexpr (std::is_same_v<T, std::string>) {
      return one_of(object, name, string_values(object, name));
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      return string_values(object, name);
    } else if constexpr (std::is_same_v<T, Reference>) {
      return one_of(object, name, references(object, name));
    } else if constexpr (std::is_same_v<T, std::vector<Reference>>) {
      return references(object, name);
    } else if constexpr (kIsComplex<T>) {
      return one_of(object, name, numbers<T>(object, name));
    } else if constexpr (std::is_same_v<T, bool>) {
      return one_of(object, name, numbers<uint8_t>(object, name)) != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      return one_of(object, name, numbers<T>(object, name));
    } else {
      return numbers<typename T::value_type>(object, name);
    }
  }
  /// True when the file carries Stria's checksums. One process that opened a file without `verify`
  /// reads all that describes it here; kCorrupted where that is damaged.
  bool has_checksums() const;
  /// Reads everything and compares it with its checksums; elements that were never put must have
  /// the fill value. `remarks`, if given, gets sentences on what can't be checked, or was changed
  /// by other programs. Elements that were put more than once are no damage: a remark names their
  /// rows where the values differed. The ranks share the work; the result is the same on all.
  /// kUnsupported: the file has no checksums. kCorrupted: the checksums are themselves damaged.
  /// Datasets named in `except`, the same on all ranks, are left out, for instance because they
  /// were got whole with OpenOptions::verify. Collective: yes.
  std::vector<Damage> verify(std::vector<std::string>* remarks = nullptr, const std::vector<std::string>& except = {});

  // Both.
  /// The place of this rank's `count` rows among those of all ranks, which follow each other in
  /// order of ranks: for Dataset::put_rows(). Collective: yes.
  Rows place_rows(int64_t count);
  /// This rank's share when all ranks share `total` rows evenly: for Dataset::get_rows(), on any
  /// number of ranks. Collective: no.
  Rows share_rows(int64_t total) const;
  /// Calls `report` while a later commit() or flush() moves data: on this rank, in the calling
  /// thread, at most about a hundred times a call, and at its end. `report` must not use the file:
  /// such a call throws kInvalidArgument, and the file's next collective call fails on every rank.
  /// If it ends the File, that happens when the call returns. What it throws is dropped. An empty
  /// function ends the reports. Collective: no.
  void progress(std::function<void(const Progress&)> report);
  /// Moves everything put so far. Its memory may then be reused; the file stays unfinished.
  /// Collective: yes.
  void flush();
  /// Moves everything put or got so far. A new file is completed, synced if CreateOptions::sync is
  /// set, and takes its name. After an error the new file is gone, and an old one of that name is
  /// unchanged. Collective: yes; the same outcome on every rank.
  void commit();
  /// Does the same as commit(), but returns once this rank's data are packed into memory, and the
  /// file's content and outcome no longer depend on the program: arrays that were put may change,
  /// and the file may be destroyed. Writing, sync and the change of the name follow by themselves;
  /// what goes wrong then is told by the result. Of several such files of a rank 0, each gets its
  /// name in turn. The hint stria_staging_limit bounds the memory; what doesn't fit is written
  /// before the call returns. So is everything of files in parts, and where update() overwrites
  /// what a file has; hint_warnings() says why. Collective: yes; the same outcome on every rank.
  Commit commit_async();
  /// Gives up a new file. Nothing of it is left. Collective: yes.
  void abandon();

  const std::string& path() const;
  /// Returns the format: of a file that is open for reading, the version of netCDF too. Collective:
  /// no.
  Format format() const;
  const Report& report() const;
  /// Returns the hints with the values in effect, and what was wrong with those given. Of a file
  /// that is open for reading the second list also says what should be known of it: that it ends
  /// before its data.
  Hints hints() const;
  const std::vector<std::string>& hint_warnings() const;

 private:
  template <typename T>
  static constexpr Meaning meaning_of() {
    return std::is_same_v<T, bool> ? Meaning::kBoolean : kIsComplex<T> ? Meaning::kComplex : Meaning::kNumber;
  }
  template <typename T>
  std::vector<T> numbers(const std::string& object, const std::string& name) {
    std::vector<std::byte> bytes;
    if constexpr (kIsComplex<T>) {
      bytes = number_values(object, name, element_type_of<typename T::value_type>(), true);
    } else {
      bytes = number_values(object, name, element_type_of<T>(), false);
    }
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) {
      std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    }
    return values;
  }
  template <typename T>
  static T one_of(const std::string& object, const std::string& name, const std::vector<T>& values) {
    require_one(object, name, values.size());
    return values.front();
  }
  static void require_one(const std::string& object, const std::string& name, size_t count);
  struct Numbers {
    ElementType type;  ///< the type of each part, where they are complex
    Meaning meaning;
    const void* values;
    int64_t count = 1;
    std::vector<int64_t> dims{};  ///< none: one number
  };
  void set_numbers(const std::string& object, const std::string& name, const Numbers& numbers);
  std::vector<std::byte> number_values(const std::string& object, const std::string& name, ElementType wanted, bool is_complex);
  std::vector<Reference> references(const std::string& object, const std::string& name);
  std::vector<std::string> string_values(const std::string& object, const std::string& name);
  friend struct c::Refusal;
  /// Throws the error, and fails the next collective call on every rank with it.
  [[noreturn]] void refuse(const Error& error);
  explicit File(std::shared_ptr<file::Session> session) : session_(std::move(session)) {}
  std::shared_ptr<file::Session> session_;
};

}  // namespace stria
