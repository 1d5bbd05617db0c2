#include "file/nodes/node_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "base/out_of_memory.hpp"
#include "comm/waiting.hpp"
#include "file/nodes/nodes_driver.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr std::string_view kNodeMark = "{node}";
constexpr size_t kHostNameBytes = HOST_NAME_MAX + 1;

std::string filled(std::string place, const std::string& node) {
  for (size_t at = place.find(kNodeMark); at != std::string::npos; at = place.find(kNodeMark, at + node.size())) {
    place.replace(at, kNodeMark.size(), node);
  }
  while (place.size() > 1 && place.ends_with('/')) {
    place.pop_back();
  }
  return place;
}

// Ranks that share no memory may be on machines of one name, as containers are.
std::vector<std::string> names_of_nodes(Comm& comm) {
  std::array<std::byte, kHostNameBytes> mine{};
  const std::string host = host_name();
  std::memcpy(mine.data(), host.data(), std::min(host.size(), kHostNameBytes - 1));
  std::vector<std::byte> all(kHostNameBytes * static_cast<size_t>(comm.size()));
  comm.all_gather(mine, all);
  std::vector<std::string> names(static_cast<size_t>(comm.node_count()));
  for (int rank = comm.size() - 1; rank >= 0; --rank) {
    names[static_cast<size_t>(comm.node_of_rank()[static_cast<size_t>(rank)])] =
        reinterpret_cast<const char*>(all.data() + kHostNameBytes * static_cast<size_t>(rank));
  }
  std::map<std::string, int> seen;
  for (std::string& name : names) {
    const int before = seen[name]++;
    name += before == 0 ? "" : fmt::format("-{}", before);
  }
  return names;
}

int my_node(const Comm& comm) {
  return comm.node_of_rank()[static_cast<size_t>(comm.rank())];
}

int first_rank_of(const Comm& comm, int node) {
  const auto nodes = comm.node_of_rank();
  return static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
}

std::vector<int> files_on_nodes(const Comm& comm, int parts) {
  std::vector<int> files(static_cast<size_t>(comm.node_count()));
  for (int part = 0; part < parts; ++part) {
    ++files[static_cast<size_t>(node_of_part(comm, part, parts))];
  }
  return files;
}

// What the ranks of another node serve is asked for piece by piece.
void serve(Environment& environment, NodeRoutes routes) {
  environment.driver = std::make_shared<NodesDriver>(environment.driver, NodeService::of(*environment.comm, environment.driver),
                                                     std::move(routes));
  environment.make_direct_driver = nullptr;
  environment.hints.method = access::Method::kListIo;
  environment.hints.direct = access::Switch::kDisable;
  environment.is_served = true;
}

}  // namespace

bool name_nodes(const std::vector<std::string>& places) {
  return std::any_of(places.begin(), places.end(),
                     [](const std::string& place) { return place.find(kNodeMark) != std::string::npos; });
}

Status begin_on_nodes(Environment& environment) {
  Comm& comm = *environment.comm;
  auto names = names_of_nodes(comm);
  const Status mine = or_out_of_memory([&] {
    environment.node_names = std::move(names);
    NodeRoutes routes;
    for (int node = 0; node < comm.node_count(); ++node) {
      const auto places = places_on(environment, node);
      for (size_t i = 0; i < places.size() && node != my_node(comm); ++i) {
        if (name_nodes({environment.hints.part_places[i]})) {
          routes.of_directories[places[i]] = first_rank_of(comm, node);
        }
      }
    }
    serve(environment, std::move(routes));
    return Status();
  });
  return comm.agree(mine);
}

void end_on_nodes(Environment& environment) {
  Comm& comm = *environment.comm;
  if (environment.is_served) {
    // It goes when the others wait next where memory for that is scarce.
    static_cast<void>(or_out_of_memory([&] {
      NodeService::of(comm, environment.driver)->settle();
      return Status();
    }));
    comm.barrier();
  }
}

int node_of_part(const Comm& comm, int part, int parts) {
  return comm.node_of_rank()[static_cast<size_t>(int64_t{part} * comm.size() / parts)];
}

std::vector<int> nodes_of_parity(const Comm& comm, int parts, int parities) {
  std::vector<int> files = files_on_nodes(comm, parts);
  std::vector<int> nodes;
  for (int number = 0; number < parities; ++number) {
    const auto least = std::min_element(files.rbegin(), files.rend());
    nodes.push_back(static_cast<int>(files.rend() - least) - 1);
    ++*least;
  }
  return nodes;
}

std::vector<std::string> places_on(const Environment& environment, int node) {
  std::vector<std::string> places = environment.hints.part_places;
  for (std::string& place : places) {
    place = environment.node_names.empty() ? place : filled(place, environment.node_names[static_cast<size_t>(node)]);
  }
  return places;
}

std::string warn_of_shared_nodes(const Comm& comm, const std::string& path, int parts, int parities) {
  std::vector<int> files = files_on_nodes(comm, parts);
  for (const int node : nodes_of_parity(comm, parts, parities)) {
    ++files[static_cast<size_t>(node)];
  }
  const int most = *std::max_element(files.begin(), files.end());
  return most <= parities
             ? std::string()
             : fmt::format(
                   "a node that is lost takes up to {} of the {} files of '{}' (parts and parity), and stria_parity={} "
                   "makes up for {}: there are {} nodes; with {} each file lies on its own",
                   most, parts + parities, path, parities, parities, comm.node_count(), parts + parities);
}

bool reach_nodes(Environment& environment, const std::vector<std::string>& real_paths) {
  Comm& comm = *environment.comm;
  // The files, and then the directories: that of a file which no rank has says whether it is lost.
  const size_t files = real_paths.size();
  std::vector<int64_t> lowest(2 * files, comm.size());
  std::vector<bool> is_mine(2 * files);
  for (size_t i = 0; i < 2 * files; ++i) {
    const auto exists = environment.driver->exists(i < files ? real_paths[i] : storage::directory_of(real_paths[i - files]));
    is_mine[i] = exists.ok() && *exists;
    lowest[i] = is_mine[i] ? comm.rank() : comm.size();
  }
  comm.all_reduce(lowest, ReduceOp::kMin);
  NodeRoutes routes;
  for (size_t i = 0; i < files; ++i) {
    if (!is_mine[i] && lowest[i] < comm.size()) {
      routes.of_files[real_paths[i]] = static_cast<int>(lowest[i]);
    } else if (lowest[i] == comm.size() && !is_mine[files + i] && lowest[files + i] < comm.size()) {
      routes.of_directories[storage::directory_of(real_paths[i])] = static_cast<int>(lowest[files + i]);
    }
  }
  int64_t any = routes.of_files.empty() ? 0 : 1;
  comm.all_reduce(std::span(&any, 1), ReduceOp::kMax);
  if (any != 0) {
    serve(environment, std::move(routes));
  }
  return any != 0;
}

}  // namespace stria::file
