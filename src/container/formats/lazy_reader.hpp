// A file's reader that is opened when it is first wanted.
//
// Problem: opening the reader costs some reads of the file, and most ranks never need it.
// Method: whoever wants the reader names the open file; the first one has it opened.
#pragma once

#include <memory>

#include "base/check.hpp"
#include "container/container.hpp"
#include "container/formats/formats.hpp"

namespace stria::container {

/// Everything here is local.
class LazyReader {
 public:
  /// Returns the reader of `file`, which is the same in each call up to close(), and stays open as
  /// long as the reader.
  Result<Reader*> of(storage::File& file) {
    if (reader_ == nullptr) {
      STRIA_ASSIGN_OR_RETURN(reader_, open_file(file));
    }
    return reader_.get();
  }
  void close() noexcept { reader_ = nullptr; }

  /// Returns the reader, or null where nobody has wanted it yet.
  Reader* get() const { return reader_.get(); }
  /// \pre it has been wanted
  Reader& operator*() const {
    STRIA_ASSERT(reader_ != nullptr);
    return *reader_;
  }
  Reader* operator->() const { return &**this; }

 private:
  std::unique_ptr<Reader> reader_;
};

}  // namespace stria::container
