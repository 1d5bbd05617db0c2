#include "format/flash_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "format/lists.hpp"
#include "format/netcdf_lists.hpp"

namespace stria::flash {

namespace {

constexpr int kVersionStandard = 9;
constexpr int kVersionExperimental = 10;
constexpr const char* kExperimentalName = "unknowns";
constexpr int64_t kNameBytes = 4;
constexpr int64_t kCornerBytes = 8 << 20;  // corner values held at a time, in the last cache

constexpr const char* kBlocksDimension = "dim_tot_blocks";

/// Says where datasets go, and whether their dimensions have names, as in netCDF they must.
struct Target {
  File& file;
  bool has_names;

  explicit Target(File& of, bool named = false) : file(of), has_names(named || is_netcdf(of.format())) {}
};

DatasetOptions with_dimensions(const Target& target, std::vector<std::string> names) {
  DatasetOptions options;
  if (target.has_names) {
    options.dimensions = std::move(names);
  }
  return options;
}

void put_rows(const Target& target, const BlockTable& blocks, const std::string& name, ElementType stored,
              std::vector<int64_t> entry, const Memory& memory) {
  std::vector<int64_t> dims = {blocks.global_count};
  dims.insert(dims.end(), entry.begin(), entry.end());
  std::vector<std::string> names = {kBlocksDimension};
  for (const int64_t length : entry) {
    names.emplace_back(length == blocks.gid_width() ? "dim_NGID" : length == 3 ? "dim_MDIM" : "dim_2");
  }
  Dataset dataset = target.file.create_dataset(stored_name(target.file.format(), name), stored, dims,
                                               with_dimensions(target, std::move(names)));
  if (blocks.local_count == 0) {
    return;
  }
  Hyperslab slab{std::vector<int64_t>(dims.size(), 0), dims};
  slab.start[0] = blocks.first_block;
  slab.count[0] = blocks.local_count;
  dataset.put(slab, memory);
}

// Checkpoints keep geometry in double, plot files in single precision.
void put_block_lists(const Target& target, const BlockTable& b, ElementType real) {
  int64_t n = b.local_count;
  put_rows(target, b, "refine level", ElementType::kInt32, {}, Memory(b.refine_level.data(), n));
  put_rows(target, b, "node type", ElementType::kInt32, {}, Memory(b.node_type.data(), n));
  put_rows(target, b, "gid", ElementType::kInt32, {b.gid_width()}, Memory(b.gid.data(), n * b.gid_width()));
  put_rows(target, b, "which child", ElementType::kInt32, {}, Memory(b.which_child.data(), n));
  put_rows(target, b, "processor number", ElementType::kInt32, {}, Memory(b.processor_number.data(), n));
  put_rows(target, b, "coordinates", real, {3}, Memory(b.coordinates.data(), n * 3));
  put_rows(target, b, "block size", real, {3}, Memory(b.block_size.data(), n * 3));
  put_rows(target, b, "bounding box", real, {3, 2}, Memory(b.bounding_box.data(), n * 6));
}

void put_common(const Target& target, const BlockTable& blocks, const ScalarLists& scalars,
                const std::vector<std::string>& names, int version, ElementType real) {
  File& file = target.file;
  if (is_netcdf(file.format())) {
    put_netcdf_lists(file, version, scalars, names);
  } else {
    put_sim_info(file, version, scalars.origin);
    put_lists(file, scalars);
    file.create_strings("unknown names", names, kNameBytes, true);
  }
  put_block_lists(target, blocks, real);
}

// Returns a variable's dataset. Names in netCDF can't end with a blank.
std::string padded_label(const File& file, const std::string& name) {
  std::string label = name.substr(0, kNameBytes);
  label.resize(kNameBytes, ' ');
  if (is_netcdf(file.format())) {
    std::replace(label.begin(), label.end(), ' ', '_');
  }
  return label;
}

std::vector<std::string> cell_dimensions() {
  return {kBlocksDimension, "dim_nzb", "dim_nyb", "dim_nxb"};
}

Dataset make_variable(const Target& target, const BlockTable& blocks, const std::string& name, const int64_t (&points)[3],
                      ElementType stored, const Filters& filters = {}) {
  DatasetOptions options = with_dimensions(target, cell_dimensions());
  options.value_range = true;
  options.filters = filters;
  return target.file.create_dataset(padded_label(target.file, name), stored,
                                    {blocks.global_count, points[2], points[1], points[0]}, options);
}

void put_variable(Dataset dataset, const BlockTable& blocks, const CellArray& cells, int variable) {
  if (blocks.local_count > 0) {
    dataset.put({{blocks.first_block, 0, 0, 0}, {blocks.local_count, cells.cells[2], cells.cells[1], cells.cells[0]}},
                interior_memory(cells, variable, blocks.local_count));
  }
}

// Returns all variables of a cell together, for the experimental layout.
Memory interior_memory_of_all(const CellArray& cells, int64_t count) {
  auto nvar = static_cast<int64_t>(cells.names.size());
  int64_t sizes[] = {count, cells.total(2), cells.total(1), cells.total(0)};
  int64_t subsizes[] = {count, cells.cells[2], cells.cells[1], cells.cells[0]};
  int64_t starts[] = {0, cells.guards[2], cells.guards[1], cells.guards[0]};
  Datatype cell = Datatype::bytes(nvar * static_cast<int64_t>(sizeof(double)));
  return {cells.data, Datatype::subarray(sizes, subsizes, starts, Order::kC, cell).value(), ElementType::kFloat64};
}

std::string numbered(const std::string& base, Format format, const char* kind, int number) {
  return fmt::format("{}{}_{}_{:04d}", base, is_netcdf(format) ? "ncmpi" : "hdf5", kind, number);
}

Result<int64_t> need(const ScalarLists& lists, const std::string& name) {
  const int64_t* value = find_value(lists.integer_scalars, name);
  if (value == nullptr) {
    return Status(ErrorCode::kFormat, fmt::format("not a FLASH file: it has no integer scalar '{}'", name));
  }
  return *value;
}

Status check_variables(File& file, const FlashHeader& header) {
  std::vector<std::string> wanted = header.names;
  if (header.experimental) {
    wanted = {kExperimentalName};
  }
  for (const std::string& name : wanted) {
    std::string path = header.experimental ? name : padded_label(file, name);
    if (!file.has_dataset(path)) {
      return Status(ErrorCode::kFormat,
                    fmt::format("'{}' is not a complete FLASH file: the variable '{}' is missing", file.path(), name));
    }
    const std::vector<int64_t> dims = file.dataset(path).dims();
    if (dims.size() != (header.experimental ? 5u : 4u) || dims[0] != header.global_count) {
      return Status(ErrorCode::kFormat, fmt::format("'{}': the variable '{}' doesn't have a row for each of {} blocks",
                                                    file.path(), name, header.global_count));
    }
  }
  return Status();
}

}  // namespace

std::string checkpoint_name(const std::string& base, int number, Format format) {
  return numbered(base, format, "chk", number);
}
std::string plot_name(const std::string& base, int number, Format format) {
  return numbered(base, format, "plt_cnt", number);
}
std::string corner_plot_name(const std::string& base, int number, Format format) {
  return numbered(base, format, "plt_crn", number);
}

std::string stored_name(Format format, const std::string& name) {
  static const std::map<std::string, std::string> kInNetcdf = {
      {"refine level", "lrefine"},    {"node type", "nodetype"},
      {"which child", "which_child"}, {"processor number", "processor_number"},
      {"block size", "blocksize"},    {"bounding box", "bndbox"}};
  const auto found = kInNetcdf.find(name);
  return is_netcdf(format) && found != kInNetcdf.end() ? found->second : name;
}

Memory interior_memory(const CellArray& cells, int variable, int64_t count) {
  auto cell_bytes = static_cast<int64_t>(cells.names.size() * sizeof(double));
  int64_t sizes[] = {count, cells.total(2), cells.total(1), cells.total(0)};
  int64_t subsizes[] = {count, cells.cells[2], cells.cells[1], cells.cells[0]};
  int64_t starts[] = {0, cells.guards[2], cells.guards[1], cells.guards[0]};
  Datatype value = Datatype::resized(Datatype::bytes(sizeof(double)), 0, cell_bytes).value();
  return {cells.data + variable, Datatype::subarray(sizes, subsizes, starts, Order::kC, value).value(), ElementType::kFloat64};
}

void put_checkpoint(File& file, const BlockTable& blocks, const CellArray& cells, const ScalarLists& scalars,
                    const CheckpointForm& form) {
  bool standard = form.layout == FileLayout::kStandard;
  const Target target(file, form.named);
  put_common(target, blocks, scalars, cells.names, standard ? kVersionStandard : kVersionExperimental, ElementType::kFloat64);
  if (standard) {
    for (size_t v = 0; v < cells.names.size(); ++v) {
      put_variable(make_variable(target, blocks, cells.names[v], cells.cells, ElementType::kFloat64, form.filters), blocks,
                   cells, static_cast<int>(v));
    }
    return;
  }
  std::vector<int64_t> dims = {blocks.global_count, cells.cells[2], cells.cells[1], cells.cells[0],
                               static_cast<int64_t>(cells.names.size())};
  std::vector<std::string> names = cell_dimensions();
  names.emplace_back("dim_nvar");
  DatasetOptions options = with_dimensions(target, std::move(names));
  options.filters = form.filters;
  Dataset dataset = file.create_dataset(kExperimentalName, ElementType::kFloat64, dims, options);
  if (blocks.local_count > 0) {
    Hyperslab slab{{blocks.first_block, 0, 0, 0, 0}, dims};
    slab.count[0] = blocks.local_count;
    dataset.put(slab, interior_memory_of_all(cells, blocks.local_count));
  }
}

void check_form(const CheckpointForm& form, Format format, const Hints& hints) {
  constexpr double kMostBits = 64;
  const auto parts = hints.find("stria_subfiles");
  if (is_netcdf(format) && form.filters.any()) {
    throw Error(ErrorCode::kUnsupported, "netCDF's classic formats have no compression: write HDF5, or without --compress");
  }
  if (is_netcdf(format) && parts != hints.end() && parts->second != "0") {
    throw Error(ErrorCode::kUnsupported, "netCDF's classic formats have no parts: write HDF5, or without stria_subfiles");
  }
  if (form.filters.scale_offset) {
    throw Error(ErrorCode::kInvalidArgument, "--compress=scale_offset takes integers, and cells are floating-point numbers");
  }
  if (form.filters.zfp_rate > kMostBits) {
    throw Error(ErrorCode::kInvalidArgument, "--compress=zfp_rate: a number of a checkpoint has 64 bits, and no more");
  }
}

void put_plot(File& file, const BlockTable& blocks, const CellArray& cells, const ScalarLists& scalars,
              const std::vector<int>& variables) {
  std::vector<std::string> names;
  for (int v : variables) {
    names.push_back(cells.names[static_cast<size_t>(v)]);
  }
  put_common(Target(file), blocks, scalars, names, kVersionStandard, ElementType::kFloat32);
  for (int v : variables) {
    put_variable(make_variable(Target(file), blocks, cells.names[static_cast<size_t>(v)], cells.cells, ElementType::kFloat32),
                 blocks, cells, v);
  }
}

void put_corner_plot(File& file, const BlockTable& blocks, const CellArray& cells, const ScalarLists& scalars,
                     const std::vector<int>& variables, CornerFunction corners, const void* context) {
  std::vector<std::string> names;
  for (int v : variables) {
    names.push_back(cells.names[static_cast<size_t>(v)]);
  }
  put_common(Target(file), blocks, scalars, names, kVersionStandard, ElementType::kFloat32);
  const int64_t points[3] = {cells.cells[0] + 1, cells.cells[1] + 1, blocks.dim == 3 ? cells.cells[2] + 1 : 1};
  int64_t block_points = points[0] * points[1] * points[2];
  std::vector<Dataset> datasets;
  for (const std::string& name : names) {
    datasets.push_back(make_variable(Target(file), blocks, name, points, ElementType::kFloat32));
  }
  auto block_bytes = block_points * static_cast<int64_t>(variables.size() * sizeof(float));
  int64_t step = std::max<int64_t>(kCornerBytes / std::max<int64_t>(block_bytes, 1), 1);
  // Every rank takes part in as many flushes as the rank with the most blocks needs.
  int64_t rounds = (blocks.largest_count + step - 1) / step;
  const auto most_values = static_cast<size_t>(std::min(step, blocks.local_count) * block_points) * variables.size();
  const auto values = std::make_unique_for_overwrite<float[]>(most_values);
  std::vector<float*> places(variables.size());
  for (int64_t round = 0; round < rounds; ++round) {
    int64_t first = std::min(round * step, blocks.local_count);
    int64_t count = std::min(step, blocks.local_count - first);
    for (int64_t b = 0; b < count; ++b) {
      for (size_t n = 0; n < variables.size(); ++n) {
        places[n] = values.get() + (static_cast<int64_t>(n) * count + b) * block_points;
      }
      corners(context, first + b, variables, places.data());
    }
    for (size_t n = 0; n < variables.size() && count > 0; ++n) {
      datasets[n].put({{blocks.first_block + first, 0, 0, 0}, {count, points[2], points[1], points[0]}},
                      Memory(values.get() + static_cast<int64_t>(n) * count * block_points, count * block_points));
    }
    file.flush();
  }
}

Result<FlashHeader> read_header(File& file) {
  FlashHeader header;
  const bool netcdf = is_netcdf(file.format());
  const std::vector<std::string> needed =
      netcdf ? std::vector<std::string>{kScalarsVariable, "lrefine", "bndbox"}
             : std::vector<std::string>{"integer scalars", "real scalars", "unknown names", "refine level", "bounding box"};
  for (const std::string& name : needed) {
    if (!file.has_dataset(name)) {
      return Status(ErrorCode::kFormat, fmt::format("'{}' is not a FLASH file: it has no '{}'", file.path(), name));
    }
  }
  try {
    header.scalars = netcdf ? get_netcdf_lists(file) : get_lists(file);
    header.names = netcdf ? get_netcdf_names(file) : file.read_strings("unknown names");
  } catch (const Error& error) {
    return Status(error);
  }
  STRIA_ASSIGN_OR_RETURN(int64_t dim, need(header.scalars, "dimensionality"));
  header.dim = static_cast<int>(dim);
  STRIA_ASSIGN_OR_RETURN(header.cells[0], need(header.scalars, "nxb"));
  STRIA_ASSIGN_OR_RETURN(header.cells[1], need(header.scalars, "nyb"));
  STRIA_ASSIGN_OR_RETURN(header.cells[2], need(header.scalars, "nzb"));
  STRIA_ASSIGN_OR_RETURN(header.global_count, need(header.scalars, "globalnumblocks"));
  header.experimental = file.has_dataset(kExperimentalName);
  STRIA_RETURN_IF_ERROR(check_variables(file, header));
  return header;
}

Result<StoredVariable> find_variable(const File& file, const FlashHeader& header, const std::string& name) {
  const auto found = std::find(header.names.begin(), header.names.end(), name);
  std::string path = header.experimental ? kExperimentalName : file.has_dataset(name) ? name : padded_label(file, name);
  if (header.experimental ? found == header.names.end() : !file.has_dataset(path)) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' has no variable '{}'; its variables are {}", file.path(), name,
                                                           fmt::join(header.names, " ")));
  }
  const std::vector<int64_t> dims = file.dataset(path).dims();
  StoredVariable variable{std::move(path), {std::vector<int64_t>(dims.size(), 0), dims}};
  if (header.experimental) {
    const int64_t index = found - header.names.begin();
    if (index >= dims.back()) {
      return Status(ErrorCode::kFormat,
                    fmt::format("'{}': dataset '{}' has no room for the variable '{}'", file.path(), kExperimentalName, name));
    }
    variable.cells.start.back() = index;
    variable.cells.count.back() = 1;
  }
  return variable;
}

void get_cells(File& file, const FlashHeader& header, int64_t first_block, int64_t count, const CellArray& cells) {
  if (header.experimental) {
    Dataset dataset = file.dataset(kExperimentalName);
    if (count > 0) {
      Hyperslab slab{{first_block, 0, 0, 0, 0}, dataset.dims()};
      slab.count[0] = count;
      dataset.get(slab, interior_memory_of_all(cells, count));
    }
    return;
  }
  for (size_t v = 0; v < cells.names.size(); ++v) {
    Dataset dataset = file.dataset(padded_label(file, cells.names[v]));
    if (count > 0) {
      dataset.get({{first_block, 0, 0, 0}, {count, cells.cells[2], cells.cells[1], cells.cells[0]}},
                  interior_memory(cells, static_cast<int>(v), count));
    }
  }
}

}  // namespace stria::flash
