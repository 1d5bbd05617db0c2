#include "output/run_scalars.hpp"

#include <fmt/format.h>

#include <cmath>

#include "format/lists.hpp"

namespace stria::flash {

namespace {

const char* boundary_name(Boundary boundary) {
  switch (boundary) {
    case Boundary::kPeriodic:
      return "periodic";
    case Boundary::kReflect:
      return "reflecting";
    default:
      return "outflow";
  }
}

template <typename Value>
Value need(const std::vector<std::pair<std::string, Value>>& list, const std::string& name) {
  const Value* value = find_value(list, name);
  if (value == nullptr) {
    throw Error(ErrorCode::kFormat, fmt::format("not a checkpoint of this application: it has no '{}'", name));
  }
  return *value;
}

}  // namespace

ScalarLists lists_of_run(const SedovRun& run, int checkpoint_number, int plot_number, bool corners) {
  const SedovOptions& o = run.options();
  const RunScalars& s = run.scalars();
  const Mesh& mesh = run.mesh();
  const int64_t nzb = o.dim == 3 ? o.nxb : 1;
  ScalarLists lists;
  lists.integer_scalars = {{"nxb", o.nxb},
                           {"nyb", o.nxb},
                           {"nzb", nzb},
                           {"dimensionality", o.dim},
                           {"globalnumblocks", mesh.global_block_count()},
                           {"nstep", s.step},
                           {"nbegin", 1},
                           {"iprocs", 1},
                           {"jprocs", 1},
                           {"kprocs", 1},
                           {"checkpointfilenumber", checkpoint_number},
                           {"plotfilenumber", plot_number},
                           {"globalnumparticles", 0}};
  lists.real_scalars = {{"time", s.time}, {"dt", s.dt}, {"dtold", s.dt_old}, {"dtnew", s.dt}};
  lists.logical_scalars = {{"corners", corners ? 1 : 0}, {"double_precision", 1}};
  lists.string_scalars = {{"geometry", "cartesian"}};
  lists.integer_parameters = {{"lrefine_min", o.min_level},
                              {"lrefine_max", o.max_level},
                              {"nblockx", o.root_blocks[0]},
                              {"nblocky", o.root_blocks[1]},
                              {"nblockz", o.dim == 3 ? o.root_blocks[2] : 1},
                              {"nrefs", o.refine_every},
                              {"nend", o.max_steps}};
  const Domain& domain = mesh.domain();
  lists.real_parameters = {{"xmin", domain.lo[0]},
                           {"xmax", domain.hi[0]},
                           {"ymin", domain.lo[1]},
                           {"ymax", domain.hi[1]},
                           {"zmin", domain.lo[2]},
                           {"zmax", domain.hi[2]},
                           {"gamma", o.problem.gamma},
                           {"cfl", o.cfl},
                           {"sim_expenergy", o.problem.energy},
                           {"sim_rhoambient", o.problem.ambient_density},
                           {"sim_pambient", o.problem.ambient_pressure},
                           {"sim_radius_cells", o.problem.radius_cells},
                           {"refine_cutoff_1", o.refine_above},
                           {"derefine_cutoff_1", o.derefine_below},
                           {"refine_filter_1", o.refine_filter},
                           {"tmax", o.end_time}};
  const char* boundary = boundary_name(o.boundary);
  lists.string_parameters = {{"xl_boundary_type", boundary}, {"xr_boundary_type", boundary}, {"yl_boundary_type", boundary},
                             {"yr_boundary_type", boundary}, {"zl_boundary_type", boundary}, {"zr_boundary_type", boundary}};
  return lists;
}

SedovOptions options_from_lists(const FlashHeader& header) {
  const ScalarLists& lists = header.scalars;
  SedovOptions o;
  o.dim = header.dim;
  o.nxb = static_cast<int>(header.cells[0]);
  o.min_level = static_cast<int>(need(lists.integer_parameters, "lrefine_min"));
  o.max_level = static_cast<int>(need(lists.integer_parameters, "lrefine_max"));
  o.root_blocks = {static_cast<int>(need(lists.integer_parameters, "nblockx")),
                   static_cast<int>(need(lists.integer_parameters, "nblocky")),
                   static_cast<int>(need(lists.integer_parameters, "nblockz"))};
  o.refine_every = static_cast<int>(need(lists.integer_parameters, "nrefs"));
  o.max_steps = need(lists.integer_parameters, "nend");
  o.problem.gamma = need(lists.real_parameters, "gamma");
  o.problem.energy = need(lists.real_parameters, "sim_expenergy");
  o.problem.ambient_density = need(lists.real_parameters, "sim_rhoambient");
  o.problem.ambient_pressure = need(lists.real_parameters, "sim_pambient");
  o.problem.radius_cells = need(lists.real_parameters, "sim_radius_cells");
  o.cfl = need(lists.real_parameters, "cfl");
  o.end_time = need(lists.real_parameters, "tmax");
  o.refine_above = need(lists.real_parameters, "refine_cutoff_1");
  o.derefine_below = need(lists.real_parameters, "derefine_cutoff_1");
  o.refine_filter = need(lists.real_parameters, "refine_filter_1");
  std::string boundary = need(lists.string_parameters, "xl_boundary_type");
  o.boundary = boundary == "periodic"     ? Boundary::kPeriodic
               : boundary == "reflecting" ? Boundary::kReflect
                                          : Boundary::kOutflow;
  return o;
}

RunScalars scalars_from_lists(const ScalarLists& lists) {
  RunScalars scalars;
  scalars.time = need(lists.real_scalars, "time");
  scalars.dt = need(lists.real_scalars, "dt");
  scalars.dt_old = need(lists.real_scalars, "dtold");
  scalars.step = need(lists.integer_scalars, "nstep");
  bool possible =
      std::isfinite(scalars.time) && scalars.time >= 0 && std::isfinite(scalars.dt) && scalars.dt >= 0 && scalars.step >= 0;
  if (!possible) {
    throw Error(ErrorCode::kFormat,
                fmt::format("no run is at time {} and step {} with steps of {}", scalars.time, scalars.step, scalars.dt));
  }
  return scalars;
}

}  // namespace stria::flash
