// Everybody sends to rank 0, which writes.
//
// As Thakur, Lusk and Gropp (1995) describe Chameleon's sequential mode. Their counts tell more
// than their words: with 8 + 12 arrays of 4 bytes a cell and 5 of one byte, sent in pieces of
// 64 KiB of the file, 170 communications of every process come out, and 48 calls: 25 arrays, 11
// files opened, 10 closed, 2 headers.
#include <algorithm>
#include <array>
#include <cstring>

#include "output/cached_file.hpp"
#include "output/raw_arrays.hpp"
#include "stria/trace.hpp"
#include "tools/shared/agree.hpp"

namespace stria::convection {

namespace {

constexpr int64_t kPieceBytes = 64 << 10;
constexpr int64_t kGatherCacheBytes = 1 << 20;

// The library's calls are spans of this name on every rank that takes part.
struct LibraryCall {
  trace::Region region{"I/O library call"};
};

class GatherOutput : public Output {
 public:
  GatherOutput(const Grid& grid, OutputOptions options) : grid_(grid), options_(std::move(options)) {
    const std::array<int64_t, 4> mine{grid.x0, grid.z0, grid.mx, grid.mz};
    blocks_.resize(static_cast<size_t>(grid.rows) * static_cast<size_t>(grid.columns));
    MPI_Allgather(mine.data(), 4, MPI_INT64_T, blocks_.data(), 4, MPI_INT64_T, grid.comm);
    MPI_Comm_split(grid.comm, grid.column() == 0 ? 0 : MPI_UNDEFINED, grid.row(), &first_column_);
    // One file marks that the run lives, and one stays open.
    auto marker = open(options_.directory + "/" + options_.base + "run", kGatherCacheBytes);
    close(std::move(marker));
    averages_ = open(options_.directory + "/" + options_.base + "averages", kGatherCacheBytes);
    shared::agree(grid_.comm, averages_ == nullptr ? Status() : averages_->status()).throw_if_error();
  }
  ~GatherOutput() override {
    if (first_column_ != MPI_COMM_NULL) {
      MPI_Comm_free(&first_column_);
    }
  }
  GatherOutput(const GatherOutput&) = delete;
  GatherOutput& operator=(const GatherOutput&) = delete;

  void restart(const ConvectionRun& run) override {
    auto file = open(path("restart", run), kGatherCacheBytes);
    header(file.get(), raw_header(run));
    for (const RawBlock& block : raw_state(run)) {
      array(file.get(), block);
    }
    close(std::move(file));
  }

  void data(const ConvectionRun& run) override {
    const auto blocks = raw_analysis(run);
    auto file = open(path("data", run), kGatherCacheBytes);
    for (const RawBlock& block : blocks) {
      array(file.get(), block);
    }
    close(std::move(file));
  }

  void movie(const ConvectionRun& run) override {
    auto file = open(path("movie", run), kPieceBytes);
    array(file.get(), raw_movie(run, options_.movie_floats));
    close(std::move(file));
  }

  void averages(const ConvectionRun& run) override {
    const auto columns = raw_averages(run);
    if (first_column_ == MPI_COMM_NULL) {
      return;
    }
    for (const std::vector<float>& column : columns) {
      average(column);
    }
    const LibraryCall call;
    if (averages_ != nullptr) {
      averages_->flush();
    }
  }

  std::map<int64_t, int64_t> write_sizes() const override { return sizes_; }

 private:
  std::string path(const char* kind, const ConvectionRun& run) const { return output_path(options_, kind, run.steps(), ""); }

  std::unique_ptr<CachedFile> open(const std::string& name, int64_t cache_bytes) {
    const LibraryCall call;
    return grid_.rank == 0 ? std::make_unique<CachedFile>(name, cache_bytes, sizes_) : nullptr;
  }

  void close(std::unique_ptr<CachedFile> file) {
    Status status;
    {
      const LibraryCall call;
      status = file == nullptr ? Status() : file->close();
    }
    shared::agree(grid_.comm, status).throw_if_error();
  }

  void header(CachedFile* file, const RawHeader& header) {
    const LibraryCall call;
    if (file != nullptr) {
      file->append(&header, sizeof header);
      file->flush();
    }
  }

  // Writes pieces of whole rows of the file, of kPieceBytes or of one row.
  void array(CachedFile* file, const RawBlock& block) {
    const LibraryCall call;
    const int64_t row_bytes = grid_.nx * block.element_bytes;
    const int64_t rows = std::max<int64_t>(kPieceBytes / row_bytes, 1);
    for (int64_t first = 0; first < grid_.nz; first += rows) {
      piece(file, block, first, std::min(first + rows, grid_.nz));
    }
  }

  // Rows [first, end) of the file.
  void piece(CachedFile* file, const RawBlock& block, int64_t first, int64_t end) {
    const auto rows_of = [&](const std::array<int64_t, 4>& of) {
      return std::pair(std::clamp(first, of[1], of[1] + of[3]), std::clamp(end, of[1], of[1] + of[3]));
    };
    std::vector<int> counts;
    std::vector<int> places;
    int64_t sum = 0;
    for (const auto& of : blocks_) {
      const auto [from, to] = rows_of(of);
      places.push_back(static_cast<int>(sum));
      counts.push_back(static_cast<int>((to - from) * of[2] * block.element_bytes));
      sum += counts.back();
    }
    const auto me = static_cast<size_t>(grid_.rank);
    const auto [from, to] = rows_of(blocks_[me]);
    const std::byte* mine = block.bytes.data() + (from - grid_.z0) * grid_.mx * block.element_bytes;
    std::vector<std::byte> all(file == nullptr ? 0 : static_cast<size_t>(sum));
    {
      const trace::Region region("communication for I/O");
      MPI_Gatherv(mine, counts[me], MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE, 0, grid_.comm);
    }
    if (file != nullptr) {
      append_in_order(*file, block.element_bytes, first, end, all, places);
    }
  }

  // Appends what has come block by block, as rows of the file.
  void append_in_order(CachedFile& file, int64_t element_bytes, int64_t first, int64_t end, const std::vector<std::byte>& all,
                       const std::vector<int>& places) {
    std::vector<std::byte> rows(static_cast<size_t>((end - first) * grid_.nx * element_bytes));
    for (size_t r = 0; r < blocks_.size(); ++r) {
      const auto [x0, z0, mx, mz] = blocks_[r];
      const std::byte* from = all.data() + places[r];
      for (int64_t j = std::max(first, z0); j < std::min(end, z0 + mz); ++j) {
        std::memcpy(rows.data() + ((j - first) * grid_.nx + x0) * element_bytes, from, static_cast<size_t>(mx * element_bytes));
        from += mx * element_bytes;
      }
    }
    file.append(rows.data(), static_cast<int64_t>(rows.size()));
  }

  // Gathers one average of all rows, by the ranks of the first column.
  void average(const std::vector<float>& mine) {
    const LibraryCall call;
    std::vector<int> counts;
    std::vector<int> places;
    for (int row = 0; row < grid_.rows; ++row) {
      const auto& of = blocks_[static_cast<size_t>(row) * static_cast<size_t>(grid_.columns)];
      places.push_back(static_cast<int>(of[1]));
      counts.push_back(static_cast<int>(of[3]));
    }
    std::vector<float> all(averages_ == nullptr ? 0 : static_cast<size_t>(grid_.nz));
    {
      const trace::Region region("communication for I/O");
      MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_FLOAT, all.data(), counts.data(), places.data(), MPI_FLOAT, 0,
                  first_column_);
    }
    if (averages_ != nullptr) {
      averages_->append(all.data(), static_cast<int64_t>(all.size() * sizeof(float)));
    }
  }

  Grid grid_;
  OutputOptions options_;
  std::vector<std::array<int64_t, 4>> blocks_;  ///< the blocks of the ranks: x, z, wide, high
  MPI_Comm first_column_ = MPI_COMM_NULL;
  WriteSizes sizes_;
  std::unique_ptr<CachedFile> averages_;  ///< rank 0
};

}  // namespace

std::unique_ptr<Output> make_gather_output(const Grid& grid, const OutputOptions& options) {
  return std::make_unique<GatherOutput>(grid, options);
}

}  // namespace stria::convection
