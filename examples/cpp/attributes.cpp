// Attributes: what the numbers of a file mean. Numbers, strings, booleans, complex numbers,
// references and lists are set on the file and on a dataset, then listed and read back.
//   mpiexec -n 4 ./attributes_cpp attributes.h5
#include <mpi.h>

#include <cstdio>
#include <stria/file.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = argc > 1 ? argv[1] : "attributes.h5";
  const std::vector<double> values(4, 300 + rank);
  const bool walls[] = {true, false};
  const char* air = "air";
  {
    stria::File file = stria::File::create(MPI_COMM_WORLD, path);
    file.create_dataset<float>(air, {ranks * 4}).put({{rank * 4}, {4}}, values);
    // All ranks set the same. "/" is the file itself.
    file.set_attribute("/", "title", "a room");
    file.set_attribute("/", "shown", std::vector<stria::Reference>{{"air"}});
    file.set_attribute(air, "unit", "K");
    file.set_attribute(air, "axes", std::vector<std::string>{"x", "height"});
    file.set_attribute(air, "step", int32_t{7});
    file.set_attribute(air, "cells", std::vector<int64_t>{4, 1});
    file.set_attribute(air, "error", 0.5F);
    file.set_attribute(air, "times", std::vector{0.0, 0.25, 0.5});
    file.set_attribute(air, "closed", true);
    file.set_attribute(air, "walls", std::span(walls));
    file.set_attribute(air, "mode", std::complex<double>(1, -2));
    file.set_attribute(air, "modes", std::vector<std::complex<double>>{{1, 0}, {0, 0.5}});
    file.commit();
  }
  {
    stria::File file = stria::File::open(MPI_COMM_WORLD, path);
    const std::vector<stria::AttributeInfo> list = file.attributes(air);
    const auto unit = file.attribute<std::string>(air, "unit");
    const auto step = file.attribute<int>(air, "step");  // converted, if need be
    const auto times = file.attribute<std::vector<double>>(air, "times");
    const auto closed = file.attribute<bool>(air, "closed");
    const auto mode = file.attribute<std::complex<double>>(air, "mode");
    const auto shown = file.attribute<std::vector<stria::Reference>>("/", "shown");
    if (rank == 0) {
      for (const stria::AttributeInfo& one : list) {
        std::printf("%s: %s\n", one.name.c_str(), one.type_name.c_str());
      }
      std::printf("%s in %s, step %d, time %g, %s, mode %g%+gi\n", shown[0].path.c_str(), unit.c_str(), step, times.back(),
                  closed ? "closed" : "open", mode.real(), mode.imag());
    }
  }
  MPI_Finalize();
  return 0;
}
