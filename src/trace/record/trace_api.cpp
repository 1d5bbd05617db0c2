// The functions of stria/trace.hpp that a rank calls alone.
#include <new>

#include "stria/trace.hpp"
#include "trace/record/levels.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::trace {

void set_level(Level level) {
  apply_level(level);
}

Level level() {
  return applied_level();
}

void flush() {
  Recorder::instance().flush();
}

Region::Region(const char* name) {
  static_assert(sizeof(Span) <= sizeof span_ && alignof(Span) <= 8);
  const bool recorded = is_recorded(Layer::kApp);
  // A kind that isn't recorded needs no name.
  new (span_) Span(recorded ? Recorder::instance().define_kind(name, Layer::kApp) : Kind{});
}

Region::~Region() {
  reinterpret_cast<Span*>(span_)->~Span();
}

}  // namespace stria::trace
