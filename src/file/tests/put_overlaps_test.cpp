// Puts that have elements in common, on real ranks: every rank hears of them, with dataset and
// region, and an old file of the name stays.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "file/tests/file_fixture_test.hpp"

namespace stria {
namespace {

using test::FileTest;

constexpr int64_t kColumns = 100;  // rows have sums of their own

class PutOverlapsTest : public FileTest {
 protected:
  std::vector<double> values(int64_t count, double value) const {
    return std::vector<double>(static_cast<size_t>(count), value);
  }

  /// Writes a file of a dataset "x" with `rows` rows a rank, as `put` fills it.
  template <typename Put>
  void write(const CreateOptions& options, const DatasetOptions& dataset, const Put& put) {
    File file = File::create(MPI_COMM_WORLD, path(), options);
    put(file, file.create_dataset<double>("x", {4 * ranks_, kColumns}, dataset));
    file.commit();
  }

  /// The same message is thrown everywhere, by the commit, and has `words`.
  template <typename Put>
  void expect_refused(const DatasetOptions& dataset, const std::string& words, const Put& put) {
    const std::string message = test::error_of([&] { write({}, dataset, put); }, ErrorCode::kInvalidArgument);
    EXPECT_NE(message.find("dataset 'x'"), std::string::npos) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_NE(message.find("stria_put_overlaps=enable"), std::string::npos) << message;
  }
};

std::vector<DatasetOptions> kinds_of_datasets() {
  DatasetOptions chunked;
  chunked.chunk = {3, 50};
  chunked.filters = Filters::compress();
  return {DatasetOptions(), chunked};
}

TEST_F(PutOverlapsTest, ABoxWithItsGhostsIsFound) {
  for (const DatasetOptions& dataset : kinds_of_datasets()) {
    const auto rows = values(5 * kColumns, rank_);
    const auto put_with_ghosts = [&](File&, const Dataset& x) {
      Dataset(x).put({{4 * rank_, 0}, {rank_ + 1 < ranks_ ? 5 : 4, kColumns}},
                     Memory(rows.data(), (rank_ + 1 < ranks_ ? 5 : 4) * kColumns));
    };
    if (ranks_ > 1) {
      expect_refused(dataset, "puts of ranks 0 and 1 have the elements [4:5, 0:100]", put_with_ghosts);
    } else {
      write({}, dataset, put_with_ghosts);
    }
    CreateOptions allows;
    allows.hints["stria_put_overlaps"] = "enable";
    write(allows, dataset, put_with_ghosts);
  }
}

TEST_F(PutOverlapsTest, APutThatARankRepeatsIsFoundBeforeAnythingMoves) {
  for (const DatasetOptions& dataset : kinds_of_datasets()) {
    const auto row = values(kColumns, 1);
    expect_refused(dataset, "two puts have the elements [", [&](File& file, const Dataset& x) {
      Dataset(x).put({{4 * rank_, 0}, {1, kColumns}}, Memory(row));
      Dataset(x).put({{4 * rank_ + (rank_ == ranks_ - 1 ? 0 : 1), 0}, {1, kColumns}}, Memory(row));
      file.flush();
    });
  }
}

TEST_F(PutOverlapsTest, WhatAllRanksPutAlikeIsNoMistake) {
  for (const DatasetOptions& dataset : kinds_of_datasets()) {
    std::vector<double> all(static_cast<size_t>(4 * ranks_ * kColumns));
    std::iota(all.begin(), all.end(), 0.0);
    write({}, dataset, [&](File&, const Dataset& x) { Dataset(x).put({{0, 0}, {4 * ranks_, kColumns}}, Memory(all)); });
    EXPECT_EQ(File::open(MPI_COMM_WORLD, path()).read<double>("x"), all);
  }
}

TEST_F(PutOverlapsTest, StripesThatInterlockAreNoMistake) {
  const auto stripe = values(4 * kColumns, rank_);
  const auto put_stripes = [&](int64_t first) {
    return [&, first](File&, const Dataset& x) { Dataset(x).put({{first, 0}, {4, kColumns}, {ranks_, 1}}, Memory(stripe)); };
  };
  write({}, {}, put_stripes(rank_));
  if (ranks_ > 2) {  // the last rank takes the stripes of rank 0, but for their ends
    expect_refused({}, "have some of the elements", [&](File& file, const Dataset& x) {
      rank_ == ranks_ - 1 ? Dataset(x).put({{0, 1}, {4, kColumns - 1}, {ranks_, 1}}, Memory(stripe.data(), 4 * (kColumns - 1)))
                          : put_stripes(rank_)(file, x);
    });
  }
}

TEST_F(PutOverlapsTest, WhatIsPutAgainAfterAFlushIsNoMistake) {
  const auto first = values(4 * kColumns, 1), second = values(4 * kColumns, 2);
  write({}, {}, [&](File& file, const Dataset& x) {
    Dataset(x).put({{4 * rank_, 0}, {4, kColumns}}, Memory(first));
    file.flush();
    Dataset(x).put({{4 * rank_, 0}, {4, kColumns}}, Memory(second));
  });
  EXPECT_EQ(File::open(MPI_COMM_WORLD, path()).read<double>("x"), values(4 * ranks_ * kColumns, 2));
}

}  // namespace
}  // namespace stria
