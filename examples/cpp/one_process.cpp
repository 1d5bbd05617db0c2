// A table of numbers is written with what they mean, and read back, without MPI.
//   ./one_process_cpp table.h5
#include <cstdio>
#include <stria/file.hpp>

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "table.h5";
  const std::vector<float> waves = {0, 1, 0, -1, 0, 2, 0, -2, 0, 3, 0, -3};
  stria::File file = stria::File::create(path);
  file.create_dataset<float>("waves", {3, 4}).put({{0, 0}, {3, 4}}, waves);
  file.set_attribute("waves", "unit", "m");
  file.set_attribute("waves", "periods", std::vector{0.5, 1.0, 2.0});
  file.commit();  // only now does the file have its name

  stria::File reading = stria::File::open(path);
  const auto unit = reading.attribute<std::string>("waves", "unit");
  const auto periods = reading.attribute<std::vector<double>>("waves", "periods");
  const auto numbers = reading.read<double>("waves");
  for (size_t i = 0; i < periods.size(); ++i) {
    std::printf("period %g s: height %g %s\n", periods[i], numbers[4 * i + 1], unit.c_str());
  }
  return 0;
}
