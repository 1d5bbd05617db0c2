// The hints as the engine uses them: parsed, checked, and with their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/hints.hpp"

namespace stria::access {

/// A choice that the planner makes unless the user did.
enum class Switch { kAutomatic, kEnable, kDisable };
enum class Method { kAutomatic, kMultiple, kListIo, kDatatypeIo, kDataSieving, kHybrid, kTwoPhase };

/// An entry of cb_config_list.
struct AggregatorPlace {
  static constexpr int64_t kAll = INT64_MAX;
  std::string host;  ///< or "*": every node that no entry before names
  int64_t most = 1;  ///< aggregators on such a node
};

struct ResolvedHints {
  /// stria_file_domains: what the file domains of aggregators are aligned to.
  enum class Domains { kAutomatic, kEven, kAligned, kStriped };

  int aggregator_count = 0;  ///< cb_nodes; 0: the planner's choice
  /// cb_buffer_size: all collective buffers of one aggregator together; 0: the planner's choice.
  int64_t collective_buffer_bytes = 0;
  Switch collective_write = Switch::kAutomatic;  ///< romio_cb_write
  Switch collective_read = Switch::kAutomatic;   ///< romio_cb_read
  /// romio_no_indep_rw: the program makes no independent calls; two-phase both ways.
  bool no_independent_calls = false;
  Switch sieve_reads = Switch::kAutomatic;   ///< romio_ds_read
  Switch sieve_writes = Switch::kAutomatic;  ///< romio_ds_write
  /// ind_rd_buffer_size: what data sieving reads at once.
  int64_t read_window_bytes = 4 << 20;
  /// ind_wr_buffer_size: what it locks, reads and writes back at once.
  int64_t write_window_bytes = 512 << 10;
  /// cb_config_list: a node takes the first entry that names it; no list: any ranks.
  std::vector<AggregatorPlace> aggregator_places;
  /// The results of hosts_of_nodes() (aggregators.hpp), by node. Empty: unknown, and
  /// only * names a node.
  std::vector<uint64_t> node_hosts;
  int64_t striping_unit_bytes = 0;  ///< striping_unit; 0: what the storage says
  int striping_factor = 0;          ///< striping_factor; 0: what the storage says
  /// start_iodevice or stria_first_server: Striping::first_server of a new file.
  int first_server = -1;
  /// stria_mimic_stripe=count,size: plan as if the storage were striped so.
  int mimic_stripe_count = 0;
  int64_t mimic_stripe_bytes = 0;
  Domains domains = Domains::kAutomatic;
  Method method = Method::kAutomatic;  ///< stria_method
  /// stria_staging_size: the buffer through which a rank packs and writes by itself.
  int64_t staging_bytes = 4 << 20;
  /// stria_staging_limit: the memory of a node that commits in the background may take; -1: a
  /// quarter of what is free.
  int64_t staging_limit_bytes = -1;
  /// stria_cache_bytes: what the ranks of a node keep of a file's small accesses; -1: the storage
  /// decides, 0: nothing.
  int64_t cache_bytes = -1;
  /// stria_async: nonblocking and split collective writes of MPI-IO are copied to memory, and are
  /// written after the call has returned.
  Switch async = Switch::kAutomatic;
  /// stria_staging: where files are written before they come to their place; empty: nowhere.
  std::string staging_place;
  /// stria_staging_rate: bytes a second that a node writes in the background; 0: any number.
  int64_t staging_rate = 0;
  /// stria_staging_writers: how many ranks of a node write a file in the background at a time.
  int64_t staging_writers = 1;
  Switch direct = Switch::kAutomatic;  ///< stria_direct: past the page cache
  /// stria_shared_memory: ranks of a node pack into the aggregator's buffer.
  Switch shared_memory = Switch::kAutomatic;
  /// stria_axes: contributions travel along the axes of a grid of nodes.
  Switch axes = Switch::kAutomatic;
  /// stria_subfiles: into how many files the raw data of a new file go. 0: into the file itself;
  /// kSubfileForEachNode.
  int64_t subfile_count = 0;
  static constexpr int64_t kSubfileForEachNode = -1;
  /// stria_parity: how many files with parity a new file gets beside it.
  int64_t parity_count = 0;
  static constexpr int64_t kMostParities = 16;
  /// stria_part_places: directories where parts and parity of a new file lie, taking turns; empty:
  /// beside the file.
  std::vector<std::string> part_places;
  /// stria_home_every: every so many of these files lie beside their names all the same; 0: none.
  int64_t home_every = 0;
  /// stria_put_copies: the memory that a file's copies of small puts may take on a rank.
  int64_t put_copies_bytes = 4 << 20;
  Switch put_check = Switch::kAutomatic;     ///< stria_put_check: samples of puts not copied
  Switch put_overlaps = Switch::kAutomatic;  ///< stria_put_overlaps: let puts share elements
  int64_t compress_threads = 1;              ///< stria_compress_threads: of each rank, for chunks
  std::string driver = "posix";              ///< stria_driver
  /// stria_alignment: where datasets of at least this size begin.
  int64_t alignment_bytes = 4096;
  /// stria_wait_warning_s: after how long a wait is reported; 0: never, -1: the
  /// environment decides.
  int64_t wait_warning_s = -1;
  /// stria_wait_deadline_s: after how long it ends the job; likewise.
  int64_t wait_deadline_s = -1;
};

/// Sets one hint, whatever the others are. Returns why it can't be used; else nothing.
std::string set_hint(ResolvedHints& hints, const std::string& name, const std::string& value);
/// Parses the hints. One that can't be used keeps its default and adds a line to `warnings`.
ResolvedHints resolve_hints(const Hints& hints, std::vector<std::string>& warnings);

/// Returns the values in effect, under the names that set them.
Hints effective_hints(const ResolvedHints& hints);

const char* method_name(Method method);
const char* domains_name(ResolvedHints::Domains domains);

}  // namespace stria::access
