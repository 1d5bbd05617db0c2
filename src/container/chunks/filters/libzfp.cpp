#include "container/chunks/filters/libzfp.hpp"

#include "base/optional_library.hpp"

namespace stria::container {

namespace {

Result<Libzfp> load_functions() {
  OptionalLibrary library("libzfp.so.1", "ZFP needs libzfp, version 1 (Debian: libzfp1)");
  Libzfp functions;
#define STRIA_LIBZFP_FIND(name) library.find(#name, functions.name);
  STRIA_LIBZFP_FUNCTIONS(STRIA_LIBZFP_FIND)
#undef STRIA_LIBZFP_FIND
  STRIA_RETURN_IF_ERROR(library.status());
  return functions;
}

}  // namespace

Result<const Libzfp*> Libzfp::load() {
  static const Result<Libzfp> loaded = load_functions();
  return loaded.ok() ? Result<const Libzfp*>(&*loaded) : loaded.status();
}

}  // namespace stria::container
