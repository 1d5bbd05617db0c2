// Functions of a module of this process, by name.
#pragma once

#include <string>
#include <unordered_map>

namespace stria::hdf5::vol {

class Symbols {
 public:
  /// Finds the symbols of the module whose code is at `address`.
  explicit Symbols(const void* address);

  /// Null where the module has no such function, or shows none.
  void* find(const char* name) const;
  /// Returns the file that the module was loaded from; empty where nothing is known.
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  const void* base_ = nullptr;
  void* handle_ = nullptr;                         ///< the handle of what it exports
  std::unordered_map<std::string, void*> hidden_;  ///< read from its file, where it exports nothing
};

}  // namespace stria::hdf5::vol
