#include "container/chunks/filters/libzfp.hpp"

#include <dlfcn.h>

#include <string>

namespace stria::container {

namespace {

Status cannot_load() {
  const char* reason = dlerror();
  return Status(ErrorCode::kUnsupported, std::string("ZFP needs libzfp, version 1 (Debian: libzfp1): ") +
                                             (reason == nullptr ? "it can't be loaded" : reason));
}

Result<Libzfp> load_functions() {
  void* library = dlopen("libzfp.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return cannot_load();
  }
  Libzfp functions;
#define STRIA_LIBZFP_LOAD(name)                                                       \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name)); \
  if (functions.name == nullptr) {                                                    \
    return cannot_load();                                                             \
  }
  STRIA_LIBZFP_FUNCTIONS(STRIA_LIBZFP_LOAD)
#undef STRIA_LIBZFP_LOAD
  return functions;
}

}  // namespace

Result<const Libzfp*> Libzfp::load() {
  static const Result<Libzfp> loaded = load_functions();
  return loaded.ok() ? Result<const Libzfp*>(&*loaded) : loaded.status();
}

}  // namespace stria::container
