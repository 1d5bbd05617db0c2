#include "file/parts/part_servers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "storage/path.hpp"
#include "storage/registry/file_servers.hpp"

namespace stria::file {

namespace {

int most_on_one(int files, int servers) {
  return (files + servers - 1) / servers;
}

}  // namespace

bool lies_on_single_servers(const access::ResolvedHints& hints, const std::string& path) {
  return hints.parity_count > 0 && hints.subfile_count != 0 && storage::is_remote_path(path);
}

Result<PartServers> PartServers::find(const std::string& path, int first) {
  STRIA_ASSIGN_OR_RETURN(const std::vector<int> up, storage::servers_for_new_files(path));
  STRIA_ASSERT(std::is_sorted(up.begin(), up.end()), up.size());
  PartServers servers;
  for (const int server : up) {
    servers.uses_.push_back({.server = server});
  }
  if (first >= 0) {
    servers.turn_ = static_cast<size_t>(std::lower_bound(up.begin(), up.end(), first) - up.begin());
  } else {
    const std::string name = storage::file_name_of(path);
    servers.turn_ = hash_bytes(std::as_bytes(std::span(name)));
  }
  return servers;
}

void PartServers::count_file(int server) {
  for (Use& use : uses_) {
    use.files += use.server == server ? 1 : 0;
  }
}

void PartServers::note(const std::string& path) {
  const auto there = storage::servers_of_file(path);
  for (size_t i = 0; there.ok() && i < there->size(); ++i) {
    count_file((*there)[i]);
  }
}

void PartServers::leave_out_those_of(const std::string& path) {
  const auto gone = storage::servers_of_file(path);
  for (size_t i = 0; gone.ok() && i < gone->size(); ++i) {
    const auto known = std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) { return use.server == (*gone)[i]; });
    if (known != uses_.end() && uses_.size() > 1) {
      uses_.erase(known);
    }
  }
}

int PartServers::next() {
  if (uses_.empty()) {
    return -1;
  }
  const Use* least = nullptr;
  for (size_t step = 0; step < uses_.size(); ++step) {
    const Use& use = uses_[(turn_ + step) % uses_.size()];
    least = least == nullptr || use.files < least->files ? &use : least;
  }
  const int server = least->server;
  turn_ = static_cast<size_t>(least - uses_.data()) + 1;
  count_file(server);
  return server;
}

int PartServers::next_near(int near, int files) {
  STRIA_ASSERT(files > 0, files);
  const auto known = std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) { return use.server == near; });
  if (known == uses_.end() || known->files >= most_on_one(files, count())) {
    return next();
  }
  ++known->files;
  STRIA_ASSERT(known->files <= most_on_one(files, count()), known->files, files, count());
  return near;
}

Result<int> near_server(const std::string& path, int part) {
  STRIA_ASSERT(part >= 0, part);
  STRIA_ASSIGN_OR_RETURN(const std::vector<int> near, storage::servers_on_this_machine(path));
  return near.empty() ? -1 : near[static_cast<size_t>(part) % near.size()];
}

std::string warn_of_shared_servers(const std::string& path, int files, int parities, int servers) {
  const int most = servers == 0 ? 0 : most_on_one(files, servers);
  return most <= parities
             ? std::string()
             : fmt::format(
                   "a server that is lost takes up to {} of the {} files of '{}' (parts, parity and the file itself), and "
                   "stria_parity={} makes up for {}: only {} servers are up; with {} each file lies on its own",
                   most, files, path, parities, parities, servers, files);
}

storage::Striping on_server(int server, storage::Striping wanted) {
  return server < 0 ? wanted : storage::Striping{.unit_bytes = wanted.unit_bytes, .server_count = 1, .first_server = server};
}

}  // namespace stria::file
