// Writes a classic netCDF file with records, or prints what is in one. Usage:
//   netcdf_file write PATH FORMAT   FORMAT: cdf1, cdf2 or cdf5
//   netcdf_file dump PATH           a line for each dataset: its name, and its values as numbers
// The ranks share the rows.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "stria/file.hpp"

namespace {

constexpr int64_t kRecords = 5;
constexpr int64_t kLength = 3;

std::vector<float> values_of(const stria::Rows& rows, double offset) {
  std::vector<float> values;
  for (int64_t i = rows.first * kLength; i < (rows.first + rows.count) * kLength; ++i) {
    values.push_back(static_cast<float>(static_cast<double>(i) + offset));
  }
  return values;
}

void write(const std::string& path, const std::string& format) {
  using stria::ElementType;
  stria::CreateOptions options;
  options.sync = false;
  options.format = format == "cdf1" ? stria::Format::kCdf1 : format == "cdf2" ? stria::Format::kCdf2 : stria::Format::kCdf5;
  stria::File file = stria::File::create(MPI_COMM_WORLD, path, options);
  stria::DatasetOptions of_records{.dimensions = {"time", "x"}, .unlimited = true};
  const stria::Rows rows = file.share_rows(kRecords);
  const std::vector<float> even = values_of(rows, 0.5), odd = values_of(rows, 1);
  file.create_dataset("even", ElementType::kFloat32, {kRecords, kLength}, of_records).put_rows(rows, even);
  file.create_dataset("odd", ElementType::kInt8, {kRecords, kLength}, of_records).put_rows(rows, odd);
  const std::vector<float> once = values_of({rows.first > 0 ? 3 : 0, rows.first > 0 ? 0 : 1, 1}, 7);
  file.create_dataset("x", ElementType::kFloat64, {kLength}, {.dimensions = {"x"}})
      .put({{0}, {static_cast<int64_t>(once.size())}}, once);
  file.set_attribute("even", "units", "K");
  file.set_attribute("/", "title", "records");
  if (format == "cdf5") {
    file.set_attribute("/", "large", uint64_t{1} << 60);
  }
  file.create_strings("names", {"one", "three"}, 5, false);
  file.commit();
}

void dump(const std::string& path) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  stria::File file = stria::File::open(MPI_COMM_WORLD, path);
  for (const std::string& name : file.datasets()) {
    stria::Dataset dataset = file.dataset(name);
    std::string line = name;
    if (dataset.type_name().starts_with("string")) {
      for (const std::string& text : file.read_strings(name)) {
        line += " " + text;
      }
    } else {
      for (const double value : dataset.read<double>()) {
        line += " " + std::to_string(value);
      }
    }
    if (rank == 0) {
      std::puts(line.c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    if (argc == 4 && std::string(argv[1]) == "write") {
      write(argv[2], argv[3]);
    } else if (argc == 3 && std::string(argv[1]) == "dump") {
      dump(argv[2]);
    } else {
      status = 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
