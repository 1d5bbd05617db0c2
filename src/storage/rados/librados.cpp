#include "storage/rados/librados.hpp"

#include "base/optional_library.hpp"

namespace stria::storage {

namespace {

Result<Librados> load_functions() {
  OptionalLibrary library("librados.so.2", "paths rados:// need librados, version 16 or later (Debian: librados2)");
  Librados functions;
#define STRIA_LIBRADOS_FIND(name) library.find("rados_" #name, functions.name);
  STRIA_LIBRADOS_FUNCTIONS(STRIA_LIBRADOS_FIND)
#undef STRIA_LIBRADOS_FIND
  STRIA_RETURN_IF_ERROR(library.status());
  return functions;
}

}  // namespace

Result<const Librados*> Librados::load() {
  static const Result<Librados> loaded = load_functions();
  return loaded.ok() ? Result<const Librados*>(&*loaded) : loaded.status();
}

}  // namespace stria::storage
