// stria convection: compressible convection in a stratified layer, with the output of the code that
// Thakur, Lusk and Gropp traced in 1995.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands_of_mpi.hpp"
#include "output/output.hpp"
#include "stria/trace.hpp"

namespace stria::tool {

namespace {

using convection::ConvectionRun;
using convection::Grid;
using convection::Layer;
using convection::Output;
using convection::OutputOptions;
using nlohmann::json;

struct ConvectionArguments {
  std::vector<int64_t> cells{512, 256};
  Layer layer;
  double courant = 0.5;
  int64_t steps = 20;
  int64_t restart_every = 10;
  int64_t data_every = 10;
  int64_t movie_every = 5;
  int64_t averages_every = 5;
  std::string through = "library";
  std::string movie = "byte";
  std::string restart;
  OutputOptions output;
  std::vector<std::string> hints;
  std::string json_path;
  bool no_sync = false;
};

// Drives one run: steps, and output where it is due.
class ConvectionDriver {
 public:
  ConvectionDriver(MPI_Comm comm, const ConvectionArguments& arguments, ConvectionRun& run, Output& output)
      : comm_(comm), arguments_(arguments), run_(run), output_(output), begin_(MPI_Wtime()) {}

  void run_to_end() {
    if (run_.steps() == 0) {
      write("movie", arguments_.movie_every, &Output::movie);
      write("averages", arguments_.averages_every, &Output::averages);
    }
    while (run_.steps() < arguments_.steps) {
      run_.step();
      progress();
      write("movie", arguments_.movie_every, &Output::movie);
      write("averages", arguments_.averages_every, &Output::averages);
      write("data", arguments_.data_every, &Output::data);
      write("restart", arguments_.restart_every, &Output::restart);
    }
    seconds_ = MPI_Wtime() - begin_;
  }

  json report() const {
    json outputs = json::object();
    for (const auto& [name, spent] : spent_) {
      outputs[name] = {{"count", spent.count}, {"seconds", spent.seconds}};
    }
    json sizes = json::object();
    for (const auto& [bytes, count] : output_.write_sizes()) {
      sizes[std::to_string(bytes)] = count;
    }
    const Grid& grid = run_.grid();
    return {{"ranks", grid.columns * grid.rows},
            {"blocks", {grid.columns, grid.rows}},
            {"cells", {grid.nx, grid.nz}},
            {"steps", run_.steps()},
            {"time", run_.time()},
            {"through", arguments_.through},
            {"seconds", seconds_},
            {"output_seconds", output_seconds()},
            {"outputs", outputs},
            {"write_sizes", sizes}};
  }
  double seconds() const { return seconds_; }
  double output_seconds() const {
    double sum = 0;
    for (const auto& [name, spent] : spent_) {
      sum += spent.seconds;
    }
    return sum;
  }

 private:
  struct Spent {
    int64_t count = 0;
    double seconds = 0;
  };

  // The time counts from a barrier, so that waiting for slower ranks' computation is not the
  // output's.
  void write(const char* name, int64_t every, void (Output::*call)(const ConvectionRun&)) {
    if (every == 0 || run_.steps() % every != 0) {
      return;
    }
    MPI_Barrier(comm_);
    const double begin = MPI_Wtime();
    (output_.*call)(run_);
    Spent& spent = spent_[name];
    ++spent.count;
    spent.seconds += MPI_Wtime() - begin;
  }

  // Rank 0's clock says for all whether a line is due, because a line takes a collective call.
  void progress() {
    int due = MPI_Wtime() - last_line_ >= 2 || run_.steps() == arguments_.steps ? 1 : 0;
    MPI_Bcast(&due, 1, MPI_INT, 0, comm_);
    if (due == 0) {
      return;
    }
    last_line_ = MPI_Wtime();
    const double mach = run_.largest_mach();
    print(comm_, fmt::format("  step {:>6}  t = {:.4f}  dt = {:.2e}  largest Mach number {:.3f}  {} cycles  {:.1f} s\n",
                             run_.steps(), run_.time(), run_.dt(), mach, run_.cycles(), last_line_ - begin_));
  }

  MPI_Comm comm_;
  const ConvectionArguments& arguments_;
  ConvectionRun& run_;
  Output& output_;
  double begin_;
  double seconds_ = 0;
  double last_line_ = 0;
  std::map<std::string, Spent> spent_;
};

// One rank looks, so that all take the same file.
std::string restart_path(MPI_Comm comm, const ConvectionArguments& a) {
  if (a.restart != "latest") {
    return a.restart;
  }
  std::string path;
  int64_t bytes = 0;
  on_root(comm, [&] {
    path = convection::latest_restart(a.output.directory, a.output.base);
    if (path.empty()) {
      throw Error(ErrorCode::kNotFound, fmt::format("there is no '{}restart_*.h5' in '{}'", a.output.base, a.output.directory));
    }
    bytes = static_cast<int64_t>(path.size());
  });
  MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, comm);
  path.resize(static_cast<size_t>(bytes));
  MPI_Bcast(path.data(), static_cast<int>(bytes), MPI_CHAR, 0, comm);
  return path;
}

std::unique_ptr<ConvectionRun> begin(MPI_Comm comm, const ConvectionArguments& a) {
  if (a.restart.empty()) {
    return std::make_unique<ConvectionRun>(Grid::divide(comm, a.cells[0], a.cells[1]), a.layer, a.courant);
  }
  const std::string path = restart_path(comm, a);
  auto run = convection::read_restart(comm, path, a.output.hints);
  print(comm, fmt::format("restarted from {}, step {}\n", path, run->steps()));
  return run;
}

std::unique_ptr<Output> make_output(const ConvectionArguments& a, const Grid& grid) {
  return a.through == "gather"     ? convection::make_gather_output(grid, a.output)
         : a.through == "separate" ? convection::make_separate_output(grid, a.output)
                                   : convection::make_library_output(a.output);
}

int run_convection(MPI_Comm comm, ConvectionArguments& a) {
  a.output.hints = parse_hints(comm, a.hints);
  a.output.sync = !a.no_sync;
  a.output.movie_floats = a.movie == "float";
  on_root(comm, [&] {
    std::error_code error;
    std::filesystem::create_directories(a.output.directory, error);
    if (error) {
      throw Error(ErrorCode::kPermissionDenied,
                  fmt::format("the directory '{}' can't be made: {}", a.output.directory, error.message()));
    }
  });
  if (!a.json_path.empty()) {
    check_writable(comm, a.json_path);
  }
  trace::start_from_environment(comm);
  const auto convection = begin(comm, a);
  const Grid& grid = convection->grid();
  print(comm, fmt::format("convection, {} x {} cells in {} x {} blocks, output through {}\n", grid.nx, grid.nz, grid.columns,
                          grid.rows, a.through));
  if (convection->steps() >= a.steps) {
    print(comm, "the run ends where the restart file was written: --steps says how much further to go\n");
  }
  const auto output = make_output(a, grid);
  ConvectionDriver driver(comm, a, *convection, *output);
  driver.run_to_end();
  print(comm, fmt::format("output took {:.3f} of {:.3f} s\n", driver.output_seconds(), driver.seconds()));
  if (!a.json_path.empty()) {
    write_text(comm, a.json_path, driver.report().dump(2) + "\n");
  }
  return kDone;
}

void add_physics(Command command, ConvectionArguments& a) {
  command.add_option("--cells", a.cells, "of the plane, along x and in depth; multiples of 8")
      .expected(2)
      .check(in_range(8, 1 << 16));
  command.add_option("--steps", a.steps, "the run ends after this step").check(in_range(0, 1 << 30));
  command.add_option("--cfl", a.courant, "Courant number");
  command.add_option("--aspect", a.layer.aspect, "the layer's width, in depths");
  command.add_option("--contrast", a.layer.contrast, "rise of the temperature from top to bottom, in the top's");
  command.add_option("--index", a.layer.index, "polytropic index; below 1 / (gamma - 1) the layer overturns");
  command.add_option("--gamma", a.layer.gamma, "ratio of specific heats");
  command.add_option("--conductivity", a.layer.conductivity, "of heat, at the top");
  command.add_option("--kick", a.layer.kick, "speed of the first disturbance, in the top's speed of sound");
}

void add_output(Command command, ConvectionArguments& a) {
  const auto every = in_range(0, 1 << 30);
  command.add_option("--restart-every", a.restart_every, "steps between restart files; 0: none").check(every);
  command.add_option("--data-every", a.data_every, "steps between the arrays for analysis").check(every);
  command.add_option("--movie-every", a.movie_every, "steps between frames of the movie").check(every);
  command.add_option("--averages-every", a.averages_every, "steps between horizontal averages").check(every);
  command.add_option("--movie", a.movie, "a byte or a float a cell").check(one_of({"byte", "float"}));
  command
      .add_option("--through", a.through,
                  "the library; or, to compare: rank 0 gathers and writes, or a separate file a process")
      .check(one_of({"library", "gather", "separate"}));
  command.add_option("--out", a.output.directory, "directory of the files").check(not_empty());
  command.add_option("--base", a.output.base, "what the files' names begin with");
  command.add_option("--restart", a.restart, "a restart file, or 'latest' for the last one in --out").check(not_empty());
  command.add_flag("--no-sync", a.no_sync, "don't wait until files are safe from a power loss");
  command.add_option("--hint", a.hints, "name=value, as in docs/hints.md; may be repeated").take_all().shown_default("");
  command.add_option("--json", a.json_path, "write the results there too").check(not_empty());
}

}  // namespace

void add_convection(Command app, Action& action) {
  auto a = std::make_shared<ConvectionArguments>();
  Command command = app.add_subcommand("convection", "convection in a stratified layer, with the output of Thakur 1995");
  command.take_last_and_show_defaults();
  add_physics(command, *a);
  add_output(command, *a);
  command.callback([a, &action] { action = over_mpi([a](MPI_Comm comm) { return run_convection(comm, *a); }); });
}

}  // namespace stria::tool
