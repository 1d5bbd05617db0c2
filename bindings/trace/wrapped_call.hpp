// Holds what the wrappers share: the definition behind a call, its span, and the file to which it
// belongs.
//
// Problem: see inside programs that know nothing of Stria.
// Method: this library is preloaded and defines the calls; each records a span and goes on to the
// next definition of its name (dlsym), or PMPI. A call inside another's is one layer down: what the
// program calls is "app", what its libraries call "library", the system's calls "storage".
// Cost: a span, and a branch when its layer is not recorded.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "comm/mpi/trace_link.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::wrap {

/// Finds the next definition of `name` after this library's, also in libraries that were loaded for
/// one module only. Without one the program ends, because the call can't be made.
void* find_next(const char* name);
template <typename Function>
Function* next_definition(const char* name) {
  return reinterpret_cast<Function*>(find_next(name));
}

/// The definitions of a call of which a process may have several, as a Python that has loaded a
/// serial and a parallel HDF5, each for one module only.
class Definitions {
 public:
  explicit Definitions(const char* name);
  /// Returns the one that code at `caller` is linked with; where any is visible to all, that.
  void* of_caller(const void* caller);

 private:
  const char* name_;
  void* for_all_;
  std::mutex mutex_;
  std::unordered_map<const void*, void*> of_callers_;
};
template <typename Function>
class DefinitionsOf {
 public:
  explicit DefinitionsOf(const char* name) : definitions_(name) {}
  Function* of_caller(const void* caller) { return reinterpret_cast<Function*>(definitions_.of_caller(caller)); }

 private:
  Definitions definitions_;
};

/// Numbers of files, by the handle that their library gave them.
class OpenFiles {
 public:
  void add(int64_t handle, const std::string& path);
  void add(int64_t handle, uint16_t file);
  void remove(int64_t handle);
  /// 0 when the handle is not known.
  uint16_t file(int64_t handle);

 private:
  std::mutex mutex_;
  std::unordered_map<int64_t, uint16_t> files_;
};

/// A call by name, in two kinds: by the program, or by a library inside another recorded call.
class CallKind {
 public:
  explicit CallKind(const char* name);
  trace::Kind now() const;

 private:
  trace::Kind app_, library_;
};

/// While it lives, calls below count as made by a library. Records the span.
class Call {
 public:
  Call(const CallKind& kind, uint16_t file);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  trace::Span* operator->() { return span_.operator->(); }

 private:
  trace::FileSpan span_;
};

/// True inside a Call of this thread.
bool inside_call();

/// Returns what the preloaded MPI-IO (libstria_mpiio) offers; null when the program has none, or
/// one of another build. If it is there, it records the calls of MPI-IO and its own requests to the
/// storage, and both libraries make one trace.
const TraceLink* mpiio_beside();
/// Tells whether code at `address` is that library's.
bool is_in_mpiio(const void* address);

}  // namespace stria::wrap
