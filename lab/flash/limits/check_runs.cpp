#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "limits/limit_files.hpp"
#include "limits/plain_file.hpp"
#include "workload/block_check.hpp"

namespace stria::flash {
namespace {

void swap_bytes(std::vector<std::byte>* bytes, int64_t element_bytes) {
  for (auto element = bytes->begin(); element != bytes->end(); element += element_bytes) {
    std::reverse(element, element + element_bytes);
  }
}

std::string check_bytes(const Unk& unk, int64_t block, int64_t variable, const std::vector<std::byte>& bytes,
                        int64_t element_bytes) {
  if (element_bytes == 4) {
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return check_packed_block(unk.parameters(), block, variable, values.data());
  }
  std::vector<double> values(bytes.size() / 8);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return check_packed_block(unk.parameters(), block, variable, values.data());
}

}  // namespace

std::string check_file_runs(const FileRuns& runs, const Unk& unk) {
  PlainFile file;
  if (const Status opened = file.open(runs.path, O_RDONLY); !opened.ok()) {
    return opened.message();
  }
  const int64_t block_bytes = unk.parameters().cells_per_block() * runs.element_bytes;
  std::vector<std::byte> bytes(static_cast<size_t>(block_bytes));
  for (size_t n = 0; n < runs.variables.size(); ++n) {
    for (int64_t block = 0; block < unk.blocks(); ++block) {
      const int64_t offset = runs.offsets_bytes[n] + block * block_bytes;
      if (const Status read = read_all(file.descriptor(), bytes.data(), block_bytes, offset); !read.ok()) {
        return fmt::format("{}: {}", runs.path, read.message());
      }
      if (runs.big_endian) {
        swap_bytes(&bytes, runs.element_bytes);
      }
      const std::string wrong = check_bytes(unk, unk.partition().first + block, runs.variables[n], bytes, runs.element_bytes);
      if (!wrong.empty()) {
        return fmt::format("{} at byte {}: {}", runs.path, offset, wrong);
      }
    }
  }
  return {};
}

}  // namespace stria::flash
