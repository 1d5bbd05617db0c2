// Plain MPI-IO: one independent write per variable from packed bytes, or one collective write
// described by derived datatypes.
#include "limits/plain_file.hpp"
#include "peers/modes.hpp"

namespace stria::bench {
namespace {

using flash::LimitWay;
using flash::timed;

struct MpiioWay {
  bool collective = false;
  Source source = Source::kOnePass;
};

void require_mpi(int outcome, const std::string& what) {
  if (outcome == MPI_SUCCESS) {
    return;
  }
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(outcome, words, &length);
  require(false, "MPI-IO: cannot " + what + ": " + words);
}

/// Returns all variables of all blocks in the order of the file: the subarray of one variable, once
/// for each, 8 bytes apart.
MPI_Datatype memory_type(const flash::Unk& unk) {
  const auto& p = unk.parameters();
  const auto side = static_cast<int>(p.padded_side());
  const auto inner = static_cast<int>(p.nxb);
  const auto guard = static_cast<int>(p.guard_cells);
  const int all[5] = {static_cast<int>(unk.blocks()), side, side, side, static_cast<int>(p.nvar)};
  const int count[5] = {static_cast<int>(unk.blocks()), inner, inner, inner, 1};
  const int start[5] = {0, guard, guard, guard, 0};
  MPI_Datatype one = MPI_DATATYPE_NULL;
  MPI_Datatype every = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(5, all, count, start, MPI_ORDER_C, MPI_DOUBLE, &one);
  MPI_Type_create_hvector(static_cast<int>(p.nvar), 1, sizeof(double), one, &every);
  MPI_Type_commit(&every);
  MPI_Type_free(&one);
  return every;
}

/// Describes this rank's run of every variable in the file.
MPI_Datatype file_type(const RankData& data, const flash::FileRuns& runs) {
  const auto values = static_cast<int>(data.run_values());
  const std::vector<MPI_Aint> places(runs.offsets_bytes.begin(), runs.offsets_bytes.end());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), values, places.data(), MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

void write_collective(Round& r, const MpiioWay& way, MPI_File file, const flash::FileRuns& runs) {
  MPI_Datatype view = file_type(r.data, runs);
  require_mpi(MPI_File_set_view(file, 0, MPI_DOUBLE, view, "native", MPI_INFO_NULL), "set the view of " + r.path);
  if (way.source == Source::kInPlace) {
    MPI_Datatype memory = memory_type(r.data.unk);
    require_mpi(MPI_File_write_all(file, r.data.unk.data(), 1, memory, MPI_STATUS_IGNORE), "write " + r.path);
    MPI_Type_free(&memory);
  } else {
    const auto values = static_cast<int>(r.data.run_values() * r.data.unk.parameters().nvar);
    require_mpi(MPI_File_write_all(file, r.data.limit.packed(), values, MPI_DOUBLE, MPI_STATUS_IGNORE), "write " + r.path);
  }
  MPI_Type_free(&view);
}

void write_independent(Round& r, MPI_File file, const flash::FileRuns& runs) {
  const int64_t values = r.data.run_values();
  for (size_t n = 0; n < runs.offsets_bytes.size(); ++n) {
    const double* run = r.data.limit.packed() + static_cast<int64_t>(n) * values;
    require_mpi(MPI_File_write_at(file, runs.offsets_bytes[n], run, static_cast<int>(values), MPI_DOUBLE, MPI_STATUS_IGNORE),
                "write " + r.path);
  }
}

void write_file(Round& r, const MpiioWay& way) {
  MPI_File file = MPI_FILE_NULL;
  const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
  require_mpi(timed(&r.times.open_s, [&] { return MPI_File_open(r.comm, r.path.c_str(), mode, MPI_INFO_NULL, &file); }),
              "create " + r.path);
  if (way.source == Source::kOnePass) {
    require(timed(&r.times.pack_s, [&] { return r.data.limit.prepare_packed(); }));
  }
  const double start_s = flash::now_s();
  const flash::FileRuns runs = r.data.limit.runs(LimitWay::kPackWhole, r.path);
  if (way.collective) {
    write_collective(r, way, file, runs);
  } else {
    write_independent(r, file, runs);
  }
  r.times.transfer_s += flash::now_s() - start_s;
  if (r.sync) {
    require_mpi(timed(&r.times.sync_s, [&] { return MPI_File_sync(file); }), "sync " + r.path);
  }
  require_mpi(timed(&r.times.close_s, [&] { return MPI_File_close(&file); }), "close " + r.path);
}

Mode mpiio_write_mode(const char* name, const MpiioWay& way, bool slow = false) {
  Mode mode;
  mode.name = name;
  mode.slow = slow;
  if (way.source == Source::kPrepacked) {
    mode.prepare = [](Round& r) { r.data.ensure_packed(); };
  }
  mode.run = [way](Round& r) { write_file(r, way); };
  mode.file_runs = [](Round& r) { return r.data.limit.runs(LimitWay::kPackWhole, r.path); };
  return mode;
}

}  // namespace

std::vector<Mode> mpiio_modes() {
  return {mpiio_write_mode("mpiio-independent+pack", {}),
          mpiio_write_mode("mpiio-independent-prepacked", {.source = Source::kPrepacked}),
          mpiio_write_mode("mpiio-collective+pack", {.collective = true}),
          mpiio_write_mode("mpiio-collective-derived", {.collective = true, .source = Source::kInPlace}, true)};
}

}  // namespace stria::bench
