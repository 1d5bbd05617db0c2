#include "output/simulation_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "format/lists.hpp"
#include "format/origin.hpp"
#include "hydro/euler.hpp"
#include "mesh/corners/corner_interpolation.hpp"
#include "output/run_scalars.hpp"
#include "stria/paths.hpp"

namespace stria::flash {

namespace {

// Points into the table, which must outlive it.
CellArray cells_of(Mesh& mesh) {
  CellArray cells;
  cells.data = mesh.unk();
  for (int d = 0; d < 3; ++d) {
    cells.cells[d] = mesh.shape().cells[static_cast<size_t>(d)];
    cells.guards[d] = mesh.shape().guards[static_cast<size_t>(d)];
  }
  cells.names = mesh.options().variables.names;
  return cells;
}

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

// Returns rank 0's list of strings on every rank.
std::vector<std::string> share(MPI_Comm comm, const std::vector<std::string>& list) {
  std::string joined;
  for (const std::string& entry : list) {
    joined += entry + '\n';
  }
  auto length = static_cast<int>(joined.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, comm);
  joined.resize(static_cast<size_t>(length));
  MPI_Bcast(joined.data(), length, MPI_CHAR, 0, comm);
  std::vector<std::string> shared;
  for (size_t at = 0; at < joined.size();) {
    size_t end = joined.find('\n', at);
    shared.push_back(joined.substr(at, end - at));
    at = end + 1;
  }
  return shared;
}

// Returns the number at the end of a checkpoint's name, or -1.
int number_of(const std::string& path) {
  size_t last = path.find_last_of('_');
  std::string digits = last == std::string::npos ? "" : path.substr(last + 1);
  bool number = digits.size() >= 4 && digits.size() <= 9 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : -1;
}

std::vector<std::string> names_in(const std::string& directory) {
  try {
    return list_directory(directory);
  } catch (const Error&) {
    return {};
  }
}

std::vector<std::string> staged_in(const std::string& place) {
  try {
    return list_staged(place);
  } catch (const Error&) {
    return {};
  }
}

bool holds_numbers(const Dataset& dataset) {
  std::string type = dataset.type_name();
  return type.compare(0, 5, "float") == 0 || type.compare(0, 3, "int") == 0 || type.compare(0, 4, "uint") == 0;
}

void need_shape(File& file, const std::string& name, const std::vector<int64_t>& dims) {
  Dataset dataset = file.dataset(name);
  if (!holds_numbers(dataset) || dataset.dims() != dims) {
    throw Error(
        ErrorCode::kFormat,
        fmt::format(
            "dataset '{}' is of type {} and shape {{{}}}; a checkpoint of this application holds numbers of shape {{{}}}", name,
            dataset.type_name(), fmt::join(dataset.dims(), ", "), fmt::join(dims, ", ")));
  }
}

// All ranks must find together what is wrong with the file: a rank that gave up because of its own
// share would leave the others waiting.
void check_shapes(File& file, const FlashHeader& header, const std::vector<std::string>& names) {
  int64_t n = header.global_count;
  need_shape(file, stored_name(file.format(), "refine level"), {n});
  need_shape(file, stored_name(file.format(), "bounding box"), {n, 3, 2});
  std::vector<int64_t> dims = {n, header.cells[2], header.cells[1], header.cells[0]};
  if (header.experimental) {
    dims.push_back(static_cast<int64_t>(names.size()));
    need_shape(file, "unknowns", dims);
    return;
  }
  for (const std::string& name : names) {
    need_shape(file, name, dims);
  }
}

// Calls `read`, and adds the name of the file to its error.
template <typename Read>
auto naming(const std::string& path, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    std::string what = error.what();
    throw Error(error.code(), what.find(path) == std::string::npos ? fmt::format("'{}': {}", path, what) : what);
  }
}

Restored restore(MPI_Comm comm, const std::string& path, const SedovOptions& options, const Hints& hints);

}  // namespace

SimulationFiles::SimulationFiles(MPI_Comm comm, OutputOptions options) : comm_(comm), options_(std::move(options)) {}

Leftovers SimulationFiles::clear_leftovers() {
  Leftovers found;
  if (rank_of(comm_) == 0) {
    if (const auto place = options_.hints.find("stria_staging"); place != options_.hints.end()) {
      try {
        for (const std::string& path : drain_staged(place->second)) {
          found.cleared.push_back(
              fmt::format("brought '{}' to its place, which a killed run left in '{}'", path, place->second));
        }
      } catch (const Error& error) {
        found.failures.emplace_back(error.what());
      }
    }
    for (const std::string& path : remove_abandoned(options_.directory, options_.base)) {
      found.cleared.push_back(fmt::format("removed '{}', which a killed run left half written", path));
    }
  }
  return {share(comm_, found.cleared), share(comm_, found.failures)};
}

void SimulationFiles::continue_after(const Restored& restored) {
  next_checkpoint_ = restored.checkpoint_number + 1;
  next_plot_ = restored.plot_number;
  for (const std::string& path : list_checkpoints(comm_, options_.directory, options_.base, options_.hints)) {
    if (number_of(path) <= restored.checkpoint_number) {
      checkpoints_.insert(checkpoints_.begin(), path);
    }
  }
}

void SimulationFiles::check_plot_variables(SedovRun& run) const {
  plot_indices(cells_of(run.mesh()));
}

std::vector<int> SimulationFiles::plot_indices(const CellArray& cells) const {
  std::vector<int> indices;
  for (const std::string& name : options_.plot_variables) {
    auto found = std::find(cells.names.begin(), cells.names.end(), name);
    auto index = static_cast<int>(found - cells.names.begin());
    if (found == cells.names.end()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("there is no variable '{}' to plot; there are {}", name, fmt::join(cells.names, " ")));
    }
    if (std::find(indices.begin(), indices.end(), index) != indices.end()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("the variable '{}' is to be plotted twice", name));
    }
    indices.push_back(index);
  }
  return indices;
}

ScalarLists SimulationFiles::scalars(const SedovRun& run, bool corners) const {
  ScalarLists lists = lists_of_run(run, next_checkpoint_, next_plot_, corners);
  lists.origin = shared_origin(comm_);
  return lists;
}

void SimulationFiles::write(const std::string& path, const std::string& kind, SedovRun& run,
                            const std::function<void(File&)>& put) {
  MPI_Barrier(comm_);
  double start = MPI_Wtime();
  CreateOptions create;
  create.hints = options_.hints;
  create.sync = options_.sync;
  create.format = options_.format;
  File file = File::create(comm_, path, create);
  put(file);
  const bool async = options_.async && kind == "checkpoint";
  Commit commit;
  if (async) {
    commit = file.commit_async();
  } else {
    file.commit();
  }
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_);
  note_warnings(file.hint_warnings());
  const Report& report = file.report();
  WrittenFile entry{.path = path,
                    .kind = kind,
                    .step = run.scalars().step,
                    .useful_bytes = report.useful_bytes,
                    .file_bytes = report.file_bytes,
                    .seconds = seconds,
                    .phases = report.phases,
                    .method = report.method};
  int size = 1;
  MPI_Comm_size(comm_, &size);
  MPI_Allreduce(MPI_IN_PLACE, entry.phases.seconds.data(), static_cast<int>(kPhaseCount), MPI_DOUBLE, MPI_SUM, comm_);
  for (double& phase : entry.phases.seconds) {
    phase /= size;
  }
  if (async) {
    under_way_.emplace(std::move(commit), std::move(entry));
  } else {
    written_.push_back(std::move(entry));
  }
}

void SimulationFiles::note_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    if (std::find(hint_warnings_.begin(), hint_warnings_.end(), warning) == hint_warnings_.end()) {
      hint_warnings_.push_back(warning);
    }
  }
}

std::vector<std::string> SimulationFiles::take_hint_warnings() {
  const auto first = static_cast<std::ptrdiff_t>(std::exchange(taken_warnings_, hint_warnings_.size()));
  return {hint_warnings_.begin() + first, hint_warnings_.end()};
}

void SimulationFiles::finish() {
  if (under_way_) {
    const double start = MPI_Wtime();
    under_way_->first.wait();
    double& seconds = under_way_->second.wait_seconds;
    seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_);
    checkpoints_.push_back(under_way_->second.path);
    written_.push_back(std::move(under_way_->second));
    under_way_.reset();
    remove_old();
  }
}

void SimulationFiles::write_checkpoint(SedovRun& run) {
  finish();
  Mesh& mesh = run.mesh();
  BlockTable table = mesh.block_table();
  std::string path = checkpoint_name(options_.directory + "/" + options_.base, next_checkpoint_, options_.format);
  write(path, "checkpoint", run,
        [&](File& file) { put_checkpoint(file, table, cells_of(mesh), scalars(run, false), options_.form); });
  ++next_checkpoint_;
  if (!under_way_) {
    checkpoints_.push_back(path);
    remove_old();
  }
}

void SimulationFiles::remove_old() {
  while (options_.keep > 0 && static_cast<int>(checkpoints_.size()) > options_.keep) {
    if (rank_of(comm_) == 0) {
      try {
        remove_file(checkpoints_.front());
      } catch (const Error&) {
        // Another process has removed it, or it stays.
      }
    }
    checkpoints_.erase(checkpoints_.begin());
  }
}

void SimulationFiles::write_plots(SedovRun& run) {
  Mesh& mesh = run.mesh();
  BlockTable table = mesh.block_table();
  CellArray cells = cells_of(mesh);
  std::vector<int> variables = plot_indices(cells);
  std::string base = options_.directory + "/" + options_.base;
  write(plot_name(base, next_plot_, options_.format), "plot", run,
        [&](File& file) { put_plot(file, table, cells, scalars(run, false), variables); });
  if (options_.corners) {
    run.fill_guards();
    auto corners = [](const void* context, int64_t block, std::span<const int> wanted, float* const* out) {
      const auto* of = static_cast<const Mesh*>(context);
      interpolate_to_corners(of->shape(), of->block(block), wanted, out);
    };
    write(corner_plot_name(base, next_plot_, options_.format), "corner plot", run,
          [&](File& file) { put_corner_plot(file, table, cells, scalars(run, true), variables, corners, &mesh); });
  }
  ++next_plot_;
}

namespace {

// Returns the names in the directory, and of files that are staged on their way there.
std::vector<std::string> names_at_both_places(const std::string& directory, const Hints& hints) {
  std::vector<std::string> names = names_in(directory);
  if (const auto place = hints.find("stria_staging"); place != hints.end()) {
    const std::string whole = (is_store_path(directory) ? directory : std::filesystem::absolute(directory).string()) + "/";
    for (const std::string& path : staged_in(place->second)) {
      const std::string name = path.substr(path.rfind('/') + 1);
      if (path == whole + name) {
        names.push_back(name);
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string> list_checkpoints(MPI_Comm comm, const std::string& directory, const std::string& base,
                                          const Hints& hints) {
  std::vector<std::string> paths;
  if (rank_of(comm) == 0) {
    for (const std::string& name : names_at_both_places(directory, hints)) {
      const bool is_one = name.starts_with(base + "hdf5_chk_") || name.starts_with(base + "ncmpi_chk_");
      if (is_one && number_of(name) >= 0) {
        paths.push_back(directory + "/" + name);
      }
    }
    std::sort(paths.begin(), paths.end(),
              [](const std::string& a, const std::string& b) { return number_of(a) > number_of(b); });
  }
  return share(comm, paths);
}

SedovOptions read_options(MPI_Comm comm, const std::string& path, const Hints& hints) {
  return naming(path, [&] {
    OpenOptions open;
    open.hints = hints;
    open.verify = true;
    File file = File::open(comm, path, open);
    SedovOptions options = options_from_lists(read_header(file).value());
    Status valid = validate(options);
    if (!valid.ok()) {
      throw Error(ErrorCode::kFormat, valid.message());
    }
    return options;
  });
}

Restored restore_checkpoint(MPI_Comm comm, const std::string& path, const SedovOptions& options, const Hints& hints) {
  return naming(path, [&] { return restore(comm, path, options, hints); });
}

namespace {

// Blocks stay as they are at a restart, so the levels of the file must be levels of the run.
// Collective: yes.
void check_levels(MPI_Comm comm, const std::string& path, const std::vector<int32_t>& levels, const SedovOptions& options) {
  // The finest, minus the coarsest.
  int64_t bounds[2] = {options.min_level, -int64_t{options.max_level}};
  for (int64_t level : levels) {
    bounds[0] = std::max(bounds[0], level);
    bounds[1] = std::max(bounds[1], -level);
  }
  MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_INT64_T, MPI_MAX, comm);
  if (bounds[0] > options.max_level || -bounds[1] < options.min_level) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' holds blocks of levels {} to {}; --min-level {} and --max-level {} leave some of them out",
                            path, -bounds[1], bounds[0], options.min_level, options.max_level));
  }
}

// Verifies what no get() has verified yet: a restart loads only a part of the datasets.
// Collective: yes.
void check_rest(File& file, const FlashHeader& header, Restored& restored) {
  if (!file.has_checksums()) {
    restored.unchecked.emplace_back("it has no checksums: none of it was checked");
    return;
  }
  std::vector<std::string> loaded = {stored_name(file.format(), "refine level"), stored_name(file.format(), "bounding box")};
  for (const std::string& name : header.names) {
    loaded.push_back(find_variable(file, header, name).value().dataset);
  }
  for (const std::string& path : file.datasets()) {
    if (file.dataset(path).stored_bytes() < 0) {
      restored.unchecked.push_back(
          fmt::format("not all of it could be checked: another program has filtered dataset '{}', which takes libhdf5", path));
    }
  }
  // What another program has repacked was not verified.
  std::erase_if(loaded, [&](const std::string& path) { return !file.dataset(path).is_contiguous(); });
  try {
    for (const Damage& damage : file.verify(nullptr, loaded)) {
      restored.damages.push_back(
          damage.dataset.empty()
              ? "names, shapes, types or attributes are damaged"
              : fmt::format("dataset '{}' is {}", damage.dataset, damage.first_row == damage.last_row ? "missing" : "damaged"));
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) {
      throw;
    }
    restored.unchecked.push_back(fmt::format("not all of it could be checked: {}", error.what()));
  }
}

Restored restore(MPI_Comm comm, const std::string& path, const SedovOptions& options, const Hints& hints) {
  OpenOptions open;
  open.hints = hints;
  open.verify = true;
  File file = File::open(comm, path, open);
  FlashHeader header = read_header(file).value();
  if (header.dim != options.dim || header.cells[0] != options.nxb) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("'{}' holds a {}-D run with blocks of {} cells per side; this run is {}-D with {}", path,
                            header.dim, header.cells[0], options.dim, options.nxb));
  }
  if (euler_variables().names != header.names) {
    throw Error(ErrorCode::kFormat, fmt::format("'{}' holds other variables than this application's", path));
  }
  check_shapes(file, header, header.names);
  // Each rank reads a part of the rows that tell where the blocks are; the mesh then deals the
  // blocks out anew.
  int size = 1;
  MPI_Comm_size(comm, &size);
  int64_t rank = rank_of(comm);
  int64_t first = header.global_count * rank / size;
  int64_t count = header.global_count * (rank + 1) / size - first;
  std::vector<int32_t> levels(static_cast<size_t>(count));
  std::vector<double> boxes(static_cast<size_t>(count * 6));
  if (count > 0) {
    file.dataset(stored_name(file.format(), "refine level")).get({{first}, {count}}, Memory(levels.data(), count));
    file.dataset(stored_name(file.format(), "bounding box"))
        .get({{first, 0, 0}, {count, 3, 2}}, Memory(boxes.data(), count * 6));
  }
  file.commit();
  check_levels(comm, path, levels, options);
  Restored restored;
  restored.run = SedovRun::restore(comm, options, scalars_from_lists(header.scalars), levels, boxes).value();
  Mesh& mesh = restored.run->mesh();
  get_cells(file, header, mesh.first_block(), mesh.block_count(), cells_of(mesh));
  file.commit();
  restored.run->finish_restore();
  check_rest(file, header, restored);
  restored.path = path;
  restored.hint_warnings = file.hint_warnings();
  restored.checkpoint_number = std::max(number_of(path), 0);
  const int64_t* plot = find_value(header.scalars.integer_scalars, "plotfilenumber");
  restored.plot_number = plot == nullptr ? 0 : static_cast<int>(*plot);
  return restored;
}

}  // namespace

}  // namespace stria::flash
