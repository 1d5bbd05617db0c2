// The beginning of a file, mapped to be read. Lives as long as anybody uses it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace stria::server {

class Mapping {
 public:
  /// May reach beyond the file's end, where nothing may be read. Null when it can't be mapped.
  static std::shared_ptr<const Mapping> of(int descriptor, int64_t bytes) {
    void* place = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, descriptor, 0);
    return place == MAP_FAILED ? nullptr : std::make_shared<const Mapping>(static_cast<std::byte*>(place), bytes);
  }
  Mapping(std::byte* place, int64_t bytes) : place_(place), bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(place_, static_cast<size_t>(bytes_)); }

  const std::byte* data() const { return place_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::byte* place_;
  int64_t bytes_;
};

}  // namespace stria::server
