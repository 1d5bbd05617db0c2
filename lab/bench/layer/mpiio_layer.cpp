// Writes and reads through the MPI-IO of the process: its MPI's own, or one that was preloaded.
//
// A rank whose call fails still makes the collective calls, so that no other rank waits for it. The
// first failure is thrown when the file is closed.
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

struct View {
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_BYTE;
  MPI_Datatype file_type = MPI_BYTE;
};

bool is_one_run(const Selection& selection) {
  return Runs(selection).elements() == selection.elements();
}

/// The calls of one job: with views where any rank needs one, else with offsets only.
class MpiioCalls {
 public:
  MpiioCalls(const Job& job, MPI_Comm comm) : job_(job) {
    int64_t most[2] = {static_cast<int64_t>(job.workload.calls.size()), 0};
    for (const Call& call : job.workload.calls) {
      most[1] = call.parts.size() == 1 && is_one_run(call.parts[0].file) ? most[1] : 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, comm);
    has_views_ = most[1] != 0;
    // A rank with fewer calls than others makes the remaining collective ones without bytes.
    accesses_.resize(static_cast<size_t>(most[0]));
    views_.resize(!has_views_ ? 0 : job.workload.repeats ? 1 : accesses_.size());
    for (size_t i = 0; i < job.workload.calls.size(); ++i) {
      if (i < views_.size()) {
        views_[i] = view(job.workload.calls[i]);
      }
      accesses_[i] = access(i);
    }
  }

  const std::vector<Access>& accesses() const { return accesses_; }
  /// Returns one for each of the first accesses: the last stays.
  const std::vector<View>& views() const { return views_; }

 private:
  int64_t element_bytes(const Part& part) const { return job_.workload.arrays[part.array].element_bytes; }

  View view(const Call& call) {
    const Part& first = call.parts[0];
    const MPI_Datatype etype = types_.element(element_bytes(first));
    if (job_.workload.repeats) {
      const int64_t dump_bytes = product(first.file.dims) / first.file.dims[0] * element_bytes(first);
      return {0, etype, types_.resized(types_.file_type(job_.workload, call), dump_bytes)};
    }
    if (call.parts.size() > 1) {
      return {0, etype, types_.file_type(job_.workload, call)};
    }
    return {job_.workload.place(first.array), etype, types_.selected(first.file, element_bytes(first))};
  }

  Access access(size_t i) {
    const Call& call = job_.workload.calls[i];
    const Part& first = call.parts[0];
    Access access;
    if (has_views_ && job_.workload.repeats) {
      for (const Part& part : call.parts) {
        access.offset += static_cast<int64_t>(i) * part.file.elements();
      }
    } else if (!has_views_) {
      access.offset = job_.workload.place(first.array) + Runs(first.file).offset() * element_bytes(first);
    }
    if (call.parts.size() == 1 && is_one_run(first.memory) && first.memory.elements() <= INT32_MAX) {
      access.memory = job_.memory + first.memory_bytes + Runs(first.memory).offset() * element_bytes(first);
      access.count = static_cast<int>(first.memory.elements());
      access.type = types_.element(element_bytes(first));
      return access;
    }
    access.memory = job_.memory;
    access.count = 1;
    access.type = job_.workload.repeats && i > 0 ? accesses_[0].type : types_.memory_type(job_.workload, call);
    return access;
  }

  const Job job_;
  MpiTypes types_;
  bool has_views_ = false;
  std::vector<Access> accesses_;
  std::vector<View> views_;
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

  void prepare(const Job& job) override {
    auto& calls = calls_[&job.workload];
    if (calls == nullptr) {
      calls = std::make_unique<MpiioCalls>(job, job.workload.is_file_a_rank ? MPI_COMM_SELF : comm_);
    }
  }
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
      move_calls(*calls_.at(&job.workload), file, writes);
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

  void move_calls(const MpiioCalls& calls, MPI_File file, bool writes) {
    for (size_t i = 0; i < calls.accesses().size(); ++i) {
      if (i < calls.views().size()) {
        const View& view = calls.views()[i];
        note(MPI_File_set_view(file, view.displacement, view.etype, view.file_type, "native", info_), "set the view of");
      }
      const Access& a = calls.accesses()[i];
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
  std::map<const Workload*, std::unique_ptr<MpiioCalls>> calls_;
  int failed_ = MPI_SUCCESS;
  std::string what_failed_;
};

}  // namespace

std::unique_ptr<Layer> make_mpiio_layer(MPI_Comm comm, const LayerOptions& options) {
  return std::make_unique<MpiioLayer>(comm, options);
}

}  // namespace stria::bench
