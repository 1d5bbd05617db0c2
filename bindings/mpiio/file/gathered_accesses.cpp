#include "mpiio/file/gathered_accesses.hpp"

#include <utility>

#include "base/check.hpp"

namespace stria::mpiio {

namespace {

// How many files of this process have something to settle.
std::atomic<int> keeping_files{0};

}  // namespace

bool GatheredAccesses::any_keeps() {
  return keeping_files.load(std::memory_order_acquire) > 0;
}

void GatheredAccesses::note_keeping(bool keeps) {
  if (keeps != keeps_.load(std::memory_order_relaxed)) {
    keeps_.store(keeps, std::memory_order_release);
    keeping_files.fetch_add(keeps ? 1 : -1);
  }
}

void GatheredAccesses::note_access(const Status& late) {
  note_keeping(requests_->keeps());
  if (!late.ok()) {
    late_(late);
  }
}

void GatheredAccesses::begin(storage::SmallRequests::Options options, std::function<void(const Status&)> late) {
  requests_ = std::make_unique<storage::SmallRequests>(std::move(options));
  late_ = std::move(late);
}

Status GatheredAccesses::write(int64_t offset, std::span<const std::byte> data) {
  STRIA_ASSERT(has_begun());
  Status late;
  Status written = requests_->write(offset, data, late);
  note_access(late);
  return written;
}

Result<int64_t> GatheredAccesses::read(int64_t offset, std::span<std::byte> data) {
  STRIA_ASSERT(has_begun());
  Status late;
  auto bytes = requests_->read(offset, data, late);
  note_access(late);
  return bytes;
}

void GatheredAccesses::settle() {
  if (!has_begun()) {
    return;
  }
  requests_->forget();
  if (keeps()) {
    note_access(requests_->write_out());
  }
}

void GatheredAccesses::end() {
  settle();
  requests_.reset();
}

void GatheredAccesses::drop() {
  requests_.reset();
  note_keeping(false);
}

}  // namespace stria::mpiio
