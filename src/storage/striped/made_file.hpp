// A new file in a store, by one request, which tells also what its name and its directory mean now.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "storage/driver.hpp"
#include "storage/striped/store.hpp"
#include "wire/tree.hpp"

namespace stria::storage {

struct MadeFile {
  std::unique_ptr<File> file;  ///< open, to read and write
  wire::NameState state;
  wire::NameState directory;
};

/// Makes a file where there is none. kUnsupported by a manager of a version that doesn't tell.
/// `path` is that in the store, `url` the whole.
Result<MadeFile> make_in_store(const std::shared_ptr<Store>& store, const std::string& url, const std::string& path,
                               uint32_t permissions);

}  // namespace stria::storage
