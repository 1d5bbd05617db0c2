#include "tune/candidates.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace stria::tool {

namespace {

std::string mebibytes(int64_t count) {
  return std::to_string(count << 20);
}

// Powers of two, and all of them.
std::vector<int> aggregator_counts(int ranks) {
  std::vector<int> counts;
  for (int count = 1; count < ranks; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(ranks);
  return counts;
}

std::vector<Hints> methods_and_buffers(const Machine& machine) {
  std::vector<Hints> all;
  for (const int64_t staging : {1, 16, 64}) {
    all.push_back({{"stria_staging_size", mebibytes(staging)}});
    all.push_back({{"stria_method", "list_io"}, {"stria_staging_size", mebibytes(staging)}});
  }
  for (const int64_t window : {1, 4, 16}) {
    all.push_back({{"stria_method", "data_sieving"},
                   {"ind_rd_buffer_size", mebibytes(window)},
                   {"ind_wr_buffer_size", mebibytes(window)}});
  }
  if (machine.store) {
    all.push_back({{"stria_method", "datatype_io"}});
  }
  for (const int count : aggregator_counts(machine.ranks)) {
    for (const int64_t buffer : {1, 4, 32, 128}) {
      all.push_back(
          {{"stria_method", "two_phase"}, {"cb_nodes", std::to_string(count)}, {"cb_buffer_size", mebibytes(buffer)}});
    }
  }
  return all;
}

}  // namespace

std::vector<Hints> candidates(const Machine& machine) {
  std::vector<Hints> all = methods_and_buffers(machine);
  if (machine.store) {
    const std::vector<Hints> plain = all;
    for (const int64_t unit : {int64_t{64} << 10, int64_t{256} << 10, int64_t{4} << 20}) {
      const std::string stripe = std::to_string(unit);
      all.push_back({{"striping_unit", stripe}});
      for (Hints hints : plain) {
        hints["striping_unit"] = stripe;
        all.push_back(std::move(hints));
      }
    }
  }
  std::minstd_rand fixed;  // every rank mixes alike
  for (size_t i = all.size() - 1; i > 0; --i) {
    std::swap(all[i], all[fixed() % (i + 1)]);
  }
  return all;
}

std::string meaning(const std::string& name) {
  static const std::map<std::string, std::string> meanings = {
      {"cb_buffer_size", "Fits what an aggregator writes at once to this storage."},
      {"cb_nodes", "As many aggregators keep this storage busy."},
      {"ind_rd_buffer_size", "The window that sieving reads at once."},
      {"ind_wr_buffer_size", "The window that sieving writes back at once."},
      {"striping_unit", "Stripes of new files."},
      {"stria_method", "The way that suits these pieces and the cost of a request."},
      {"stria_staging_size", "What a rank packs before it asks the storage."}};
  return meanings.at(name);
}

bool is_store(const std::string& directory) {
  return directory.rfind("stria://", 0) == 0;
}

}  // namespace stria::tool
