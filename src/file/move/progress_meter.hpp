// Tells a program how far a transfer has come, not too often.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "file/move/transfer.hpp"
#include "stria/file.hpp"

namespace stria::file {

class ProgressMeter {
 public:
  /// Counts the transfers of one call on this rank. `report` may be empty, and must outlive this.
  ProgressMeter(const std::function<void(const Progress&)>& report, std::span<const Transfer> transfers);

  /// Counts so many more bytes that have passed by.
  void advance(int64_t bytes);
  /// All of them have arrived.
  void finish();

 private:
  void tell() noexcept;

  const std::function<void(const Progress&)>& report_;
  Progress progress_;
  int64_t next_bytes_ = 0;  // to be told of
};

}  // namespace stria::file
