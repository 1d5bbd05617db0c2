#include "output/raw_arrays.hpp"

#include <cstring>

namespace stria::convection {

namespace {

template <typename T>
RawBlock raw(const std::vector<T>& numbers) {
  RawBlock block{sizeof(T), std::vector<std::byte>(numbers.size() * sizeof(T))};
  std::memcpy(block.bytes.data(), numbers.data(), block.bytes.size());
  return block;
}

}  // namespace

RawBlock raw_floats(const Grid& grid, const Field& field) {
  std::vector<float> numbers;
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      numbers.push_back(static_cast<float>(field(j, i)));
    }
  }
  return raw(numbers);
}

RawBlock raw_movie(const ConvectionRun& run, bool floats) {
  return floats ? raw(movie_floats(run)) : raw(movie_bytes(run));
}

std::vector<RawBlock> raw_state(const ConvectionRun& run) {
  std::vector<RawBlock> blocks;
  for (const Field* field : {&run.gas().density, &run.gas().momentum_x, &run.gas().momentum_z, &run.gas().energy}) {
    blocks.push_back(raw_floats(run.grid(), *field));
  }
  return blocks;
}

std::vector<RawBlock> raw_analysis(const ConvectionRun& run) {
  std::vector<RawBlock> blocks;
  for (const NamedField& array : analysis_arrays(run)) {
    blocks.push_back(raw_floats(run.grid(), array.field));
  }
  return blocks;
}

std::vector<std::vector<float>> raw_averages(const ConvectionRun& run) {
  const std::vector<double> means = run.averages();
  const size_t kinds = kAverages.size();
  std::vector<std::vector<float>> columns(kinds);
  for (size_t i = 0; i < means.size(); ++i) {
    columns[i % kinds].push_back(static_cast<float>(means[i]));
  }
  return columns;
}

RawHeader raw_header(const ConvectionRun& run) {
  return {run.time(), run.steps(), static_cast<int32_t>(run.grid().nx), static_cast<int32_t>(run.grid().nz)};
}

}  // namespace stria::convection
