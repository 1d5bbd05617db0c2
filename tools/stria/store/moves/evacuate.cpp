#include "store/moves/evacuate.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>

namespace stria::tool {

namespace {

bool has_place(const std::vector<int64_t>& places, int64_t server, bool second) {
  return std::find(places.begin(), places.end(), wire::place_on(server, second)) != places.end();
}

// A server says every second that it lives.
constexpr std::chrono::seconds kFirstWords{5};
constexpr std::chrono::milliseconds kBetweenQuestions{250};

}  // namespace

/// A manager that has just started has heard of few servers yet: those that others could have parts
/// on would seem to be away. One that has signed off isn't waited for.
wire::StoreServers StoreMap::servers_once_heard() const {
  const Conditions conditions = conditions_of(asker_.root(), asker_.url());
  const auto deadline = std::chrono::steady_clock::now() + kFirstWords;
  while (true) {
    auto all = servers_of(asker_.root(), asker_.url());
    const bool heard = std::all_of(all.servers.begin(), all.servers.end(), [&](const auto& server) {
      return server.silent_ms >= 0 || server.place.address.empty() || has_ended(server.place.index, conditions);
    });
    if (heard || std::chrono::steady_clock::now() > deadline) {
      return all;
    }
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

std::vector<TakingServer> StoreMap::taking_servers() const {
  const wire::StoreServers all = servers_once_heard();
  const Conditions conditions = conditions_of(asker_.root(), asker_.url());
  std::vector<TakingServer> servers;
  for (const auto& server : all.servers) {
    const auto found = conditions.find(server.place.index);
    const bool takes =
        found == conditions.end() || (!found->second.closed && found->second.condition == wire::Condition::kGood);
    if (takes && state_of(server, {}) == "up") {
      servers.push_back({server.place.index, server.free_bytes});
    }
  }
  return servers;
}

std::vector<MovablePart> StoreMap::parts_on(const wire::ServerPlace& server) const {
  std::vector<MovablePart> parts;
  wire::Named request;
  wire::NamedListed page;
  do {
    page = asker_.manager<wire::NamedListed>(wire::Kind::kNamed, request);
    const size_t before = parts.size();
    for (const auto& file : page.entries) {
      request.after = file.file;
      for (const int64_t place : file.servers) {
        if (wire::server_of(place) == server.index) {
          parts.push_back({file.file, server.index, wire::is_second(place), 0, file.servers});
        }
      }
    }
    for (size_t first = before; first < parts.size(); first += wire::kMaxListed) {
      wire::Parts question;
      const size_t end = std::min(parts.size(), first + size_t{wire::kMaxListed});
      for (size_t i = first; i < end; ++i) {
        question.files.push_back(parts[i].number());
      }
      const auto listed = asker_.server(server.address, question);
      for (size_t i = first; i < end; ++i) {
        parts[i].bytes = listed.entries[i - first].bytes;
      }
    }
  } while (page.more && !page.entries.empty());
  return parts;
}

int64_t target_for(const MovablePart& part, const std::vector<TakingServer>& servers, const std::set<int64_t>& refused) {
  std::tuple<int, int64_t> most{-1, 0};
  int64_t best = -1;
  for (const TakingServer& server : servers) {
    const bool has_first = has_place(part.places, server.index, false);
    const bool has_both = has_first && has_place(part.places, server.index, true);
    if (server.index == part.from || has_both || refused.contains(server.index) || server.free_bytes < part.bytes) {
      continue;
    }
    const bool is_new = !has_first && !has_place(part.places, server.index, true);
    if (const std::tuple now(is_new ? 1 : 0, server.free_bytes); now > most) {
      most = now;
      best = server.index;
    }
  }
  return best;
}

}  // namespace stria::tool
