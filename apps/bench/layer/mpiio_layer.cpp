// Through MPI-IO: whichever the process has, its MPI's own or one that was preloaded.
//
// A rank whose call fails goes on with the others' collective calls, so that none of them waits for it; the first failure is
// thrown when the file is closed.
#include <fmt/format.h>

#include <algorithm>

#include "layer/layer.hpp"
#include "layer/mpi_types.hpp"
#include "stria/status.hpp"

namespace stria::bench {

namespace {

/// One call as MPI-IO takes it.
struct Access {
  MPI_Offset offset = 0;  ///< in elements of the view
  void* memory = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

bool is_one_run(const Selection& selection) {
  return Runs(selection).elements() == selection.elements();
}

/// The calls of one job: with views where any rank needs one, else with offsets alone.
class MpiioCalls {
 public:
  MpiioCalls(const Job& job, MPI_Comm comm) : job_(job) {
    int64_t most[2] = {static_cast<int64_t>(job.workload.calls.size()), 0};
    for (const Call& call : job.workload.calls) {
      most[1] = call.parts.size() == 1 && is_one_run(call.parts[0].file) ? most[1] : 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, comm);
    call_count_ = most[0];
    has_views_ = most[1] != 0;
  }

  /// Of the rank that has most: the others join in without bytes.
  int64_t count() const { return call_count_; }
  bool sets_view(int64_t i) const { return has_views_ && (i == 0 || !job_.workload.repeats); }

  int set_view(MPI_File file, int64_t i, MPI_Info info) {
    const Workload& workload = job_.workload;
    if (i >= own()) {
      return MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info);
    }
    const Call& call = workload.calls[static_cast<size_t>(i)];
    const Part& first = call.parts[0];
    const int64_t element_bytes = workload.arrays[first.array].element_bytes;
    const MPI_Datatype etype = types_.element(element_bytes);
    if (workload.repeats) {
      const int64_t dump_bytes = product(first.file.dims) / first.file.dims[0] * element_bytes;
      const MPI_Datatype dump = types_.resized(types_.file_type(workload, call), dump_bytes);
      return MPI_File_set_view(file, 0, etype, dump, "native", info);
    }
    if (call.parts.size() > 1) {
      return MPI_File_set_view(file, 0, etype, types_.file_type(workload, call), "native", info);
    }
    return MPI_File_set_view(file, workload.place(first.array), etype, types_.selected(first.file, element_bytes), "native", info);
  }

  Access access(int64_t i) {
    if (i >= own()) {
      return {};
    }
    const Workload& workload = job_.workload;
    const Call& call = workload.calls[static_cast<size_t>(i)];
    const Part& first = call.parts[0];
    const int64_t element_bytes = workload.arrays[first.array].element_bytes;
    Access access;
    access.type = types_.element(element_bytes);
    if (has_views_ && workload.repeats) {
      for (const Part& part : call.parts) {
        access.offset += i * part.file.elements();
      }
    } else if (!has_views_) {
      access.offset = workload.place(first.array) + Runs(first.file).offset() * element_bytes;
    }
    if (call.parts.size() == 1 && is_one_run(first.memory) && first.memory.elements() <= INT32_MAX) {
      access.memory = job_.memory + first.memory_bytes + Runs(first.memory).offset() * element_bytes;
      access.count = static_cast<int>(first.memory.elements());
    } else {
      access.memory = job_.memory;
      access.type = types_.memory_type(workload, call);
      access.count = 1;
    }
    return access;
  }

 private:
  int64_t own() const { return static_cast<int64_t>(job_.workload.calls.size()); }

  const Job& job_;
  MpiTypes types_;
  int64_t call_count_ = 0;
  bool has_views_ = false;
};

class MpiioLayer : public Layer {
 public:
  MpiioLayer(MPI_Comm comm, const LayerOptions& options) : comm_(comm), options_(options) {
    MPI_Info_create(&info_);
    for (const auto& [name, value] : options.hints) {
      MPI_Info_set(info_, name.c_str(), value.c_str());
    }
  }
  ~MpiioLayer() override { MPI_Info_free(&info_); }
  MpiioLayer(const MpiioLayer&) = delete;
  MpiioLayer& operator=(const MpiioLayer&) = delete;

  Told write(const Job& job) override { return move(job, true); }
  Told read(const Job& job) override { return move(job, false); }
  std::vector<int64_t> places(const Job& job) override { return plain_places(job.workload); }

 private:
  Told move(const Job& job, bool writes) {
    const MPI_Comm ranks = job.workload.is_file_a_rank ? MPI_COMM_SELF : comm_;
    std::map<std::string, double> phases;
    double last = MPI_Wtime();
    const auto took = [&](const char* phase) {
      const double now = MPI_Wtime();
      phases[phase] += now - last;
      last = now;
    };
    for (int i = 0; i < job.workload.files; ++i) {
      MPI_File file = MPI_FILE_NULL;
      const int mode = writes ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
      const std::string path = path_of(options_, job, i);
      require_mpi(MPI_File_open(ranks, path.c_str(), mode, info_, &file), "open " + path);
      took("open");
      failed_ = MPI_SUCCESS;
      move_calls(job, ranks, file, writes);
      took(writes ? "write" : "read");
      if (writes && options_.sync) {
        note(MPI_File_sync(file), "sync");
        took("sync");
      }
      note(MPI_File_close(&file), "close");
      took("commit");
      require_mpi(failed_, what_failed_ + " " + path);
    }
    Told told;
    told.phases = phases;
    return told;
  }

  void move_calls(const Job& job, MPI_Comm ranks, MPI_File file, bool writes) {
    MpiioCalls calls(job, ranks);
    for (int64_t i = 0; i < calls.count(); ++i) {
      if (calls.sets_view(i)) {
        note(calls.set_view(file, i, info_), "set the view of");
      }
      const Access a = calls.access(i);
      MPI_Status status;
      if (options_.collective) {
        note(writes ? MPI_File_write_at_all(file, a.offset, a.memory, a.count, a.type, &status)
                    : MPI_File_read_at_all(file, a.offset, a.memory, a.count, a.type, &status),
             writes ? "write" : "read");
      } else if (a.count > 0) {
        note(writes ? MPI_File_write_at(file, a.offset, a.memory, a.count, a.type, &status)
                    : MPI_File_read_at(file, a.offset, a.memory, a.count, a.type, &status),
             writes ? "write" : "read");
      }
    }
  }

  void note(int code, const char* what) {
    if (failed_ == MPI_SUCCESS && code != MPI_SUCCESS) {
      failed_ = code;
      what_failed_ = what;
    }
  }

  MPI_Comm comm_;
  LayerOptions options_;
  MPI_Info info_ = MPI_INFO_NULL;
  int failed_ = MPI_SUCCESS;
  std::string what_failed_;
};

}  // namespace

std::unique_ptr<Layer> make_mpiio_layer(MPI_Comm comm, const LayerOptions& options) {
  return std::make_unique<MpiioLayer>(comm, options);
}

}  // namespace stria::bench
