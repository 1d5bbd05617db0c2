// Every workload through every layer, with every choice: each byte of the file and of memory is
// checked without the layer.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "run/benchmark.hpp"
#include "run/verify.hpp"
#include "storage/registry/registry.hpp"
#include "stria/status.hpp"

namespace stria::bench {
namespace {

int rank_count() {
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

/// A directory for this test that all ranks share; removed at the end.
class Directory {
 public:
  Directory() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    std::string pattern = (std::filesystem::temp_directory_path() / "stria_bench_XXXXXX").string();
    if (rank_ == 0 && mkdtemp(pattern.data()) == nullptr) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(pattern.data(), static_cast<int>(pattern.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = pattern;
  }
  ~Directory() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      std::filesystem::remove_all(path_);
    }
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int rank_ = 0;
};

/// Sizes that the ranks divide, and some that they don't.
Chosen small(const WorkloadKind& kind) {
  const std::map<std::string, int64_t> sizes = {
      {"cells", 6},       {"points", 7},    {"dumps", 2},        {"accesses", 30},      {"pieces", 40},
      {"mib", 1},         {"kib", 2},       {"blocks", 3},       {"nvar", 2},           {"nxb", 2},
      {"guard-cells", 1}, {"block-kib", 8}, {"transfer-kib", 3}, {"width", 30},         {"height", 20},
      {"count", 2},       {"overlap-x", 4}, {"overlap-y", 3},    {"piece-bytes", 4000}, {"segments", 2},
      {"nx", 12},         {"nz", 7}};
  Chosen chosen = kind.standards();
  for (auto& [name, value] : chosen.numbers) {
    const auto found = sizes.find(name);
    value = found == sizes.end() ? value : found->second;
  }
  return chosen;
}

bool can_be(const WorkloadKind& kind, const Chosen& chosen, const std::string& through) {
  try {
    static_cast<void>(kind.make(chosen, {0, rank_count()}));
  } catch (const Error&) {
    return false;
  }
  // The library takes hyperslabs only, and each element once.
  const auto file = chosen.words.find("file");
  return through != "library" || file == chosen.words.end() || file->second != "irregular";
}

class Layers : public testing::TestWithParam<const char*> {
 protected:
  BenchResult run(const WorkloadKind& kind, const Chosen& chosen, const std::function<void(BenchOptions&)>& change = {}) {
    BenchOptions options;
    options.kind = &kind;
    options.chosen = chosen;
    options.through = GetParam();
    options.directory = directory_.path();
    options.rounds = 0;  // the round that warms up is checked too
    options.read = options.verify = true;
    options.reads_from = 1;
    if (change) {
      change(options);
    }
    return run_benchmark(MPI_COMM_WORLD, options, [](const std::string&) {});
  }

  Directory directory_;
};

TEST_P(Layers, EveryWorkloadIsRightByEveryChoice) {
  for (const WorkloadKind& kind : workload_kinds()) {
    std::vector<Chosen> all{small(kind)};
    // Nine ranks on few cores take long to meet.
    for (const Choice& choice : rank_count() > 4 ? std::vector<Choice>{} : kind.choices) {
      for (size_t i = 1; i < choice.words.size(); ++i) {
        all.push_back(small(kind));
        all.back().words[choice.name] = choice.words[i];
      }
    }
    for (const Chosen& chosen : all) {
      if (can_be(kind, chosen, GetParam())) {
        EXPECT_NO_THROW(run(kind, chosen)) << kind.name;
      }
    }
  }
}

TEST_P(Layers, RoundsAreCounted) {
  const WorkloadKind& kind = workload_kinds().front();
  const BenchResult result = run(kind, small(kind), [](BenchOptions& options) { options.rounds = 3; });
  for (const Direction& direction : {result.write, result.read}) {
    EXPECT_EQ(direction.seconds.size(), 3u);
    EXPECT_EQ(direction.phases.at("open").size(), 3u);
    EXPECT_GT(*std::min_element(direction.seconds.begin(), direction.seconds.end()), 0);
  }
}

TEST_P(Layers, IndependentAndByPieces) {
  if (rank_count() > 4) {
    GTEST_SKIP() << "seen on fewer ranks";
  }
  for (const WorkloadKind& kind : workload_kinds()) {
    const std::string through = GetParam();
    if (kind.name == "open" || !can_be(kind, small(kind), through)) {
      continue;
    }
    BenchResult result;
    EXPECT_NO_THROW(result = run(kind, small(kind),
                                 [&](BenchOptions& options) {
                                   options.layer.collective = false;
                                   options.layer.method = through == "posix" ? "multiple" : "automatic";
                                 }))
        << kind.name;
    if (through == "posix") {
      int64_t pieces = count_requests(kind.make(small(kind), {0, rank_count()})).multiple;
      EXPECT_GE(result.write.requests, pieces) << kind.name;
      EXPECT_EQ(result.write.request_bytes, result.useful_bytes) << kind.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Layers, testing::Values("library", "mpiio", "posix"));

// The requests are as many as Ching and others count.
TEST(Posix, MakesAsManyRequestsAsThePaperCounts) {
  const Directory directory;
  for (const WorkloadKind& kind : workload_kinds()) {
    if (kind.name != "display") {
      continue;
    }
    for (const auto& [method, requests] : {std::pair{"multiple", 768}, {"list_io", 12}}) {
      BenchOptions options;
      options.kind = &kind;
      options.chosen = kind.standards();
      options.through = "posix";
      options.directory = directory.path();
      options.rounds = 1;
      options.read = true;
      options.layer.method = method;
      // A display has as many stretches as rows, unless it is as wide as the frame.
      if (rank_count() > 1) {
        const BenchResult result = run_benchmark(MPI_COMM_WORLD, options, [](const std::string&) {});
        EXPECT_EQ(result.read.requests, requests * rank_count());
        EXPECT_EQ(result.counts.multiple, 768);
        EXPECT_EQ(result.counts.list, 12);
      }
    }
  }
}

// The check must be able to fail.
TEST(Verify, FindsOneWrongByte) {
  const Directory directory;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Workload workload;
  workload.arrays = {{"a", {100}, 4}};
  workload.calls = {{{{0, Selection::strided(100, 3, 20, 4, 2), Selection::strided(200, 0, 40, 3, 1)}}}};
  workload.memory_bytes = 800;
  workload.is_file_a_rank = true;
  std::vector<std::byte> memory(800);
  const Job job{workload, rank, memory.data()};
  fill_memory(job, 5);
  LayerOptions options;
  options.path = directory.path() + "/one";
  const auto layer = make_posix_layer(MPI_COMM_WORLD, options);
  layer->prepare(job);
  layer->write(job);
  const std::string path = path_of(options, job);
  EXPECT_EQ(check_file(job, path, layer->places(job), 5), "");
  EXPECT_NE(check_file(job, path, layer->places(job), 4), "");
  clear_memory(job);
  layer->read(job);
  std::vector<std::byte> read = memory;
  EXPECT_EQ(check_memory(job, 5), "");
  memory = read;
  memory[12] ^= std::byte{1};  // the second element
  EXPECT_NE(check_memory(job, 5), "");
  memory = read;
  memory[5] ^= std::byte{1};  // the gap between the first and it
  EXPECT_NE(check_memory(job, 5), "");
  {
    const auto driver = storage::make_driver("posix").value();
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    const auto file = driver->open(path, open).value();
    std::byte wrong = memory[0] ^ std::byte{1};
    const storage::WriteSegment segment{12, &wrong, 1};
    ASSERT_TRUE(file->write({&segment, 1}).ok());
  }
  EXPECT_NE(check_file(job, path, layer->places(job), 5).find("byte 12"), std::string::npos);
}

}  // namespace
}  // namespace stria::bench
