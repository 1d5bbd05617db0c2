#include "storage/striped/made_file.hpp"

#include <utility>

#include "storage/messages.hpp"
#include "storage/striped/striped_file.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

Result<MadeFile> make_in_store(const std::shared_ptr<Store>& store, const std::string& url, const std::string& path,
                               uint32_t permissions) {
  wire::Open request;
  request.path = path;
  request.mode = wire::OpenMode::kCreateNew;
  request.by_load = true;
  request.permissions = permissions;
  auto made = store->make(request);
  if (!made.ok()) {
    return made.status().with_context(describe("create", url));
  }
  auto file = std::make_unique<StripedFile>(store, url, made->opened, StripedFile::Opening{request.handle, true});
  return MadeFile{std::move(file), std::move(made->file), std::move(made->directory)};
}

}  // namespace stria::storage
