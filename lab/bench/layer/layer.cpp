#include "layer/layer.hpp"

namespace stria::bench {

std::string path_of(const LayerOptions& options, const Job& job, int index) {
  std::string path = options.path;
  if (job.workload.files > 1) {
    path += "_" + std::to_string(index);
  }
  if (job.workload.is_file_a_rank) {
    path += "." + std::to_string(job.owner);
  }
  return path;
}

std::vector<int64_t> plain_places(const Workload& workload) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < workload.arrays.size(); ++i) {
    places.push_back(workload.place(i));
  }
  return places;
}

}  // namespace stria::bench
