// A file a process: nobody waits for anybody, and nobody can read the files on another number of
// processes.
#include <fmt/format.h>

#include <cstring>

#include "apps/shared/agree.hpp"
#include "output/cached_file.hpp"
#include "output/raw_arrays.hpp"
#include "stria/trace.hpp"

namespace stria::convection {

namespace {

constexpr int64_t kSeparateCacheBytes = 1 << 20;

class SeparateOutput : public Output {
 public:
  SeparateOutput(const Grid& grid, OutputOptions options) : grid_(grid), options_(std::move(options)) {}

  void restart(const ConvectionRun& run) override {
    const RawHeader header = raw_header(run);
    RawBlock first{1, std::vector<std::byte>(sizeof header)};
    std::memcpy(first.bytes.data(), &header, sizeof header);
    std::vector<RawBlock> blocks = raw_state(run);
    blocks.insert(blocks.begin(), std::move(first));
    write("restart", run, blocks);
  }
  void data(const ConvectionRun& run) override { write("data", run, raw_analysis(run)); }
  void movie(const ConvectionRun& run) override { write("movie", run, {raw_movie(run, options_.movie_floats)}); }
  void averages(const ConvectionRun& run) override {
    RawBlock all;
    for (const std::vector<float>& column : raw_averages(run)) {
      const auto* bytes = reinterpret_cast<const std::byte*>(column.data());
      all.bytes.insert(all.bytes.end(), bytes, bytes + column.size() * sizeof(float));
    }
    write("averages", run, {all});
  }
  std::map<int64_t, int64_t> write_sizes() const override { return sizes_; }

 private:
  void write(const char* kind, const ConvectionRun& run, const std::vector<RawBlock>& blocks) {
    Status status;
    {
      const trace::Region region("I/O library call");
      CachedFile file(output_path(options_, kind, run.steps(), fmt::format(".{}", grid_.rank).c_str()), kSeparateCacheBytes,
                      sizes_);
      for (const RawBlock& block : blocks) {
        file.append(block.bytes.data(), static_cast<int64_t>(block.bytes.size()));
      }
      status = file.close();
    }
    apps::agree(grid_.comm, status).throw_if_error();
  }

  Grid grid_;
  OutputOptions options_;
  WriteSizes sizes_;
};

}  // namespace

std::unique_ptr<Output> make_separate_output(const Grid& grid, const OutputOptions& options) {
  return std::make_unique<SeparateOutput>(grid, options);
}

}  // namespace stria::convection
