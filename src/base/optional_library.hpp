// Shared libraries that need not be there: looked for when they are first needed.
#pragma once

#include <dlfcn.h>

#include <string>

#include "stria/status.hpp"

namespace stria {

class OptionalLibrary {
 public:
  /// `need`: what needs it, and what to install; the beginning of the error. The library stays
  /// loaded.
  OptionalLibrary(const char* file, std::string need) : need_(std::move(need)), library_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    note(library_ != nullptr);
  }
  template <typename Function>
  void find(const char* name, Function& function) {
    function = status_.ok() ? reinterpret_cast<Function>(dlsym(library_, name)) : nullptr;
    note(function != nullptr);
  }
  /// kUnsupported where the library or one of its functions is missing, with the loader's reason.
  const Status& status() const { return status_; }

 private:
  void note(bool found) {
    if (!found && status_.ok()) {
      const char* const reason = dlerror();
      status_ = Status(ErrorCode::kUnsupported, need_ + ": " + (reason == nullptr ? "it can't be loaded" : reason));
    }
  }

  std::string need_;
  void* library_;
  Status status_;
};

}  // namespace stria
