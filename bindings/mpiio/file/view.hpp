// A file view: which bytes of the file a rank sees, as an endless stream.
//
// The view's stream is the data of the filetype, repeated from the displacement on (MPI
// 3.1, section 13.3). A position counts bytes of that stream, as they lie in the file;
// programs count etypes.
// Memory: O(description of the filetype).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "access/request/request.hpp"
#include "mpiio/mpi/outcome.hpp"
#include "mpiio/representation/representation.hpp"
#include "stria/datatype.hpp"

namespace stria::mpiio {

class View {
 public:
  /// Makes the view that MPI_File_open gives: the file's bytes from its beginning.
  View();
  ~View();
  View(View&&) noexcept;
  View& operator=(View&&) noexcept;

  struct Arguments {
    int64_t displacement_bytes;
    MPI_Datatype etype;
    MPI_Datatype filetype;
    std::shared_ptr<const Representation> representation;
    bool for_writing;  ///< the file may be written: regions must not overlap
  };
  /// Decodes and checks; the program may free its types. Local.
  static Outcome create(const Arguments& arguments, View& made);

  int64_t displacement_bytes() const { return displacement_bytes_; }
  int64_t etype_bytes() const { return etype_bytes_; }
  const Datatype& filetype() const { return filetype_; }
  const std::shared_ptr<const Representation>& representation() const { return representation_; }
  /// New handles on the types, committed, for the program. It frees them unless they are basic.
  MPI_Datatype new_etype_handle() const;
  MPI_Datatype new_filetype_handle() const;

  /// True when the stream is the file from the displacement on.
  bool is_contiguous() const { return is_contiguous_; }
  /// True when increasing positions lie at increasing offsets, over the repetitions of
  /// the filetype too.
  bool is_sorted() const { return is_sorted_; }

  /// Returns the file offset of a position that check_reach() allows; the displacement is that of a
  /// filetype without data.
  int64_t offset_of(int64_t position) const;
  /// Returns the stream bytes that lie below a file offset: the position of the first byte at or
  /// after it.
  /// \pre is_sorted()
  int64_t position_of(int64_t offset) const;

  /// Calls `visit(piece, at)` for the file's pieces of [position, position + bytes) in stream
  /// order; `at` counts stream bytes from the first.
  void for_each_piece(int64_t position, int64_t bytes, const std::function<void(ByteRange, int64_t)>& visit) const;

  /// Tells whether the stretch [position, position + bytes) lies below offset 2^62 of the file;
  /// kInvalidArgument if not.
  Status check_reach(int64_t position, int64_t bytes) const;

  /// Returns the stretch [position, position + bytes) as a stream of the access layer;
  /// kInvalidArgument when it passes 2^62.
  Result<access::Stream> stream(int64_t position, int64_t bytes) const;

 private:
  int64_t displacement_bytes_ = 0;
  int64_t etype_bytes_ = 1;
  Datatype filetype_;
  bool is_contiguous_ = true;
  bool is_sorted_ = true;
  std::shared_ptr<const Representation> representation_;
  MPI_Datatype held_etype_ = MPI_BYTE;
  MPI_Datatype held_filetype_ = MPI_BYTE;
};

}  // namespace stria::mpiio
