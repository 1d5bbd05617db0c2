// stria flash picture: variables of a FLASH file in a plane, with the blocks of the mesh
// drawn on them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "commands_of_mpi.hpp"
#include "format/flash_file.hpp"
#include "format/lists.hpp"
#include "picture/slice.hpp"

namespace stria::tool {

namespace {

struct PictureArguments {
  std::string path;
  std::string output = "slice.png";
  std::vector<std::string> variables;
  std::string normal = "z";
  std::optional<double> plane;
};

double parameter(const flash::FlashHeader& header, const char* name, double otherwise) {
  const double* value = flash::find_value(header.scalars.real_parameters, name);
  return value == nullptr ? otherwise : *value;
}

// Returns the variables asked for; otherwise density and pressure, where the file has them.
std::vector<std::string> variables_of(const File& file, const flash::FlashHeader& header, const PictureArguments& arguments) {
  if (!arguments.variables.empty()) {
    return arguments.variables;
  }
  return flash::find_variable(file, header, "pres").ok() ? std::vector<std::string>{"dens", "pres"}
                                                         : std::vector<std::string>{"dens"};
}

// Returns where the variables lie. All have the same shape: blocks, and their cells along z, y and
// x.
std::vector<flash::StoredVariable> find_variables(const File& file, const flash::FlashHeader& header,
                                                  const std::vector<std::string>& names) {
  std::vector<flash::StoredVariable> found;
  for (const std::string& name : names) {
    found.push_back(flash::find_variable(file, header, name).value());
    const auto& shape = found.back().cells.count;
    if (shape.size() != (header.experimental ? 5u : 4u) || shape[0] != header.global_count ||
        (header.dim != 2 && header.dim != 3) || shape != found.front().cells.count) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}': '{}' is not a variable of the blocks of a 2-D or 3-D mesh", file.path(), name));
    }
  }
  return found;
}

// Holds what a picture needs from a file.
struct Blocks {
  std::vector<double> boxes;
  std::vector<int32_t> levels;
  std::vector<std::vector<double>> values;  // by variable
};

// One rank reads and draws, since a picture is small beside what it shows.
Blocks read_blocks(MPI_Comm comm, File& file, const std::vector<flash::StoredVariable>& variables) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::vector<int64_t>& dims = variables.front().cells.count;
  const int64_t blocks = rank == 0 ? dims[0] : 0;
  const int64_t cells = dims[1] * dims[2] * dims[3];
  Blocks read;
  read.boxes.resize(static_cast<size_t>(blocks * 6));
  read.levels.resize(static_cast<size_t>(blocks));
  read.values.assign(variables.size(), std::vector<double>(static_cast<size_t>(blocks * cells)));
  on_root(comm, [&] {
    file.dataset(flash::stored_name(file.format(), "bounding box"))
        .get({{0, 0, 0}, {blocks, 3, 2}}, Memory(read.boxes.data(), blocks * 6));
    file.dataset(flash::stored_name(file.format(), "refine level")).get({{0}, {blocks}}, Memory(read.levels.data(), blocks));
    for (size_t v = 0; v < variables.size(); ++v) {
      file.dataset(variables[v].dataset).get(variables[v].cells, Memory(read.values[v].data(), blocks * cells));
    }
  });
  file.commit();
  return read;
}

flash::SliceInput slice_of(const flash::FlashHeader& header, const PictureArguments& arguments, const Blocks& blocks,
                           const std::vector<int64_t>& dims) {
  flash::SliceInput input;
  input.dim = header.dim;
  input.cells = {static_cast<int>(dims[3]), static_cast<int>(dims[2]), static_cast<int>(dims[1])};
  input.bounding_box = blocks.boxes;
  input.domain_lo = {parameter(header, "xmin", 0), parameter(header, "ymin", 0), parameter(header, "zmin", 0)};
  input.domain_hi = {parameter(header, "xmax", 1), parameter(header, "ymax", 1), parameter(header, "zmax", 1)};
  input.normal = arguments.normal[0] - 'x';
  const auto n = static_cast<size_t>(input.normal);
  input.plane = arguments.plane.value_or((input.domain_lo[n] + input.domain_hi[n]) / 2);
  return input;
}

std::string plane_text(const flash::SliceInput& input, const PictureArguments& arguments) {
  return input.dim == 2 ? "" : fmt::format("plane {} = {:g}", arguments.normal, input.plane);
}

std::string title_of(const flash::FlashHeader& header, const flash::SliceInput& input, const PictureArguments& arguments,
                     const std::vector<int32_t>& levels) {
  const double* time = flash::find_value(header.scalars.real_scalars, "time");
  std::string title = time == nullptr ? "" : fmt::format("t = {:.4g}", *time);
  if (input.dim == 3) {
    title += fmt::format("{}{}", title.empty() ? "" : ", ", plane_text(input, arguments));
  }
  title += fmt::format("{}{} blocks", title.empty() ? "" : ", ", levels.size());
  if (!levels.empty()) {
    const auto [least, greatest] = std::minmax_element(levels.begin(), levels.end());
    title += *least == *greatest ? fmt::format(" of level {}", *least) : fmt::format(" of levels {} to {}", *least, *greatest);
  }
  return title;
}

int run_picture(MPI_Comm comm, const PictureArguments& arguments) {
  File file = File::open(comm, arguments.path);
  const flash::FlashHeader header = flash::read_header(file).value();
  const std::vector<std::string> variables = variables_of(file, header, arguments);
  const std::vector<flash::StoredVariable> stored = find_variables(file, header, variables);
  const Blocks blocks = read_blocks(comm, file, stored);
  const flash::SliceInput input = slice_of(header, arguments, blocks, stored.front().cells.count);
  on_root(comm, [&] {
    std::vector<flash::SlicePanel> panels;
    for (size_t v = 0; v < variables.size(); ++v) {
      panels.push_back({variables[v], blocks.values[v]});
    }
    flash::SliceStyle style;
    style.title = title_of(header, input, arguments, blocks.levels);
    flash::draw_slice(input, panels, style).value().write_png(arguments.output).throw_if_error();
  });
  print(comm, fmt::format("{}: {}{}, blocks outlined\n", arguments.output, fmt::join(variables, " and "),
                          input.dim == 3 ? " in the " + plane_text(input, arguments) : ""));
  return kDone;
}

}  // namespace

void add_flash_picture(Command flash, Action& action) {
  auto arguments = std::make_shared<PictureArguments>();
  Command command = flash.add_subcommand("picture", "draw a slice through a FLASH file as PNG");
  command.add_option("file", arguments->path, "a checkpoint or plot file").required().check(not_empty());
  command.add_option("-o,--output", arguments->output, "the picture").check(not_empty()).show_default();
  command.add_option("--variable", arguments->variables, "what to draw, side by side (default: dens and pres)").take_all();
  command.add_option("--normal", arguments->normal, "the axis at right angles to the plane through a 3-D mesh")
      .check(one_of({"x", "y", "z"}))
      .show_default();
  command.add_option("--plane", arguments->plane, "where the plane cuts that axis (default: in the middle)");
  command.callback(
      [arguments, &action] { action = over_mpi([arguments](MPI_Comm comm) { return run_picture(comm, *arguments); }); });
}

}  // namespace stria::tool
