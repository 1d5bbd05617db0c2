// ADIOS2's BP5 as applications use it: one Put a variable in one step. It writes a folder, with a
// file of data for each aggregator. Unless told otherwise that is one for each node.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "limits/plain_file.hpp"
#include "peers/adios2_file.hpp"
#include "peers/naive_pack.hpp"

namespace stria::bench {
namespace {

struct BpWay {
  Source source = Source::kOneVariable;
  bool everyone = false;  ///< every rank writes a file of its own, none hands its bytes to another
  bool plot = false;      ///< chosen variables as float, narrowed by the application
};

std::vector<int64_t> variables_of(const Round& r, const BpWay& way) {
  return way.plot ? r.data.plot_variables : r.data.every_variable();
}

/// Ends the job with ADIOS2's own words where it throws.
template <typename Function>
void require_adios2(const std::string& what, const Function& function) {
  try {
    function();
  } catch (const std::exception& error) {
    require(false, "ADIOS2: cannot " + what + ": " + error.what());
  }
}

adios2::IO declare(adios2::ADIOS* adios, const Round& r, const BpWay& way) {
  adios2::IO io = adios->DeclareIO("checkpoint");
  io.SetEngine("BP5");
  if (way.everyone) {
    int ranks = 1;
    MPI_Comm_size(r.comm, &ranks);
    io.SetParameters({{"AggregationType", "EveryoneWrites"}, {"NumSubFiles", std::to_string(ranks)}});
  }
  return io;
}

/// Puts a variable that the library takes out of the interleaved array. The array has a dimension
/// more, and so the variable has.
void put_in_place(const flash::Unk& unk, int64_t variable, adios2::IO* io, adios2::Engine* engine) {
  const auto& p = unk.parameters();
  const auto side = static_cast<size_t>(p.padded_side());
  const auto guard = static_cast<size_t>(p.guard_cells);
  const BpRows rows(unk.partition(), {p.nxb, p.nxb, p.nxb, 1});
  auto values =
      io->DefineVariable<double>(flash::variable_label(variable), rows.all, rows.start, rows.count, adios2::ConstantDims);
  values.SetMemorySelection({{0, guard, guard, guard, static_cast<size_t>(variable)},
                             {static_cast<size_t>(unk.allocated_blocks()), side, side, side, static_cast<size_t>(p.nvar)}});
  engine->Put(values, unk.data());
}

/// Puts packed values. The library copies them with `mode` Sync; else they stay until the step
/// ends.
template <typename T>
void put_packed(const BpRows& rows, int64_t variable, const T* packed, adios2::Mode mode, adios2::IO* io,
                adios2::Engine* engine) {
  auto values = io->DefineVariable<T>(flash::variable_label(variable), rows.all, rows.start, rows.count, adios2::ConstantDims);
  engine->Put(values, packed, mode);
}

void put_variable(Round& r, const BpWay& way, int64_t variable, adios2::IO* io, adios2::Engine* engine) {
  RankData& data = r.data;
  const int64_t side = data.unk.parameters().nxb;
  const BpRows rows(data.unk.partition(), {side, side, side});
  double* const one = data.one_variable.data();
  double start_s = flash::now_s();
  if (way.source == Source::kOneVariable) {
    if (way.plot) {
      pack_one_variable(data.unk, variable, reinterpret_cast<float*>(one));
    } else {
      pack_one_variable(data.unk, variable, one);
    }
    r.times.pack_s += flash::now_s() - start_s;
    start_s = flash::now_s();
  }
  if (way.source == Source::kInPlace) {
    put_in_place(data.unk, variable, io, engine);
  } else if (way.source == Source::kOnePass) {
    put_packed(rows, variable, data.limit.packed() + variable * data.run_values(), adios2::Mode::Deferred, io, engine);
  } else if (way.plot) {
    put_packed(rows, variable, reinterpret_cast<const float*>(one), adios2::Mode::Sync, io, engine);
  } else {
    put_packed(rows, variable, one, adios2::Mode::Sync, io, engine);
  }
  r.times.transfer_s += flash::now_s() - start_s;
}

/// Syncs every file of a folder to the device. BP5 has no such option.
void sync_folder(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const int file = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    require(file >= 0 && fsync(file) == 0, "cannot sync " + entry.path().string());
    close(file);
  }
}

void write_bp(Round& r, const BpWay& way) {
  double start_s = flash::now_s();
  adios2::ADIOS adios(r.comm);
  adios2::IO io = declare(&adios, r, way);
  adios2::Engine engine = io.Open(r.path, adios2::Mode::Write);
  engine.BeginStep();
  r.times.open_s += flash::now_s() - start_s;
  flash::timed(&r.times.transfer_s, [&] { put_bp_lists(&io, &engine, r.data); });
  if (way.source == Source::kOnePass) {
    require(flash::timed(&r.times.pack_s, [&] { return r.data.limit.prepare_packed(); }));
  }
  for (const int64_t variable : variables_of(r, way)) {
    put_variable(r, way, variable, &io, &engine);
  }
  flash::timed(&r.times.transfer_s, [&] { engine.EndStep(); });
  flash::timed(&r.times.close_s, [&] { engine.Close(); });
  if (r.sync) {
    flash::timed(&r.times.sync_s, [&] { sync_folder(r.path); });
  }
}

Mode bp_write_mode(const char* name, const BpWay& way) {
  Mode mode;
  mode.name = name;
  mode.kind = way.plot ? ModeKind::kPlot : ModeKind::kCheckpoint;
  mode.run = [way](Round& r) { require_adios2("write " + r.path, [&] { write_bp(r, way); }); };
  mode.file_runs = [way](Round& r) {
    flash::FileRuns runs;
    require_adios2("read " + r.path, [&] {
      runs = export_bp_runs(r.path, r.data, variables_of(r, way), way.plot ? sizeof(float) : sizeof(double));
    });
    return runs;
  };
  mode.check_lists = [](Round& r) {
    std::string wrong;
    require_adios2("read " + r.path, [&] { wrong = check_bp_lists(r.path, r.data); });
    return wrong;
  };
  return mode;
}

void read_file(Round& r) {
  double start_s = flash::now_s();
  adios2::ADIOS adios(r.comm);
  adios2::IO io = declare(&adios, r, {});
  adios2::Engine engine = io.Open(r.path, adios2::Mode::ReadRandomAccess);
  r.times.open_s += flash::now_s() - start_s;
  start_s = flash::now_s();
  const int64_t side = r.data.unk.parameters().nxb;
  const BpRows rows(r.data.unk.partition(), {side, side, side});
  const int64_t variables = r.data.unk.parameters().nvar;
  const auto place = [&](int64_t variable) { return r.data.all_variables.data() + variable * r.data.run_values(); };
  for (int64_t variable = 0; variable < variables; ++variable) {
    auto values = io.InquireVariable<double>(flash::variable_label(variable));
    values.SetSelection({rows.start, rows.count});
    engine.Get(values, place(variable));
  }
  engine.PerformGets();
  r.times.transfer_s += flash::now_s() - start_s;
  start_s = flash::now_s();
  for (int64_t variable = 0; variable < variables; ++variable) {
    unpack_one_variable(place(variable), variable, r.target);
  }
  r.times.pack_s += flash::now_s() - start_s;
  flash::timed(&r.times.close_s, [&] { engine.Close(); });
}

Mode read_mode(const char* name) {
  Mode mode;
  mode.name = name;
  mode.kind = ModeKind::kRead;
  mode.prepare = [](Round& r) { require_adios2("write " + r.path, [&] { write_bp(r, {.source = Source::kOnePass}); }); };
  mode.run = [](Round& r) { require_adios2("read " + r.path, [&] { read_file(r); }); };
  return mode;
}

}  // namespace

std::vector<Mode> adios2_modes() {
  return {bp_write_mode("adios2-bp5", {}),
          bp_write_mode("adios2-bp5+pack", {.source = Source::kOnePass}),
          bp_write_mode("adios2-bp5-everyone+pack", {.source = Source::kOnePass, .everyone = true}),
          bp_write_mode("adios2-bp5-in-place", {.source = Source::kInPlace}),
          bp_write_mode("plot-adios2-bp5-appconv", {.plot = true}),
          read_mode("read-adios2-bp5")};
}

}  // namespace stria::bench
