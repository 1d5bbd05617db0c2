#include "hdf5/library/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

namespace stria::hdf5 {

namespace {

constexpr unsigned kLeastMinor = 10;  // a release of version 1
constexpr unsigned kFirstMinorWithConnectors = 12;
constexpr unsigned kLastMinorToDefer = 14;

// Returns where code or data at `address` was loaded; null for none.
const void* module_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

const void* own_module() {
  static const void* const own = module_of(reinterpret_cast<const void*>(&own_module));
  return own;
}

// Returns a handle of what is loaded there; null for none. It need not be closed: the program has
// it open as well.
void* handle_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
}

// HDF5 itself, and not a library that records its calls.
bool is_hdf5(const void* write) {
  void* const handle = write == nullptr ? nullptr : handle_of(write);
  const void* const version = handle == nullptr ? nullptr : dlsym(handle, "H5get_libversion");
  return version != nullptr && module_of(version) == module_of(write);
}

// Returns the HDF5 that the calling module is linked with; null where it is linked with none, as a
// Python extension in a program that brings one.
void* definition_for(const void* caller) {
  void* const handle = handle_of(caller);
  void* const found = handle == nullptr ? nullptr : dlsym(handle, "H5Dwrite");
  return is_hdf5(found) ? found : nullptr;
}

// Any HDF5 of the process, also one that was loaded for one module only.
void* any_definition() {
  void* found = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        void* const library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        void* const here = library == nullptr ? nullptr : dlsym(library, "H5Dwrite");
        if (library != nullptr) {
          dlclose(library);  // the program has it open as well
        }
        const bool is_other = here != nullptr && module_of(here) != own_module() && is_hdf5(here);
        *static_cast<void**>(data) = is_other ? here : nullptr;
        return is_other ? 1 : 0;
      },
      &found);
  return found;
}

bool find_functions(const FindSymbol& handle, Library& library) {
#define STRIA_HDF5_FIND(name) find_function(handle, #name, library.name)
  static_cast<void>(STRIA_HDF5_FIND(H5Sselect_shape_same));
  static_cast<void>(STRIA_HDF5_FIND(H5Pget_dxpl_mpio));
  static_cast<void>(STRIA_HDF5_FIND(H5VLobject_is_native));
  return STRIA_HDF5_FIND(H5Dget_space) && STRIA_HDF5_FIND(H5Dget_create_plist) && STRIA_HDF5_FIND(H5Iget_type) &&
         STRIA_HDF5_FIND(H5Pclose) && STRIA_HDF5_FIND(H5Pget_layout) && STRIA_HDF5_FIND(H5Sclose) && STRIA_HDF5_FIND(H5Scopy) &&
         STRIA_HDF5_FIND(H5Screate_simple) && STRIA_HDF5_FIND(H5Sget_select_elem_npoints) &&
         STRIA_HDF5_FIND(H5Sget_select_elem_pointlist) && STRIA_HDF5_FIND(H5Sget_select_bounds) &&
         STRIA_HDF5_FIND(H5Sget_select_hyper_blocklist) && STRIA_HDF5_FIND(H5Sget_select_hyper_nblocks) &&
         STRIA_HDF5_FIND(H5Sget_select_npoints) && STRIA_HDF5_FIND(H5Sget_select_type) &&
         STRIA_HDF5_FIND(H5Sget_simple_extent_dims) && STRIA_HDF5_FIND(H5Sget_simple_extent_ndims) &&
         STRIA_HDF5_FIND(H5Sget_regular_hyperslab) && STRIA_HDF5_FIND(H5Sis_regular_hyperslab) &&
         STRIA_HDF5_FIND(H5Sselect_hyperslab) && STRIA_HDF5_FIND(H5Tget_size);
}

// Finds what converting needs, and deferring; a static HDF5 may lack these.
bool find_functions_of_types(const FindSymbol& handle, Library& library) {
  return STRIA_HDF5_FIND(H5Dget_type) && STRIA_HDF5_FIND(H5Dget_offset) && STRIA_HDF5_FIND(H5Tclose) &&
         STRIA_HDF5_FIND(H5Tequal) && STRIA_HDF5_FIND(H5Tget_class) && STRIA_HDF5_FIND(H5Tget_ebias) &&
         STRIA_HDF5_FIND(H5Tget_fields) && STRIA_HDF5_FIND(H5Tget_norm) && STRIA_HDF5_FIND(H5Tget_order) &&
         STRIA_HDF5_FIND(H5Tget_precision) && STRIA_HDF5_FIND(H5Tget_sign);
}

bool find_functions_to_defer(const FindSymbol& handle, Library& library) {
  return STRIA_HDF5_FIND(H5Fget_vfd_handle) && STRIA_HDF5_FIND(H5Idec_ref) && STRIA_HDF5_FIND(H5Iget_file_id) &&
         STRIA_HDF5_FIND(H5Pcopy) && STRIA_HDF5_FIND(H5Pget) && STRIA_HDF5_FIND(H5Pset) && STRIA_HDF5_FIND(H5Pset_dxpl_mpio);
#undef STRIA_HDF5_FIND
}

bool find_version(const FindSymbol& handle, Library& library) {
  herr_t (*ask)(unsigned*, unsigned*, unsigned*) = nullptr;
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (!find_function(handle, "H5get_libversion", ask) || ask(&major, &minor, &release) < 0) {
    return false;
  }
  library.version = fmt::format("{}.{}.{}", major, minor, release);
  library.has_connectors = major > 1 || minor >= kFirstMinorWithConnectors;
  library.can_defer = major == 1 && minor <= kLastMinorToDefer;
  return major > 1 || (major == 1 && minor >= kLeastMinor);
}

struct Libraries {
  std::mutex mutex;
  std::map<const void*, std::unique_ptr<const Library>> by_module;  // where the HDF5 was loaded
};

// They are never destroyed: programs write late.
Libraries& libraries() {
  static auto* instance = new Libraries;
  return *instance;
}

[[noreturn]] void end_without_library() {
  std::fputs("libstria_hdf5: the program calls H5Dwrite or H5Dread, which no library defines\n", stderr);
  std::abort();
}

std::unique_ptr<const Library> make_library(void* next_write, void* handle) {
  auto made = std::make_unique<Library>();
  made->write = reinterpret_cast<Write*>(next_write);
  // A library that records the program's calls may lie behind the call.
  const bool is_behind_another = !is_hdf5(next_write);
  const FindSymbol next = [at = is_behind_another ? RTLD_NEXT : handle](const char* name) { return dlsym(at, name); };
  static_cast<void>(find_function(next, "H5Dread", made->read) && find_function(next, "H5Dwrite_multi", made->write_multi) &&
                    find_function(next, "H5Dread_multi", made->read_multi));
  const FindSymbol all = [handle](const char* name) { return dlsym(handle, name); };
  made->is_usable = fill_library(all, *made) && find_functions_of_types(all, *made);
  made->is_preloaded = made->knows_places = true;
  made->can_defer = made->can_defer && made->is_usable && fill_to_defer(all, *made);
  if (made->read == nullptr) {
    end_without_library();
  }
  return made;
}

// Returns what answers H5Dwrite for that caller; null for none.
void* next_write_for(const void* caller) {
  void* write = definition_for(caller);
  write = write != nullptr ? write : dlsym(RTLD_NEXT, "H5Dwrite");
  return write != nullptr ? write : any_definition();
}

const Library& find_library(const void* caller) {
  void* const write = next_write_for(caller);
  if (write == nullptr) {
    end_without_library();
  }
  void* const version = is_hdf5(write) ? write : dlsym(RTLD_NEXT, "H5get_libversion");
  void* const handle = version == nullptr ? nullptr : handle_of(version);
  if (handle == nullptr) {
    end_without_library();
  }
  const std::lock_guard lock(libraries().mutex);
  std::unique_ptr<const Library>& known = libraries().by_module[module_of(write)];
  if (known == nullptr) {
    known = make_library(write, handle);
  }
  return *known;
}

}  // namespace

bool fill_library(const FindSymbol& symbols, Library& library) {
  library.is_usable = find_version(symbols, library) && find_functions(symbols, library);
  return library.is_usable;
}

bool fill_to_defer(const FindSymbol& symbols, Library& library) {
  return find_functions_of_types(symbols, library) && find_functions_to_defer(symbols, library);
}

const Library& library_of(const void* caller) {
  struct Last {
    const void* caller = nullptr;
    const Library* library = nullptr;
  };
  static constinit thread_local Last last __attribute__((tls_model("initial-exec"))) = {};
  if (last.caller != caller) {
    last = {caller, &find_library(caller)};
  }
  return *last.library;
}

void* function_of(const void* caller, const char* name) {
  void* const write = next_write_for(caller);
  void* const handle = write == nullptr ? nullptr : handle_of(write);
  void* const found = handle == nullptr || !is_hdf5(write) ? nullptr : dlsym(handle, name);
  return found != nullptr ? found : dlsym(RTLD_NEXT, name);
}

}  // namespace stria::hdf5
