// A machine as the model knows it: nodes, network, servers, locks, metadata. Each number comes with
// its source (docs/simulate.md lists what they mean).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stria/status.hpp"

namespace stria::simulate {

/// Processes and the network between their nodes. Rates are bytes a second.
struct Nodes {
  int ranks_per_node = 1;
  double memory_rate = 1e9;       ///< copying from memory to memory
  double pack_rate = 1e9;         ///< packing pieces of usual length
  double piece_s = 0;             ///< more for each piece of memory or file
  double write_piece_s = 0;       ///< the engine's own work for each piece of a rank in the file
  double read_piece_s = 0;        ///< the same where it reads
  double link_rate = 1e9;         ///< the rate of a node, each way
  double latency_s = 0;           ///< the seconds of a message between nodes
  double local_latency_s = 0;     ///< within a node
  double message_s = 0;           ///< a processor's time for a message, on each side
  double eager_bytes = 16 << 10;  ///< longer messages wait for their receiver
  double step_s = 0;              ///< the seconds of a collective: each of its log2(ranks) steps
  double exchange_s = 0;          ///< an all-to-all of numbers takes this for each rank
  double collective_call_s = 0;   ///< a collective read or write, besides what is modelled
};

/// Clients reach the servers through forwarders, where there are any.
struct Forwarders {
  int ranks = 0;           ///< so many ranks share one; 0: there are none
  int run = 0;             ///< so many of them follow one another; 0: all
  double rate = 0;         ///< the rate of a forwarder
  double request_s = 0;    ///< the seconds of a forwarder, for each request
  double chunk_bytes = 0;  ///< it hands on requests in parts of this size; 0: whole
};

struct Servers {
  int count = 1;
  double write_rate = 1e9;  ///< the rate of a server
  double read_rate = 1e9;
  double request_s = 0;     ///< for each request
  double write_wait_s = 0;  ///< the seconds of a client, for each write or list of writes
  double list_regions = 0;  ///< regions of a file that one request may name; 0: one
  double region_s = 0;      ///< for each region of a list
  double seek_s = 0;        ///< more where it doesn't follow the request before in its file
  int group_size = 0;       ///< servers that share a controller; 0: none do
  double group_rate = 0;    ///< the rate of a controller
  double client_rate = 0;   ///< what a node can send to all servers together; 0: its link's
  double stripe_bytes = 1 << 20;
  int random_first = 0;          ///< 1: a file begins anywhere, else after the last one
  int stripe_count = 1;          ///< the count of a file that asks for nothing else
  double write_cache_bytes = 0;  ///< a write so near to the one before needs no seek
  double block_bytes = 0;        ///< a write of a part of a block is read, changed and written back
  double jitter = 0;             ///< the spread of a request's service: sigma of its logarithm
};

/// Locks of ranges, which keep the caches of clients coherent.
struct Locks {
  enum class Scope { kNone, kServer, kFile };
  Scope scope = Scope::kNone;  ///< a manager for each file on a server, or one for the file
  double unit_bytes = 4096;    ///< ranges are rounded to this
  double grant_s = 0;          ///< the seconds of the manager
  double revoke_s = 0;         ///< more for each holder that must give up a range
  double flush_s = 0;          ///< more where it writes back first what it gives up
  int kept = 1;                ///< 0: a client gives its lock up with the request that needed it
  // Locks that a program asks for by itself, as sieving does: flock() or fcntl().
  double call_s = 0;   ///< the seconds of a rank, more for each, and for giving it up
  int whole_file = 0;  ///< 1: they lock the file, whatever range is asked for
};

struct MetadataServer {
  double open_s = 0;
  double create_s = 0;
  double crowd = 0;     ///< each creation takes longer by so many times this as wait; 0: no longer
  double object_s = 0;  ///< more for each server on which a new file gets an object
  double rename_s = 0;
  /// A server needs it for each object. The maker of a file asks one server after another.
  double object_on_server_s = 0;
};

struct Machine {
  std::string name;
  std::string title;
  Nodes nodes;
  Forwarders forwarders;
  Servers servers;
  Locks locks;
  MetadataServer metadata;
  /// Each "section.number" has the source that its value comes from.
  std::map<std::string, std::string> sources;
};

/// Returns how many forwarders so many ranks have, and which of them serves a rank.
int forwarder_count(const Forwarders& forwarders, int ranks);
int forwarder_of(const Forwarders& forwarders, int rank, int ranks);

/// Reads a description. kFormat names what is unknown, missing its source or out of range.
Result<Machine> parse_machine(const std::string& text);

/// Returns the names of the machines that come with the program.
std::vector<std::string> known_machines();
/// Finds a machine by its name, or by the path of a description. kNotFound lists the names.
/// `changes` are "section.number=value", and take the place of the description's numbers.
Result<Machine> find_machine(const std::string& name_or_path, std::span<const std::string> changes = {});
/// Returns the text of a description that comes with the program; empty when there is none of that
/// name.
std::string_view description_of(std::string_view name);

}  // namespace stria::simulate
