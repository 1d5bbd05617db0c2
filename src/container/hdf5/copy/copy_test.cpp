// Tests what a file that is written anew is made of: where its metadata lie, superblocks of all
// versions, bytes that are replaced while a file is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "container/hdf5/copy/edited_superblock.hpp"
#include "container/hdf5/copy/header_block.hpp"
#include "container/hdf5/copy/overlaid_file.hpp"
#include "container/hdf5/copy/target_file.hpp"
#include "container/hdf5/test_support.hpp"
#include "storage/memory/memory_driver.hpp"

namespace stria::container {
namespace {

using test::Bytes;
using test::BytesFile;

std::unique_ptr<storage::File> new_file() {
  storage::MemoryDriver driver;
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kCreate;
  return driver.open("new", open).value();
}

// Each byte is of metadata, raw or of nothing. Nothing belongs to a stretch of metadata unless raw
// data touch it.
TEST(TargetFile, MetadataAreWhatWasWrittenLastAsSuch) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto storage = new_file();
    h5::TargetFile file(*storage);
    std::string kinds(400, '.');
    const Bytes ones(40, std::byte{1});
    int64_t metadata_end = 0;
    for (int step = 0; step < 12; ++step) {
      const bool is_raw = random() % 2 == 0;
      const auto begin = static_cast<int64_t>(random() % 360);
      const auto bytes = static_cast<int64_t>(1 + random() % 40);
      const auto free = kinds.substr(static_cast<size_t>(begin), static_cast<size_t>(bytes));
      if (!is_raw && free.find('r') != std::string::npos) {
        continue;  // raw data stay raw data
      }
      ASSERT_TRUE(file.write(is_raw ? H5FD_MEM_DRAW : H5FD_MEM_OHDR, begin, bytes, ones.data()).ok());
      std::fill_n(kinds.begin() + begin, bytes, is_raw ? 'r' : 'm');
      metadata_end = is_raw ? metadata_end : std::max(metadata_end, begin + bytes);
    }
    std::string told(400, '.');
    int64_t before = -1;
    for (const ByteRange& range : file.metadata()) {
      EXPECT_LT(before, range.begin) << "seed " << seed;
      before = range.end;
      EXPECT_LE(range.end, metadata_end) << "seed " << seed;
      std::fill(told.begin() + range.begin, told.begin() + range.end, 'm');
    }
    for (size_t i = 0; i < kinds.size(); ++i) {
      EXPECT_TRUE(kinds[i] == '.' || (kinds[i] == 'm') == (told[i] == 'm')) << "seed " << seed << ", byte " << i;
    }
  }
}

TEST(TargetFile, HeapsAreMetadata) {
  const auto storage = new_file();
  h5::TargetFile file(*storage);
  Bytes heap(4096, std::byte{7});
  const char head[] = {'G', 'C', 'O', 'L', 1, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0};  // 4,096 bytes
  std::copy_n(reinterpret_cast<const std::byte*>(head), sizeof head, heap.begin());
  ASSERT_TRUE(file.write(H5FD_MEM_DRAW, 0, 4096, heap.data()).ok());
  ASSERT_TRUE(file.write(H5FD_MEM_DRAW, 8192, 2048, heap.data()).ok());  // data that only begin so
  ASSERT_EQ(file.metadata().size(), 1u);
  EXPECT_EQ(file.metadata()[0], (ByteRange{0, 4096}));
}

TEST(TargetFile, ZerosAtTheEndStayAHole) {
  const auto storage = new_file();
  h5::TargetFile file(*storage);
  const Bytes zeros(8192);
  ASSERT_TRUE(file.write(H5FD_MEM_DRAW, 100, 8192, zeros.data()).ok());
  EXPECT_EQ(storage->size().value(), 0);
  EXPECT_EQ(file.end(), 8292);
  Bytes read(8192, std::byte{7});
  ASSERT_TRUE(file.read(100, 8192, read.data()).ok());
  EXPECT_EQ(read, zeros);
  const Bytes ones(8192, std::byte{1});
  ASSERT_TRUE(file.write(H5FD_MEM_DRAW, 100, 8192, ones.data()).ok());
  // What was there is overwritten.
  ASSERT_TRUE(file.write(H5FD_MEM_DRAW, 100, 8192, zeros.data()).ok());
  ASSERT_TRUE(file.read(100, 8192, read.data()).ok());
  EXPECT_EQ(read, zeros);
}

Bytes made_by_hdf5(H5F_libver_t release, hsize_t user_block) {
  const test::TemporaryFile file("copy_test.h5");
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_userblock(creation, user_block);
  H5Pset_libver_bounds(access, release, H5F_LIBVER_LATEST);
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, creation, access);
  H5Gclose(H5Gcreate2(made, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose(made);
  H5Pclose(creation);
  H5Pclose(access);
  return file.read();
}

TEST(EditedSuperblock, LeadsToAnotherRootInEveryVersion) {
  for (const H5F_libver_t release : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110}) {
    for (const hsize_t user_block : {0, 512, 2048}) {
      Bytes bytes = made_by_hdf5(release, user_block);
      BytesFile file(bytes);
      auto superblock = h5::EditedSuperblock::find(file);
      ASSERT_TRUE(superblock.ok()) << superblock.status().message();
      EXPECT_EQ(superblock->offset(), static_cast<int64_t>(user_block));
      EXPECT_EQ(superblock->version(), release == H5F_LIBVER_EARLIEST ? 0 : release == H5F_LIBVER_V18 ? 2 : 3);
      const auto before = superblock->bytes();
      const int64_t root = superblock->root();
      superblock->set_root(root + 8);
      EXPECT_NE(superblock->bytes(), before);
      superblock->set_root(root);
      std::copy(superblock->bytes().begin(), superblock->bytes().end(), bytes.begin() + superblock->offset());
      const test::TemporaryFile again("copy_test_again.h5");
      again.write(bytes);
      const hid_t opened = H5Fopen(again.path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
      EXPECT_GE(opened, 0);
      EXPECT_GT(H5Lexists(opened, "g", H5P_DEFAULT), 0);
      H5Fclose(opened);
    }
  }
  BytesFile text(Bytes(2000, std::byte{'x'}));
  EXPECT_EQ(h5::EditedSuperblock::find(text).status().code(), ErrorCode::kFormat);
  Bytes cut = made_by_hdf5(H5F_LIBVER_V18, 0);
  cut.resize(20);
  BytesFile cut_file(cut);
  EXPECT_EQ(h5::EditedSuperblock::find(cut_file).status().code(), ErrorCode::kCorrupted);
}

TEST(OverlaidFile, ReadsAsIfBytesWereReplaced) {
  std::mt19937 random(1);
  Bytes expected(300);
  BytesFile file(Bytes(200, std::byte{9}));
  std::fill_n(expected.begin(), 200, std::byte{9});
  h5::OverlaidFile overlaid(file, 300);
  for (const auto& [offset, bytes] : {std::pair(0, 10), std::pair(10, 5), std::pair(100, 60), std::pair(190, 30)}) {
    overlaid.put(offset, Bytes(static_cast<size_t>(bytes), std::byte(offset)));
    std::fill_n(expected.begin() + offset, bytes, std::byte(offset));
  }
  for (int step = 0; step < 500; ++step) {
    const auto begin = static_cast<int64_t>(random() % 300);
    const auto bytes = static_cast<int64_t>(1 + random() % static_cast<uint64_t>(300 - begin));
    Bytes read(static_cast<size_t>(bytes), std::byte{1});
    const storage::ReadSegment segment{begin, read.data(), bytes};
    ASSERT_EQ(overlaid.read({&segment, 1}).value(), bytes);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), expected.begin() + begin)) << begin << " " << bytes;
  }
  const storage::WriteSegment write{0, expected.data(), 1};
  EXPECT_FALSE(overlaid.write({&write, 1}).ok());
}

TEST(HeaderBlock, RefusesWhatIsCutShort) {
  for (const H5F_libver_t release : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18}) {
    Bytes bytes = made_by_hdf5(release, 0);
    BytesFile whole(bytes);
    const int64_t root = h5::EditedSuperblock::find(whole)->root();
    const auto blocks = h5::read_blocks(whole, root, 0);
    ASSERT_TRUE(blocks.ok()) << blocks.status().message();
    const auto messages = h5::messages_of(blocks->front());
    ASSERT_TRUE(messages.ok());
    EXPECT_FALSE(messages->empty());
    auto same = blocks->front();
    same.renew_sum();
    EXPECT_EQ(same.bytes, blocks->front().bytes);
    const auto end = static_cast<size_t>(root) + blocks->front().bytes.size();
    for (size_t cut = static_cast<size_t>(root); cut < end; ++cut) {
      BytesFile file(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)));
      EXPECT_FALSE(h5::read_blocks(file, root, 0).ok()) << cut;
    }
  }
}

}  // namespace
}  // namespace stria::container
