// Straight to the storage, each rank for itself: one request per piece, lists, or one
// contiguous stretch.
//
// Methods: "multiple": a request for each stretch that is contiguous in memory and in the file.
// "list_io": lists of so many stretches of the file, as PVFS took them. "automatic": such lists
// where the storage takes them in one request, as a store does, and else memory is gathered, and
// each stretch of the file is a request. "contiguous": as many bytes as the workload has, in one
// stretch per rank; this shows what the storage can do. With the hint stria_cache_bytes small
// requests are gathered.
#include <algorithm>

#include "layer/layer.hpp"
#include "storage/first_server.hpp"
#include "storage/registry/registry.hpp"
#include "storage/small/gathered_file.hpp"
#include "stria/status.hpp"

namespace stria::bench {

namespace {

constexpr int64_t kStagingBytes = 4 << 20;
constexpr int64_t kMostAtOnce = 64 << 20;

/// Gathers pieces into requests.
class Requests {
 public:
  Requests(storage::File& file, bool writes, const LayerOptions& options)
      : file_(file),
        writes_(writes),
        in_place_(options.method == "multiple" || options.method == "contiguous"),
        most_regions_(takes_lists(file, options) ? options.list_regions : 1) {}

  void add(std::byte* memory, int64_t offset, int64_t bytes) {
    if (in_place_) {
      request({{offset, memory, bytes}});
      return;
    }
    while (bytes > 0) {
      const bool begins = regions_.empty() || regions_.back().end() != offset;
      if (staged_bytes_ == kStagingBytes || (begins && static_cast<int64_t>(regions_.size()) == most_regions_)) {
        flush();
      }
      staging_.resize(static_cast<size_t>(kStagingBytes));
      const int64_t now = std::min(bytes, kStagingBytes - staged_bytes_);
      std::byte* staged = staging_.data() + staged_bytes_;
      if (writes_) {
        std::copy(memory, memory + now, staged);
      }
      pieces_.push_back({memory, staged, now});
      if (!regions_.empty() && regions_.back().end() == offset) {
        regions_.back().bytes += now;
      } else {
        regions_.push_back({offset, staged, now});
      }
      staged_bytes_ += now;
      memory += now;
      offset += now;
      bytes -= now;
    }
  }

  void flush() {
    if (regions_.empty()) {
      return;
    }
    request(regions_);
    if (!writes_) {
      for (const Staged& piece : pieces_) {
        std::copy(piece.staged, piece.staged + piece.bytes, piece.memory);
      }
    }
    regions_.clear();
    pieces_.clear();
    staged_bytes_ = 0;
  }

  int64_t count() const { return count_; }
  int64_t bytes() const { return bytes_; }

 private:
  struct Region {
    int64_t offset;
    std::byte* data;
    int64_t bytes;
    int64_t end() const { return offset + bytes; }
  };
  struct Staged {
    std::byte* memory;
    std::byte* staged;
    int64_t bytes;
  };

  static bool takes_lists(const storage::File& file, const LayerOptions& options) {
    return options.method == "list_io" || (options.method == "automatic" && file.capabilities().native_list);
  }

  void request(const std::vector<Region>& regions) {
    int64_t bytes = 0;
    std::vector<storage::WriteSegment> to_write;
    std::vector<storage::ReadSegment> to_read;
    for (const Region& region : regions) {
      bytes += region.bytes;
      to_write.push_back({region.offset, region.data, region.bytes});
      to_read.push_back({region.offset, region.data, region.bytes});
    }
    if (writes_) {
      file_.write(to_write).throw_if_error();
    } else if (file_.read(to_read).value() != bytes) {
      throw Error(ErrorCode::kCorrupted, "'" + file_.path() + "' ends before what was written");
    }
    ++count_;
    bytes_ += bytes;
  }

  storage::File& file_;
  bool writes_;
  bool in_place_;
  int64_t most_regions_;
  std::vector<std::byte> staging_;
  std::vector<Region> regions_;
  std::vector<Staged> pieces_;
  int64_t staged_bytes_ = 0;
  int64_t count_ = 0;
  int64_t bytes_ = 0;
};

class PosixLayer : public Layer {
 public:
  PosixLayer(MPI_Comm comm, const LayerOptions& options)
      : comm_(comm), options_(options), driver_(storage::make_driver("posix").value()) {}

  Told write(const Job& job) override { return move(job, true); }
  Told read(const Job& job) override { return move(job, false); }
  std::vector<int64_t> places(const Job& job) override {
    return options_.method == "contiguous" ? std::vector<int64_t>(job.workload.arrays.size(), -1) : plain_places(job.workload);
  }

 private:
  Told move(const Job& job, bool writes) {
    Told told;
    told.method = options_.method;
    told.requests = told.request_bytes = 0;
    for (int i = 0; i < job.workload.files; ++i) {
      const double begin = MPI_Wtime();
      const auto file = storage::gather_small(open(job, i, writes), cache_bytes());
      const double opened = MPI_Wtime();
      Requests requests(*file, writes, options_);
      if (options_.method == "contiguous") {
        move_stretch(job, requests);
      } else {
        move_pieces(job, requests);
      }
      const double moved = MPI_Wtime();
      if (writes && options_.sync) {
        file->sync().throw_if_error();
      }
      const double synced = MPI_Wtime();
      file->close().throw_if_error();
      told.phases["open"] += opened - begin;
      told.phases[writes ? "write" : "read"] += moved - opened;
      told.phases["sync"] += synced - moved;
      told.phases["commit"] += MPI_Wtime() - synced;
      told.requests += requests.count();
      told.request_bytes += requests.bytes();
    }
    return told;
  }

  // Rank 0 makes a shared file before the others open it.
  std::unique_ptr<storage::File> open(const Job& job, int index, bool writes) {
    const std::string path = path_of(options_, job, index);
    storage::OpenOptions options;
    options.plain_only = writes;  // the name is the benchmark's own
    if (!writes || job.workload.is_file_a_rank) {
      options.mode = writes ? storage::OpenOptions::Mode::kCreate : storage::OpenOptions::Mode::kRead;
      return driver_->open(path, options).value();
    }
    int rank = 0;
    MPI_Comm_rank(comm_, &rank);
    options.striping = striping();
    options.mode = storage::OpenOptions::Mode::kCreate;
    std::unique_ptr<storage::File> file;
    Status made;
    if (rank == 0) {
      auto opened = driver_->open(path, options);
      made = opened.status();
      file = made.ok() ? std::move(*opened) : nullptr;
    }
    MPI_Barrier(comm_);
    made.throw_if_error();
    options.mode = storage::OpenOptions::Mode::kReadWrite;
    return rank == 0 ? std::move(file) : driver_->open(path, options).value();
  }

  int64_t number(const char* name, int64_t standard) const {
    const auto found = options_.hints.find(name);
    return found == options_.hints.end() ? standard : std::strtoll(found->second.c_str(), nullptr, 10);
  }

  // Returns an equal part for each rank; nothing where no hint asks for it.
  int64_t cache_bytes() const {
    int ranks = 1;
    MPI_Comm_size(comm_, &ranks);
    return number("stria_cache_bytes", 0) / ranks;
  }

  storage::Striping striping() const {
    const auto choice = options_.hints.find("stria_first_server");
    const bool in_turn = choice != options_.hints.end() && choice->second == "in_turn";
    const int64_t otherwise = in_turn ? storage::FirstServer::kInTurn : storage::FirstServer::kAny;
    return {number("striping_unit", 0), static_cast<int>(number("striping_factor", 0)),
            static_cast<int>(number("start_iodevice", otherwise))};
  }

  static void move_pieces(const Job& job, Requests& requests) {
    for (const Call& call : job.workload.calls) {
      for (const Part& part : call.parts) {
        const int64_t place = job.workload.place(part.array);
        for_each_piece(job.workload, part, [&](const Piece& piece) {
          requests.add(job.memory + piece.memory_bytes, place + piece.file_bytes, piece.bytes);
        });
      }
      requests.flush();
    }
  }

  void move_stretch(const Job& job, Requests& requests) const {
    const int64_t share = job.workload.useful_bytes();
    int64_t begin = 0;
    if (!job.workload.is_file_a_rank) {
      begin = share * job.owner;
    }
    const int64_t at_once = std::max<int64_t>(std::min(job.workload.memory_bytes, kMostAtOnce), 1);
    for (int64_t done = 0; done < share; done += at_once) {
      requests.add(job.memory, begin + done, std::min(at_once, share - done));
    }
  }

  MPI_Comm comm_;
  LayerOptions options_;
  std::shared_ptr<storage::Driver> driver_;
};

}  // namespace

std::unique_ptr<Layer> make_posix_layer(MPI_Comm comm, const LayerOptions& options) {
  return std::make_unique<PosixLayer>(comm, options);
}

}  // namespace stria::bench
