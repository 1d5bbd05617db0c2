// PnetCDF as applications use it: one blocking collective call per variable, or all variables
// posted and written together.
#include <pnetcdf.h>

#include "limits/plain_file.hpp"
#include "peers/naive_pack.hpp"
#include "peers/pnetcdf_file.hpp"

namespace stria::bench {
namespace {

using flash::timed;

enum class PnetcdfConversion { kNone, kLibrary, kApplication };

struct NetcdfWay {
  bool nonblocking = false;
  Source source = Source::kOneVariable;
  PnetcdfConversion conversion = PnetcdfConversion::kNone;
};

std::vector<int64_t> variables_of(const Round& r, const NetcdfWay& way) {
  return way.conversion == PnetcdfConversion::kNone ? r.data.every_variable() : r.data.plot_variables;
}

/// Returns the interior of one variable of all blocks, as a datatype over the interleaved array.
/// The caller frees it.
MPI_Datatype interleaved_type(const flash::Unk& unk) {
  const auto& p = unk.parameters();
  const auto side = static_cast<int>(p.padded_side());
  const auto inner = static_cast<int>(p.nxb);
  const auto guard = static_cast<int>(p.guard_cells);
  const int all[5] = {static_cast<int>(unk.blocks()), side, side, side, static_cast<int>(p.nvar)};
  const int count[5] = {static_cast<int>(unk.blocks()), inner, inner, inner, 1};
  const int start[5] = {0, guard, guard, guard, 0};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(5, all, count, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/// One variable's values for one call. A pending call needs them to stay, so each variable has
/// its own place.
struct PutSource {
  const void* values = nullptr;
  MPI_Offset count = 0;
  MPI_Datatype type = MPI_DOUBLE;
};

PutSource source_of(Round& r, const NetcdfWay& way, int64_t variable, size_t place, MPI_Datatype interleaved) {
  RankData& data = r.data;
  if (way.source == Source::kInPlace) {
    return {data.unk.data() + variable, 1, interleaved};
  }
  if (way.source != Source::kOneVariable) {
    return {data.limit.packed() + variable * data.run_values(), data.run_values(), MPI_DOUBLE};
  }
  double* buffer =
      way.nonblocking ? data.all_variables.data() + static_cast<int64_t>(place) * data.run_values() : data.one_variable.data();
  const double start_s = flash::now_s();
  const bool narrow = way.conversion == PnetcdfConversion::kApplication;
  if (narrow) {
    pack_one_variable(data.unk, variable, reinterpret_cast<float*>(buffer));
  } else {
    pack_one_variable(data.unk, variable, buffer);
  }
  r.times.pack_s += flash::now_s() - start_s;
  return {buffer, data.run_values(), narrow ? MPI_FLOAT : MPI_DOUBLE};
}

void put_variables(Round& r, const NetcdfWay& way, const NetcdfFile& file) {
  const int64_t side = r.data.unk.parameters().nxb;
  const NetcdfRows rows(r.data.unk.partition(), {side, side, side});
  const std::vector<int64_t> variables = variables_of(r, way);
  MPI_Datatype interleaved = way.source == Source::kInPlace ? interleaved_type(r.data.unk) : MPI_DATATYPE_NULL;
  for (size_t n = 0; n < variables.size(); ++n) {
    const PutSource source = source_of(r, way, variables[n], n, interleaved);
    const double start_s = flash::now_s();
    int request = 0;
    const int outcome = way.nonblocking ? ncmpi_iput_vara(file.id, file.variables[n], rows.start.data(), rows.count.data(),
                                                          source.values, source.count, source.type, &request)
                                        : ncmpi_put_vara_all(file.id, file.variables[n], rows.start.data(), rows.count.data(),
                                                             source.values, source.count, source.type);
    require_netcdf(outcome, "write " + flash::variable_label(variables[n]));
    r.times.transfer_s += flash::now_s() - start_s;
  }
  if (way.nonblocking) {
    const int outcome = timed(&r.times.transfer_s, [&] { return ncmpi_wait_all(file.id, NC_REQ_ALL, nullptr, nullptr); });
    require_netcdf(outcome, "write the posted variables");
  }
  if (interleaved != MPI_DATATYPE_NULL) {
    MPI_Type_free(&interleaved);
  }
}

void write_file(Round& r, const NetcdfWay& way) {
  double start_s = flash::now_s();
  const NetcdfFile file =
      create_netcdf(r, variables_of(r, way), way.conversion == PnetcdfConversion::kNone ? NC_DOUBLE : NC_FLOAT);
  r.times.open_s += flash::now_s() - start_s;
  start_s = flash::now_s();
  write_netcdf_lists(file, r.data, way.nonblocking);
  r.times.transfer_s += flash::now_s() - start_s;
  if (way.source == Source::kOnePass) {
    require(timed(&r.times.pack_s, [&] { return r.data.limit.prepare_packed(); }));
  }
  put_variables(r, way, file);
  if (r.sync) {
    require_netcdf(timed(&r.times.sync_s, [&] { return ncmpi_sync(file.id); }), "sync " + r.path);
  }
  require_netcdf(timed(&r.times.close_s, [&] { return ncmpi_close(file.id); }), "close " + r.path);
}

Mode pnetcdf_write_mode(const char* name, const NetcdfWay& way) {
  Mode mode;
  mode.name = name;
  mode.kind = way.conversion == PnetcdfConversion::kNone ? ModeKind::kCheckpoint : ModeKind::kPlot;
  if (way.source == Source::kPrepacked) {
    mode.prepare = [](Round& r) { r.data.ensure_packed(); };
  }
  mode.run = [way](Round& r) { write_file(r, way); };
  mode.file_runs = [way](Round& r) {
    return netcdf_file_runs(r.path, r.data, variables_of(r, way), way.conversion == PnetcdfConversion::kNone ? 8 : 4);
  };
  mode.check_lists = [](Round& r) { return check_netcdf_lists(r.path, r.data); };
  return mode;
}

void read_netcdf_file(Round& r) {
  int file = -1;
  const int opened =
      timed(&r.times.open_s, [&] { return ncmpi_open(r.comm, r.path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &file); });
  require_netcdf(opened, "open " + r.path);
  const int64_t side = r.data.unk.parameters().nxb;
  const NetcdfRows rows(r.data.unk.partition(), {side, side, side});
  for (int64_t variable = 0; variable < r.data.unk.parameters().nvar; ++variable) {
    const double start_s = flash::now_s();
    const std::string name = flash::variable_label(variable);
    int id = -1;
    require_netcdf(ncmpi_inq_varid(file, name.c_str(), &id), "find " + name);
    require_netcdf(ncmpi_get_vara_double_all(file, id, rows.start.data(), rows.count.data(), r.data.one_variable.data()),
                   "read " + name);
    const double unpack_start_s = flash::now_s();
    r.times.transfer_s += unpack_start_s - start_s;
    unpack_one_variable(r.data.one_variable.data(), variable, r.target);
    r.times.pack_s += flash::now_s() - unpack_start_s;
  }
  require_netcdf(timed(&r.times.close_s, [&] { return ncmpi_close(file); }), "close " + r.path);
}

Mode pnetcdf_read_mode() {
  Mode mode;
  mode.name = "read-pnetcdf-blocking";
  mode.kind = ModeKind::kRead;
  mode.prepare = [](Round& r) {
    const LimitTimes before = r.times;
    write_file(r, {.nonblocking = true, .source = Source::kOnePass});
    r.times = before;
  };
  mode.run = read_netcdf_file;
  return mode;
}

}  // namespace

std::vector<Mode> pnetcdf_modes() {
  const auto library = PnetcdfConversion::kLibrary;
  const auto application = PnetcdfConversion::kApplication;
  return {pnetcdf_write_mode("pnetcdf-blocking", {}),
          pnetcdf_write_mode("pnetcdf-nonblocking", {.nonblocking = true}),
          pnetcdf_write_mode("pnetcdf-nonblocking+pack", {.nonblocking = true, .source = Source::kOnePass}),
          pnetcdf_write_mode("pnetcdf-nonblocking-prepacked", {.nonblocking = true, .source = Source::kPrepacked}),
          pnetcdf_write_mode("pnetcdf-nonblocking-derived", {.nonblocking = true, .source = Source::kInPlace}),
          pnetcdf_write_mode("plot-pnetcdf-blocking-libconv", {.conversion = library}),
          pnetcdf_write_mode("plot-pnetcdf-blocking-appconv", {.conversion = application}),
          pnetcdf_write_mode("plot-pnetcdf-nonblocking-libconv", {.nonblocking = true, .conversion = library}),
          pnetcdf_write_mode("plot-pnetcdf-nonblocking-appconv", {.nonblocking = true, .conversion = application}),
          pnetcdf_read_mode()};
}

}  // namespace stria::bench
