// The calls on views and file pointers.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/byte_range.hpp"
#include "base/checked.hpp"
#include "mpiio/background/jobs.hpp"
#include "mpiio/calls/data_access.hpp"
#include "mpiio/file/info.hpp"
#include "mpiio/mpi/real_mpi.hpp"

namespace stria::mpiio {

namespace {

using FilePtr = std::shared_ptr<File>;

struct ViewCall {
  MPI_Offset displacement;
  MPI_Datatype etype;
  MPI_Datatype filetype;
  const char* representation;
};

Outcome make_view(File& file, const ViewCall& call, View& view) {
  View::Arguments arguments{call.displacement, call.etype, call.filetype, nullptr, file.mode().is_writable()};
  STRIA_MPIIO_RETURN_IF_ERROR(
      find_representation(call.representation == nullptr ? "" : call.representation, arguments.representation));
  if (file.mode().is_sequential() && call.displacement == MPI_DISPLACEMENT_CURRENT) {
    int64_t position = 0;
    STRIA_MPIIO_RETURN_IF_ERROR(advance_shared(file, 0, position));
    STRIA_MPIIO_RETURN_IF_ERROR(file.view().check_reach(position, 1));
    arguments.displacement_bytes = file.view().offset_of(position);
  } else if (file.mode().is_sequential()) {
    return {MPI_ERR_ARG, fmt::format("'{}': with MPI_MODE_SEQUENTIAL a view begins at MPI_DISPLACEMENT_CURRENT", file.path())};
  }
  return View::create(arguments, view);
}

Outcome set_view(File& file, const ViewCall& call, MPI_Info info) {
  wait_for_jobs(file);
  auto view = std::make_shared<View>();
  STRIA_MPIIO_RETURN_IF_ERROR(agree(file, make_view(file, call, *view)));
  const auto pointer = file.pointer().hold();
  file.pointer().set_view(std::move(view));
  file.shared().restart(file.comm().rank() == 0);
  if (info != MPI_INFO_NULL) {
    file.hints_in_force().apply(file, hints_of(info));
  }
  return {};
}

// Finds the position of the first etype that is not wholly below the file's end.
Outcome end_position(File& file, int64_t& position) {
  int64_t bytes = 0;
  STRIA_MPIIO_RETURN_IF_ERROR(settle_staged(file));
  STRIA_MPIIO_RETURN_IF_ERROR(file.storage().size(bytes));
  position = align_up(file.view().position_of(bytes), file.etype_bytes());
  return {};
}

Outcome find_target(File& file, int64_t offset, int whence, int64_t current, int64_t& target) {
  int64_t base = 0;
  if (whence == MPI_SEEK_CUR) {
    base = current;
  } else if (whence == MPI_SEEK_END) {
    STRIA_MPIIO_RETURN_IF_ERROR(end_position(file, base));
  } else if (whence != MPI_SEEK_SET) {
    return {MPI_ERR_ARG, fmt::format("seek in '{}': whence is {}", file.path(), whence)};
  }
  int64_t distance = 0;
  if (!checked_multiply(offset, file.etype_bytes(), &distance) || !checked_add(base, distance, &target) || target < 0) {
    return {MPI_ERR_ARG, fmt::format("seek in '{}': an offset of {} leads out of the file", file.path(), offset)};
  }
  return {};
}

Outcome check_not_sequential(const File& file) {
  if (file.mode().is_sequential()) {
    return {MPI_ERR_UNSUPPORTED_OPERATION, fmt::format("'{}': it is open with MPI_MODE_SEQUENTIAL", file.path())};
  }
  return {};
}

Outcome seek(File& file, int64_t offset, int whence) {
  STRIA_MPIIO_RETURN_IF_ERROR(check_not_sequential(file));
  const auto pointer = file.pointer().hold();
  int64_t target = 0;
  STRIA_MPIIO_RETURN_IF_ERROR(find_target(file, offset, whence, file.pointer().position(), target));
  file.pointer().move_to(target);
  return {};
}

// Moves the shared pointer. Collective: yes.
Outcome seek_shared(File& file, int64_t offset, int whence) {
  Comm& comm = file.comm();
  int64_t target = 0;
  Outcome mine = check_not_sequential(file);
  std::array<int64_t, 4> same{offset, ~offset, whence, ~int64_t{whence}};
  maximum_of_all(file, same);
  if (mine.ok() && (same[0] != ~same[1] || same[2] != ~same[3])) {
    mine = {MPI_ERR_NOT_SAME, fmt::format("seek in '{}': the ranks seek to different places", file.path())};
  }
  int64_t current = 0;
  if (mine.ok() && comm.rank() == 0) {  // rank 0 sets it
    mine = advance_shared(file, 0, current);
    mine = mine.ok() ? find_target(file, offset, whence, current, target) : mine;
  }
  STRIA_MPIIO_RETURN_IF_ERROR(agree(file, mine));
  if (comm.rank() == 0) {
    file.shared().set(target);
  }
  comm.barrier();
  return {};
}

}  // namespace

}  // namespace stria::mpiio

using namespace stria::mpiio;  // NOLINT: the calls below are this file's purpose

extern "C" {

int MPI_File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype,
                      const char* representation, MPI_Info info) {
  return with_file(handle, [&](const FilePtr& file) {
    return set_view(*file, {displacement, etype, filetype, representation}, info);
  });
}

int MPI_File_get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype, MPI_Datatype* filetype,
                      char* representation) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    *displacement = file->view().displacement_bytes();
    *etype = file->view().new_etype_handle();
    *filetype = file->view().new_filetype_handle();
    std::strcpy(representation, file->view().representation()->name.c_str());
    return {};
  });
}

int MPI_File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  return with_file(handle, [&](const FilePtr& file) { return seek(*file, offset, whence); });
}

int MPI_File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  return with_file(handle, [&](const FilePtr& file) { return seek_shared(*file, offset, whence); });
}

int MPI_File_get_position(MPI_File handle, MPI_Offset* offset) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    const auto pointer = file->pointer().hold();
    *offset = file->pointer().position() / file->etype_bytes();
    return check_not_sequential(*file);
  });
}

int MPI_File_get_position_shared(MPI_File handle, MPI_Offset* offset) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    int64_t position = 0;
    STRIA_MPIIO_RETURN_IF_ERROR(advance_shared(*file, 0, position));
    *offset = position / file->etype_bytes();
    return check_not_sequential(*file);
  });
}

int MPI_File_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* displacement) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    int64_t position = 0;
    if (offset < 0 || !stria::checked_multiply(offset, file->etype_bytes(), &position)) {
      return {MPI_ERR_ARG, fmt::format("'{}': the offset is {}", file->path(), offset)};
    }
    STRIA_MPIIO_RETURN_IF_ERROR(file->view().check_reach(position, 1));
    *displacement = file->view().offset_of(position);
    return check_not_sequential(*file);
  });
}

STRIA_MPIIO_TWIN(File_set_view);
STRIA_MPIIO_TWIN(File_get_view);
STRIA_MPIIO_TWIN(File_seek);
STRIA_MPIIO_TWIN(File_seek_shared);
STRIA_MPIIO_TWIN(File_get_position);
STRIA_MPIIO_TWIN(File_get_position_shared);
STRIA_MPIIO_TWIN(File_get_byte_offset);

}  // extern "C"
