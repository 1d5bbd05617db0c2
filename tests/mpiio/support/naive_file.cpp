#include "mpiio/support/naive_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace mpiio {

namespace {

// Caching file systems in user space may keep their pages when a file is opened again.
void forget_pages(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
    close(descriptor);
  }
}

}  // namespace

uint8_t mark(uint64_t seed, int64_t rank, int64_t position) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(rank) * 0xbf58476d1ce4e5b9u + static_cast<uint64_t>(position);
  x ^= x >> 29;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 32;
  return static_cast<uint8_t>(x | 1);  // never 0, which stands for a hole
}

Memory::Memory(const Shape& shape, int64_t copies, uint8_t fill) {
  constexpr int64_t kMargin = 64;
  int64_t low = 0;
  int64_t high = 0;
  for (int64_t i = 0; i < copies * shape.size(); ++i) {
    low = std::min(low, shape.at(i));
    high = std::max(high, shape.at(i) + 1);
  }
  before_ = kMargin - low;
  before_ += (16 - before_ % 16) % 16;  // Its memory is as aligned as malloc's.
  bytes_.assign(static_cast<size_t>(before_ + high + kMargin), fill);
}

int64_t Memory::first_difference(const Memory& other) const {
  const auto place = std::mismatch(bytes_.begin(), bytes_.end(), other.bytes_.begin());
  return place.first - bytes_.begin() - before_;
}

void NaiveFile::write(int64_t offset, uint8_t value) {
  if (offset >= size()) {
    bytes.resize(static_cast<size_t>(offset) + 1, 0);
  }
  bytes[static_cast<size_t>(offset)] = value;
}

int64_t NaiveFile::visible_bytes(const View& view) const {
  int64_t count = 0;
  while (view.filetype.size() > 0 && view.offset_of(count) < size()) {
    ++count;
  }
  return count;
}

void make_file(const std::string& path, const std::vector<uint8_t>& bytes) {
  unlink(path.c_str());
  if (bytes.empty()) {
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  EXPECT(file.good(), path, " can't be made");
}

std::vector<uint8_t> read_file(const std::string& path) {
  forget_pages(path);
  std::ifstream file(path, std::ios::binary);
  EXPECT(file.good(), path, " can't be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void expect_same(const std::vector<uint8_t>& got, const std::vector<uint8_t>& wanted, const std::string& what) {
  EXPECT(got.size() == wanted.size(), what, ": ", got.size(), " bytes, not ", wanted.size());
  const size_t common = std::min(got.size(), wanted.size());
  const auto place =
      std::mismatch(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(common), wanted.begin()).first - got.begin();
  EXPECT(static_cast<size_t>(place) == common, what, ": byte ", place, " is ", int{got[static_cast<size_t>(place)]}, ", not ",
         int{wanted[static_cast<size_t>(place)]});
}

}  // namespace mpiio
