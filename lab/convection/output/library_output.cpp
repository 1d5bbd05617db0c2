// Output through the library, and restarts.
#include <fmt/format.h>

#include <filesystem>

#include "output/output.hpp"
#include "stria/status.hpp"

namespace stria::convection {

namespace {

constexpr ElementType kSingle = ElementType::kFloat32;

class LibraryOutput : public Output {
 public:
  explicit LibraryOutput(OutputOptions options) : options_(std::move(options)) {}

  void restart(const ConvectionRun& run) override {
    File file = begin(run, "restart");
    const Layer& layer = run.layer();
    file.set_attribute("/", "courant", run.courant());
    file.set_attribute("/", "aspect", layer.aspect);
    file.set_attribute("/", "contrast", layer.contrast);
    file.set_attribute("/", "index", layer.index);
    file.set_attribute("/", "gamma", layer.gamma);
    file.set_attribute("/", "conductivity", layer.conductivity);
    file.set_attribute("/", "kick", layer.kick);
    const ArrayPart part = part_of(run.grid(), 2);
    file.put("density", {run.gas().density.data(), part});
    file.put("momentum_x", {run.gas().momentum_x.data(), part});
    file.put("momentum_z", {run.gas().momentum_z.data(), part});
    file.put("energy", {run.gas().energy.data(), part});
    file.commit();
  }

  void data(const ConvectionRun& run) override {
    const auto arrays = analysis_arrays(run);
    File file = begin(run, "data");
    for (const NamedField& array : arrays) {
      file.put(array.name, {array.field.data(), part_of(run.grid(), 0)}, kSingle, {.value_range = true});
    }
    file.commit();
  }

  void movie(const ConvectionRun& run) override {
    const std::vector<float> floats = options_.movie_floats ? movie_floats(run) : std::vector<float>();
    const std::vector<uint8_t> bytes = options_.movie_floats ? std::vector<uint8_t>() : movie_bytes(run);
    File file = begin(run, "movie");
    if (options_.movie_floats) {
      file.put("warmth", {floats.data(), part_of(run.grid(), 0)});
    } else {
      file.put("warmth", {bytes.data(), part_of(run.grid(), 0)});
    }
    file.commit();
  }

  void averages(const ConvectionRun& run) override {
    const std::vector<double> means = run.averages();
    const Grid& grid = run.grid();
    const auto kinds = static_cast<int64_t>(kAverages.size());
    const int64_t rows = means.empty() ? 0 : grid.mz;
    File file = begin(run, "averages");
    file.set_attribute("/", "names", kAverages);
    const ArrayPart part{.shape = {grid.nz, kinds}, .start = {grid.z0, 0}, .count = {rows, kinds}};
    file.put("averages", {means.data(), part}, kSingle);
    file.commit();
  }

 private:
  File begin(const ConvectionRun& run, const char* kind) const {
    CreateOptions create;
    create.hints = options_.hints;
    create.sync = options_.sync;
    File file = File::create(run.grid().comm, output_path(options_, kind, run.steps(), ".h5"), create);
    file.set_attribute("/", "time", run.time());
    file.set_attribute("/", "step", run.steps());
    return file;
  }

  OutputOptions options_;
};

}  // namespace

std::unique_ptr<Output> make_library_output(const OutputOptions& options) {
  return std::make_unique<LibraryOutput>(options);
}

std::unique_ptr<ConvectionRun> read_restart(MPI_Comm comm, const std::string& path, const Hints& hints) {
  OpenOptions open;
  open.hints = hints;
  open.verify = true;
  File file = File::open(comm, path, open);
  const Dataset density = file.dataset("density");
  if (density.dims().size() != 2) {
    throw Error(ErrorCode::kFormat, fmt::format("'{}' is no restart file of this application: its density is no plane", path));
  }
  const Grid grid = Grid::divide(comm, density.dims()[1], density.dims()[0]);
  Layer layer;
  layer.aspect = file.attribute("/", "aspect");
  layer.contrast = file.attribute("/", "contrast");
  layer.index = file.attribute("/", "index");
  layer.gamma = file.attribute("/", "gamma");
  layer.conductivity = file.attribute("/", "conductivity");
  layer.kick = file.attribute("/", "kick");
  auto run = std::make_unique<ConvectionRun>(grid, layer, file.attribute("/", "courant"));
  const ArrayPart part = part_of(grid, 2);
  file.get("density", {run->gas().density.data(), part});
  file.get("momentum_x", {run->gas().momentum_x.data(), part});
  file.get("momentum_z", {run->gas().momentum_z.data(), part});
  file.get("energy", {run->gas().energy.data(), part});
  run->continue_at(file.attribute<int64_t>("/", "step"), file.attribute("/", "time"));
  file.commit();
  return run;
}

std::string latest_restart(const std::string& directory, const std::string& base) {
  std::string latest;
  std::error_code error;
  const std::string prefix = base + "restart_";
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name.compare(0, prefix.size(), prefix) == 0 && entry.path().extension() == ".h5") {
      latest = std::max(latest, entry.path().string());
    }
  }
  return latest;
}

}  // namespace stria::convection
