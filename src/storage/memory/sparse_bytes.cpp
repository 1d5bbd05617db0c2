#include "storage/memory/sparse_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "base/byte_range.hpp"

namespace stria::storage {

namespace {

/// Calls body(page_index, offset_in_page, done, bytes) for each page that [offset,
/// offset + bytes) meets.
template <typename Body>
void for_each_page(int64_t offset, int64_t bytes, Body body) {
  for (int64_t done = 0; done < bytes;) {
    const int64_t within = (offset + done) % SparseBytes::kPageBytes;
    const int64_t now = std::min(bytes - done, SparseBytes::kPageBytes - within);
    body((offset + done) / SparseBytes::kPageBytes, within, done, now);
    done += now;
  }
}

}  // namespace

SparseBytes::Page& SparseBytes::page_to_write(int64_t index) {
  std::shared_ptr<Page>& page = pages_[index];
  if (page == nullptr) {
    page = std::make_shared<Page>();
    page->fill(std::byte{0});
  } else if (page.use_count() > 1) {
    page = std::make_shared<Page>(*page);
  }
  return *page;
}

void SparseBytes::write(int64_t offset, const std::byte* data, int64_t bytes) {
  for_each_page(offset, bytes, [&](int64_t index, int64_t within, int64_t done, int64_t now) {
    std::memcpy(page_to_write(index).data() + within, data + done, static_cast<size_t>(now));
  });
  if (bytes > 0) {
    size_ = std::max(size_, offset + bytes);
  }
}

int64_t SparseBytes::read(int64_t offset, std::byte* data, int64_t bytes) const {
  const int64_t available = std::clamp<int64_t>(size_ - offset, 0, bytes);
  for_each_page(offset, available, [&](int64_t index, int64_t within, int64_t done, int64_t now) {
    const auto page = pages_.find(index);
    if (page == pages_.end()) {
      std::memset(data + done, 0, static_cast<size_t>(now));
    } else {
      std::memcpy(data + done, page->second->data() + within, static_cast<size_t>(now));
    }
  });
  return available;
}

void SparseBytes::resize(int64_t bytes) {
  if (bytes < size_) {
    // Bytes past the new end must read as zero if the file grows again.
    pages_.erase(pages_.lower_bound(align_up(bytes, kPageBytes) / kPageBytes), pages_.end());
    const int64_t last = bytes / kPageBytes;
    if (pages_.contains(last)) {
      Page& page = page_to_write(last);
      std::fill(page.begin() + bytes % kPageBytes, page.end(), std::byte{0});
    }
  }
  size_ = bytes;
}

SparseBytes SparseBytes::mix(const SparseBytes& before, const SparseBytes& after, std::mt19937_64& random) {
  SparseBytes mixed = before;
  for (const auto& [index, page] : after.pages_) {
    if (random() % 2 == 0) {
      mixed.pages_[index] = page;
    }
  }
  const int64_t size = random() % 2 == 0 ? before.size_ : after.size_;
  mixed.size_ = std::max(before.size_, after.size_);
  mixed.resize(size);
  return mixed;
}

}  // namespace stria::storage
