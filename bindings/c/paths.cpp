// Names of files and directories.
#include "stria/paths.hpp"

#include "handles.hpp"

using stria::c::given;
using stria::c::guarded;
using stria::c::text;

int stria_is_store_path(const char* path) {
  try {
    return stria::is_store_path(text(path)) ? 1 : 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

int stria_path_exists(const char* path, int* exists) {
  return guarded([&] { given(exists, "exists") = stria::path_exists(text(path)) ? 1 : 0; });
}

int stria_list_directory(const char* directory, stria_list** names) {
  return guarded([&] { given(names, "names") = stria::c::new_list(stria::list_directory(text(directory))); });
}

int stria_remove_file(const char* path) {
  return guarded([&] { stria::remove_file(text(path)); });
}

int stria_remove_abandoned(const char* directory, const char* prefix, stria_list** removed) {
  return guarded([&] {
    auto paths = stria::remove_abandoned(text(directory), text(prefix));
    if (removed != nullptr) {
      *removed = stria::c::new_list(std::move(paths));
    }
  });
}

int stria_drain_staged(const char* place, stria_list** brought) {
  return guarded([&] {
    auto paths = stria::drain_staged(text(place));
    if (brought != nullptr) {
      *brought = stria::c::new_list(std::move(paths));
    }
  });
}
