#include "storage/rados/librados.hpp"

#include <dlfcn.h>

#include <string>

namespace stria::storage {

namespace {

Status cannot_load() {
  const char* reason = dlerror();
  return Status(ErrorCode::kUnsupported,
                std::string("paths rados:// need librados, version 16 or later (Debian: librados2): ") +
                    (reason == nullptr ? "it can't be loaded" : reason));
}

Result<Librados> load_functions() {
  void* library = dlopen("librados.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return cannot_load();
  }
  Librados functions;
#define STRIA_LIBRADOS_LOAD(name)                                                              \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, "rados_" #name)); \
  if (functions.name == nullptr) {                                                             \
    return cannot_load();                                                                      \
  }
  STRIA_LIBRADOS_FUNCTIONS(STRIA_LIBRADOS_LOAD)
#undef STRIA_LIBRADOS_LOAD
  return functions;
}

}  // namespace

Result<const Librados*> Librados::load() {
  static const Result<Librados> loaded = load_functions();
  return loaded.ok() ? Result<const Librados*>(&*loaded) : loaded.status();
}

}  // namespace stria::storage
