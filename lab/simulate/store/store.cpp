#include "store/store.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stria::simulate {

Store::Store(Clock& clock, const Machine& machine, const StoreOptions& options)
    : clock_(clock),
      machine_(machine),
      ranks_(options.ranks),
      random_(options.seed),
      servers_(static_cast<size_t>(machine.servers.count)),
      groups_(machine.servers.group_size == 0
                  ? 0
                  : static_cast<size_t>((machine.servers.count - 1) / machine.servers.group_size + 1)),
      lock_servers_(static_cast<size_t>(machine.servers.count)),
      names_(clock, machine.metadata) {}

std::shared_ptr<StoredFile> Store::create(const storage::Striping& striping) {
  auto file = std::make_shared<StoredFile>();
  const Servers& servers = machine_.servers;
  file->number = ++files_;
  file->stripe_bytes = striping.unit_bytes > 0 ? striping.unit_bytes : static_cast<int64_t>(servers.stripe_bytes);
  file->stripe_count = std::min(striping.server_count > 0 ? striping.server_count : servers.stripe_count, servers.count);
  file->first_server = striping.first_server >= 0 ? striping.first_server % servers.count : next_server_;
  if (striping.first_server < 0 && servers.random_first > 0) {
    file->first_server = static_cast<int>(random_() % static_cast<uint64_t>(servers.count));
  }
  next_server_ = (file->first_server + file->stripe_count) % servers.count;
  return file;
}

double Store::make_object(const StoredFile& file, int stripe, double moment) {
  Queue& server = servers_[static_cast<size_t>((file.first_server + stripe) % machine_.servers.count)];
  return server.serve(moment, machine_.metadata.object_on_server_s);
}

int Store::client_of(int rank) const {
  return machine_.forwarders.ranks > 0 ? forwarder_of(machine_.forwarders, rank, ranks_) : rank / machine_.nodes.ranks_per_node;
}

int Store::server_of(const StoredFile& file, int64_t offset) const {
  return static_cast<int>((file.first_server + offset / file.stripe_bytes % file.stripe_count) % machine_.servers.count);
}

void Store::start(const Access& access, std::span<const Part> parts, double moment, std::function<void()> done) {
  const auto regions = static_cast<size_t>(machine_.servers.list_regions);
  if (regions <= 1 || parts.size() <= regions) {
    start_one(access, parts, moment, std::move(done));
    return;
  }
  // A client asks for the next list when the one before has been answered.
  const std::span<const Part> first = parts.first(regions);
  std::vector<Part> rest(parts.begin() + static_cast<std::ptrdiff_t>(regions), parts.end());
  start_one(access, first, moment, [this, access, rest = std::move(rest), done = std::move(done)]() mutable {
    start(access, rest, clock_.now(), std::move(done));
  });
}

void Store::start_one(const Access& access, std::span<const Part> parts, double moment, std::function<void()> done) {
  auto operation = std::make_shared<Operation>();
  operation->done = std::move(done);
  const std::vector<Part> requests = join_lists(access.file, cut(access.file, parts));
  operation->left = static_cast<int64_t>(requests.size());
  if (requests.empty()) {
    clock_.at(moment, [operation] { operation->done(); });
    return;
  }
  moment += access.writes ? machine_.servers.write_wait_s : 0;
  for (const Part& part : requests) {
    // The client is asked now, in the order of its requests; the servers when the bytes come.
    const double arrival = pass_client(access.rank, static_cast<double>(part.bytes), moment) + machine_.nodes.latency_s;
    clock_.at(arrival, [this, access, part, operation] { serve(access, part, operation); });
  }
}

// Cuts at stripes, and at what forwarders hand on at once.
std::vector<Store::Part> Store::cut(const StoredFile& file, std::span<const Part> parts) const {
  const auto chunk = static_cast<int64_t>(machine_.forwarders.chunk_bytes);
  const int64_t most = chunk > 0 ? std::min(chunk, file.stripe_bytes) : file.stripe_bytes;
  std::vector<Part> pieces;
  for (const Part& part : parts) {
    for (int64_t at = part.offset, end = part.offset + part.bytes; at < end;) {
      const int64_t stop = std::min(end, (at / most + 1) * most);
      pieces.push_back({at, stop - at});
      at = stop;
    }
  }
  return pieces;
}

// A list of so many regions goes as one request to each server that has some of them.
std::vector<Store::Part> Store::join_lists(const StoredFile& file, std::vector<Part> parts) const {
  const auto most = static_cast<int>(machine_.servers.list_regions);
  if (most <= 1 || parts.size() <= 1) {
    return parts;
  }
  std::vector<Part> lists;
  std::map<int, size_t> of_server;  // in lists
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i % static_cast<size_t>(most) == 0) {
      of_server.clear();
    }
    const auto [found, is_new] = of_server.try_emplace(server_of(file, parts[i].offset), lists.size());
    if (is_new) {
      lists.push_back(parts[i]);
    } else {
      lists[found->second].bytes += parts[i].bytes;
      ++lists[found->second].regions;
    }
  }
  return lists;
}

void Store::serve(const Access& access, const Part& part, const std::shared_ptr<Operation>& operation) {
  const int server = server_of(access.file, part.offset);
  const double locked = pass_locks(access, server, part, clock_.now());
  const auto finish = [this, access, part, operation, server] {
    const double end = pass_server(access, server, part, clock_.now()) + machine_.nodes.latency_s;
    clock_.at(end, [operation] {
      if (--operation->left == 0) {
        operation->done();
      }
    });
  };
  if (locked > clock_.now()) {
    clock_.at(locked, finish);
  } else {
    finish();
  }
}

double Store::pass_client(int rank, double bytes, double moment) {
  const Forwarders& forwarders = machine_.forwarders;
  Queue& client = clients_[client_of(rank)];
  if (forwarders.ranks > 0) {
    return client.serve(moment, forwarders.request_s + bytes / forwarders.rate);
  }
  const double rate = machine_.servers.client_rate > 0 ? machine_.servers.client_rate : machine_.nodes.link_rate;
  return client.serve(moment, bytes / rate);
}

// Reads take no locks here: nothing that the papers measured reads what others write.
double Store::pass_locks(const Access& access, int server, const Part& part, double moment) {
  const Locks& locks = machine_.locks;
  if (locks.scope == Locks::Scope::kNone || !access.writes) {
    return moment;
  }
  const bool of_file = locks.scope == Locks::Scope::kFile;
  StoredFile& file = access.file;
  Queue& manager = of_file ? file.lock_manager : lock_servers_[static_cast<size_t>(server)];
  if (locks.kept == 0) {  // nobody has one between two requests, so that nobody is called back
    ++totals_.grants;
    lock_s_ += locks.grant_s;
    return manager.serve(moment, locks.grant_s);
  }
  auto found = file.locks.try_emplace(of_file ? -1 : server, static_cast<int64_t>(locks.unit_bytes)).first;
  const RangeLocks::Taken taken = found->second.take(client_of(access.rank), {part.offset, part.offset + part.bytes});
  if (taken.grants == 0) {
    return moment;
  }
  totals_.grants += taken.grants;
  totals_.revocations += taken.revocations;
  totals_.flushes += taken.flushes;
  const double seconds = locks.grant_s + taken.revocations * locks.revoke_s + taken.flushes * locks.flush_s;
  lock_s_ += seconds;
  return manager.serve(moment, seconds);
}

double Store::service_s(const Access& access, int server, const Part& part) {
  const Servers& servers = machine_.servers;
  double bytes = static_cast<double>(part.bytes);
  double seconds = servers.request_s + part.regions * servers.region_s;
  const auto [last, is_first] = access.file.last_end.try_emplace(server, part.offset);
  const int64_t stripe = access.file.stripe_bytes;
  // The next stripe of a server follows its last one on the disk.
  const bool follows = is_first || last->second == part.offset ||
                       (last->second % stripe == 0 && part.offset % stripe == 0 &&
                        part.offset - last->second == (access.file.stripe_count - 1) * stripe) ||
                       (access.writes && std::abs(static_cast<double>(part.offset - last->second)) < servers.write_cache_bytes);
  if (!follows) {
    seconds += servers.seek_s;
    ++totals_.seeks;
  }
  last->second = part.offset + part.bytes;
  const auto block = static_cast<int64_t>(servers.block_bytes);
  if (access.writes && block > 0 && (part.offset % block != 0 || part.bytes % block != 0)) {
    ++totals_.part_blocks;
    const ByteRange whole{align_down(part.offset, block), align_up(part.offset + part.bytes, block)};
    // Read and written back as a whole.
    seconds += static_cast<double>(whole.size()) / servers.read_rate;
    bytes = static_cast<double>(whole.size());
  }
  seconds += bytes / (access.writes ? servers.write_rate : servers.read_rate);
  if (servers.jitter > 0) {
    std::normal_distribution<double> normal(0, servers.jitter);
    seconds *= std::exp(normal(random_));
  }
  return seconds;
}

double Store::pass_server(const Access& access, int server, const Part& part, double moment) {
  ++totals_.requests;
  totals_.bytes += part.bytes;
  double end = servers_[static_cast<size_t>(server)].serve(moment, service_s(access, server, part));
  if (machine_.servers.group_size > 0) {
    Queue& group = groups_[static_cast<size_t>(server / machine_.servers.group_size)];
    end = std::max(end, group.serve(moment, static_cast<double>(part.bytes) / machine_.servers.group_rate));
  }
  return end;
}

void Store::count_anew() {
  totals_ = {};
  lock_s_ = 0;
  names_.count_anew();
  for (Queue& server : servers_) {
    server.count_anew();
  }
}

double Store::busiest_server_s() const {
  double most = 0;
  for (const Queue& server : servers_) {
    most = std::max(most, server.busy_s());
  }
  return most;
}

double Store::mean_server_s() const {
  double sum = 0;
  for (const Queue& server : servers_) {
    sum += server.busy_s();
  }
  return sum / static_cast<double>(servers_.size());
}

}  // namespace stria::simulate
