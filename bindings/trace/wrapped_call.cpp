#include "wrapped_call.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>

namespace stria::wrap {

namespace {
thread_local int depth = 0;
}  // namespace

void* find_next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) {
    return found;
  }
  struct Search {
    const char* name;
    void* own;
    void* found;
  } search{name, dlsym(RTLD_DEFAULT, name), nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        void* here = library == nullptr ? nullptr : dlsym(library, wanted->name);
        if (library != nullptr) {
          dlclose(library);  // it stays loaded, because the program holds it too
        }
        wanted->found = here == wanted->own ? nullptr : here;
        return wanted->found == nullptr ? 0 : 1;
      },
      &search);
  if (search.found == nullptr) {
    std::fprintf(stderr, "libstria_trace: the program calls %s, which no library defines\n", name);
    std::abort();
  }
  return search.found;
}

Definitions::Definitions(const char* name) : name_(name), for_all_(dlsym(RTLD_NEXT, name)) {}

namespace {

// Returns what a library finds by this name among those that it was linked with; null: nothing.
void* linked_with(const void* caller, const char* name) {
  Dl_info info{};
  if (dladdr(caller, &info) == 0 || info.dli_fname == nullptr) {
    return nullptr;
  }
  void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return nullptr;
  }
  void* const found = dlsym(library, name);
  dlclose(library);  // its caller is in it
  return found == dlsym(RTLD_DEFAULT, name) ? nullptr : found;
}

}  // namespace

void* Definitions::of_caller(const void* caller) {
  if (for_all_ != nullptr) {
    return for_all_;
  }
  const std::lock_guard lock(mutex_);
  void*& known = of_callers_[caller];
  if (known == nullptr) {
    known = linked_with(caller, name_);
  }
  if (known == nullptr) {
    known = find_next(name_);
  }
  return known;
}

void OpenFiles::add(int64_t handle, const std::string& path) {
  add(handle, trace::Recorder::instance().file(path));
}

void OpenFiles::add(int64_t handle, uint16_t file) {
  const std::lock_guard lock(mutex_);
  files_[handle] = file;
}

void OpenFiles::remove(int64_t handle) {
  const std::lock_guard lock(mutex_);
  files_.erase(handle);
}

uint16_t OpenFiles::file(int64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(handle);
  return found == files_.end() ? uint16_t{0} : found->second;
}

// Two names in the recorder, because a kind has one layer; the reader shows the layer
// beside the name.
CallKind::CallKind(const char* name)
    : app_(trace::Recorder::instance().define_kind(name, trace::Layer::kApp)),
      library_(trace::Recorder::instance().define_kind(name, trace::Layer::kLibrary)) {}

trace::Kind CallKind::now() const {
  return depth > 0 ? library_ : app_;
}

Call::Call(const CallKind& kind, uint16_t file) : span_(kind.now(), file) {
  ++depth;
}

Call::~Call() {
  --depth;
}

bool inside_call() {
  return depth > 0;
}

namespace {

const TraceLink* link_in_use = nullptr;
const void* mpiio_base = nullptr;

// Runs before this library's other initialisers, which already use what is recorded.
__attribute__((constructor(101))) void look_for_mpiio() {
  auto* offer = reinterpret_cast<decltype(&stria_mpiio_trace_link_1)>(dlsym(RTLD_DEFAULT, "stria_mpiio_trace_link_1"));
  if (offer == nullptr) {
    return;
  }
  const TraceLink* link = offer();
  if (!trace::use_link(link->recorder)) {
    std::fputs("libstria_trace: libstria_mpiio is of another build; each writes a trace of its own\n", stderr);
    return;
  }
  link_in_use = link;
  Dl_info info{};
  mpiio_base = dladdr(reinterpret_cast<const void*>(offer), &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

const TraceLink* mpiio_beside() {
  return link_in_use;
}

bool is_in_mpiio(const void* address) {
  Dl_info info{};
  return mpiio_base != nullptr && dladdr(address, &info) != 0 && info.dli_fbase == mpiio_base;
}

}  // namespace stria::wrap
