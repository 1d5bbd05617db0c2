#include "limits/limit_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/byte_range.hpp"
#include "limits/plain_file.hpp"

namespace stria::flash {
namespace {

constexpr int64_t kPageBytes = 4096;
constexpr int64_t kDoubleBytes = 8;
constexpr int64_t kFloatBytes = 4;
// Runs in the staging buffer start this much further apart than needed, because powers of two would
// share a few cache sets.
constexpr int64_t kRunPadBytes = 128;

std::vector<int64_t> all_variables(const Unk& unk) {
  std::vector<int64_t> variables(static_cast<size_t>(unk.parameters().nvar));
  std::iota(variables.begin(), variables.end(), 0);
  return variables;
}

}  // namespace

LimitFiles::LimitFiles(const Unk& unk, int64_t staging_bytes) : unk_(unk), staging_limit_bytes_(staging_bytes) {}

LimitFiles::Buffer LimitFiles::allocate(int64_t bytes) {
  auto* memory = static_cast<double*>(std::aligned_alloc(kPageBytes, static_cast<size_t>(align_up(bytes, kPageBytes))));
  if (memory != nullptr) {
    // Touched before anything is timed.
    std::fill_n(memory, align_up(bytes, kPageBytes) / kDoubleBytes, 0.0);
  }
  return Buffer(memory);
}

Status LimitFiles::need_whole() {
  if (!whole_) {
    whole_ = allocate(run_bytes(kDoubleBytes) * unk_.parameters().nvar);
  }
  return whole_ ? Status() : Status(ErrorCode::kResourceExhausted, "no memory to pack all blocks of a rank");
}

Status LimitFiles::need_staging(int64_t bytes) {
  if (staging_size_bytes_ < bytes) {
    staging_ = allocate(bytes);
    staging_size_bytes_ = staging_ ? bytes : 0;
  }
  return staging_ ? Status() : Status(ErrorCode::kResourceExhausted, "no memory for the staging buffer");
}

int64_t LimitFiles::run_bytes(int64_t element_bytes) const {
  return unk_.blocks() * unk_.parameters().cells_per_block() * element_bytes;
}

int64_t LimitFiles::staged_blocks(int64_t variables, int64_t element_bytes) const {
  const int64_t block_bytes = variables * unk_.parameters().cells_per_block() * element_bytes;
  return std::clamp<int64_t>(staging_limit_bytes_ / block_bytes, 1, std::max<int64_t>(unk_.blocks(), 1));
}

Status LimitFiles::prepare_packed() {
  STRIA_RETURN_IF_ERROR(need_whole());
  pack_one_pass(unk_, {0, unk_.blocks()}, whole_.get(), unk_.blocks() * unk_.parameters().cells_per_block());
  return {};
}

FileRuns LimitFiles::runs(LimitWay way, const std::string& path) const {
  FileRuns runs{path, all_variables(unk_), {}, kDoubleBytes, false};
  const int64_t block_bytes = unk_.parameters().cells_per_block() * kDoubleBytes;
  const BlockPartition& partition = unk_.partition();
  int64_t first_byte = partition.first * block_bytes;
  int64_t step_bytes = partition.total * block_bytes;
  if (way != LimitWay::kPackWhole && way != LimitWay::kPackStaged) {
    first_byte *= unk_.parameters().nvar;
    step_bytes = partition.local * block_bytes;
  }
  // O_DIRECT wants aligned offsets; blocks of odd sizes get a little room each.
  if (way == LimitWay::kDirect) {
    first_byte = partition.first * align_up(block_bytes * unk_.parameters().nvar, kPageBytes);
  }
  if (way == LimitWay::kFilePerRank) {
    runs.path = fmt::format("{}.{}", path, partition.first);
    first_byte = 0;
  }
  for (const int64_t variable : runs.variables) {
    runs.offsets_bytes.push_back(first_byte + variable * step_bytes);
  }
  return runs;
}

FileRuns LimitFiles::plot_runs(const std::vector<int64_t>& variables, const std::string& path) const {
  FileRuns runs{path, variables, {}, kFloatBytes, false};
  const int64_t block_bytes = unk_.parameters().cells_per_block() * kFloatBytes;
  for (size_t n = 0; n < variables.size(); ++n) {
    runs.offsets_bytes.push_back((static_cast<int64_t>(n) * unk_.partition().total + unk_.partition().first) * block_bytes);
  }
  return runs;
}

Status LimitFiles::write(LimitWay way, const std::string& path, bool sync, LimitTimes* times) {
  if (way == LimitWay::kPackWhole) {
    STRIA_RETURN_IF_ERROR(need_whole());
  } else if (way != LimitWay::kPackStaged && !whole_) {
    STRIA_RETURN_IF_ERROR(prepare_packed());
  }
  PlainFile file;
  const int flags = O_CREAT | O_WRONLY | (way == LimitWay::kDirect ? O_DIRECT : 0);
  STRIA_RETURN_IF_ERROR(timed(&times->open_s, [&] { return file.open(runs(way, path).path, flags); }));
  STRIA_RETURN_IF_ERROR(way == LimitWay::kPackStaged ? write_staged(file.descriptor(), times)
                                                     : write_packed(way, file.descriptor(), times));
  if (sync) {
    STRIA_RETURN_IF_ERROR(timed(&times->sync_s, [&] { return file.sync(); }));
  }
  return timed(&times->close_s, [&] { return file.close(); });
}

Status LimitFiles::write_packed(LimitWay way, int descriptor, LimitTimes* times) {
  const FileRuns places = runs(way, {});
  const int64_t bytes = run_bytes(kDoubleBytes);
  const auto* packed = reinterpret_cast<const std::byte*>(whole_.get());
  if (way != LimitWay::kPackWhole) {
    int64_t total_bytes = bytes * unk_.parameters().nvar;
    if (way == LimitWay::kDirect) {
      total_bytes = align_up(total_bytes, kPageBytes);
    }
    return timed(&times->transfer_s, [&] { return write_all(descriptor, packed, total_bytes, places.offsets_bytes[0]); });
  }
  const double pack_start_s = now_s();
  STRIA_RETURN_IF_ERROR(prepare_packed());
  times->pack_s += now_s() - pack_start_s;
  return timed(&times->transfer_s, [&] {
    for (size_t n = 0; n < places.offsets_bytes.size(); ++n) {
      const auto* run = packed + static_cast<int64_t>(n) * bytes;
      STRIA_RETURN_IF_ERROR(write_all(descriptor, run, bytes, places.offsets_bytes[n]));
    }
    return Status();
  });
}

Status LimitFiles::write_staged(int descriptor, LimitTimes* times) {
  const int64_t block_bytes = unk_.parameters().cells_per_block() * kDoubleBytes;
  const int64_t batch = staged_blocks(unk_.parameters().nvar, kDoubleBytes);
  const int64_t stride_bytes = batch * block_bytes + kRunPadBytes;
  STRIA_RETURN_IF_ERROR(need_staging(stride_bytes * unk_.parameters().nvar));
  const FileRuns places = runs(LimitWay::kPackStaged, {});
  for (int64_t first = 0; first < unk_.blocks(); first += batch) {
    const BlockSpan span{first, std::min(batch, unk_.blocks() - first)};
    const double pack_start_s = now_s();
    pack_one_pass(unk_, span, staging_.get(), stride_bytes / kDoubleBytes);
    const double write_start_s = now_s();
    times->pack_s += write_start_s - pack_start_s;
    for (size_t n = 0; n < places.offsets_bytes.size(); ++n) {
      const auto* run = reinterpret_cast<const std::byte*>(staging_.get()) + static_cast<int64_t>(n) * stride_bytes;
      STRIA_RETURN_IF_ERROR(
          write_all(descriptor, run, span.count * block_bytes, places.offsets_bytes[n] + first * block_bytes));
    }
    times->transfer_s += now_s() - write_start_s;
  }
  return {};
}

Status LimitFiles::write_plot(const std::vector<int64_t>& variables, const std::string& path, bool sync, LimitTimes* times) {
  const int64_t block_bytes = unk_.parameters().cells_per_block() * kFloatBytes;
  const int64_t batch = staged_blocks(static_cast<int64_t>(variables.size()), kFloatBytes);
  const int64_t stride_bytes = align_up(batch * block_bytes, kRunPadBytes) + kRunPadBytes;
  STRIA_RETURN_IF_ERROR(need_staging(stride_bytes * static_cast<int64_t>(variables.size())));
  const FileRuns places = plot_runs(variables, path);
  PlainFile file;
  STRIA_RETURN_IF_ERROR(timed(&times->open_s, [&] { return file.open(path, O_CREAT | O_WRONLY); }));
  for (int64_t first = 0; first < unk_.blocks(); first += batch) {
    const BlockSpan span{first, std::min(batch, unk_.blocks() - first)};
    const double pack_start_s = now_s();
    auto* staging = reinterpret_cast<std::byte*>(staging_.get());
    pack_one_pass_to_float(unk_, variables, span, reinterpret_cast<float*>(staging), stride_bytes / kFloatBytes);
    const double write_start_s = now_s();
    times->pack_s += write_start_s - pack_start_s;
    for (size_t n = 0; n < variables.size(); ++n) {
      STRIA_RETURN_IF_ERROR(write_all(file.descriptor(), staging + static_cast<int64_t>(n) * stride_bytes,
                                      span.count * block_bytes, places.offsets_bytes[n] + first * block_bytes));
    }
    times->transfer_s += now_s() - write_start_s;
  }
  if (sync) {
    STRIA_RETURN_IF_ERROR(timed(&times->sync_s, [&] { return file.sync(); }));
  }
  return timed(&times->close_s, [&] { return file.close(); });
}

Status LimitFiles::read(const std::string& path, Unk* target, LimitTimes* times) {
  const int64_t block_bytes = unk_.parameters().cells_per_block() * kDoubleBytes;
  const int64_t batch = staged_blocks(unk_.parameters().nvar, kDoubleBytes);
  const int64_t stride_bytes = batch * block_bytes + kRunPadBytes;
  STRIA_RETURN_IF_ERROR(need_staging(stride_bytes * unk_.parameters().nvar));
  const FileRuns places = runs(LimitWay::kPackStaged, path);
  PlainFile file;
  STRIA_RETURN_IF_ERROR(timed(&times->open_s, [&] { return file.open(path, O_RDONLY); }));
  for (int64_t first = 0; first < unk_.blocks(); first += batch) {
    const BlockSpan span{first, std::min(batch, unk_.blocks() - first)};
    const double read_start_s = now_s();
    for (size_t n = 0; n < places.offsets_bytes.size(); ++n) {
      auto* run = reinterpret_cast<std::byte*>(staging_.get()) + static_cast<int64_t>(n) * stride_bytes;
      STRIA_RETURN_IF_ERROR(
          read_all(file.descriptor(), run, span.count * block_bytes, places.offsets_bytes[n] + first * block_bytes));
    }
    const double unpack_start_s = now_s();
    times->transfer_s += unpack_start_s - read_start_s;
    unpack_one_pass(staging_.get(), stride_bytes / kDoubleBytes, span, target);
    times->pack_s += now_s() - unpack_start_s;
  }
  return timed(&times->close_s, [&] { return file.close(); });
}

}  // namespace stria::flash
