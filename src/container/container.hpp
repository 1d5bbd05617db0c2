// Describes what the library asks of a self-describing file format. `file` knows this header and
// formats.hpp, but no format by name.
//
// A new file is made in three steps. Every rank makes a Layout, which gives the raw data of each
// dataset a place without any communication. All ranks write raw data there. Rank 0 makes a Writer,
// tells it all objects, and writes the image of the metadata that the Writer makes. An existing
// file has one Reader on each rank that needs it.
//
// Compressed chunks have no place before ranks have agreed on their sizes: the Layout gives a
// dataset room for all of them, the Writer hears of each chunk.
//
// A file that grows has a Growth on rank 0, whose Writer makes an image of what is added.
//
// A format whose header comes first must know all of it before data have a place: the Layout hears
// of every object, and settles the places before the first byte is moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_range.hpp"
#include "container/chunking.hpp"
#include "container/image.hpp"
#include "container/spec.hpp"
#include "storage/driver.hpp"
#include "stria/format.hpp"
#include "stria/status.hpp"

namespace stria::container {

/// Returns what a format says that can't do it.
inline Status cannot_grow() {
  return Status(ErrorCode::kUnsupported, "files of this format can't grow");
}

/// The places of a new file's raw data. Each rank has a Layout and computes the same places.
class Layout {
 public:
  virtual ~Layout() = default;
  /// Turns a dataset into what the format stores: its byte order. Errors (kInvalidArgument,
  /// kUnsupported) name the dataset. Before place().
  virtual Status prepare(DatasetSpec& /*spec*/) const { return Status(); }
  /// Hears of a table or an attribute that the Writer will make. Errors as of prepare().
  virtual Status note_table(const DatasetSpec& /*spec*/) { return Status(); }
  virtual Status note_attribute(const AttributeSpec& /*attribute*/) { return Status(); }
  virtual Status note_link(const LinkSpec& link) {
    return Status(ErrorCode::kUnsupported, "link '" + link.path + "': a file of this format has no links");
  }
  /// Returns the file offset of a dataset's raw data; -1 when it has none, or is in chunks. A place
  /// once given stays. kInvalidArgument when the file would be too large.
  virtual Result<int64_t> place(const DatasetSpec& spec) = 0;
  /// Returns the place of `bytes` bytes that hold all chunks of a dataset.
  virtual Result<int64_t> place_chunks(const DatasetSpec& spec, int64_t bytes) = 0;
  /// Tells whether datasets that grow do so together, by rows of the file's unlimited dimension
  /// (DatasetSpec::unlimited), and not each by itself (DatasetSpec::extendable).
  virtual bool grows_by_records() const { return false; }
  /// Tells whether an attribute says what the fill value of a dataset is.
  virtual bool tells_fill_values() const { return false; }
  /// Returns the end of all raw data so far.
  virtual int64_t end() const = 0;
  /// Keeps what a file has already, which ends there. Before any place is given.
  virtual void begin_behind(int64_t /*old_end*/) {}
  /// Makes the places final, once, before the first data are moved; `complete` when nothing more
  /// will be defined. Afterwards place() returns final offsets.
  virtual Status settle(bool /*complete*/) { return Status(); }
  /// Gives a dataset its final data_offset and row_stride_bytes, which was placed before settle().
  virtual void finish_place(DatasetSpec& /*spec*/) const {}
  /// Tells whether there are rows that lie among those of other datasets, behind everything else:
  /// tables too. Everything is then defined before settle().
  virtual bool interleaves() const { return false; }
  /// Keeps room before these rows, if any, for tables that are made last. Returns by how
  /// much the rows move. Once, after settle() and before the first data are moved.
  virtual Result<int64_t> keep_room(int64_t /*bytes*/) { return 0; }
};

/// Makes the metadata of a new file in memory, on one rank.
class Writer {
 public:
  virtual ~Writer() = default;

  /// Keeps the order in which objects and attributes are made, by DatasetSpec::order, where the
  /// format doesn't do so anyway. Before anything is made.
  virtual void keep_order() {}
  /// Makes a dataset, and the groups above it. Its raw data go to `spec.data_offset`, which the
  /// Layout has given; returns this offset. Errors (kAlreadyExists, kInvalidArgument, kUnsupported)
  /// have the dataset's name.
  virtual Result<int64_t> create_dataset(const DatasetSpec& spec) = 0;
  /// Gives a dataset that a growing file has the shape of `spec`, which is that of before
  /// but for the rows. All its chunks are to be named, those of before too.
  virtual Status extend_dataset(const DatasetSpec& /*spec*/) { return cannot_grow(); }
  /// Takes the name of a dataset of a growing file away, if there is one of that name.
  virtual Status remove(const std::string& /*path*/) { return cannot_grow(); }
  /// Says where the chunks of a dataset are that was made with `chunking`; those that
  /// aren't named read as the fill value. Once, before finish(). \pre numbers increase
  virtual Status place_chunks(const std::string& path, std::vector<StoredChunk> chunks) = 0;
  /// Makes a dataset whose whole content is given here, in the machine's byte order. The content
  /// becomes part of the image.
  virtual Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) = 0;
  /// Makes a group, and those above it that are missing; `order` is as DatasetSpec::order. Nothing
  /// happens where there is one.
  virtual Status create_group(const std::string& /*path*/, int64_t /*order*/) {
    return Status(ErrorCode::kUnsupported, "a file of this format has no groups");
  }
  /// Gives an object another name, of which nobody looks whether it leads anywhere.
  virtual Status create_link(const LinkSpec& /*link*/) {
    return Status(ErrorCode::kUnsupported, "a file of this format has no links");
  }
  /// Sets an attribute; one of the same name is replaced. kNotFound when there is no such object;
  /// kUnsupported when the format can't hold the value.
  virtual Status write_attribute(const AttributeSpec& attribute) = 0;
  /// Makes an attribute whose value comes later, when everything else is made already. Returns a
  /// number for fill_attributes(). Until then the attribute holds `value`. Unlike write_attribute()
  /// it replaces nothing: kAlreadyExists.
  virtual Result<int> reserve_attribute(const AttributeSpec& attribute) = 0;
  /// Gives reserved attributes their values, as (number, value). Those without a value when
  /// finish() is called are removed.
  virtual Status fill_attributes(std::span<const std::pair<int, std::vector<std::byte>>> values) = 0;
  /// Takes up what must change in a growing file because something else does. An error,
  /// kUnsupported too, says why it can't; finish() would say so too. When everything else is made.
  virtual Status take_up_connected() { return Status(); }
  /// Returns all bytes of the file that are not raw data of create_dataset(). The writer can't be
  /// used afterwards.
  virtual Result<SparseImage> finish() = 0;
};

/// Reads what an existing file says of itself. The engine reads raw data that lie in one piece.
class Reader {
 public:
  virtual ~Reader() = default;

  /// Returns the paths of all datasets and groups, depth first, in the order of their names, or of
  /// creation where a group keeps that. The path of a group ends with '/'. Links that lead nowhere
  /// are left out. A group with several paths is listed under each, but its content only once.
  virtual Result<std::vector<std::string>> list() const = 0;
  /// Returns the links that lead to an object by its path, in this file or another one. list() has
  /// the objects of this file under them too; the order of a link is how many paths of list() come
  /// before it.
  virtual Result<std::vector<LinkSpec>> links() const { return std::vector<LinkSpec>(); }
  enum class ObjectKind { kNone, kDataset, kGroup, kOther };
  /// Returns what there is at a path, links followed within the file. Finds it without a list of
  /// all where the format can.
  virtual Result<ObjectKind> kind_of(const std::string& path) const;
  /// Returns the names in a group, in its order, whatever they lead to. kNotFound where it isn't
  /// one.
  virtual Result<std::vector<std::string>> names_in(const std::string& group) const;
  /// Returns where the link at a path leads that leads to another file; without a file where there
  /// is none.
  virtual Result<LinkSpec> link_to_file(const std::string& /*path*/) const { return LinkSpec(); }
  /// Returns the paths of list() that are other paths of an object, in its form: groups end with
  /// '/', the root group is "". An object goes by the first of its hard links.
  virtual Result<std::vector<Alias>> aliases() const { return std::vector<Alias>(); }
  /// Tells whether the file keeps the order in which objects were made, as its root group does.
  virtual bool keeps_order() const { return false; }
  /// Returns what users should know of a file that can be read, in sentences without an end.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// Returns what a dataset is, and where its data are: at data_offset, with rows
  /// spec.row_stride_bytes apart. kNotFound names the dataset; kCorrupted when its data would lie
  /// past the end of the file.
  virtual Result<DatasetInfo> dataset(const std::string& path) const = 0;
  /// Returns the names of the attributes of a dataset or group, sorted, or in the order of creation
  /// where it keeps that; "" or "/" is the root group.
  virtual Result<std::vector<std::string>> attribute_names(const std::string& object_path) const = 0;
  virtual Result<AttributeSpec> attribute(const std::string& object_path, const std::string& name) const = 0;
  /// Returns the chunks of a dataset whose spec has a `chunking`, by increasing number. kCorrupted
  /// when the list makes no sense, or a chunk would lie past the end of the file.
  virtual Result<std::vector<StoredChunk>> chunks(const std::string& path) const = 0;
  /// Reads the hyperslab [start, start + count) of a dataset of any layout into `out`: elements in
  /// C order, in the machine's byte order; numbers keep their type. kUnsupported when the elements
  /// can't be read. `out` has room for product(count) elements exactly.
  virtual Status read_hyperslab(const std::string& path, std::span<const int64_t> start, std::span<const int64_t> count,
                                std::span<std::byte> out) const = 0;
  virtual Format format() const = 0;
  /// Returns the bytes that every program rewrites when it changes the metadata of such a file.
  virtual ByteRange superblock() const = 0;
};

/// An existing file that more is added to, behind its end. On one rank.
class Growth {
 public:
  virtual ~Growth() = default;
  /// Returns where everything new begins: what is behind it means nothing.
  virtual int64_t end() const = 0;
  virtual const Reader& reader() const = 0;
  /// Tells whether anything can be added at all: kUnsupported says why not.
  virtual Status check() const { return Status(); }
  /// Makes a writer of what is added. Nothing of the file changes by it but the bytes at 0 that
  /// SparseImage::switch_over holds. `layout` begins behind end(); it, and this, must outlive
  /// the writer.
  virtual Result<std::unique_ptr<Writer>> make_writer(const Layout& layout) const = 0;
};

/// A dataset of a file in parts that is virtual in the file itself, and whose data lie in one
/// piece in what a handle on all parts reads.
struct PlacedData {
  std::string path;
  ByteRange place;
};

/// Holds what a copy has become.
struct CopiedFile {
  int64_t file_bytes = 0;
  std::vector<ByteRange> metadata;  ///< all that is no raw data, in order, behind the superblock
};

/// A file written anew without unused space: everything in it stays what it is. On one rank.
class Copy {
 public:
  virtual ~Copy() = default;
  /// Copies everything. kUnsupported names what can't be kept.
  virtual Status copy_all() = 0;
  /// Takes away a name of the new file, which is there.
  virtual Status remove(const std::string& path) = 0;
  /// Makes a dataset of whole numbers or fixed strings in one piece, in the new file.
  virtual Status create_table(const DatasetSpec& spec, std::span<const std::byte> content) = 0;
  /// Returns how many stretches of metadata the new file has so far.
  virtual Result<int64_t> count_stretches() = 0;
  /// Completes the new file. Nothing can be done with the copy afterwards.
  virtual Result<CopiedFile> finish() = 0;
};

/// A file format. Each has one object, which lives as long as the program.
class FileFormat {
 public:
  virtual ~FileFormat() = default;
  virtual Format format() const = 0;
  virtual std::unique_ptr<Layout> make_layout() const = 0;
  /// Makes a writer for a file whose raw data lie as `layout` says, which this format has made.
  virtual Result<std::unique_ptr<Writer>> make_writer(const Layout& layout) const = 0;
  /// Opens a file through `file`, which must outlive the reader. kFormat when it has another
  /// format; kCorrupted when it is cut short or damaged. Errors of the storage keep their code.
  virtual Result<std::unique_ptr<Reader>> open(storage::File& file) const = 0;
  /// Opens a file that is to grow, as open(). Doesn't change it. kUnsupported says why it can't.
  virtual Result<std::unique_ptr<Growth>> open_growth(storage::File&) const { return cannot_grow(); }
  /// Begins to write `from` anew to `to`, which is empty; both must outlive the copy. The datasets
  /// `elsewhere` become plain ones. kUnsupported where the format leaves no space unused.
  virtual Result<std::unique_ptr<Copy>> open_copy(storage::File& /*from*/, storage::File& /*to*/,
                                                  std::span<const PlacedData> /*elsewhere*/) const {
    return Status(ErrorCode::kUnsupported, "a file of this format has no unused space");
  }
};

}  // namespace stria::container
