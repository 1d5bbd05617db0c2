// File::update on real ranks: random boxes of all ranks against arrays, with the sums that follow.
#include <cstdio>
#include <deque>
#include <map>
#include <random>

#include "file/tests/file_fixture_test.hpp"

namespace stria::test {
namespace {

constexpr int64_t kRows = 24;
constexpr int64_t kColumns = 100;

constexpr const char* kNames[] = {"whole", "rows", "columns", "both", "none", "boxes", "slabs", "growing"};

class UpdateTest : public FileTest {
 protected:
  using Numbers = std::vector<double>;

  /// Datasets with sums of rows, of other regions (where ranks share rows), and of nothing; in one
  /// piece and in chunks, of which the last ones are cut by the dataset's ends.
  void create(bool checksums = true) {
    for (const char* name : kNames) {
      content_[name] = Numbers(kRows * kColumns, 0);
    }
    content_["short"] = Numbers(300, 0);
    File file = File::create(MPI_COMM_WORLD, path(), {.hints = {}, .checksums = checksums});
    DatasetOptions with_range;
    with_range.value_range = true;
    for (const auto& [name, values] : content_) {
      const bool is_short = name == "short";
      DatasetOptions options = with_range;
      if (name == "boxes" || name == "growing") {
        options.chunk = {5, 30};
      } else if (name == "slabs") {
        options.chunk = {7, kColumns};
      }
      const int64_t rows = name == "growing" ? kUnlimited : kRows;
      file.create_dataset<double>(name, is_short ? std::vector<int64_t>{300} : std::vector<int64_t>{rows, kColumns}, options);
    }
    put(file.append_rows("growing", kRows), 0, kRows, 0, kColumns, 7);
    put(file.dataset("boxes"), 0, kRows, 0, kColumns, 8);
    put_whole_rows(file.dataset("slabs"));
    put_whole_rows(file.dataset("whole"));
    put(file.dataset("rows"), 0, kRows, 0, kColumns, 1);
    put(file.dataset("columns"), 0, kRows, 3, 40, 2);
    put(file.dataset("both"), 0, 5, 0, kColumns, 3);
    put(file.dataset("both"), 7, 4, 50, 20, 4);
    if (rank_ == 0) {
      kept_.emplace_back(200, 5.0);
      file.dataset("short").put({{50}, {200}}, kept_.back());
    }
    std::fill_n(content_["short"].begin() + 50, 200, 5.0);
    file.commit();
  }
  void put_whole_rows(Dataset dataset) {
    Numbers& model = content_[dataset.path()];
    for (size_t i = 0; i < model.size(); ++i) {
      model[i] = 6 + 0.001 * static_cast<double>(i);
    }
    const auto [first, count] = rows(kRows);
    kept_.emplace_back(model.begin() + first * kColumns, model.begin() + (first + count) * kColumns);
    dataset.put({{first, 0}, {count, kColumns}}, kept_.back());
  }
  /// Rank r puts every ranks-th column of the box, and the model gets all of them.
  void put(Dataset dataset, int64_t row, int64_t row_count, int64_t column, int64_t column_count, double base) {
    const int64_t mine = column_count / ranks_ + (rank_ < column_count % ranks_ ? 1 : 0);
    Numbers& values = kept_.emplace_back();
    Numbers& model = content_[dataset.path()];
    for (int64_t r = row; r < row + row_count; ++r) {
      for (int64_t c = column; c < column + column_count; ++c) {
        const double value = base + 0.001 * static_cast<double>(r * kColumns + c);
        model[static_cast<size_t>(r * kColumns + c)] = value;
        if ((c - column) % ranks_ == rank_) {
          values.push_back(value);
        }
      }
    }
    if (mine > 0) {
      dataset.put({{row, column + rank_}, {row_count, mine}, {1, ranks_}, {}}, values);
    }
  }
  void expect() {
    File file = File::open(MPI_COMM_WORLD, path(), {.hints = {}, .verify = has_sums_});
    for (const auto& [name, values] : content_) {
      EXPECT_EQ(file.read<double>(name), values) << name;
      if (!file.attributes(name).empty()) {
        EXPECT_GE(file.attribute<double>(name, "maximum"), *std::max_element(values.begin(), values.end())) << name;
      }
    }
    if (has_sums_) {
      std::vector<std::string> remarks;
      for (const Damage& damage : file.verify(&remarks)) {
        ADD_FAILURE() << damage.dataset << " " << damage.first_row << " " << damage.last_row;
      }
    }
  }

  std::map<std::string, Numbers> content_;
  std::deque<Numbers> kept_;
  bool has_sums_ = true;
};

TEST_F(UpdateTest, RandomBoxesOfAllRanks) {
  create();
  expect();
  std::mt19937 random(7);
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random() % static_cast<uint64_t>(limit)); };
  for (int session = 0; session < 6; ++session) {
    File file = File::append(MPI_COMM_WORLD, path());
    for (const char* name : kNames) {
      if (below(3) == 0) {
        continue;
      }
      Dataset dataset = file.update(name);
      const int64_t row = below(kRows), column = below(kColumns);
      const bool whole = below(2) == 0;
      put(dataset, row, 1 + below(kRows - row), whole ? 0 : column, whole ? kColumns : 1 + below(kColumns - column),
          10.0 * session + below(5));
      if (below(2) == 0) {
        file.flush();
        put(dataset, below(kRows), 1, 0, kColumns, -1);
      }
    }
    if (session % 2 == 0) {
      Dataset dataset = file.update("short");
      if (rank_ == ranks_ - 1) {
        kept_.emplace_back(7, 0.5);
        dataset.put({{41 * session}, {7}}, kept_.back());
      }
      std::fill_n(content_["short"].begin() + 41 * session, 7, 0.5);
    }
    if (session == 3) {
      const std::string name = "added";
      content_[name] = Numbers(kRows * kColumns, 0);
      put(file.create_dataset<double>(name, {kRows, kColumns}), 0, kRows, 0, kColumns, 77);
    }
    file.commit();
    expect();
  }
}

TEST_F(UpdateTest, ThroughALink) {
  create();
  {
    File file = File::append(MPI_COMM_WORLD, path());
    file.create_link("a link", "whole");
    file.commit();
  }
  File file = File::append(MPI_COMM_WORLD, path());
  put(file.update("a link"), 3, 4, 0, kColumns, 9);
  put(file.update("whole"), 12, 1, 5, 30, 8);
  file.commit();
  expect();
}

TEST_F(UpdateTest, FilesWithoutSums) {
  has_sums_ = false;
  create(false);
  File file = File::append(MPI_COMM_WORLD, path());
  put(file.update("rows"), 3, 4, 0, kColumns, 9);
  put(file.update("boxes"), 3, 4, 20, 70, 9);
  file.commit();
  expect();
}

// The file has other datasets that lie between chunks, and new ones.
TEST_F(UpdateTest, EveryMethodFindsItsWayAmongChunks) {
  create();
  double base = 20;
  for (const char* method : {"multiple", "list_io", "data_sieving", "two_phase", "hybrid"}) {
    SCOPED_TRACE(method);
    File file = File::append(MPI_COMM_WORLD, path(), {.hints = {{"stria_method", method}, {"cb_buffer_size", "65536"}}});
    for (const char* name : {"growing", "rows", "boxes", "slabs", "columns"}) {
      put(file.update(name), 4, 9, 25, 40, base++);
    }
    const std::string added = std::string("added by ") + method;
    content_[added] = Numbers(kRows * kColumns, 0);
    put(file.create_dataset<double>(added, {kRows, kColumns}), 0, kRows, 0, kColumns, base);
    file.commit();
    expect();
  }
}

// Memory may change after a flush, and a dataset gets rows later.
TEST_F(UpdateTest, AGrowingDatasetIsOverwrittenAndGrows) {
  create();
  {
    File file = File::append(MPI_COMM_WORLD, path());
    put(file.update("growing"), 20, 4, 0, kColumns, 30);
    file.flush();
    kept_.back().assign(kept_.back().size(), -5);
    put(file.update("growing"), 22, 1, 10, 3, 31);
    file.commit();
  }
  expect();
  {
    File file = File::append(MPI_COMM_WORLD, path());
    content_["growing"].resize((kRows + 4) * kColumns);
    put(file.append_rows("growing", 4), kRows, 4, 0, kColumns, 32);
    put(file.update("boxes"), 0, 1, 0, 60, 33);
    file.commit();
  }
  expect();
  File file = File::append(MPI_COMM_WORLD, path());
  put(file.update("growing"), 23, 3, 5, 80, 34);
  file.commit();
  expect();
}

// What is in chunks, converted, in a file of another shape than the memory.
TEST_F(UpdateTest, ConvertsIntoChunks) {
  DatasetOptions options;
  options.chunk = {2, 3, 4};
  options.big_endian = true;
  {
    File file = File::create(MPI_COMM_WORLD, path());
    Dataset dataset = file.create_dataset("cube", ElementType::kFloat32, {5, 7, 9}, options);
    const std::vector<float> zeros(5 * 7 * 9, 0);
    if (rank_ == 0) {
      dataset.put({{0, 0, 0}, {5, 7, 9}}, zeros);
    }
    file.commit();
  }
  std::vector<float> model(5 * 7 * 9, 0);
  std::vector<int> mine;
  for (int64_t i = 0; i < 3 * 3 * 5; ++i) {
    mine.push_back(static_cast<int>(i) + 1);
    model[static_cast<size_t>((i / 15 * 2 * 7 + i / 5 % 3 * 3) * 9 + i % 5 * 2)] = static_cast<float>(i + 1);
  }
  File file = File::append(MPI_COMM_WORLD, path());
  Dataset dataset = file.update("cube");
  if (rank_ == ranks_ - 1) {
    dataset.put({{0, 0, 0}, {3, 3, 5}, {2, 3, 2}, {}}, mine);
  }
  file.commit();
  File again = File::open(MPI_COMM_WORLD, path(), {.hints = {}, .verify = true});
  EXPECT_EQ(again.read<float>("cube"), model);
  EXPECT_TRUE(again.verify().empty());
}

// A chunk that nobody has put isn't in the file.
TEST_F(UpdateTest, ChunksThatAreMissingAreRefusedBeforeAnythingIsOverwritten) {
  create();
  {
    File file = File::append(MPI_COMM_WORLD, path());
    DatasetOptions options;
    options.chunk = {5, 30};
    content_["holes"] = Numbers(kRows * kColumns, 0);
    put(file.create_dataset<double>("holes", {kRows, kColumns}, options), 5, 5, 0, kColumns, 3);
    file.commit();
  }
  {
    const auto before = content_;
    File file = File::append(MPI_COMM_WORLD, path());
    put(file.update("rows"), 0, 5, 0, kColumns, 11);
    put(file.update("holes"), 9, 2, 0, kColumns, 12);
    const std::string error = error_of([&] { file.commit(); }, ErrorCode::kUnsupported);
    EXPECT_NE(error.find("'holes', rows 10 to 14"), std::string::npos) << error;
    EXPECT_NE(error.find("was not changed"), std::string::npos) << error;
    content_ = before;
    expect();
  }
  File file = File::append(MPI_COMM_WORLD, path());
  put(file.update("holes"), 6, 3, 10, 80, 13);
  file.commit();
  expect();
}

TEST_F(UpdateTest, WhatIsDamagedElsewhereStaysSo) {
  create();
  int64_t offset = 0;
  if (rank_ == 0) {
    std::FILE* raw = std::fopen(path().c_str(), "r+b");
    const double wanted = content_["whole"][17 * kColumns];
    double value = 0;
    while (std::fread(&value, sizeof value, 1, raw) == 1 && value != wanted) {
      offset += static_cast<int64_t>(sizeof value);
    }
    value = -1;
    ASSERT_EQ(std::fseek(raw, offset, SEEK_SET), 0);
    ASSERT_EQ(std::fwrite(&value, sizeof value, 1, raw), 1u);
    std::fclose(raw);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  File file = File::append(MPI_COMM_WORLD, path());
  put(file.update("whole"), 3, 4, 10, 20, 9);
  file.commit();
  const std::vector<Damage> damages = File::open(MPI_COMM_WORLD, path()).verify();
  ASSERT_EQ(damages.size(), 1u);
  EXPECT_EQ(damages[0].dataset, "whole");
  EXPECT_EQ(damages[0].first_row, 17);
}

TEST_F(UpdateTest, WhatCannotBeOverwrittenIsRefused) {
  create();
  const auto refusal = [&](const std::string& name, ErrorCode code) {
    File file = File::append(MPI_COMM_WORLD, path());
    const std::string error = error_of([&] { file.update(name); }, code);
    EXPECT_NE(error.find("update('" + name + "')"), std::string::npos) << error;
    EXPECT_NE(error_of([&] { file.commit(); }, code).find("was not changed"), std::string::npos);
  };
  refusal("not there", ErrorCode::kNotFound);
  {
    File file = File::append(MPI_COMM_WORLD, path());
    file.create_strings("words", {"a"}, 4, false);
    DatasetOptions chunks;
    chunks.chunk = {4};
    chunks.filters = Filters::compress();
    file.create_dataset<int>("filtered", {9}, chunks);
    file.commit();
  }
  refusal("words", ErrorCode::kUnsupported);
  refusal("filtered", ErrorCode::kUnsupported);
  File file = File::create(MPI_COMM_WORLD, path("new.h5"));
  error_of([&] { file.update("rows"); }, ErrorCode::kNotFound);
  file.abandon();
  expect();
}

TEST_F(UpdateTest, RanksThatDisagreeChangeNothing) {
  create();
  if (ranks_ > 1) {
    File file = File::append(MPI_COMM_WORLD, path());
    Dataset dataset = file.update(rank_ == 0 ? "rows" : "columns");
    const std::vector<double> row(kColumns, 1.0);
    dataset.put({{rank_, 0}, {1, kColumns}}, row);
    const std::string error = error_of([&] { file.commit(); }, ErrorCode::kInvalidArgument);
    EXPECT_NE(error.find("update('"), std::string::npos) << error;
  }
  expect();
}

}  // namespace
}  // namespace stria::test
