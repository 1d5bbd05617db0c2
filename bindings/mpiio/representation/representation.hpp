// Data representations: how the elements of a view lie in the file, and conversion between
// that and memory.
//
// "native" and "internal" are memory's own bytes. "external32" is the portable form of MPI 3.1,
// section 13.5.2: big-endian, with sizes of its own. Others are registered by the program with
// conversion functions.
// Cost: native, none; the others convert a call's data through a buffer that holds all of it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mpiio/mpi/outcome.hpp"
#include "mpiio/types/decode.hpp"

namespace stria::mpiio {

#if MPI_VERSION >= 4
using LargeConversion = MPI_Datarep_conversion_function_c*;
#endif

struct Representation {
  enum class Kind { kNative, kExternal32, kRegistered };
  std::string name = "native";
  Kind kind = Kind::kNative;
  // What a registered one has; null functions don't convert.
  MPI_Datarep_conversion_function* read = nullptr;
  MPI_Datarep_conversion_function* write = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* state = nullptr;
#if MPI_VERSION >= 4
  LargeConversion read_large = nullptr;
  LargeConversion write_large = nullptr;
#endif

  bool is_native() const {
    return kind == Kind::kNative;
  }
  /// Returns the bytes that a basic type takes in the file.
  Result<int64_t> element_bytes(MPI_Datatype basic) const;
};

/// Finds the representation called `name`; MPI_ERR_UNSUPPORTED_DATAREP when there is none.
Outcome find_representation(const std::string& name, std::shared_ptr<const Representation>& found);
/// Registers a representation for the rest of the program; MPI_ERR_DUP_DATAREP when the name
/// is taken. Local.
Outcome register_representation(Representation made);

/// Moves items of one datatype between memory and a representation that is not native.
class Converter {
 public:
  static Outcome create(std::shared_ptr<const Representation> representation, MPI_Datatype type,
                        std::unique_ptr<Converter>& made);
  virtual ~Converter() = default;

  /// Returns the bytes of one item in the file.
  int64_t item_bytes() const { return item_bytes_; }
  /// Bytes in memory of the elements that are whole in the first `file_bytes` of a stream.
  virtual int64_t memory_bytes(int64_t file_bytes) const = 0;
  /// Fills `stream` with `count` items of memory.
  virtual Outcome to_file(const void* memory, int64_t count, std::vector<std::byte>& stream) const = 0;
  /// Moves the whole elements of a stream to memory.
  virtual Outcome from_file(const std::vector<std::byte>& stream, void* memory) const = 0;

 protected:
  int64_t item_bytes_ = 0;
};

}  // namespace stria::mpiio
