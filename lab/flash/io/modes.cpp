#include "io/modes.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>

#include "format/flash_file.hpp"
#include "format/origin.hpp"
#include "io/limit_modes.hpp"
#include "stria/paths.hpp"
#include "tools/shared/agree.hpp"
#include "workload/block_check.hpp"
#include "workload/corners.hpp"

namespace stria::flash {

namespace {

CellArray cell_array(const Unk& unk) {
  const WorkloadParameters& p = unk.parameters();
  CellArray cells;
  cells.data = const_cast<double*>(unk.data());
  for (int d = 0; d < 3; ++d) {
    cells.cells[d] = p.nxb;
    cells.guards[d] = p.guard_cells;
  }
  for (int64_t v = 0; v < p.nvar; ++v) {
    cells.names.push_back(variable_label(v));
  }
  return cells;
}

// Returns the scalars of the box that the benchmark's lattice of blocks fills, as readers need
// them.
// Collective: yes.
ScalarLists scalar_lists(const IoArrays& a, bool corners) {
  const int64_t n = a.options.workload.nxb;
  const BlockLattice lattice = near_cubic_lattice(std::max<int64_t>(a.partition.total, 1));
  ScalarLists lists;
  lists.origin = shared_origin(a.comm);
  lists.integer_scalars = {{"nxb", n},
                           {"nyb", n},
                           {"nzb", n},
                           {"dimensionality", 3},
                           {"globalnumblocks", a.partition.total},
                           {"nstep", 0},
                           {"nbegin", 1},
                           {"iprocs", 1},
                           {"jprocs", 1},
                           {"kprocs", 1},
                           {"checkpointfilenumber", 0},
                           {"plotfilenumber", 0},
                           {"globalnumparticles", 0}};
  lists.real_scalars = {{"time", 0.0}, {"dt", 0.0}, {"dtold", 0.0}, {"dtnew", 0.0}};
  lists.logical_scalars = {{"corners", corners ? 1 : 0}, {"double_precision", 1}};
  lists.string_scalars = {{"geometry", "cartesian"}};
  lists.integer_parameters = {
      {"lrefine_min", 1}, {"lrefine_max", 1}, {"nblockx", lattice.nx}, {"nblocky", lattice.ny}, {"nblockz", lattice.nz}};
  lists.real_parameters = {{"xmin", 0.0}, {"xmax", static_cast<double>(lattice.nx)},
                           {"ymin", 0.0}, {"ymax", static_cast<double>(lattice.ny)},
                           {"zmin", 0.0}, {"zmax", static_cast<double>(lattice.nz)}};
  return lists;
}

void take_phases(const Report& report, std::map<std::string, double>& phases) {
  for (size_t i = 0; i < kPhaseCount; ++i) {
    phases[phase_name(static_cast<Phase>(i))] = report.phases.seconds[i];
  }
}

// Has what the modes that go through Stria share.
class StriaMode : public IoMode {
 public:
  StriaMode(IoArrays& arrays, std::string name, std::string path)
      : arrays_(arrays), name_(std::move(name)), path_(std::move(path)) {}

  std::string name() const override { return name_; }
  std::string file() const override { return path_; }
  int64_t file_bytes() const override { return file_bytes_; }
  std::string method() const override { return method_; }
  std::string reason() const override { return reason_; }
  void clean() override { arrays_.remove_file(path_); }

 protected:
  File create() const {
    CreateOptions options;
    options.hints = arrays_.options.hints;
    options.sync = arrays_.options.sync;
    options.checksums = arrays_.options.checksums;
    options.format = arrays_.options.format;
    return File::create(arrays_.comm, path_, options);
  }

  CheckpointForm form(FileLayout layout) const {
    return {.layout = layout,
            .filters = arrays_.options.compress.empty() ? Filters() : Filters::from_text(arrays_.options.compress),
            .named = arrays_.options.named};
  }

  void finish(File& file, std::map<std::string, double>& phases) {
    file.commit();
    note(file, phases);
  }

  void note(const File& file, std::map<std::string, double>& phases) {
    take_phases(file.report(), phases);
    file_bytes_ = file.report().file_bytes;
    method_ = file.report().method;
    reason_ = file.report().reason;
    const std::vector<std::string>& warnings = file.hint_warnings();
    arrays_.hint_warnings.insert(warnings.begin(), warnings.end());
  }

  // Reads one variable's local blocks back as T and compares each block.
  template <typename T, typename Check>
  std::string check_variable(File& file, int64_t variable, int64_t points, Check&& check) {
    Dataset dataset = file.dataset(variable_label(variable));
    int64_t block_points = points * points * points;
    std::vector<T> values(static_cast<size_t>(arrays_.partition.local * block_points));
    if (!values.empty()) {
      dataset.get({{arrays_.partition.first, 0, 0, 0}, {arrays_.partition.local, points, points, points}},
                  Memory(values.data(), static_cast<int64_t>(values.size())));
    }
    file.commit();
    for (int64_t b = 0; b < arrays_.partition.local; ++b) {
      std::string wrong = check(arrays_.partition.first + b, values.data() + b * block_points);
      if (!wrong.empty()) {
        return wrong;
      }
    }
    return "";
  }

  // Returns the same for several variables, by `check(variable, block, values)`. Reading is
  // collective, so every variable is read whatever is found.
  template <typename T, typename Check>
  std::string check_variables(const std::vector<int>& variables, int64_t points, Check&& check) {
    File file = File::open(arrays_.comm, path_);
    std::string wrong;
    for (int64_t v : variables) {
      std::string found =
          check_variable<T>(file, v, points, [&](int64_t block, const T* values) { return check(v, block, values); });
      wrong = wrong.empty() ? found : wrong;
    }
    return wrong;
  }

  IoArrays& arrays_;
  std::string name_;
  std::string path_;
  int64_t file_bytes_ = 0;
  std::string method_;
  std::string reason_;
};

class CheckpointMode : public StriaMode {
 public:
  /// Where the file is committed in the background, a round ends when commit_async() returns.
  CheckpointMode(IoArrays& arrays, FileLayout layout, const std::string& name, const std::string& path,
                 bool in_background = false)
      : StriaMode(arrays, name, path), layout_(layout), in_background_(in_background) {}

  int64_t useful_bytes() const override { return checkpoint_bytes(arrays_); }

  void run(std::map<std::string, double>& phases) override {
    File file = create();
    put_checkpoint(file, arrays_.table, cell_array(arrays_.unk), scalar_lists(arrays_, false), form(layout_));
    if (in_background_) {
      commit_ = file.commit_async();
      note(file, phases);
    } else {
      finish(file, phases);
    }
  }
  void settle() override { commit_.wait(); }

  std::string check() override {
    if (layout_ == FileLayout::kExperimental) {
      return check_experimental();
    }
    const WorkloadParameters& p = arrays_.options.workload;
    std::vector<int> all(static_cast<size_t>(p.nvar));
    std::iota(all.begin(), all.end(), 0);
    return check_variables<double>(
        all, p.nxb, [&](int64_t v, int64_t block, const double* values) { return check_packed_block(p, block, v, values); });
  }

 private:
  std::string check_experimental() {
    File file = File::open(arrays_.comm, path_);
    const WorkloadParameters& p = arrays_.options.workload;
    Dataset dataset = file.dataset("unknowns");
    int64_t cells = p.cells_per_block();
    std::vector<double> values(static_cast<size_t>(arrays_.partition.local * cells * p.nvar));
    if (!values.empty()) {
      dataset.get({{arrays_.partition.first, 0, 0, 0, 0}, {arrays_.partition.local, p.nxb, p.nxb, p.nxb, p.nvar}},
                  Memory(values.data(), static_cast<int64_t>(values.size())));
    }
    file.commit();
    std::vector<double> one(static_cast<size_t>(cells));
    for (int64_t b = 0; b < arrays_.partition.local; ++b) {
      for (int64_t v = 0; v < p.nvar; ++v) {
        for (int64_t c = 0; c < cells; ++c) {
          one[static_cast<size_t>(c)] = values[static_cast<size_t>((b * cells + c) * p.nvar + v)];
        }
        std::string wrong = check_packed_block(p, arrays_.partition.first + b, v, one.data());
        if (!wrong.empty()) {
          return wrong;
        }
      }
    }
    return "";
  }

  FileLayout layout_;
  bool in_background_;
  Commit commit_;
};

class PlotMode : public StriaMode {
 public:
  std::string kind() const override { return "plot"; }
  PlotMode(IoArrays& arrays, const std::string& path) : StriaMode(arrays, "plotfile", path) {
    for (int64_t v : plot_variables(arrays.options.workload, arrays.options.plot_variables)) {
      variables_.push_back(static_cast<int>(v));
    }
  }

  int64_t useful_bytes() const override {
    return flash::useful_bytes(arrays_.options.workload, arrays_.partition.total, static_cast<int64_t>(variables_.size()),
                               sizeof(float));
  }

  void run(std::map<std::string, double>& phases) override {
    File file = create();
    put_plot(file, arrays_.table, cell_array(arrays_.unk), scalar_lists(arrays_, false), variables_);
    finish(file, phases);
  }

  std::string check() override {
    const WorkloadParameters& p = arrays_.options.workload;
    return check_variables<float>(variables_, p.nxb, [&](int64_t v, int64_t block, const float* values) {
      return check_packed_block(p, block, v, values);
    });
  }

 protected:
  std::vector<int> variables_;
};

class CornerPlotMode : public PlotMode {
 public:
  CornerPlotMode(IoArrays& arrays, const std::string& path) : PlotMode(arrays, path) { name_ = "plotfile-corners"; }

  int64_t useful_bytes() const override {
    return arrays_.partition.total * static_cast<int64_t>(variables_.size()) * corners_per_block(arrays_.options.workload) *
           static_cast<int64_t>(sizeof(float));
  }

  void run(std::map<std::string, double>& phases) override {
    File file = create();
    auto corners = [](const void* context, int64_t block, std::span<const int> variables, float* const* out) {
      average_to_corners(*static_cast<const Unk*>(context), block, variables, out);
    };
    put_corner_plot(file, arrays_.table, cell_array(arrays_.unk), scalar_lists(arrays_, true), variables_, corners,
                    &arrays_.unk);
    finish(file, phases);
  }

  std::string check() override {
    const WorkloadParameters& p = arrays_.options.workload;
    return check_variables<float>(variables_, corners_per_side(p), [&](int64_t v, int64_t block, const float* values) {
      return check_packed_corners(p, block, v, values);
    });
  }
};

// Reads a checkpoint into guard-celled blocks: one written once outside the timing, or
// another run's.
class ReadMode : public StriaMode {
 public:
  std::string kind() const override { return "read"; }
  ReadMode(IoArrays& arrays, const std::string& path)
      : StriaMode(arrays, "read", path), target_(Unk::create(arrays.options.workload, arrays.partition).value()) {
    target_.poison();
    if (!arrays.options.read_from.empty()) {
      name_ = "restart";
      path_ = arrays.options.read_from;
    }
  }

  void prepare() override {
    if (!arrays_.options.read_from.empty()) {
      return;
    }
    CreateOptions options;
    options.sync = false;
    options.format = arrays_.options.format;
    File file = File::create(arrays_.comm, path_, options);
    put_checkpoint(file, arrays_.table, cell_array(arrays_.unk), scalar_lists(arrays_, false), form(FileLayout::kStandard));
    file.commit();
  }

  int64_t useful_bytes() const override { return checkpoint_bytes(arrays_); }

  void run(std::map<std::string, double>& phases) override {
    OpenOptions options;
    options.hints = arrays_.options.hints;
    File file = File::open(arrays_.comm, path_, options);
    FlashHeader header = read_header(file).value();
    get_cells(file, header, arrays_.partition.first, arrays_.partition.local, cell_array(target_));
    file.commit();
    note(file, phases);
  }

  void clean() override {
    if (arrays_.options.read_from.empty()) {
      StriaMode::clean();
    }
  }

  std::string check() override {
    std::string wrong = target_.check_interior();
    return wrong.empty() ? target_.check_guard_cells_untouched() : wrong;
  }

 private:
  Unk target_;
};

}  // namespace

int64_t checkpoint_bytes(const IoArrays& arrays) {
  return useful_bytes(arrays.options.workload, arrays.partition.total, arrays.options.workload.nvar, sizeof(double));
}

IoArrays::IoArrays(MPI_Comm communicator, const IoOptions& run_options)
    : comm(communicator),
      options(run_options),
      partition(run_options.total_blocks > 0 ? spread_blocks(run_options.total_blocks, communicator)
                                             : partition_blocks(run_options.workload, communicator)),
      unk(Unk::create(run_options.workload, partition).value()),
      limits(unk) {
  MPI_Comm_rank(comm, &rank);
  if (!options.values.empty()) {
    shared::agree(comm, unk.take_values(options.values)).throw_if_error();
  }
  table = make_block_table(partition, rank);
  MPI_Allreduce(&partition.local, &table.largest_count, 1, MPI_INT64_T, MPI_MAX, comm);
}

void IoArrays::remove_file(const std::string& path) const {
  if (rank == 0) {
    std::error_code none;
    const bool is_link = std::filesystem::is_symlink(path, none);  // A link stays.
    try {
      stria::remove_file(is_link ? std::filesystem::canonical(path, none).string() : path);
    } catch (const Error&) {
      // The next round replaces it.
    }
  }
}

std::vector<std::unique_ptr<IoMode>> make_modes(IoArrays& arrays) {
  const IoOptions& options = arrays.options;
  std::string base = options.directory + "/flash_io_";
  std::vector<std::unique_ptr<IoMode>> modes;
  if (options.checkpoint && options.limits) {
    arrays.limits.prepare_packed().throw_if_error();
    modes.push_back(make_limit_mode(arrays, LimitWay::kContig, "limit-contig", base + "limit_contig"));
    modes.push_back(make_limit_mode(arrays, LimitWay::kPackWhole, "limit-pack-whole", base + "limit_pack_whole"));
    modes.push_back(make_limit_mode(arrays, LimitWay::kPackStaged, "limit-pack", base + "limit_pack"));
  }
  if (options.checkpoint && options.standard) {
    modes.push_back(
        std::make_unique<CheckpointMode>(arrays, FileLayout::kStandard, "standard", checkpoint_name(base, 0, options.format)));
  }
  if (options.checkpoint && options.in_background) {
    if (options.limits) {
      modes.push_back(make_pack_mode(arrays));
    }
    modes.push_back(std::make_unique<CheckpointMode>(arrays, FileLayout::kStandard, "standard-async",
                                                     checkpoint_name(base, 3, options.format), true));
  }
  if (options.checkpoint && options.experimental) {
    modes.push_back(std::make_unique<CheckpointMode>(arrays, FileLayout::kExperimental, "experimental",
                                                     checkpoint_name(base, 1, options.format)));
  }
  if (options.plot_files && options.limits) {
    modes.push_back(
        make_plot_limit_mode(arrays, plot_variables(options.workload, options.plot_variables), base + "limit_plot"));
  }
  if (options.plot_files) {
    modes.push_back(std::make_unique<PlotMode>(arrays, plot_name(base, 0, options.format)));
    modes.push_back(std::make_unique<CornerPlotMode>(arrays, corner_plot_name(base, 0, options.format)));
  }
  if (options.read) {
    if (options.limits) {
      modes.push_back(make_limit_read_mode(arrays, base + "read_limit"));
    }
    modes.push_back(std::make_unique<ReadMode>(arrays, checkpoint_name(base, 2, options.format)));
  }
  return modes;
}

}  // namespace stria::flash
