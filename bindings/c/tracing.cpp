// Tracing: what a rank calls alone.
#include <memory>

#include "handles.hpp"

using stria::c::given;
using stria::c::guarded;

namespace {

/// A region of this thread, and the one around it.
struct OpenRegion {
  OpenRegion(const char* name, OpenRegion* around) : region(name), outer(around) {}
  stria::trace::Region region;
  OpenRegion* outer;
};

constinit thread_local OpenRegion* innermost = nullptr;

OpenRegion* to_end() {
  if (innermost == nullptr) {
    stria::c::refuse("stria_trace_end(): no region has begun in this thread");
  }
  return innermost;
}

}  // namespace

stria::trace::Level stria::c::trace_level(int level) {
  if (level < STRIA_TRACE_OFF || level > STRIA_TRACE_FULL) {
    refuse("there is no level " + std::to_string(level) + " of tracing; see enum stria_trace_level");
  }
  return static_cast<trace::Level>(level);
}

int stria_trace_set_level(int level) {
  return guarded([&] { stria::trace::set_level(stria::c::trace_level(level)); });
}

int stria_trace_level(void) {
  return static_cast<int>(stria::trace::level());
}

void stria_trace_flush(void) {
  guarded([] { stria::trace::flush(); });
}

int stria_trace_begin(const char* name) {
  return guarded([&] { innermost = new OpenRegion(&given(name, "name"), innermost); });
}

int stria_trace_end(void) {
  return guarded([] {
    const std::unique_ptr<OpenRegion> ending(to_end());
    innermost = ending->outer;
  });
}
