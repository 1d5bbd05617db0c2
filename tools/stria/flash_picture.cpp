// stria flash picture: a slice through a FLASH file, with the mesh's blocks drawn on it.
#include <fmt/format.h>

#include "command.hpp"
#include "format/flash_file.hpp"
#include "format/lists.hpp"
#include "picture/slice.hpp"

namespace stria::tool {

namespace {

struct Arguments {
  std::string path;
  std::string output = "slice.png";
  std::string variable = "dens";
};

double parameter(const flash::FlashHeader& header, const char* name, double otherwise) {
  const double* value = flash::find_value(header.scalars.real_parameters, name);
  return value == nullptr ? otherwise : *value;
}

int run(MPI_Comm comm, const Arguments& arguments) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  File file = File::open(comm, arguments.path);
  flash::FlashHeader header = flash::read_header(file).value();
  if (header.experimental || !file.has_dataset(arguments.variable)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' has no dataset '{}'; its variables are {}", arguments.path,
                                                         arguments.variable, fmt::join(header.names, " ")));
  }
  const auto& dims = file.dataset(arguments.variable).dims();
  if (dims.size() != 4 || dims[0] != header.global_count || (header.dim != 2 && header.dim != 3)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}': dataset '{}' is no variable of the blocks of a 2-D or 3-D mesh",
                                                         arguments.path, arguments.variable));
  }
  // One rank draws: a picture is small beside what it shows.
  int64_t blocks = rank == 0 ? header.global_count : 0;
  int64_t cells = dims[1] * dims[2] * dims[3];
  std::vector<double> boxes(static_cast<size_t>(blocks * 6));
  std::vector<double> values(static_cast<size_t>(blocks * cells));
  on_root(comm, [&] {
    file.dataset("bounding box").get({{0, 0, 0}, {blocks, 3, 2}}, Memory(boxes.data(), blocks * 6));
    file.dataset(arguments.variable).get({{0, 0, 0, 0}, dims}, Memory(values.data(), blocks * cells));
  });
  file.commit();
  on_root(comm, [&] {
    flash::SliceInput input;
    input.dim = header.dim;
    input.cells = {static_cast<int>(dims[3]), static_cast<int>(dims[2]), static_cast<int>(dims[1])};
    input.bounding_box = boxes;
    input.values = values;
    input.domain_lo = {parameter(header, "xmin", 0), parameter(header, "ymin", 0)};
    input.domain_hi = {parameter(header, "xmax", 1), parameter(header, "ymax", 1)};
    input.plane_z = (parameter(header, "zmin", 0) + parameter(header, "zmax", 1)) / 2;
    const double* time = flash::find_value(header.scalars.real_scalars, "time");
    flash::SliceStyle style;
    style.title =
        fmt::format("{} at t = {:.4f}, {} blocks", arguments.variable, time == nullptr ? 0.0 : *time, header.global_count);
    style.quantity = arguments.variable;
    flash::draw_slice(input, style).value().write_png(arguments.output).throw_if_error();
  });
  print(comm, fmt::format("{}: {} in the plane through the middle, blocks outlined\n", arguments.output, arguments.variable));
  return kDone;
}

}  // namespace

void add_flash_picture(CLI::App& flash, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = flash.add_subcommand("picture", "draw a slice through a FLASH file as PNG");
  command->add_option("file", arguments->path, "a checkpoint or plot file")->required()->check(not_empty());
  command->add_option("-o,--output", arguments->output, "the picture")->check(not_empty())->capture_default_str();
  command->add_option("--variable", arguments->variable, "what to draw")->capture_default_str();
  command->callback([arguments, &action] { action = [arguments](MPI_Comm comm) { return run(comm, *arguments); }; });
}

}  // namespace stria::tool
