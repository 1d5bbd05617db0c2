// The public API and what a name was before: links, modes, pipes, and temporary names that are
// taken.
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>

#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

using test::error_of;

constexpr int64_t kRows = 500;  // the rows of each rank

class ReplacedNameTest : public test::FileTest {
 protected:
  void SetUp() override {
    FileTest::SetUp();
    alone([&] { std::filesystem::create_directory(path("scratch")); });
  }
  void TearDown() override {
    alone([&] { std::filesystem::remove_all(place()); });
    FileTest::TearDown();
  }

  /// Returns where files are staged: another directory than that of the files.
  std::string place() const { return directory_ + ".near"; }

  /// Collective, so that names change while no rank is at work.
  void alone(const std::function<void()>& change) const {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      change();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::vector<double> values(int generation) const {
    std::vector<double> mine(kRows);
    std::iota(mine.begin(), mine.end(), static_cast<double>(1000000 * generation + kRows * rank_));
    return mine;
  }

  enum class End { kCommit, kAsync, kAbandon };
  void write(const std::string& path, int generation, const Hints& hints = {}, Format format = Format::kHdf5,
             End end = End::kCommit) const {
    File file = File::create(MPI_COMM_WORLD, path, {.hints = hints, .format = format});
    const std::vector<double> mine = values(generation);
    Dataset dataset = file.create_dataset("values", ElementType::kFloat64, {kRows * ranks_});
    dataset.put({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
    if (end == End::kAsync) {
      file.commit_async().wait();
    } else if (end == End::kCommit) {
      file.commit();
    } else {
      file.abandon();
    }
  }

  void expect(const std::string& path, int generation) const {
    File file = File::open(MPI_COMM_WORLD, path, {.hints = {}, .verify = true});
    std::vector<double> mine(kRows);
    file.dataset("values").get({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
    file.commit();
    EXPECT_EQ(mine, values(generation)) << path;
  }

  static uint32_t mode_of(const std::string& path) {
    struct stat details = {};
    EXPECT_EQ(stat(path.c_str(), &details), 0) << path;
    return details.st_mode & 07777;
  }
  static bool is_link(const std::string& path) { return std::filesystem::is_symlink(path); }
  std::vector<std::string> names_in_scratch() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path("scratch"))) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  struct Way {
    const char* name;
    Hints hints{};
    Format format = Format::kHdf5;
    End end = End::kCommit;
  };
  /// Lists all ways to make a file.
  std::vector<Way> ways() const {
    return {{.name = "list_io", .hints = {{"stria_method", "list_io"}}},
            {.name = "two_phase", .hints = {{"stria_method", "two_phase"}}},
            {.name = "direct", .hints = {{"stria_direct", "enable"}}},
            {.name = "uring", .hints = {{"stria_driver", "uring"}}},
            {.name = "netcdf", .format = Format::kNetcdf},
            {.name = "parts", .hints = {{"stria_subfiles", "2"}}},
            {.name = "async", .end = End::kAsync},
            {.name = "staged", .hints = {{"stria_staging", place()}}},
            {.name = "staged_async", .hints = {{"stria_staging", place()}}, .end = End::kAsync}};
  }
};

TEST_F(ReplacedNameTest, ALinkStaysAndItsFileIsReplaced) {
  alone([&] {
    std::filesystem::create_directory(place());
    std::filesystem::create_symlink("between", path("run.h5"));
    std::filesystem::create_symlink("scratch/real.h5", path("between"));
  });
  int generation = 0;
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    alone([&] { std::filesystem::remove(path("scratch/real.h5")); });
    for (int time = 0; time < 2; ++time) {  // first the file is still to come
      write(path(), ++generation, way.hints, way.format, way.end);
      expect(path(), generation);
      expect(path("scratch/real.h5"), generation);
      EXPECT_TRUE(is_link(path()) && is_link(path("between")));
      EXPECT_FALSE(is_link(path("scratch/real.h5")));
      for (const std::string& name : names_in_scratch()) {
        EXPECT_TRUE(name.starts_with("real.h5")) << name << " was left";
      }
      for (const std::string& name : names()) {
        EXPECT_TRUE(name == "run.h5" || name == "between" || name == "scratch") << name << " was left";
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST_F(ReplacedNameTest, ARelativeLinkOnTheWayToTheFileOutlivesAChangeOfDirectory) {
  const auto before = std::filesystem::current_path();
  alone([&] { std::filesystem::create_symlink("scratch/real.h5", path("run.h5")); });
  std::filesystem::current_path(directory_);
  {
    File file = File::create(MPI_COMM_WORLD, "run.h5");
    std::filesystem::current_path(before);
    const std::vector<double> mine = values(1);
    Dataset dataset = file.create_dataset("values", ElementType::kFloat64, {kRows * ranks_});
    dataset.put({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
    file.commit();
  }
  expect(path(), 1);
  EXPECT_TRUE(is_link(path()));
}

TEST_F(ReplacedNameTest, ALinkThatChangesMeanwhileMovesNothing) {
  alone([&] {
    std::filesystem::create_symlink("scratch/first.h5", path("run.h5"));
    std::ofstream(path("other")) << "other";
  });
  File file = File::create(MPI_COMM_WORLD, path());
  const std::vector<double> mine = values(1);
  file.create_dataset("values", ElementType::kFloat64, {kRows * ranks_})
      .put({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
  alone([&] {
    std::filesystem::remove(path());
    std::filesystem::create_symlink("other", path());
  });
  file.commit();
  expect(path("scratch/first.h5"), 1);
  EXPECT_EQ(std::filesystem::file_size(path("other")), 5U);
}

TEST_F(ReplacedNameTest, ModeAndAttributesStay) {
  alone([&] { std::filesystem::create_directory(place()); });
  int generation = 0;
  bool has_attributes = false;
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    alone([&] {
      std::ofstream(path()) << "old";
      EXPECT_EQ(chmod(path().c_str(), 0600), 0);
      has_attributes = setxattr(path().c_str(), "user.project", "p42", 3, 0) == 0;
    });
    write(path(), ++generation, way.hints, way.format, way.end);
    expect(path(), generation);
    for (const std::string& name : names()) {  // with its parts
      EXPECT_TRUE(!name.starts_with("run.h5") || mode_of(path(name)) == 0600U) << name << std::oct << mode_of(path(name));
    }
    if (rank_ == 0 && has_attributes) {
      EXPECT_EQ(getxattr(path().c_str(), "user.project", nullptr, 0), 3);
    }
  }
}

TEST_F(ReplacedNameTest, PrivateDataAreNotReadableWhileTheyAreWritten) {
  alone([&] {
    std::ofstream(path()) << "old";
    EXPECT_EQ(chmod(path().c_str(), 0600), 0);
    std::filesystem::create_directory(place());
  });
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    File file = File::create(MPI_COMM_WORLD, path(), {.hints = way.hints, .format = way.format});
    file.create_dataset("values", ElementType::kFloat64, {kRows * ranks_});
    file.flush();
    for (const std::string& directory : {directory_, place()}) {
      for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        EXPECT_TRUE(entry.is_directory() || (mode_of(entry.path()) & 0077U) == 0) << entry.path();
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    file.abandon();
  }
}

TEST_F(ReplacedNameTest, ANewFileIsMadeAsTheMaskSays) {
  const mode_t before = umask(0027);
  write(path(), 1);
  umask(before);
  EXPECT_EQ(mode_of(path()), 0640U);
}

TEST_F(ReplacedNameTest, AnAppendFollowsLinksAndKeepsTheMode) {
  alone([&] { std::filesystem::create_symlink("scratch/real.h5", path("run.h5")); });
  write(path(), 1);
  alone([&] { EXPECT_EQ(chmod(path().c_str(), 0600), 0); });
  {
    File file = File::append(MPI_COMM_WORLD, path());
    const std::vector<double> mine = values(2);
    file.create_dataset("more", ElementType::kFloat64, {kRows * ranks_})
        .put({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
    file.commit();
  }
  expect(path(), 1);
  EXPECT_TRUE(is_link(path()));
  EXPECT_EQ(mode_of(path()), 0600U);
}

TEST_F(ReplacedNameTest, WhatIsNoFileStaysAsItIs) {
  alone([&] {
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    std::filesystem::create_symlink("run.h5", path("link"));
    std::filesystem::create_symlink("round", path("round"));
  });
  for (const Way& way : ways()) {
    for (const char* const name : {"run.h5", "link", "round"}) {
      const std::string message =
          error_of([&] { write(path(name), 1, way.hints, way.format, way.end); }, ErrorCode::kInvalidArgument);
      EXPECT_NE(message.find(name[1] == 'o' ? "circle" : "it is a pipe"), std::string::npos) << message;
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(path()));
  EXPECT_EQ(names().size(), 4U) << "nothing was made beside it";
}

TEST_F(ReplacedNameTest, ATemporaryNameThatIsTakenHarmsNobody) {
  alone([&] { std::ofstream(path("thesis")) << "thesis"; });
  for (const bool is_hard : {false, true}) {
    alone([&] {
      const std::string taken = path(".run.h5.partial");
      std::filesystem::remove(taken);
      is_hard ? std::filesystem::create_hard_link(path("thesis"), taken) : std::filesystem::create_symlink("thesis", taken);
    });
    for (const Way& way : ways()) {
      error_of([&] { write(path(), 1, way.hints, way.format, way.end); }, ErrorCode::kPermissionDenied);
    }
    EXPECT_EQ(std::filesystem::file_size(path("thesis")), 6U);
    EXPECT_FALSE(std::filesystem::exists(path()));
  }
}

// A rank that comes later than another program to the temporary name finds out that it isn't rank
// 0's.
TEST_F(ReplacedNameTest, ATemporaryNameThatIsTakenMeanwhileHarmsNobody) {
  alone([&] { std::ofstream(path("thesis")) << "thesis"; });
  File file = File::create(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", "list_io"}}});
  const std::vector<double> mine = values(1);
  file.create_dataset("values", ElementType::kFloat64, {kRows * ranks_})
      .put({{kRows * rank_}, {kRows}}, Memory(mine.data(), kRows));
  alone([&] {
    std::filesystem::remove(path(".run.h5.partial"));
    std::filesystem::create_symlink("thesis", path(".run.h5.partial"));
  });
  EXPECT_THROW(file.commit(), Error);
  EXPECT_EQ(std::filesystem::file_size(path("thesis")), 6U);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(ReplacedNameTest, AnotherNameOfTheOldFileKeepsTheOldContent) {
  write(path(), 1);
  alone([&] { std::filesystem::create_hard_link(path(), path("second.h5")); });
  write(path(), 2);
  expect(path(), 2);
  expect(path("second.h5"), 1);
}

TEST_F(ReplacedNameTest, WhatAKilledProgramHasLeftBesideALinksFileGoes) {
  alone([&] {
    std::filesystem::create_symlink("scratch/real.h5", path("run.h5"));
    std::ofstream(path("scratch/.real.h5.partial")) << "left";
    std::ofstream(path(".run_2.h5.partial")) << "left";
    std::filesystem::create_symlink("thesis", path(".run_3.h5.partial"));
    std::ofstream(path("thesis")) << "thesis";
    EXPECT_EQ(remove_abandoned(directory_, "run"),
              (std::vector<std::string>{path(".run_2.h5.partial"), path("scratch/.real.h5.partial")}));
  });
  EXPECT_EQ(names_in_scratch().size(), 0U);
  EXPECT_TRUE(is_link(path(".run_3.h5.partial")) && std::filesystem::exists(path("thesis")));
}

TEST_F(ReplacedNameTest, ALongNameHasAShorterTemporaryOne) {
  const std::string name(250, 'n');
  write(path(name), 1);
  expect(path(name), 1);
  EXPECT_EQ(names().size(), 2U);
}

}  // namespace
}  // namespace stria
