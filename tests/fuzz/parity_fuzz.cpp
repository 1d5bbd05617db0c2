// Takes arbitrary bytes as the parity file of a file: nothing may crash or hang, and what is read
// by it has the sums that it claims.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "file/checksums/seal.hpp"
#include "file/parity/healed_file.hpp"
#include "file/parity/parity_set.hpp"
#include "file/parity/repair.hpp"
#include "storage/memory/memory_driver.hpp"

namespace {

using stria::file::ParityHead;
using stria::file::ParitySet;
using Bytes = std::vector<std::byte>;

constexpr const char* kName = "a.h5";
constexpr const char* kParity = "a.h5.parity-1-0";
constexpr size_t kFixedBytes = 24;  // the bytes of a head, before what its sum is of
constexpr size_t kSumBytes = 8;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void put(stria::storage::MemoryDriver& driver, const char* name, const Bytes& bytes) {
  const auto file = driver.open(name, {.mode = stria::storage::OpenOptions::Mode::kCreate}).value();
  const stria::storage::WriteSegment segment{0, bytes.data(), static_cast<int64_t>(bytes.size())};
  require(bytes.empty() || file->write(std::span(&segment, 1)).ok());
}

void check(const Bytes& parity) {
  const auto driver = std::make_shared<stria::storage::MemoryDriver>();
  put(*driver, kName, Bytes(5000, std::byte{7}));
  put(*driver, kParity, parity);
  const auto set = ParitySet::find(driver, kName);
  if (!set.ok()) {
    return;
  }
  const ParityHead& head = (*set)->head();
  require(head.unit_count() <= 255 && head.longest_bytes() <= static_cast<int64_t>(parity.size() + 5000));
  for (int64_t stripe = 0; stripe < head.stripe_count(); ++stripe) {
    const auto read = (*set)->read_stripe(stripe);
    require(read.ok());
    for (int unit = 0; !(*read)->is_beyond_repair && unit < head.unit_count(); ++unit) {
      const Bytes made((*read)->units[static_cast<size_t>(unit)],
                       (*read)->units[static_cast<size_t>(unit)] + head.bytes_of(stripe, unit));
      // What was made again is right only where the parity is: that is not asked of noise.
      require((*read)->was_wrong[static_cast<size_t>(unit)] ||
              stria::file::sum_of(made) == (*read)->record[static_cast<size_t>(unit)]);
    }
  }
  stria::file::HealedFile healed(*set, kName, kName);
  Bytes all(1 << 16);
  const stria::storage::ReadSegment segment{0, all.data(), static_cast<int64_t>(all.size())};
  static_cast<void>(healed.read(std::span(&segment, 1)));
  static_cast<void>(stria::file::check_parity(driver, kName));
  static_cast<void>(stria::file::repair_file(driver, kName, {.force = true}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  Bytes bytes(first, first + size);
  check(bytes);
  if (bytes.size() < kFixedBytes + kSumBytes) {
    return 0;
  }
  // The same with a beginning, a length and a sum that fit, so that what lies behind is reached.
  std::memcpy(bytes.data(), "STRIAPAR", 8);
  int64_t length = 0;
  std::memcpy(&length, bytes.data() + 16, sizeof length);
  const auto most = static_cast<int64_t>(bytes.size() - kFixedBytes);
  length = std::clamp<int64_t>(length, kSumBytes, most);
  std::memcpy(bytes.data() + 16, &length, sizeof length);
  const uint64_t sum =
      stria::file::sum_of(std::span(bytes).subspan(kFixedBytes + kSumBytes, static_cast<size_t>(length) - kSumBytes));
  std::memcpy(bytes.data() + kFixedBytes, &sum, sizeof sum);
  check(bytes);
  return 0;
}
