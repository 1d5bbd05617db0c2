// What every call of the public interface on a file begins with.
#pragma once

#include <fmt/format.h>

#include <memory>

#include "file/session/session.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

/// The span of a call on a file.
inline trace::FileSpan call(const Session& session, trace::BuiltIn kind) {
  return trace::FileSpan(trace::kind(kind), session.trace_id());
}

/// The session, unless the File or Dataset was moved from.
inline const std::shared_ptr<Session>& live(const std::shared_ptr<Session>& session) {
  if (session == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "this File or Dataset was moved from: it has no file any more");
  }
  return session;
}

/// The session as a ReadSession or a WriteSession; throws when it is the other.
template <typename Direction>
Direction& directed(Session& session, const char* call) {
  auto* directed = dynamic_cast<Direction*>(&session);
  if (directed == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} does not fit the way in which '{}' was opened", call, session.path()));
  }
  return *directed;
}

/// A commit or flush; what was recorded so far then goes where a crash can't harm it.
template <typename Move>
Status finish_call(Session& session, trace::BuiltIn kind, const char* name, Move move) {
  const CallNote noted = session.note(name);
  Status status;
  {
    const trace::FileSpan span = call(session, kind);
    status = move();
  }
  trace::Recorder::instance().flush_to_file();
  return status;
}

}  // namespace stria::file
