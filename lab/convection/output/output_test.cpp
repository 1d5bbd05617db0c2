// Tests what is in the files: a restart goes on as if nothing had happened, on other ranks too; the
// movie and the averages; the two old ways.
#include "output/output.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "file/tests/file_fixture_test.hpp"

namespace stria::convection {
namespace {

class OutputTest : public test::FileTest {
 protected:
  OutputOptions options() const {
    OutputOptions options;
    options.directory = directory_;
    options.sync = false;
    return options;
  }
  template <typename T>
  std::vector<T> raw(const std::string& path) const {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    std::vector<T> numbers(bytes.size() / sizeof(T));
    std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
    return numbers;
  }
  /// Returns a whole dataset.
  template <typename T>
  std::vector<T> stored(const std::string& path, const std::string& name) const {
    File file = File::open(path);
    const Dataset dataset = file.dataset(name);
    int64_t count = 1;
    std::vector<int64_t> start;
    for (const int64_t size : dataset.dims()) {
      count *= size;
      start.push_back(0);
    }
    std::vector<T> numbers(static_cast<size_t>(count));
    file.dataset(name).get({start, dataset.dims()}, Memory(numbers.data(), count));
    file.commit();
    return numbers;
  }

  Layer layer_;
};

TEST_F(OutputTest, ARestartGoesOnBitByBitOnAnyRanks) {
  ConvectionRun run(Grid::divide(MPI_COMM_WORLD, 64, 64), layer_, 0.4);
  const auto output = make_library_output(options());
  for (int step = 0; step < 6; ++step) {
    if (step == 3) {
      output->restart(run);
    }
    run.step();
  }
  const std::string path = latest_restart(directory_, options().base);
  ASSERT_EQ(path, output_path(options(), "restart", 3, ".h5"));
  // Each rank reads alone, and all read together.
  for (const MPI_Comm comm : {MPI_COMM_SELF, MPI_COMM_WORLD}) {
    const auto again = read_restart(comm, path, {});
    EXPECT_EQ(again->steps(), 3);
    EXPECT_EQ(again->courant(), 0.4);
    while (again->steps() < 6) {
      again->step();
    }
    EXPECT_EQ(again->time(), run.time());
    const Grid& mine = run.grid();
    const Grid& theirs = again->grid();
    for (int64_t j = 0; j < mine.mz; ++j) {
      for (int64_t i = 0; i < mine.mx; ++i) {
        ASSERT_EQ(run.gas().energy(j, i), again->gas().energy(mine.z0 - theirs.z0 + j, mine.x0 - theirs.x0 + i));
      }
    }
  }
}

TEST_F(OutputTest, TheThreeWaysWriteTheSameNumbers) {
  Layer windy;
  windy.kick = 0.5;
  ConvectionRun run(Grid::divide(MPI_COMM_WORLD, 64, 64), windy, 0.4);
  while (run.steps() < 10) {
    run.step();
  }
  const auto library = make_library_output(options());
  const auto gather = make_gather_output(run.grid(), options());
  const auto separate = make_separate_output(run.grid(), options());
  for (Output* output : {library.get(), gather.get(), separate.get()}) {
    output->restart(run);
    output->data(run);
    output->movie(run);
    output->averages(run);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto path = [&](const char* kind, const char* extension) { return output_path(options(), kind, 10, extension); };
  std::vector<float> data;
  for (const char* name : {"density", "pressure", "temperature", "speed_x", "speed_z", "vorticity"}) {
    const auto array = stored<float>(path("data", ".h5"), name);
    data.insert(data.end(), array.begin(), array.end());
  }
  EXPECT_EQ(data.size(), 6u * 64 * 64);
  EXPECT_EQ(raw<float>(path("data", "")), data);
  const auto movie = stored<uint8_t>(path("movie", ".h5"), "warmth");
  EXPECT_EQ(raw<uint8_t>(path("movie", "")), movie);
  EXPECT_NE(*std::min_element(movie.begin(), movie.end()), *std::max_element(movie.begin(), movie.end()));
  // The file of averages lies the other way round.
  const auto rows = stored<float>(path("averages", ".h5"), "averages");
  const auto columns = raw<float>(directory_ + "/convection_averages");
  ASSERT_EQ(columns.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i], columns[i % 10 * 64 + i / 10]);
  }
  // This rank's block of the density, behind the header.
  const auto density = stored<float>(path("restart", ".h5"), "density");
  const auto mine = raw<float>(path("restart", ("." + std::to_string(rank_)).c_str()));
  const Grid& grid = run.grid();
  ASSERT_EQ(mine.size(), static_cast<size_t>(6 + 4 * grid.mx * grid.mz));
  for (int64_t j = 0; j < grid.mz; ++j) {
    for (int64_t i = 0; i < grid.mx; ++i) {
      ASSERT_EQ(mine[static_cast<size_t>(6 + j * grid.mx + i)], density[static_cast<size_t>((grid.z0 + j) * 64 + grid.x0 + i)]);
    }
  }
}

TEST_F(OutputTest, RankZeroWritesAsThePaperCounts) {
  ConvectionRun run(Grid::divide(MPI_COMM_WORLD, 512, 256), layer_, 0.4);
  std::map<int64_t, int64_t> sizes;
  {
    const auto output = make_gather_output(run.grid(), options());
    for (int frame = 0; frame < 5; ++frame) {
      output->movie(run);
      output->averages(run);
    }
    for (int step = 0; step < 2; ++step) {
      output->restart(run);
      output->data(run);
    }
    sizes = output->write_sizes();
  }
  const std::map<int64_t, int64_t> paper{{24, 2}, {10 << 10, 5}, {64 << 10, 10}, {1 << 20, 10}};
  EXPECT_EQ(sizes, rank_ == 0 ? paper : (std::map<int64_t, int64_t>()));
}

TEST_F(OutputTest, ADirectoryThatIsNotThereIsAnErrorOfAll) {
  ConvectionRun run(Grid::divide(MPI_COMM_WORLD, 64, 64), layer_, 0.4);
  OutputOptions nowhere = options();
  nowhere.directory += "/none";
  EXPECT_THROW(make_gather_output(run.grid(), nowhere), Error);
  EXPECT_THROW(make_separate_output(run.grid(), nowhere)->data(run), Error);
  EXPECT_THROW(make_library_output(nowhere)->data(run), Error);
  EXPECT_EQ(latest_restart(nowhere.directory, nowhere.base), "");
  EXPECT_THROW(read_restart(MPI_COMM_WORLD, directory_ + "/none.h5", {}), Error);
}

}  // namespace
}  // namespace stria::convection
