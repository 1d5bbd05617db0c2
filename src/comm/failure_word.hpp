// A word in memory that the ranks of a node share. It holds the last operation that one of them
// could not carry out.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/check.hpp"

namespace stria {

/// One operation and the word that tells whether it has failed. The operations of a word count
/// from 1, in the same way on all ranks. The ranks agree on the outcome of one operation before
/// the next begins.
class FailureWord {
 public:
  FailureWord() = default;  ///< no rank shares it, and nothing is heard
  /// \pre operation > 0
  FailureWord(std::atomic<uint32_t>& word, uint32_t operation) : word_(&word), operation_(operation) {
    STRIA_ASSERT(operation > 0);  // the word is 0 before any has failed
  }

  /// Tells the other ranks that the operation has failed here.
  void tell() const {
    if (word_ != nullptr) {
      word_->store(operation_);
    }
  }
  /// True once a rank has called tell(). Costs one read of memory.
  bool heard() const { return word_ != nullptr && word_->load(std::memory_order_relaxed) == operation_; }

 private:
  std::atomic<uint32_t>* word_ = nullptr;
  uint32_t operation_ = 0;
};

}  // namespace stria
