// Mends what `stria fsck` has found. The manager looks at each change once more, and refuses one
// that a name would lose by.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "store/check/fsck.hpp"

namespace stria::tool {

namespace {

class StoreRepair {
 public:
  StoreRepair(const StoreAsker& asker, const StoreFindings& findings, bool frees)
      : asker_(asker), findings_(findings), frees_(frees) {}

  void mend(StoreFault& fault) {
    switch (fault.kind) {
      case FaultKind::kNoName:
        give_name(fault);
        return;
      case FaultKind::kElsewhere:
        take_part(fault);
        return;
      case FaultKind::kRemoved:
        remove_file(fault);
        return;
      default:
        return;  // only its owner can decide
    }
  }

 private:
  void give_name(StoreFault& fault) {
    const bool empty =
        std::all_of(fault.parts.begin(), fault.parts.end(), [](const LonePart& part) { return part.bytes == 0; });
    if (frees_ || empty) {
      discard(fault);
      return;
    }
    const std::vector<int64_t> servers = servers_of_parts(fault);
    if (!servers.empty()) {
      const wire::Adopt request{fault.file, fault.parts.front().striped.stripe_bytes, servers};
      fault.path = asker_.manager<wire::Path>(wire::Kind::kAdopt, request).path;
      fault.mended = fmt::format("it is {} now", fault.path);
    }
  }

  /// Returns the servers by slot. A slot without a part was never written, if all servers have
  /// answered: any server that has none will do. Empty, with the reason in the fault, where it
  /// can't be told.
  std::vector<int64_t> servers_of_parts(StoreFault& fault) const {
    const wire::Striped& first = fault.parts.front().striped;
    std::map<int64_t, int64_t> by_slot;
    std::set<int64_t> used;
    for (const LonePart& part : fault.parts) {
      const bool fits = part.striped.known() && part.striped.stripe_bytes == first.stripe_bytes &&
                        part.striped.slot_count == first.slot_count && part.striped.slot < first.slot_count;
      if (!fits || !by_slot.emplace(part.striped.slot, place_of(part)).second) {
        fault.what += "; its parts don't say how it was striped (--free removes them)";
        return {};
      }
      used.insert(part.server);
    }
    std::vector<int64_t> servers;
    auto spare = findings_.servers.begin();
    for (int64_t slot = 0; slot < first.slot_count; ++slot) {
      if (const auto known = by_slot.find(slot); known != by_slot.end()) {
        servers.push_back(known->second);
        continue;
      }
      while (spare != findings_.servers.end() && used.contains(spare->first)) {
        ++spare;
      }
      if (!findings_.all_answered || spare == findings_.servers.end()) {
        fault.what += fmt::format("; part {} of {} may be on a server that doesn't answer", slot, first.slot_count);
        return {};
      }
      servers.push_back((spare++)->first);
    }
    return servers;
  }

  /// The name goes to where the part is, if the file has no part of its own in that place.
  void take_part(StoreFault& fault) {
    const LonePart& part = fault.parts.front();
    const auto page = asker_.manager<wire::NamedListed>(wire::Kind::kNamed, wire::Named{fault.file - 1});
    if (page.entries.empty() || page.entries.front().file != fault.file) {
      return;
    }
    const auto& file = page.entries.front();
    const bool fits =
        part.striped.stripe_bytes == file.stripe_bytes && part.striped.slot_count == static_cast<int64_t>(file.servers.size());
    if (fits && !has_part(file.servers[static_cast<size_t>(part.striped.slot)], fault.file)) {
      wire::Adopt request{fault.file, file.stripe_bytes, file.servers};
      request.servers[static_cast<size_t>(part.striped.slot)] = place_of(part);
      static_cast<void>(asker_.manager<wire::Path>(wire::Kind::kAdopt, request));
      fault.mended = fmt::format("server {} is one of its servers now", part.server);
    } else if (frees_) {
      discard(fault);
    } else {
      fault.what += "; its servers have theirs (--free removes this one)";
    }
  }

  static int64_t place_of(const LonePart& part) {
    return wire::place_on(part.server, part.number != wire::file_of_part(part.number));
  }

  /// True also where nobody can tell. One that was removed there may have moved, of which names
  /// from a backup don't know.
  bool has_part(int64_t place, uint64_t file) const {
    const auto found = findings_.servers.find(wire::server_of(place));
    if (found == findings_.servers.end()) {
      return true;
    }
    const uint64_t part = wire::part_number(file, wire::is_second(place));
    const auto state = asker_.server(found->second, {0, {part}}).entries.at(0).state;
    return state != wire::PartState::kAbsent && state != wire::PartState::kRemoved;
  }

  void discard(StoreFault& fault) {
    uint64_t parts = 0;
    for (const LonePart& part : fault.parts) {
      parts += asker_.manager<wire::Discarded>(wire::Kind::kDiscard, wire::PartsOf{part.server, {part.number}}).files;
    }
    if (parts == fault.parts.size()) {
      fault.mended = "removed";
    }
  }

  void remove_file(StoreFault& fault) {
    if (fault.path.empty()) {
      return;
    }
    if (takes_other_part(fault)) {
      fault.mended = "its part was found on another server";
      return;
    }
    try {
      remove_name(joined(root_url(), fault.path.substr(1)));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kNotFound) {  // another part of it was mended before
        throw;
      }
    }
    fault.mended = "its name was removed";
  }

  /// The file has another server in place of that one, since a part was taken.
  bool takes_other_part(const StoreFault& fault) const {
    return asker_.known(fault.server, fault.parts.front().number) == wire::PartKnown::kElsewhere;
  }

  std::string root_url() const {
    std::string url = asker_.url();
    while (url.ends_with('/')) {
      url.pop_back();
    }
    return url;
  }

  const StoreAsker& asker_;
  const StoreFindings& findings_;
  bool frees_;
};

}  // namespace

Status mend_store(const StoreAsker& asker, StoreFindings& findings, bool frees) {
  StoreRepair repair(asker, findings, frees);
  for (StoreFault& fault : findings.faults) {
    try {
      repair.mend(fault);
    } catch (const Error& error) {
      fault.what += fmt::format("; not mended: {}", error.what());
    }
  }
  const auto synced = asker.root().store->ask_manager(wire::Kind::kSyncNames, wire::encode(wire::Path{"/"}));
  return synced.status().with_context(asker.url());
}

}  // namespace stria::tool
