#include "machine/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

namespace stria::simulate {

namespace {

using nlohmann::json;

/// Takes the numbers of one section, and finds those that nobody asked for.
class Section {
 public:
  Section(Machine& machine, const json& document, const char* name) : machine_(machine), name_(name) {
    if (document.contains(name)) {
      numbers_ = document.at(name);
    }
  }

  void take(const char* key, double& value) {
    if (!numbers_.contains(key)) {
      return;
    }
    const json& entry = numbers_.at(key);
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number() || !entry[1].is_string() ||
        entry[1].get<std::string>().empty()) {
      throw Error(ErrorCode::kFormat, place(key) + " must be [number, \"its source\"]");
    }
    value = entry[0].get<double>();
    if (value < 0) {
      throw Error(ErrorCode::kFormat, place(key) + " is negative");
    }
    machine_.sources[place(key)] = entry[1].get<std::string>();
    numbers_.erase(key);
  }
  void take(const char* key, int& value) {
    double number = value;
    take(key, number);
    value = static_cast<int>(number);
  }
  void take(const char* key, std::string& word) {
    if (numbers_.contains(key)) {
      word = numbers_.at(key).get<std::string>();
      numbers_.erase(key);
    }
  }
  void end() const {
    if (!numbers_.empty()) {
      throw Error(ErrorCode::kFormat, place(numbers_.begin().key()) + " is no number of a machine");
    }
  }

 private:
  std::string place(const std::string& key) const { return std::string(name_) + "." + key; }

  Machine& machine_;
  const char* name_;
  json numbers_ = json::object();
};

void take_nodes(Section section, Nodes& nodes) {
  section.take("ranks_per_node", nodes.ranks_per_node);
  section.take("memory_rate", nodes.memory_rate);
  section.take("pack_rate", nodes.pack_rate);
  section.take("piece_s", nodes.piece_s);
  section.take("write_piece_s", nodes.write_piece_s);
  section.take("read_piece_s", nodes.read_piece_s);
  section.take("link_rate", nodes.link_rate);
  section.take("latency_s", nodes.latency_s);
  section.take("local_latency_s", nodes.local_latency_s);
  section.take("message_s", nodes.message_s);
  section.take("eager_bytes", nodes.eager_bytes);
  section.take("step_s", nodes.step_s);
  section.take("exchange_s", nodes.exchange_s);
  section.take("collective_call_s", nodes.collective_call_s);
  section.end();
}

void take_forwarders(Section section, Forwarders& forwarders) {
  section.take("ranks", forwarders.ranks);
  section.take("run", forwarders.run);
  section.take("rate", forwarders.rate);
  section.take("request_s", forwarders.request_s);
  section.take("chunk_bytes", forwarders.chunk_bytes);
  section.end();
}

void take_servers(Section section, Servers& servers) {
  section.take("count", servers.count);
  section.take("write_rate", servers.write_rate);
  section.take("read_rate", servers.read_rate);
  section.take("request_s", servers.request_s);
  section.take("write_wait_s", servers.write_wait_s);
  section.take("list_regions", servers.list_regions);
  section.take("region_s", servers.region_s);
  section.take("seek_s", servers.seek_s);
  section.take("group_size", servers.group_size);
  section.take("group_rate", servers.group_rate);
  section.take("client_rate", servers.client_rate);
  section.take("stripe_bytes", servers.stripe_bytes);
  section.take("random_first", servers.random_first);
  section.take("stripe_count", servers.stripe_count);
  section.take("write_cache_bytes", servers.write_cache_bytes);
  section.take("block_bytes", servers.block_bytes);
  section.take("jitter", servers.jitter);
  section.end();
}

void take_locks(Section section, Locks& locks) {
  std::string scope = "none";
  section.take("scope", scope);
  if (scope != "none" && scope != "server" && scope != "file") {
    throw Error(ErrorCode::kFormat, "locks.scope is '" + scope + "': it is none, server or file");
  }
  locks.scope = scope == "none" ? Locks::Scope::kNone : scope == "file" ? Locks::Scope::kFile : Locks::Scope::kServer;
  section.take("unit_bytes", locks.unit_bytes);
  section.take("grant_s", locks.grant_s);
  section.take("revoke_s", locks.revoke_s);
  section.take("flush_s", locks.flush_s);
  section.take("kept", locks.kept);
  section.take("call_s", locks.call_s);
  section.take("whole_file", locks.whole_file);
  section.end();
}

void take_metadata(Section section, MetadataServer& metadata) {
  section.take("open_s", metadata.open_s);
  section.take("create_s", metadata.create_s);
  section.take("crowd", metadata.crowd);
  section.take("object_s", metadata.object_s);
  section.take("rename_s", metadata.rename_s);
  section.take("object_on_server_s", metadata.object_on_server_s);
  section.end();
}

// Checks what a division or a loop needs.
void require_whole(const Machine& machine) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) {
      throw Error(ErrorCode::kFormat, std::string(what) + " must be above 0");
    }
  };
  require(machine.nodes.ranks_per_node > 0, "nodes.ranks_per_node");
  require(machine.nodes.memory_rate > 0, "nodes.memory_rate");
  require(machine.nodes.pack_rate > 0, "nodes.pack_rate");
  require(machine.nodes.link_rate > 0, "nodes.link_rate");
  require(machine.forwarders.ranks == 0 || machine.forwarders.rate > 0, "forwarders.rate");
  require(machine.servers.count > 0, "servers.count");
  require(machine.servers.write_rate > 0, "servers.write_rate");
  require(machine.servers.read_rate > 0, "servers.read_rate");
  require(machine.servers.stripe_bytes >= 1, "servers.stripe_bytes");
  require(machine.servers.stripe_count > 0, "servers.stripe_count");
  require(machine.servers.group_size == 0 || machine.servers.group_rate > 0, "servers.group_rate");
  require(machine.locks.unit_bytes >= 1, "locks.unit_bytes");
}

/// Puts "section.number=value" in its place.
void change(json& document, const std::string& entry) {
  const size_t dot = entry.find('.'), equals = entry.find('=');
  char* end = nullptr;
  const double value = equals == std::string::npos ? 0 : std::strtod(entry.c_str() + equals + 1, &end);
  if (dot == std::string::npos || equals == std::string::npos || dot > equals || end == entry.c_str() + equals + 1 ||
      *end != 0) {
    throw Error(ErrorCode::kInvalidArgument, "'" + entry + "': section.number=value is wanted");
  }
  document[entry.substr(0, dot)][entry.substr(dot + 1, equals - dot - 1)] = {value, "asked for"};
}

Machine machine_of(const json& document) {
  for (const auto& [key, value] : document.items()) {
    static const char* const kSections[] = {"name", "title", "nodes", "forwarders", "servers", "locks", "metadata"};
    if (std::find(std::begin(kSections), std::end(kSections), key) == std::end(kSections)) {
      throw Error(ErrorCode::kFormat, "'" + key + "' is no section of a machine");
    }
  }
  Machine machine;
  machine.name = document.at("name").get<std::string>();
  machine.title = document.at("title").get<std::string>();
  take_nodes(Section(machine, document, "nodes"), machine.nodes);
  take_forwarders(Section(machine, document, "forwarders"), machine.forwarders);
  take_servers(Section(machine, document, "servers"), machine.servers);
  take_locks(Section(machine, document, "locks"), machine.locks);
  take_metadata(Section(machine, document, "metadata"), machine.metadata);
  require_whole(machine);
  return machine;
}

Result<Machine> parse_changed(const std::string& text, std::span<const std::string> changes) {
  try {
    json document = json::parse(text, nullptr, true, true);
    for (const std::string& entry : changes) {
      change(document, entry);
    }
    return machine_of(document);
  } catch (const Error& error) {
    return Status(error);
  } catch (const json::exception& error) {
    return Status(ErrorCode::kFormat, std::string("description of a machine: ") + error.what());
  }
}

}  // namespace

int forwarder_count(const Forwarders& forwarders, int ranks) {
  return (ranks - 1) / forwarders.ranks + 1;
}

int forwarder_of(const Forwarders& forwarders, int rank, int ranks) {
  return forwarders.run > 0 ? rank / forwarders.run % forwarder_count(forwarders, ranks) : rank / forwarders.ranks;
}

Result<Machine> parse_machine(const std::string& text) {
  return parse_changed(text, {});
}

Result<Machine> find_machine(const std::string& name_or_path, std::span<const std::string> changes) {
  if (const std::string_view text = description_of(name_or_path); !text.empty()) {
    return parse_changed(std::string(text), changes);
  }
  std::ifstream file(name_or_path);
  if (!file) {
    std::string names;
    for (const std::string& name : known_machines()) {
      names += (names.empty() ? "" : ", ") + name;
    }
    return Status(ErrorCode::kNotFound, "machine '" + name_or_path + "': no file of that name, and none of " + names);
  }
  std::stringstream text;
  text << file.rdbuf();
  return parse_changed(text.str(), changes);
}

}  // namespace stria::simulate
