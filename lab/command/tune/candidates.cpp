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

// Returns powers of two, and all of them.
std::vector<int> aggregator_counts(int ranks) {
  std::vector<int> counts;
  for (int count = 1; count < ranks; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(ranks);
  return counts;
}

std::vector<Hints> methods(const Machine& machine) {
  std::vector<Hints> all{{{"stria_method", "list_io"}}, {{"stria_method", "data_sieving"}}};
  if (machine.store) {
    all.push_back({{"stria_method", "datatype_io"}});
  }
  for (const int count : aggregator_counts(machine.ranks)) {
    all.push_back({{"stria_method", "two_phase"}, {"cb_nodes", std::to_string(count)}});
  }
  return all;
}

bool has(const Hints& hints, const char* method) {
  const auto found = hints.find("stria_method");
  return found != hints.end() && found->second == method;
}

// Returns the buffers that a method has; without one, those of both that the planner may choose.
std::vector<Hints> buffers(const Hints& with) {
  std::vector<Hints> all;
  const auto add = [&](const Hints& more) {
    Hints hints = with;
    hints.insert(more.begin(), more.end());
    all.push_back(hints);
  };
  const bool free = with.find("stria_method") == with.end();
  // Larger ones come first: they help where requests cost.
  for (const auto& [staging, buffer] : {std::pair(16, 32), {64, 128}, {1, 1}, {2, 4}}) {
    if (has(with, "list_io") || free) {
      add({{"stria_staging_size", mebibytes(staging)}});
    }
    if (has(with, "two_phase") || free) {
      add({{"cb_buffer_size", mebibytes(buffer)}});
    }
  }
  if (has(with, "data_sieving")) {
    for (const int64_t window : {1, 4, 16}) {
      add({{"ind_rd_buffer_size", mebibytes(window)}, {"ind_wr_buffer_size", mebibytes(window)}});
    }
  }
  return all;
}

/// Returns the hints with each of some values for one more.
std::vector<Hints> with_each(const Hints& hints, const char* name, const std::vector<int64_t>& values) {
  std::vector<Hints> all;
  for (const int64_t value : values) {
    all.push_back(hints);
    all.back()[name] = std::to_string(value);
  }
  return all;
}

const std::vector<int64_t> kStripes{int64_t{64} << 10, int64_t{1} << 20, int64_t{4} << 20};

// Powers of two, and all of them where they are known.
std::vector<int64_t> server_counts(const Machine& machine) {
  std::vector<int64_t> counts{1, 2};
  for (int count = 4; count < machine.servers; count *= 2) {
    counts.push_back(count);
  }
  if (machine.servers > 2) {
    counts.push_back(machine.servers);
  }
  return counts;
}

}  // namespace

std::vector<Hints> candidates(const Machine& machine) {
  std::vector<Hints> ways = methods(machine);
  ways.emplace_back();
  std::vector<Hints> all;
  for (const Hints& way : ways) {
    const std::vector<Hints> sized = buffers(way);
    all.insert(all.end(), sized.begin(), sized.end());
    if (!way.empty()) {
      all.push_back(way);
    }
  }
  if (machine.store) {
    const std::vector<Hints> plain = all;
    for (const auto& [name, values] : {std::pair("striping_unit", kStripes), {"striping_factor", server_counts(machine)}}) {
      for (const Hints& hints : plain) {
        const std::vector<Hints> striped = with_each(hints, name, values);
        all.insert(all.end(), striped.begin(), striped.end());
      }
      const std::vector<Hints> striped = with_each({}, name, values);
      all.insert(all.end(), striped.begin(), striped.end());
    }
  }
  std::minstd_rand fixed;  // every rank mixes alike
  for (size_t i = all.size() - 1; i > 0; --i) {
    std::swap(all[i], all[fixed() % (i + 1)]);
  }
  return all;
}

std::vector<Stage> stages(const Machine& machine) {
  std::vector<Stage> all{[machine](const Hints&) { return methods(machine); }, buffers};
  if (machine.store) {
    all.emplace_back([](const Hints& best) { return with_each(best, "striping_unit", kStripes); });
    all.emplace_back([machine](const Hints& best) { return with_each(best, "striping_factor", server_counts(machine)); });
  }
  return all;
}

std::string meaning(const std::string& name) {
  static const std::map<std::string, std::string> meanings = {
      {"cb_buffer_size", "Fits what an aggregator writes at once to this storage."},
      {"cb_nodes", "As many aggregators keep this storage busy."},
      {"ind_rd_buffer_size", "The window that sieving reads at once."},
      {"ind_wr_buffer_size", "The window that sieving writes back at once."},
      {"striping_factor", "New files lie on so many servers."},
      {"striping_unit", "Stripes of new files."},
      {"stria_method", "The way that suits these pieces and the cost of a request."},
      {"stria_staging_size", "What a rank packs before it asks the storage."}};
  return meanings.at(name);
}

bool is_store(const std::string& directory) {
  return directory.rfind("stria://", 0) == 0;
}

}  // namespace stria::tool
