// One access to a file: prepared where the program calls, carried out there or in the background.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "mpiio/file/file.hpp"
#include "mpiio/file/view.hpp"
#include "mpiio/mpi/outcome.hpp"
#include "mpiio/representation/representation.hpp"
#include "mpiio/transfer/staged_memory.hpp"
#include "stria/datatype.hpp"

namespace stria::mpiio {

enum class Direction { kRead, kWrite };
enum class Together { kIndependent, kCollective };

/// The buffer arguments of a call.
struct UserBuffer {
  void* address;
  int64_t count;
  MPI_Datatype type;
};

struct Operation {
  std::shared_ptr<File> file;
  std::shared_ptr<const View> view;
  Direction direction = Direction::kRead;
  std::byte* memory = nullptr;
  int64_t count = 0;
  Datatype memory_type;  ///< the type of all items
  std::unique_ptr<Converter> converter;
  int64_t position = 0;  ///< bytes of the view's stream
  int64_t bytes = 0;     ///< to be moved, as they lie in the file
  /// The bytes instead of `memory`, which the program has got back.
  std::unique_ptr<StagedMemory> staged;

  // The outcome.
  Outcome outcome;
  int64_t moved_bytes = 0;   ///< the bytes of the view's stream
  int64_t memory_bytes = 0;  ///< the same as memory has them: what MPI_Get_count counts

  bool writes() const { return direction == Direction::kWrite; }
};

/// Checks the arguments and decodes the datatype. Local. An operation whose outcome is an error
/// moves nothing, but can still take part in a collective.
std::shared_ptr<Operation> prepare(const std::shared_ptr<File>& file, Direction direction, const UserBuffer& buffer);

/// One small piece of memory, and the piece of the file to which it goes or from which it comes.
struct PlainPiece {
  ByteRange file;
  std::byte* memory = nullptr;
};
/// Says what came of moving it.
struct PlainResult {
  Outcome outcome;
  int64_t moved_bytes = 0;
};
/// Tells whether an access is so plain; its position counts bytes of the view. False too where the
/// arguments want a closer look.
bool is_plain(const File& file, Direction direction, int64_t position, const UserBuffer& buffer, PlainPiece& piece);
/// Moves takes the short way for such a piece, by this rank alone, also where the call is
/// collective.
PlainResult move_plainly(File& file, Direction direction, const PlainPiece& piece, Together together);

/// Returns a write of the same bytes that doesn't need the program's memory any more; null where
/// the file or the write isn't one to be staged, or the memory for it falls short. Any thread.
std::shared_ptr<Operation> stage(const Operation& operation);
/// Moves by this rank alone, through `storage`; fills in the outcome. Any thread.
void run_independent(Operation& operation, storage::File& storage);
/// The same through the file's own handle, where no other call may be under way.
void run_independent(Operation& operation);
/// Moves with all ranks. Collective: yes; a failure is the same on every rank, but for arguments
/// that were wrong on one.
void run_collective(Operation& operation);

/// Tells the program how many bytes were moved.
void set_status(MPI_Status* status, int64_t memory_bytes);

}  // namespace stria::mpiio
