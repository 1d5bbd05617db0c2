// Lets a rank that runs out of memory during a collective operation go on until the others know.
//
// Problem: a rank that gave up there would leave the others waiting for its messages.
// Method: some memory is set aside at the beginning, when ranks can still agree on a failure. When
// memory runs out later, the operation has failed on this rank. The reserve then goes back to the
// system, and the messages take the little memory that they need from it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "stria/status.hpp"

namespace stria::access {

class MemoryReserve {
 public:
  /// Throws std::bad_alloc.
  void set_aside(size_t bytes) { reserve_ = std::make_unique_for_overwrite<std::byte[]>(bytes); }

  /// Runs work that the operation can do without. When memory runs out, the operation has failed.
  template <typename Work>
  void attempt(Work&& work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      give_back();
    }
  }

  /// Runs work without which the others would wait, with the reserve where it is needed. The
  /// work can be started again.
  template <typename Work>
  auto surely(Work&& work) -> decltype(work()) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      give_back();
    }
    return work();
  }

  /// kResourceExhausted once memory has run out.
  Status status() const {
    return ran_out_ ? Status(ErrorCode::kResourceExhausted, "out of memory in a collective operation") : Status();
  }
  bool ran_out() const { return ran_out_; }

 private:
  void give_back() {
    ran_out_ = true;
    reserve_.reset();
  }

  std::unique_ptr<std::byte[]> reserve_;
  bool ran_out_ = false;
};

}  // namespace stria::access
