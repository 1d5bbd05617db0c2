// Writes a file whose names and strings go beyond ASCII and whose value ranges stay empty. Usage:
// names_file PATH
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "stria/file.hpp"

namespace {

void write(const std::string& path) {
  using stria::ElementType;
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  stria::CreateOptions options;
  options.sync = false;
  stria::File file = stria::File::create(MPI_COMM_WORLD, path, options);
  stria::DatasetOptions with_range;
  with_range.value_range = true;
  stria::Dataset density = file.create_dataset("Größe/密度", ElementType::kFloat64, {2 * size, 3}, with_range);
  file.create_dataset("never put", ElementType::kInt32, {5}, with_range);
  file.create_dataset("no elements", ElementType::kFloat32, {0, 3}, with_range);
  file.set_attribute("Größe/密度", "Einheit", "g/cm³");
  file.set_attribute("Größe/密度", "größte Zahl", 42);
  file.set_attribute("/", "título", "☃ is a snowman");
  file.set_attribute("Größe", "names", std::vector<std::string>{"α", "beta"});
  file.create_strings("naměs", {"dens", "ρρ"}, 4, true);
  struct Row {
    char text[8];
    int32_t number;
  };
  Row row{{}, 7};
  std::memcpy(row.text, "größer", 8);
  file.create_table("tabelle", {{"wört", 0, ElementType::kByte, 8}, {"zähl", 8, ElementType::kInt32, 0}}, sizeof row, 1, &row);
  for (int i = 0; i < 150; ++i) {  // more than a header of links has room for
    file.create_strings("viele/ü" + std::to_string(i), {std::to_string(i)}, 3, false);
  }
  std::vector<double> values(6);
  std::iota(values.begin(), values.end(), 6.0 * rank);
  density.put({{2 * rank, 0}, {2, 3}}, stria::Memory(values.data(), 6));
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    write(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
