// The blast wave on an adaptive mesh: conservation, the same bits on any number of ranks and
// across restarts.
#include <gtest/gtest.h>

#include <cmath>

#include "sedov/diagnostics.hpp"
#include "sedov/output_schedule.hpp"
#include "sedov/sedov_run.hpp"

namespace stria::flash {
namespace {

SedovOptions small_blast(int dim) {
  SedovOptions options;
  options.dim = dim;
  // Three root blocks per side keep the blast within one for a while: little work, and refinement
  // jumps in 3-D too.
  options.root_blocks = {3, 3, 3};
  options.max_level = dim == 2 ? 4 : 2;
  options.max_steps = dim == 2 ? 60 : 12;
  return options;
}

// Returns a communicator of the first `count` ranks; MPI_COMM_NULL on the others.
MPI_Comm first_ranks(int count) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &comm);
  return comm;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void run_to_end(SedovRun* run) {
  while (!run->finished()) {
    ASSERT_TRUE(run->step().ok());
  }
}

// Runs on the first `ranks` ranks and tells everyone the hash of the state at the end.
uint64_t hash_after_run(const SedovOptions& options, int ranks) {
  MPI_Comm comm = first_ranks(ranks);
  uint64_t hash = 0;
  if (comm != MPI_COMM_NULL) {
    auto run = SedovRun::start(comm, options).value();
    run_to_end(run.get());
    hash = state_hash(run->mesh());
    run.reset();
    MPI_Comm_free(&comm);
  }
  MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return hash;
}

// A checkpoint held in memory: what a file would hold, all of it on every rank.
struct Snapshot {
  RunScalars scalars;
  std::vector<int32_t> refine_level;
  std::vector<double> bounding_box;
  std::vector<double> cells;  // [blocks][k][j][i][variable], interiors
};

template <typename T>
std::vector<T> gather(const std::vector<T>& mine, MPI_Datatype type, MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size));
  std::vector<int> offsets(static_cast<std::size_t>(size) + 1);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  for (int r = 0; r < size; ++r) {
    offsets[r + 1] = offsets[r] + counts[r];
  }
  std::vector<T> all(static_cast<std::size_t>(offsets.back()));
  MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), offsets.data(), type, comm);
  return all;
}

// Calls body(first double of a row of interior cells in unk, doubles) for all rows of
// the local blocks.
template <typename Body>
void for_each_row(Mesh* mesh, Body&& body) {
  const BlockShape& shape = mesh->shape();
  for (int64_t b = 0; b < mesh->block_count(); ++b) {
    for (int k = 0; k < shape.cells[2]; ++k) {
      for (int j = 0; j < shape.cells[1]; ++j) {
        body(mesh->block(b) + shape.offset(0, j, k), static_cast<int64_t>(shape.cells[0]) * shape.variable_count);
      }
    }
  }
}

Snapshot take_snapshot(SedovRun* run, MPI_Comm comm) {
  BlockTable table = run->mesh().block_table();
  std::vector<double> cells;
  for_each_row(&run->mesh(), [&](const double* row, int64_t doubles) { cells.insert(cells.end(), row, row + doubles); });
  return {run->scalars(), gather(table.refine_level, MPI_INT32_T, comm), gather(table.bounding_box, MPI_DOUBLE, comm),
          gather(cells, MPI_DOUBLE, comm)};
}

// Restores as a program does that reads a file: each rank brings a part of the block list, then
// reads its blocks' cells.
std::unique_ptr<SedovRun> restore(const Snapshot& snapshot, const SedovOptions& options, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  auto blocks = static_cast<int64_t>(snapshot.refine_level.size());
  auto first = static_cast<std::size_t>(blocks * rank / size);
  auto count = static_cast<std::size_t>(blocks * (rank + 1) / size) - first;
  auto run = SedovRun::restore(comm, options, snapshot.scalars, {snapshot.refine_level.data() + first, count},
                               {snapshot.bounding_box.data() + 6 * first, 6 * count})
                 .value();
  const int64_t per_block = run->mesh().shape().interior_cells() * kEulerVariables;
  const double* in = snapshot.cells.data() + run->mesh().first_block() * per_block;
  for_each_row(&run->mesh(), [&](double* row, int64_t doubles) {
    std::copy(in, in + doubles, row);
    in += doubles;
  });
  run->finish_restore();
  return run;
}

class SedovTest : public testing::TestWithParam<int> {};

TEST_P(SedovTest, SameBitsOnAnyNumberOfRanks) {
  SedovOptions options = small_blast(GetParam());
  const uint64_t alone = hash_after_run(options, 1);
  EXPECT_EQ(hash_after_run(options, world_size()), alone);
  auto start = SedovRun::start(MPI_COMM_WORLD, options).value();
  EXPECT_NE(state_hash(start->mesh()), alone);
}

TEST_P(SedovTest, ConservesMassAndEnergyAcrossRefinementJumps) {
  SedovOptions options = small_blast(GetParam());
  auto run = SedovRun::start(MPI_COMM_WORLD, options).value();
  const Totals before = compute_totals(run->mesh());
  EXPECT_NEAR(before.mass, 1.0, 1e-14);
  EXPECT_NEAR(before.energy, 1.0 + 1e-5 / 0.4, 1e-14);
  const int64_t blocks = run->mesh().global_block_count();
  run_to_end(run.get());
  const Totals after = compute_totals(run->mesh());
  EXPECT_NEAR(after.mass / before.mass, 1.0, 1e-13);
  EXPECT_NEAR(after.energy / before.energy, 1.0, 1e-13);
  if (GetParam() == 2) {
    EXPECT_NE(run->mesh().global_block_count(), blocks);  // the mesh did adapt meanwhile
  }
  int jumps = static_cast<int>(run->mesh().fluxes().coarse_faces().size());
  int all_jumps = 0;
  MPI_Allreduce(&jumps, &all_jumps, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GT(all_jumps, 0);
}

TEST_P(SedovTest, RestartContinuesWithTheSameBitsOnOtherRankCounts) {
  SedovOptions options = small_blast(GetParam());
  options.max_steps = GetParam() == 2 ? 40 : 8;
  auto run = SedovRun::start(MPI_COMM_WORLD, options).value();
  // The step is odd: adaptation is due right after the restart.
  for (int64_t s = 0; s < options.max_steps / 2 - 1; ++s) {
    ASSERT_TRUE(run->step().ok());
  }
  const Snapshot snapshot = take_snapshot(run.get(), MPI_COMM_WORLD);
  run_to_end(run.get());
  const uint64_t uninterrupted = state_hash(run->mesh());
  for (int ranks : {world_size(), (world_size() + 1) / 2, 1}) {
    MPI_Comm comm = first_ranks(ranks);
    if (comm != MPI_COMM_NULL) {
      auto again = restore(snapshot, options, comm);
      run_to_end(again.get());
      EXPECT_EQ(state_hash(again->mesh()), uninterrupted) << ranks << " ranks";
      EXPECT_EQ(again->scalars().time, run->scalars().time);
      EXPECT_EQ(again->scalars().dt_old, run->scalars().dt_old);
      again.reset();
      MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_P(SedovTest, RestoreRefusesWhatIsNoMesh) {
  SedovOptions options = small_blast(GetParam());
  auto run = SedovRun::start(MPI_COMM_WORLD, options).value();
  BlockTable good = run->mesh().block_table();
  auto code = [&](auto&& damage) {
    BlockTable table = good;
    damage(table);
    return SedovRun::restore(MPI_COMM_WORLD, options, {}, table.refine_level, table.bounding_box).status().code();
  };
  EXPECT_EQ(code([](BlockTable&) {}), ErrorCode::kOk);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto on_rank_0 = [&](auto&& damage) {  // the others must learn of it
    return code([&](BlockTable& t) {
      if (rank == 0) {
        damage(t);
      }
    });
  };
  EXPECT_EQ(on_rank_0([](BlockTable& t) { t.refine_level[0] = 0; }), ErrorCode::kFormat);
  EXPECT_EQ(on_rank_0([](BlockTable& t) { t.refine_level[0] += 1; }), ErrorCode::kFormat);
  EXPECT_EQ(on_rank_0([](BlockTable& t) { t.bounding_box[0] = std::nan(""); }), ErrorCode::kFormat);
  EXPECT_EQ(on_rank_0([](BlockTable& t) { t.bounding_box[0] = t.bounding_box[1] = 1e300; }), ErrorCode::kFormat);
  EXPECT_EQ(on_rank_0([](BlockTable& t) { t.bounding_box.pop_back(); }), ErrorCode::kFormat);
  EXPECT_EQ(on_rank_0([](BlockTable& t) {
              t.refine_level.pop_back();
              t.bounding_box.resize(t.bounding_box.size() - 6);
            }),
            ErrorCode::kFormat);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, SedovTest, testing::Values(2, 3));

TEST(SedovOptionsTest, BadOnesAreRefusedWithAReason) {
  auto message = [](auto&& change) {
    SedovOptions options;
    change(options);
    Status status = SedovRun::start(MPI_COMM_WORLD, options).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument);
    return status.message();
  };
  EXPECT_NE(message([](SedovOptions& o) { o.dim = 4; }).find("dimension"), std::string::npos);
  EXPECT_NE(message([](SedovOptions& o) { o.nxb = 7; }).find("block"), std::string::npos);
  EXPECT_NE(message([](SedovOptions& o) { o.max_level = 0; }).find("level"), std::string::npos);
  EXPECT_NE(message([](SedovOptions& o) { o.cfl = std::nan(""); }).find("Courant"), std::string::npos);
  EXPECT_NE(message([](SedovOptions& o) { o.problem.gamma = 2; }).find("gamma"), std::string::npos);
  EXPECT_NE(message([](SedovOptions& o) { o.refine_above = 0.1; }).find("threshold"), std::string::npos);
}

TEST(OutputScheduleTest, StepsAndSecondsMakeFilesDueOnAllRanksAlike) {
  OutputSchedule steps(3, 0);
  OutputSchedule seconds(0, 1e-9);
  OutputSchedule hours(0, 1e6);
  OutputSchedule never(0, 0);
  int due = 0;
  for (int64_t step = 1; step <= 9; ++step) {
    due += steps.due(MPI_COMM_WORLD, step) ? 1 : 0;
    EXPECT_TRUE(seconds.due(MPI_COMM_WORLD, step));
    EXPECT_FALSE(hours.due(MPI_COMM_WORLD, step));
    EXPECT_FALSE(never.due(MPI_COMM_WORLD, step));
  }
  EXPECT_EQ(due, 3);
}

}  // namespace
}  // namespace stria::flash
