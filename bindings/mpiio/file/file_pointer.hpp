// A file's view and the individual file pointer in it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "mpiio/file/view.hpp"

namespace stria::mpiio {

/// The pointer counts bytes of the view's stream, whole etypes; a new view puts it at
/// the beginning.
class FilePointer {
 public:
  /// `several_threads`: the program may call from several at once.
  explicit FilePointer(bool several_threads) : several_threads_(several_threads) {}

  /// Lets in one thread at a time. It is held from reading the pointer until it has been moved.
  /// Taken before OpenStorage::hold().
  std::unique_lock<std::mutex> hold() { return several_threads_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>(); }
  const View& view() const { return *view_; }
  /// An operation that may end after the view is replaced keeps this.
  const std::shared_ptr<const View>& shared_view() const { return view_; }
  void set_view(std::shared_ptr<const View> view) {
    view_ = std::move(view);
    position_ = 0;
  }

  int64_t position() const { return position_; }
  /// \pre a whole number of etypes
  void move_to(int64_t position) {
    STRIA_ASSERT(position % view_->etype_bytes() == 0, position, view_->etype_bytes());
    position_ = position;
  }
  /// Moves behind the last etype that an access of so many bytes touched.
  void move_behind(int64_t position, int64_t bytes) { position_ = position + align_up(bytes, view_->etype_bytes()); }

 private:
  bool several_threads_;
  std::mutex mutex_;
  std::shared_ptr<const View> view_ = std::make_shared<View>();
  int64_t position_ = 0;
};

}  // namespace stria::mpiio
