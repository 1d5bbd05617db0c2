// Files of one process. MPI is not initialised; in the library without MPI, it is not even loaded.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <complex>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "stria/file.hpp"

namespace stria {
namespace {

const std::string kDirectory = std::filesystem::temp_directory_path() / ("stria_one_process." + std::to_string(getpid()));

class OneProcess : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(kDirectory); }
  void TearDown() override { std::filesystem::remove_all(kDirectory); }
};

int files_in(const std::string& directory) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) {
    ++count;
  }
  return count;
}

TEST_F(OneProcess, WritesAndReads) {
  std::vector<double> written(6 * 5);
  std::iota(written.begin(), written.end(), 0.5);
  const std::string path = kDirectory + "/a.h5";
  File file = File::create(path);
  file.create_dataset("x", ElementType::kFloat32, {6, 5}).put({{0, 0}, {6, 5}}, Memory(written.data(), 30));
  file.set_attribute("x", "unit", "cm");
  EXPECT_FALSE(std::filesystem::exists(path));
  file.commit();

  std::vector<double> read(4, -1);
  File again = File::open(path, {.verify = true});
  again.dataset("x").get({{2, 1}, {2, 2}}, Memory(read.data(), 4));
  EXPECT_EQ(again.attribute<std::string>("x", "unit"), "cm");
  again.commit();
  EXPECT_EQ(read, (std::vector<double>{11.5, 12.5, 16.5, 17.5}));
  EXPECT_TRUE(again.verify().empty());
}

TEST_F(OneProcess, SeveralFilesAtOnce) {
  const int32_t one = 1;
  std::vector<File> files;
  for (int i = 0; i < 5; ++i) {
    files.push_back(File::create(kDirectory + "/" + std::to_string(i)));
    files.back().create_dataset("n", ElementType::kInt32, {1}).put({{0}, {1}}, Memory(&one, 1));
  }
  for (File& file : files) {
    file.commit();
  }
  EXPECT_EQ(files_in(kDirectory), 5);
}

TEST_F(OneProcess, NothingIsLeftOfAFileGivenUp) {
  { File file = File::create(kDirectory + "/lost"); }
  EXPECT_EQ(files_in(kDirectory), 0);
  EXPECT_THROW(File::open(kDirectory + "/lost"), Error);
}

TEST_F(OneProcess, HintsComeFromFilesBelowTheProgramsOwn) {
  std::ofstream(kDirectory + "/.stria-hints") << "cb_nodes 4\nstria_method list_io\ncb_nods 1\n";
  CreateOptions options;
  options.hints = {{"stria_method", "multiple"}};
  File file = File::create(kDirectory + "/tuned", options);
  EXPECT_EQ(file.hints()["cb_nodes"], "4");
  EXPECT_EQ(file.hints()["stria_method"], "multiple");
  EXPECT_GE(std::stoll(file.hints()["cb_buffer_size"]), 1 << 20) << "the planner's choice";
  ASSERT_EQ(file.hint_warnings().size(), 1U);
  EXPECT_NE(file.hint_warnings()[0].find("'" + kDirectory + "/.stria-hints', line 3: hint 'cb_nods'"), std::string::npos);
}

// exit() leaves the file, as a destructor does.
TEST_F(OneProcess, NothingIsLeftWhenTheProgramEnds) {
  EXPECT_EXIT(
      {
        new File(File::create(kDirectory + "/open_at_the_end"));
        exit(3);
      },
      ::testing::ExitedWithCode(3), "was not written");
  EXPECT_EQ(files_in(kDirectory), 0);
}

// A process that the program forks has its files too, and must leave them to it.
TEST_F(OneProcess, FilesOutliveAForkedProcess) {
  const std::vector<double> values = {1, 2, 3};
  File* file = new File(File::create(kDirectory + "/forked"));
  file->create_dataset("x", ElementType::kFloat64, {3}).put({{0}, {3}}, Memory(values));
  file->flush();
  for (const bool by_destructor : {false, true}) {
    const pid_t child = fork();
    if (child == 0) {
      if (by_destructor) {
        delete file;
      }
      exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  file->commit();
  delete file;
  EXPECT_EQ(File::open(kDirectory + "/forked").read<double>("x"), values);
}

TEST_F(OneProcess, BooleansAndComplexNumbersAreDatasetsToo) {
  const std::array<bool, 3> flags = {true, false, true};
  const std::vector<std::complex<float>> waves = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const std::string path = kDirectory + "/kinds";
  File file = File::create(path);
  file.create_dataset<bool>("flags", {3}).put({{0}, {3}}, Memory(flags.data(), 3));
  Dataset z = file.create_dataset<std::complex<float>>("z", {2, 2}, {.chunk = {1, 2}});
  EXPECT_EQ(z.dims(), (std::vector<int64_t>{2, 2, 2}));
  z.put({{0, 0, 0}, {2, 2, 2}}, Memory(waves));
  file.create_dataset<double>("number", {1});
  file.commit();
  File again = File::open(path);
  EXPECT_EQ(again.dataset("flags").type_name(), "bool");
  EXPECT_EQ(again.dataset("flags").meaning(), Meaning::kBoolean);
  EXPECT_EQ(again.dataset("z").type_name(), "complex64");
  EXPECT_EQ(again.dataset("number").meaning(), Meaning::kNumber);
  EXPECT_EQ(again.read<uint8_t>("flags"), (std::vector<uint8_t>{1, 0, 1}));
  std::vector<std::complex<double>> read(2);
  again.dataset("z").read({{1, 0, 0}, {1, 2, 2}}, Memory(read));
  EXPECT_EQ(read, (std::vector<std::complex<double>>{{5, 6}, {7, 8}}));
}

#ifdef STRIA_NO_MPI
TEST_F(OneProcess, LoadsNoMpi) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find("libmpi"), std::string::npos) << line;
  }
}
#endif

}  // namespace
}  // namespace stria
