#include "hdf5/vol/hdf5_functions.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

#include "hdf5/vol/datasets.hpp"
#include "hdf5/vol/deferred.hpp"
#include "hdf5/vol/symbols.hpp"

namespace stria::hdf5::vol {

namespace {

// The first minor version of HDF5 1 with H5VL_VERSION 3, and with more than one dataset in a call.
constexpr unsigned kLeastMinor = 14;

/// Finds the first of the functions that the module lacks; null for none.
const char* find_functions(const Symbols& symbols, Hdf5& hdf5) {
  const char* lacks = nullptr;
  const auto find = [&](const char* name, auto*& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbols.find(name));
    lacks = function == nullptr && lacks == nullptr ? name : lacks;
  };
#define STRIA_VOL_FIND(name) find(#name, hdf5.name);
  STRIA_VOL_FUNCTIONS(STRIA_VOL_FIND)
#undef STRIA_VOL_FIND
  return lacks;
}

std::string find_refusal(const Symbols& symbols, Hdf5& hdf5) {
  herr_t (*version)(unsigned*, unsigned*, unsigned*) = nullptr;
  version = reinterpret_cast<decltype(version)>(symbols.find("H5get_libversion"));
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  if (version == nullptr || version(&major, &minor, &release) < 0) {
    return fmt::format("{} has HDF5 linked in and shows none of its functions; link it with -rdynamic, or don't strip it",
                       symbols.file());
  }
  if (major == 1 && minor < kLeastMinor) {
    return fmt::format("it serves HDF5 1.14 and later, and this is {}.{}.{}; preload libstria_hdf5.so instead", major, minor,
                       release);
  }
  const char* const lacks = find_functions(symbols, hdf5);
  if (lacks != nullptr || !fill_library([&](const char* name) { return symbols.find(name); }, hdf5.core)) {
    return fmt::format("HDF5 {}.{}.{} in {} lacks {}", major, minor, release, symbols.file(),
                       lacks != nullptr ? lacks : "functions of dataspaces");
  }
  return "";
}

std::unique_ptr<const Hdf5> make_hdf5(const void* caller) {
  auto made = std::make_unique<Hdf5>();
  const Symbols symbols(caller);
  made->refusal = find_refusal(symbols, *made);
  take_datasets(made->core);
  take_deferring([&](const char* name) { return symbols.find(name); }, *made);
  return made;
}

}  // namespace

const Hdf5& hdf5_of(const void* caller) {
  struct Known {
    std::mutex mutex;
    std::map<const void*, std::unique_ptr<const Hdf5>> by_module;
  };
  static auto* const known = new Known;  // never destroyed: files are closed late
  Dl_info info{};
  const void* const module = dladdr(caller, &info) != 0 ? info.dli_fbase : nullptr;
  const std::lock_guard lock(known->mutex);
  std::unique_ptr<const Hdf5>& hdf5 = known->by_module[module];
  if (hdf5 == nullptr) {
    hdf5 = make_hdf5(caller);
  }
  return *hdf5;
}

}  // namespace stria::hdf5::vol
