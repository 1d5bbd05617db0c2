// The storage of a machine: forwarders, servers with their controllers, locks and metadata, each of
// which serves one request after another.
//
// Method: a write is cut at stripes. Each part passes the client (or its forwarder), the manager of
// locks where the client doesn't hold the range, the server, and the server's controller. The
// operation is over with its last part.
// Cost: two events for each part.
// Limits: no cache hides the servers' rates, and nobody else uses the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "clock/clock.hpp"
#include "clock/queue.hpp"
#include "machine/machine.hpp"
#include "storage/driver.hpp"
#include "store/name_server.hpp"
#include "store/range_locks.hpp"

namespace stria::simulate {

/// A file as the servers have it.
struct StoredFile {
  int64_t size_bytes = 0;
  int64_t stripe_bytes = 0;
  int stripe_count = 1;
  int first_server = 0;
  uint64_t number = 0;
  std::map<int, RangeLocks> locks;  ///< by server, or one for the file
  Queue lock_manager;               ///< the manager of the file
  std::map<int, int64_t> last_end;  ///< by server: where its last request ended
  std::vector<int> lock_waiters;    ///< ranks that wait for a lock of a program
};

/// Holds what the store has done, for reports.
struct StoreTotals {
  int64_t requests = 0;  ///< requests that servers have seen
  int64_t bytes = 0;
  int64_t seeks = 0;
  int64_t part_blocks = 0;  ///< writes that had to read a block first
  int64_t grants = 0;
  int64_t revocations = 0;
  int64_t flushes = 0;  ///< holders that wrote back first what they gave up
  /// Writes of clients, before they are cut: how many of each size.
  std::map<int64_t, int64_t> write_sizes;
};

struct StoreOptions {
  int ranks = 1;      ///< the ranks of all clients together
  uint64_t seed = 1;  ///< decides the jitter
};

class Store {
 public:
  /// What is passed must outlive this.
  Store(Clock& clock, const Machine& machine, const StoreOptions& options);

  struct Part {
    int64_t offset;
    int64_t bytes;
    int regions = 1;  ///< the regions of a list, which names its first and the bytes of all
  };
  /// Says what a request is for.
  struct Access {
    StoredFile& file;
    int rank = 0;
    bool writes = true;
  };
  /// Begins to move parts from `moment` on; calls `done` at the end.
  void start(const Access& access, std::span<const Part> parts, double moment, std::function<void()> done);

  /// Creates a new file that is dealt out as asked.
  std::shared_ptr<StoredFile> create(const storage::Striping& striping);
  NameServer& names() { return names_; }
  /// When a server of a new file has made its object, asked at `moment`.
  double make_object(const StoredFile& file, int stripe, double moment);
  void count_write(int64_t bytes) { ++totals_.write_sizes[bytes]; }

  /// Totals and busy times begin anew.
  void count_anew();

  const Machine& machine() const { return machine_; }
  const StoreTotals& totals() const { return totals_; }
  /// Seconds that the busiest, and an average, server has worked.
  double busiest_server_s() const;
  double mean_server_s() const;
  double metadata_s() const { return names_.busy_s(); }
  double locks_s() const { return lock_s_; }

 private:
  struct Operation {
    int64_t left = 0;
    std::function<void()> done;
  };
  int client_of(int rank) const;
  void start_one(const Access& access, std::span<const Part> parts, double moment, std::function<void()> done);
  int server_of(const StoredFile& file, int64_t offset) const;
  double pass_client(int rank, double bytes, double moment);
  double pass_locks(const Access& access, int server, const Part& part, double moment);
  double pass_server(const Access& access, int server, const Part& part, double moment);
  std::vector<Part> cut(const StoredFile& file, std::span<const Part> parts) const;
  std::vector<Part> join_lists(const StoredFile& file, std::vector<Part> parts) const;
  void serve(const Access& access, const Part& part, const std::shared_ptr<Operation>& operation);
  double service_s(const Access& access, int server, const Part& part);

  Clock& clock_;
  const Machine& machine_;
  int ranks_;
  std::mt19937_64 random_;
  std::vector<Queue> servers_;
  std::vector<Queue> groups_;
  std::vector<Queue> lock_servers_;
  std::map<int, Queue> clients_;
  NameServer names_;
  StoreTotals totals_;
  double lock_s_ = 0;
  int next_server_ = 0;
  uint64_t files_ = 0;
};

}  // namespace stria::simulate
