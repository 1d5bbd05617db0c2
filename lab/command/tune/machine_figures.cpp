#include "tune/machine_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ranks_of_mpi.hpp"
#include "spread.hpp"
#include "storage/registry/registry.hpp"
#include "stria/status.hpp"
#include "tune/candidates.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

using bench::kKiB;
using bench::kMiB;
constexpr int kRepeats = 3;  // The median of them counts.
constexpr int64_t kShortBytes = 4 * kKiB;
constexpr int64_t kShortRequests = 256;  // the requests of a rank
constexpr int64_t kRegions = 1024;       // the regions of a rank, of 1 KiB each
constexpr int kBarriers = 200;
constexpr int kMessages = 200;
constexpr int64_t kCopiedBytes = 32 * kMiB;
constexpr int64_t kPieceBytes = 16;      // pieces that the engine joins
constexpr int64_t kPieces = 256 * kKiB;  // the pieces of a rank
constexpr int64_t kLongPieces = 64;      // pieces of as many bytes
/// A rate or a time that can't be told from nothing.
constexpr double kShortestSeconds = 1e-9;

double above_nothing(double seconds) {
  return std::max(seconds, kShortestSeconds);
}

/// Returns the places of a new file.
storage::Capabilities new_file(MPI_Comm comm, const std::string& directory) {
  storage::Capabilities found;
  on_root(comm, [&] {
    const std::string path = directory + "/stria_tune_probe";
    const auto driver = storage::make_driver("posix").value();
    const auto file = driver->open(path, {.mode = storage::OpenOptions::Mode::kCreate}).value();
    found = file->capabilities();
    file->close().throw_if_error();
    driver->remove(path).throw_if_error();
  });
  MPI_Bcast(&found, sizeof found, MPI_BYTE, 0, comm);
  return found;
}

double mean_of_ranks(MPI_Comm comm, double value) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm);
  return value / ranks;
}

int ranks_of_node(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_MAX, comm);
  return ranks;
}

/// Seconds in which every rank copies as many bytes in pieces, all at the same time.
double copying_s(MPI_Comm comm, int64_t piece_bytes, int64_t bytes) {
  std::vector<std::byte> from(static_cast<size_t>(2 * bytes)), to(static_cast<size_t>(bytes));
  const auto copy = [&] {
    for (int64_t at = 0; at < bytes; at += piece_bytes) {
      std::memcpy(to.data() + at, from.data() + 2 * at, static_cast<size_t>(piece_bytes));
    }
  };
  copy();  // touches the pages
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  copy();
  return mean_of_ranks(comm, MPI_Wtime() - begin);
}

/// Returns the seconds of a message from rank 0 to another one.
double message_s(MPI_Comm comm, int peer, int64_t bytes) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::vector<std::byte> data(static_cast<size_t>(bytes));
  const auto count = static_cast<int>(bytes);
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kMessages && (rank == 0 || rank == peer); ++i) {
    const int other = rank == 0 ? peer : 0;
    if ((i % 2 == 0) == (rank == 0)) {
      MPI_Send(data.data(), count, MPI_BYTE, other, 0, comm);
    } else {
      MPI_Recv(data.data(), count, MPI_BYTE, other, 0, comm, MPI_STATUS_IGNORE);
    }
  }
  double seconds = (MPI_Wtime() - begin) / kMessages;
  MPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, comm);
  return seconds;
}

double barrier_s(MPI_Comm comm) {
  MPI_Barrier(comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < kBarriers; ++i) {
    MPI_Barrier(comm);
  }
  return mean_of_ranks(comm, (MPI_Wtime() - begin) / kBarriers);
}

class MachineMeasurement {
 public:
  MachineMeasurement(MPI_Comm comm, Measuring& measuring, const std::string& directory)
      : comm_(comm), measuring_(measuring), file_(new_file(comm, directory)), store_(is_store(directory)) {
    MPI_Comm_size(comm, &ranks_);
    servers_ = store_ ? std::max(file_.stripe_count, 1) : 1;
  }

  json description() {
    measure_storage();
    json document = {{"name", "measured"}, {"title", "measured by stria tune"}};
    document["nodes"] = nodes();
    const auto place = [&](const char* section, const char* name, double value, const std::string& how) {
      document[section][name] = {value, how};
    };
    place("servers", "count", servers_, store_ ? "measured: servers of a new file" : "the storage as a whole");
    place("servers", "write_rate", write_rate_, "measured: two lengths of a write to all servers");
    place("servers", "read_rate", read_rate_, "measured: two lengths of a read");
    place("servers", "request_s", request_s_, "measured: many short requests of all ranks to one server");
    place("servers", "stripe_bytes", static_cast<double>(stripe_bytes()), "measured: a new file's");
    place("servers", "stripe_count", servers_, "measured: a new file's");
    if (file_.native_list) {
      place("servers", "list_regions", 1 << 20, "the storage takes lists");
      place("servers", "region_s", region_s_, "measured: pieces of 1 KiB in turn, beside each rank's own part");
    }
    document["locks"]["scope"] = "none";
    place("locks", "unit_bytes", static_cast<double>(std::max<int64_t>(file_.lock_unit_bytes, 1)), "the storage tells it");
    place("metadata", "open_s", open_s_, "measured: reading next to nothing");
    place("metadata", "create_s", create_s_, "measured: writing next to nothing");
    place("metadata", "rename_s", rename_s_, "measured: a commit of next to nothing");
    return document;
  }

 private:
  static OtherRun ior(int64_t block, int64_t transfer, Hints hints = {}) {
    return {.workload = "ior",
            .sizes = {{"block-kib", block / kKiB}, {"transfer-kib", transfer / kKiB}},
            .hints = std::move(hints)};
  }

  Spread measured(const OtherRun& run) {
    std::vector<double> all;
    for (int i = 0; i < kRepeats; ++i) {
      all.push_back(measuring_.run_other(fmt::format("m{}", count_++), run));
    }
    if (!std::isfinite(spread(all).median)) {
      throw Error(ErrorCode::kIo, "a run that measures the storage failed, so that it can't be described");
    }
    return spread(all);
  }
  double seconds(const OtherRun& run) { return measured(run).median; }
  double reading_s(OtherRun run) {
    run.reads = true;
    return seconds(run);
  }

  int64_t stripe_bytes() const { return file_.stripe_bytes > 0 ? file_.stripe_bytes : kMiB; }

  void measure_storage() {
    const int64_t longer = 4 * 4 * kMiB;
    const OtherRun nothing = ior(kShortBytes, kShortBytes), few = ior(longer / 4, longer / 4), many = ior(longer, longer / 4);
    const double more_bytes = static_cast<double>(longer - longer / 4) * ranks_ / servers_;
    write_rate_ = more_bytes / above_nothing(seconds(many) - seconds(few));
    read_rate_ = more_bytes / above_nothing(reading_s(many) - reading_s(few));
    const double begin_s = seconds(nothing);
    open_s_ = reading_s(nothing) / ranks_;
    create_s_ = std::max(begin_s - (ranks_ - 1) * open_s_, 0.0);
    OtherRun commit = nothing;
    commit.through = "library";
    rename_s_ = std::max(seconds(commit) - begin_s, 0.0);
    measure_requests();
    measure_regions();
    measure_pieces();
  }

  // Both numbers hold what the bytes take at the server's rate.
  void measure_requests() {
    const OtherRun one_server = ior(kShortBytes * kShortRequests, kShortBytes, {{"striping_factor", "1"}});
    OtherRun one_rank = one_server;
    one_rank.one_writer = true;
    const double begin_s = create_s_;
    const double bytes_s = static_cast<double>(kShortBytes) / write_rate_;
    const auto each = [&](double all_s, int64_t requests) {
      return std::max((all_s - begin_s) / static_cast<double>(requests) - bytes_s, 0.0);
    };
    request_s_ = each(seconds(one_server), kShortRequests * ranks_);
    const double way_s = each(seconds(one_rank), kShortRequests);
    request_s_ = std::min(request_s_, way_s);
    latency_s_ = (way_s - request_s_) / 2;
  }

  void measure_regions() {
    if (!file_.native_list) {
      return;
    }
    OtherRun apart = ior(kRegions * kKiB, kRegions * kKiB);
    OtherRun in_turn{.workload = "cyclic",
                     .sizes = {{"mib", std::max<int64_t>(ranks_ * kRegions / kKiB, 1)}, {"accesses", kRegions}}};
    apart.through = in_turn.through = "library";
    apart.hints = in_turn.hints = {{"stria_method", "list_io"}};
    region_s_ = std::max(seconds(in_turn) - seconds(apart), 0.0) * servers_ / static_cast<double>(kRegions * ranks_);
  }

  // Measures the same bytes in turn through aggregators, so that as many are exchanged: in few
  // pieces and in many.
  void measure_pieces() {
    const auto in_turn = [&](int64_t pieces) {
      return OtherRun{.workload = "cyclic",
                      .sizes = {{"mib", kPieces * kPieceBytes * ranks_ / kMiB}, {"accesses", pieces}},
                      .hints = {{"stria_method", "two_phase"}},
                      .through = "library"};
    };
    // Other work on the cores only adds, so that the shortest of each counts.
    OtherRun many = in_turn(kPieces), few = in_turn(kLongPieces);
    many.reads = few.reads = true;
    const double more_s = measured(many).minimum - measured(few).minimum;
    read_piece_s_ = std::max(more_s, 0.0) / static_cast<double>(kPieces - kLongPieces);
  }

  json nodes() const {
    const int of_node = ranks_of_node(comm_);
    const double long_s = copying_s(comm_, kMiB, kCopiedBytes), pieces_s = copying_s(comm_, 4 * kKiB, kCopiedBytes);
    constexpr int64_t kPiece = 8;
    const double short_s = copying_s(comm_, kPiece, kCopiedBytes / 4);
    const auto copied = static_cast<double>(kCopiedBytes);
    const double pack_rate = copied / above_nothing(pieces_s);
    const double pieces = copied / 4 / kPiece;
    json section = {{"ranks_per_node", {of_node, "measured: ranks that share memory"}},
                    {"memory_rate", {copied / above_nothing(long_s), "measured: all ranks copy"}},
                    {"pack_rate", {pack_rate, "measured: all ranks copy pieces of 4 KiB"}},
                    {"piece_s", {std::max(short_s - copied / 4 / pack_rate, 0.0) / pieces, "measured: pieces of 8 bytes"}}};
    section["read_piece_s"] = {read_piece_s_, "measured: pieces of 16 bytes through aggregators, beside ones of 64 KiB"};
    section["write_piece_s"] = {read_piece_s_, "as for reads: the same loops the other way round"};
    double link_rate = copied / above_nothing(long_s);
    if (ranks_ > 1) {
      const double local_s = message_s(comm_, 1, 8);
      const double step_s = barrier_s(comm_) / std::bit_width(static_cast<unsigned>(ranks_ - 1));
      section["local_latency_s"] = {local_s / 2, "measured: half of a short message between ranks 0 and 1"};
      section["message_s"] = {local_s / 4, "measured: a quarter of it, on each side"};
      section["step_s"] = {step_s, "measured: a barrier"};
      section["exchange_s"] = {local_s, "measured: a short message"};
    }
    const bool has_links = of_node < ranks_;
    if (has_links) {
      link_rate = static_cast<double>(kMiB) / above_nothing(message_s(comm_, of_node, kMiB));
    }
    section["link_rate"] = {link_rate, has_links ? "measured: messages of 1 MiB" : "as memory: all ranks are on one node"};
    section["latency_s"] = {latency_s_, "measured: short requests of one rank to one server"};
    return section;
  }

  MPI_Comm comm_;
  Measuring& measuring_;
  storage::Capabilities file_;
  bool store_;
  int ranks_ = 1;
  int servers_ = 1;
  int count_ = 0;
  double write_rate_ = 0, read_rate_ = 0, request_s_ = 0, region_s_ = 0, latency_s_ = 0, read_piece_s_ = 0;
  double open_s_ = 0, create_s_ = 0, rename_s_ = 0;
};

}  // namespace

std::string described_machine(MPI_Comm comm, Measuring& measuring, const std::string& directory) {
  return MachineMeasurement(comm, measuring, directory).description().dump(2) + "\n";
}

}  // namespace stria::tool
