// One transfer of H5Dwrite or H5Dread whose memory is scattered, or converted, made one whose
// memory is not.
//
// Problem: guard-celled or interleaved memory gives HDF5 as many pieces as there are elements. It
// hands each to MPI-IO, or to the system, as a call of its own.
// Method: the selected elements are packed into one buffer, in HDF5's order, and HDF5 gets a
// dataspace that is all selected. Numbers are converted on the way, where every bit of the result
// is HDF5's, and it gets the type that the file has; otherwise it converts. Everything else stays
// as the program has it: the file's selection and the transfer's properties.
// Cost: a pass over the memory, and a copy of what is selected, which is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_range.hpp"
#include "datatype/pack/pack.hpp"
#include "hdf5/library/library.hpp"
#include "hdf5/report/counts.hpp"
#include "hdf5/selection/selection.hpp"
#include "hdf5/types/conversions.hpp"

namespace stria::hdf5 {

/// The arguments of a transfer, but for its memory.
struct Arguments {
  hid_t dataset = 0;
  hid_t type = 0;
  hid_t memory_space = 0;
  hid_t file_space = 0;
  hid_t transfer = 0;
};

/// Holds packed elements. A thread keeps the last one for its next transfer, unless it is large.
class Staging {
 public:
  Staging() = default;
  Staging(Staging&& other) noexcept;
  Staging& operator=(Staging&& other) noexcept;
  ~Staging();

  /// It has no memory where there is none left.
  static Staging of_bytes(int64_t bytes) noexcept;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  int64_t capacity_bytes_ = 0;
};

/// A dataspace that was made for a question.
class OwnSpace {
 public:
  OwnSpace(const Library& library, hid_t space) : library_(library), space_(space) {}
  OwnSpace(const OwnSpace&) = delete;
  OwnSpace& operator=(const OwnSpace&) = delete;
  ~OwnSpace() {
    if (space_ >= 0) {
      library_.H5Sclose(space_);
    }
  }
  hid_t get() const { return space_; }

 private:
  const Library& library_;
  hid_t space_;
};

bool is_collective(const Library& library, hid_t transfer);
/// The dataset is in one piece, which has its place in the file. A VOL connector may not know.
bool has_place(const Library& library, hid_t dataset);

/// A part of a transfer, which HDF5 gets in one call.
struct Piece {
  hid_t type = -1;  ///< the type of the packed elements
  hid_t memory_space = -1;
  hid_t file_space = -1;
  bool owns_type = false;
  bool owns_memory_space = false;
  bool owns_file_space = false;
  ByteRange range;  ///< the range of the packed elements
};

class Packed {
 public:
  Packed() = default;
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  /// Looks how a transfer can be packed. Otherwise returns why not, and nothing is kept. `memory`
  /// is the program's. Where the buffer would be larger than STRIA_HDF5_BUFFER bytes, an
  /// independent transfer of a box of the file is cut between its rows; any other passes through,
  /// as does one that `must_be_whole`.
  std::optional<Reason> plan(const Library& library, const Arguments& arguments, std::byte* memory, Use use,
                             bool must_be_whole = false);

  /// Looks how a write can be packed into memory of the caller, as numbers of the dataset's type.
  /// Otherwise returns why not.
  std::optional<Reason> plan_stream(const Library& library, const Arguments& arguments, std::byte* memory);
  /// Packs a part of the stream into memory; nothing where no elements are selected.
  void pack_into(std::byte* to, ByteRange range) const;

  int64_t piece_count() const { return (rows_ + piece_rows_ - 1) / piece_rows_; }
  /// Makes the dataspaces of a piece. No value where HDF5 can't.
  std::optional<Piece> begin(const Library& library, const Arguments& arguments, int64_t number);
  /// Copies the program's elements into the buffer. A read does so too, unless all bytes are known
  /// to come from the file: HDF5 keeps what it doesn't set, of an element or of all of them.
  void pack(const Piece& piece) const;
  /// Copies the buffer's elements to the program.
  void unpack(const Piece& piece) const;
  /// Must be called after the transfer of a piece. A call that fails leaves its reasons with HDF5,
  /// where any further call would replace them; the dataspaces and the type are left as well then.
  static void end(const Library& library, const Piece& piece, herr_t outcome);

  /// Returns what HDF5 gets in place of the program's memory.
  std::byte* buffer() const { return packer_ ? staging_.data() : memory_; }
  int64_t bytes() const { return bytes_; }
  int64_t elements() const { return elements_; }
  bool converts() const { return conversion_.kind == Conversion::Kind::kConverted; }

 private:
  std::optional<Reason> describe_memory(const Library& library, const Arguments& arguments, std::byte* memory, Use use);
  std::optional<Reason> plan_packing(const Library& library, const Arguments& arguments, std::byte* memory, Use use);
  std::optional<Reason> choose_shape(const Library& library, const Arguments& arguments);
  std::optional<Reason> divide(const Library& library, const Arguments& arguments, bool must_be_whole);
  void choose_conversion(const Library& library, const Arguments& arguments, Use use);
  Status make_packer();
  void pack_doubles(std::byte* floats, ByteRange range) const;
  void close_type(const Library& library);

  std::byte* memory_ = nullptr;  ///< the program's, where type_ begins
  Datatype type_;
  bool is_allocated_ = false;  ///< the dataset is in one piece, which has its place in the file
  bool is_replaced_ = false;   ///< a read in which HDF5 sets every byte
  Conversion conversion_;
  std::optional<Packer> packer_;  ///< none where there are no elements
  Staging staging_;
  std::vector<hsize_t> lengths_;  ///< the lengths of the dataspace that HDF5 gets for all of memory
  std::vector<Steps> steps_;      ///< the box of the file that is selected and may be cut
  int64_t bytes_ = 0;
  int64_t elements_ = 0;
  int64_t rows_ = 1;  ///< the rows of lengths_, or 1 where there is one piece
  int64_t piece_rows_ = 1;
};

}  // namespace stria::hdf5
