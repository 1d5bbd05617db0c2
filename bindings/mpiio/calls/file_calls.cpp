// The calls on a file as a whole: opening, closing, sizes, properties; and data representations.
#include <fmt/format.h>

#include "access/plan/aggregators.hpp"
#include "access/plan/planner.hpp"
#include "mpiio/background/jobs.hpp"
#include "mpiio/calls/data_access.hpp"
#include "mpiio/calls/opening.hpp"
#include "mpiio/file/info.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/types/committed.hpp"
#include "trace/record/recorder.hpp"

namespace stria::mpiio {

namespace {

using FilePtr = std::shared_ptr<File>;

Outcome check_writable(const File& file, const char* what) {
  if (!file.mode().is_writable()) {
    return {MPI_ERR_READ_ONLY, fmt::format("{} '{}': it is open for reading only", what, file.path())};
  }
  return {};
}

// When all ranks are there, one of them changes the file's size to so many bytes, and all hear of
// the outcome. Collective: yes.
template <typename Change>
Outcome change_by_rank_0(File& file, const Outcome& mine, int64_t bytes, Change change) {
  wait_for_jobs(file);
  std::array<int64_t, 3> most{bytes, ~bytes, mine.ok() ? 0 : 1};
  maximum_of_all(file, most);
  if (most[2] != 0) {
    return agree(file, mine);
  }
  if (most[0] != ~most[1]) {
    return {MPI_ERR_NOT_SAME, fmt::format("'{}': the ranks give different sizes", file.path())};
  }
  Outcome outcome;
  if (file.comm().rank() == 0) {
    const auto lock = file.storage().hold();
    outcome = change();
  }
  return agree(file, outcome);
}

Outcome set_size(File& file, int64_t bytes) {
  Outcome mine = check_writable(file, "resize");
  if (mine.ok() && bytes < 0) {
    mine = {MPI_ERR_ARG, fmt::format("resize '{}': the size is {}", file.path(), bytes)};
  }
  return change_by_rank_0(file, mine, bytes, [&]() -> Outcome { return file.storage().handle().resize(bytes); });
}

Outcome preallocate(File& file, int64_t bytes) {
  Outcome mine = check_writable(file, "preallocate");
  if (mine.ok() && bytes < 0) {
    mine = {MPI_ERR_ARG, fmt::format("preallocate '{}': the size is {}", file.path(), bytes)};
  }
  return change_by_rank_0(file, mine, bytes, [&]() -> Outcome {
    Status status = file.storage().handle().preallocate(bytes);
    if (status.code() != ErrorCode::kUnsupported) {
      return status;
    }
    // Storage that can't reserve space can still change the size.
    STRIA_ASSIGN_OR_RETURN(const int64_t now, file.storage().handle().size());
    return bytes > now ? Outcome(file.storage().handle().resize(bytes)) : Outcome();
  });
}

Outcome sync(File& file) {
  wait_for_jobs(file);
  trace::Recorder::instance().flush_to_file();
  Outcome mine = check_writable(file, "sync");
  // Everything that any rank wrote before must become durable.
  file.comm().barrier();
  if (mine.ok()) {
    const auto lock = file.storage().hold();
    mine = file.storage().handle().sync();
  }
  const Outcome staged = file.under_way().take_failure();
  return agree(file, staged.ok() ? mine : staged);
}

Outcome set_atomicity(File& file, bool atomic) {
  wait_for_jobs(file);
  const bool several_nodes = file.comm().node_size() < file.comm().size();
  const bool locks_fall_short = several_nodes && !file.storage().capabilities().locks_reach_all;
  std::array<int64_t, 3> values{atomic ? 1 : 0, atomic ? 0 : 1, locks_fall_short ? 1 : 0};
  maximum_of_all(file, values);
  if (values[0] == 1 && values[1] == 1) {
    return {MPI_ERR_NOT_SAME, fmt::format("'{}': the ranks set different atomicity", file.path())};
  }
  if (atomic && values[2] == 1) {
    return {MPI_ERR_UNSUPPORTED_OPERATION,
            fmt::format("'{}': atomic mode of ranks of several nodes needs a file system whose fcntl locks reach them all",
                        file.path())};
  }
  file.set_atomic(atomic);
  return {};
}

Outcome open_and_register(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* handle) {
  FilePtr file;
  STRIA_MPIIO_RETURN_IF_ERROR(open_file(comm, name, amode, info, file));
  add_file(file);
  *handle = handle_of(*file);
  return {};
}

// Where the hints leave a choice to the storage or the planner, they say what was chosen.
Hints hints_in_effect(File& file) {
  Hints hints = access::effective_hints(file.hints());
  const storage::Capabilities capabilities = access::with_hints(file.storage().capabilities(), file.hints());
  const access::ThroughAggregators plan = access::plan_aggregators(file.storage().capabilities(), file.hints(), file.comm());
  hints["cb_nodes"] = std::to_string(plan.aggregators.size());
  hints["cb_config_list"] = access::places_in_effect(file.hints(), file.comm(), plan.aggregators);
  hints["cb_buffer_size"] =
      std::to_string(access::usual_buffer_bytes(file.storage().capabilities(), file.hints(), file.comm()));
  // Storage that isn't striped has no stripes to report.
  hints.erase("striping_unit");
  hints.erase("striping_factor");
  if (capabilities.stripe_bytes > 0) {
    hints["striping_unit"] = std::to_string(capabilities.stripe_bytes);
  }
  if (capabilities.stripe_count > 1) {
    hints["striping_factor"] = std::to_string(capabilities.stripe_count);
  }
  return hints;
}

Outcome get_type_extent(const File& file, MPI_Datatype type, int64_t& extent) {
  if (type == MPI_DATATYPE_NULL) {
    return {MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL"};
  }
  if (!is_committed(type)) {
    return {MPI_ERR_TYPE, "the datatype has not been committed: call MPI_Type_commit"};
  }
  const auto& representation = file.view().representation();
  const auto element_bytes = [&](MPI_Datatype basic) { return representation->element_bytes(basic); };
  STRIA_ASSIGN_OR_RETURN(const Datatype decoded, representation->is_native() ? decode(type) : decode_as(type, element_bytes));
  extent = decoded.extent();
  return {};
}

// MPI_File_get_type_extent, with either type of the extent.
template <typename Extent>
int type_extent(MPI_File handle, MPI_Datatype type, Extent* extent) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    int64_t bytes = 0;
    Outcome outcome = get_type_extent(*file, type, bytes);
    *extent = static_cast<Extent>(bytes);
    return outcome;
  });
}

// Returns a representation without its conversions.
Representation representation_of(const char* name, MPI_Datarep_extent_function* extent, void* state) {
  Representation made;
  made.name = name == nullptr ? "" : name;
  made.extent = extent;
  made.state = state;
  return made;
}

}  // namespace

}  // namespace stria::mpiio

using namespace stria::mpiio;  // NOLINT: the calls below are this file's purpose

extern "C" {

int MPI_File_open(MPI_Comm comm, const char* name, int amode, MPI_Info info, MPI_File* file) {
  *file = MPI_FILE_NULL;
  try {
    return report(default_handler(), MPI_FILE_NULL, open_and_register(comm, name, amode, info, file));
  } catch (const std::exception& error) {
    return report(default_handler(), MPI_FILE_NULL, {MPI_ERR_NO_MEM, error.what()});
  }
}

int MPI_File_close(MPI_File* handle) {
  const int code = with_file(*handle, [](const FilePtr& file) -> Outcome {
    if (const auto split = file->under_way().take_split()) {
      wait_for_job(*split);
    }
    Outcome outcome = close_file(*file);
    remove_file(*file);
    return outcome;
  });
  if (find_file(*handle) == nullptr) {
    *handle = MPI_FILE_NULL;
  }
  return code;
}

int MPI_File_delete(const char* name, MPI_Info info) {
  const CallSpan span("MPI_File_delete", trace_id_of(name));
  return report(default_handler(), MPI_FILE_NULL, delete_file(name, info));
}

int MPI_File_set_size(MPI_File handle, MPI_Offset bytes) {
  return with_file(handle, [&](const FilePtr& file) { return set_size(*file, bytes); });
}

int MPI_File_preallocate(MPI_File handle, MPI_Offset bytes) {
  return with_file(handle, [&](const FilePtr& file) { return preallocate(*file, bytes); });
}

int MPI_File_get_size(MPI_File handle, MPI_Offset* bytes) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    int64_t size = 0;
    const Outcome staged = settle_staged(*file);
    const Outcome outcome = file->storage().size(size);
    *bytes = size;
    return outcome.ok() ? staged : outcome;
  });
}

int MPI_File_get_group(MPI_File handle, MPI_Group* group) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    MPI_Group_excl(file->group(), 0, nullptr, group);
    return {};
  });
}

int MPI_File_get_amode(MPI_File handle, int* amode) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    *amode = file->mode().bits();
    return {};
  });
}

int MPI_File_set_info(MPI_File handle, MPI_Info info) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    wait_for_jobs(*file);
    file->hints_in_force().apply(*file, hints_of(info));
    return {};
  });
}

int MPI_File_get_info(MPI_File handle, MPI_Info* info) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    *info = info_of(hints_in_effect(*file));
    return {};
  });
}

int MPI_File_set_atomicity(MPI_File handle, int flag) {
  return with_file(handle, [&](const FilePtr& file) { return set_atomicity(*file, flag != 0); });
}

int MPI_File_get_atomicity(MPI_File handle, int* flag) {
  return with_file(handle, [&](const FilePtr& file) -> Outcome {
    *flag = file->atomic_mode().is_on() ? 1 : 0;
    return {};
  });
}

int MPI_File_sync(MPI_File handle) {
  return with_file(handle, [](const FilePtr& file) { return sync(*file); });
}

int MPI_File_get_type_extent(MPI_File handle, MPI_Datatype type, MPI_Aint* extent) {
  return type_extent(handle, type, extent);
}

int MPI_Register_datarep(const char* name, MPI_Datarep_conversion_function* read, MPI_Datarep_conversion_function* write,
                         MPI_Datarep_extent_function* extent, void* state) {
  const CallSpan span("MPI_Register_datarep", 0);
  Representation made = representation_of(name, extent, state);
  made.read = read;
  made.write = write;
  return report(default_handler(), MPI_FILE_NULL, register_representation(std::move(made)));
}

MPI_Fint MPI_File_c2f(MPI_File handle) {
  return file_to_fortran(handle);
}

MPI_File MPI_File_f2c(MPI_Fint number) {
  return file_from_fortran(number);
}

STRIA_MPIIO_TWIN(File_open);
STRIA_MPIIO_TWIN(File_close);
STRIA_MPIIO_TWIN(File_delete);
STRIA_MPIIO_TWIN(File_set_size);
STRIA_MPIIO_TWIN(File_preallocate);
STRIA_MPIIO_TWIN(File_get_size);
STRIA_MPIIO_TWIN(File_get_group);
STRIA_MPIIO_TWIN(File_get_amode);
STRIA_MPIIO_TWIN(File_set_info);
STRIA_MPIIO_TWIN(File_get_info);
STRIA_MPIIO_TWIN(File_set_atomicity);
STRIA_MPIIO_TWIN(File_get_atomicity);
STRIA_MPIIO_TWIN(File_sync);
STRIA_MPIIO_TWIN(File_get_type_extent);
STRIA_MPIIO_TWIN(Register_datarep);
STRIA_MPIIO_TWIN(File_c2f);
STRIA_MPIIO_TWIN(File_f2c);

#if MPI_VERSION >= 4
int MPI_File_get_type_extent_c(MPI_File handle, MPI_Datatype type, MPI_Count* extent) {
  return type_extent(handle, type, extent);
}

int MPI_Register_datarep_c(const char* name, MPI_Datarep_conversion_function_c* read, MPI_Datarep_conversion_function_c* write,
                           MPI_Datarep_extent_function* extent, void* state) {
  const CallSpan span("MPI_Register_datarep_c", 0);
  Representation made = representation_of(name, extent, state);
  made.read_large = read;
  made.write_large = write;
  return report(default_handler(), MPI_FILE_NULL, register_representation(std::move(made)));
}

STRIA_MPIIO_TWIN(File_get_type_extent_c);
STRIA_MPIIO_TWIN(Register_datarep_c);
#endif

}  // extern "C"
