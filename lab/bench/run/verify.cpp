#include "run/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "storage/registry/registry.hpp"
#include "workload/value.hpp"

namespace stria::bench {

namespace {

constexpr std::byte kGap{0xa5};
constexpr int64_t kWindowBytes = 4 << 20;

/// Says what a part's bytes are.
class Values {
 public:
  Values(const Job& job, const Part& part, int round) : array_(job.workload.arrays[part.array]) {
    const size_t number = array_.values_like < 0 ? part.array : static_cast<size_t>(array_.values_like);
    key_ = {job.workload.is_file_a_rank ? job.owner + 1 : 0, number, round};
  }
  void fill(int64_t offset, int64_t bytes, std::byte* target) const { fill_values(key_, place(offset), bytes, target); }
  /// Returns the offset of the first wrong byte, or -1.
  int64_t wrong(int64_t offset, int64_t bytes, const std::byte* found) const {
    const int64_t at = first_difference(key_, place(offset), bytes, found);
    return at < 0 ? -1 : at - place(offset) + offset;
  }

 private:
  int64_t place(int64_t offset) const { return array_.period_bytes == 0 ? offset : offset % array_.period_bytes; }
  const Array& array_;
  ValueKey key_;
};

/// Calls `take(part, piece)` for all pieces of a job.
template <typename Take>
void for_all_pieces(const Job& job, Take take) {
  for (const Call& call : job.workload.calls) {
    for (const Part& part : call.parts) {
      for_each_piece(job.workload, part, [&](const Piece& piece) { take(part, piece); });
    }
  }
}

/// A file read through a window that moves with the reader.
class Window {
 public:
  explicit Window(const std::string& path)
      : driver_(storage::make_driver("posix").value()), file_(driver_->open(path, {}).value()) {}
  /// Returns the bytes from `offset` on that are at hand, at most `bytes`; none where the file
  /// ends.
  std::span<const std::byte> at(int64_t offset, int64_t bytes) {
    if (offset < begin_ || offset >= begin_ + have_) {
      data_.resize(static_cast<size_t>(kWindowBytes));
      begin_ = offset;
      const storage::ReadSegment segment{offset, data_.data(), kWindowBytes};
      have_ = file_->read({&segment, 1}).value();
    }
    return {data_.data() + (offset - begin_), static_cast<size_t>(std::min(bytes, begin_ + have_ - offset))};
  }

 private:
  std::shared_ptr<storage::Driver> driver_;
  std::unique_ptr<storage::File> file_;
  std::vector<std::byte> data_;
  int64_t begin_ = 0;
  int64_t have_ = 0;
};

}  // namespace

void fill_memory(const Job& job, int round) {
  std::fill_n(job.memory, job.workload.memory_bytes, kGap);
  for_all_pieces(job, [&](const Part& part, const Piece& piece) {
    Values(job, part, round).fill(piece.file_bytes, piece.bytes, job.memory + piece.memory_bytes);
  });
}

void clear_memory(const Job& job) {
  std::fill_n(job.memory, job.workload.memory_bytes, kGap);
  for_all_pieces(
      job, [&](const Part&, const Piece& piece) { std::fill_n(job.memory + piece.memory_bytes, piece.bytes, std::byte{}); });
}

std::string check_memory(const Job& job, int round) {
  std::string wrong;
  for_all_pieces(job, [&](const Part& part, const Piece& piece) {
    const int64_t place = Values(job, part, round).wrong(piece.file_bytes, piece.bytes, job.memory + piece.memory_bytes);
    if (place >= 0 && wrong.empty()) {
      wrong = fmt::format("read wrong: byte {} of array '{}'", place, job.workload.arrays[part.array].name);
    }
  });
  for_all_pieces(job,
                 [&](const Part&, const Piece& piece) { std::fill_n(job.memory + piece.memory_bytes, piece.bytes, kGap); });
  const std::byte* end = job.memory + job.workload.memory_bytes;
  const std::byte* touched =
      std::find_if(static_cast<const std::byte*>(job.memory), end, [](std::byte b) { return b != kGap; });
  if (wrong.empty() && touched != end) {
    wrong = fmt::format("read into a gap of memory: byte {} of rank {}'s", touched - job.memory, job.owner);
  }
  return wrong;
}

std::string check_file(const Job& job, const std::string& path, const std::vector<int64_t>& places, int round) {
  Window window(path);
  std::string wrong;
  for_all_pieces(job, [&](const Part& part, const Piece& piece) {
    if (places[part.array] < 0) {
      return;
    }
    for (int64_t done = 0; done < piece.bytes && wrong.empty();) {
      const auto found = window.at(places[part.array] + piece.file_bytes + done, piece.bytes - done);
      const int64_t first = piece.file_bytes + done;
      const int64_t place =
          found.empty() ? first : Values(job, part, round).wrong(first, static_cast<int64_t>(found.size()), found.data());
      if (place >= 0) {
        wrong = fmt::format("'{}' is wrong {} byte {} of array '{}'", path, found.empty() ? "and ends before" : "at", place,
                            job.workload.arrays[part.array].name);
      }
      done += static_cast<int64_t>(found.size());
    }
  });
  return wrong;
}

}  // namespace stria::bench
