#include "base/hash.hpp"

#include <xxhash.h>

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // from here on XXH3_64bits is the variant that suits the processor
#endif

#include <new>
#include <utility>

namespace stria {

uint64_t hash_bytes(std::span<const std::byte> data) {
  return XXH3_64bits(data.data(), data.size());
}

StreamingHash::StreamingHash() : state_(XXH3_createState()) {
  if (state_ == nullptr) {
    throw std::bad_alloc();
  }
  reset();
}

StreamingHash::~StreamingHash() {
  XXH3_freeState(static_cast<XXH3_state_t*>(state_));
}

StreamingHash::StreamingHash(StreamingHash&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}

StreamingHash& StreamingHash::operator=(StreamingHash&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

void StreamingHash::reset() {
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_));
}

void StreamingHash::update(std::span<const std::byte> data) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state_), data.data(), data.size());
}

uint64_t StreamingHash::digest() const {
  return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_));
}

}  // namespace stria
