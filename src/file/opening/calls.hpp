// Describes what every call of the public interface on a file begins with.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <variant>

#include "file/read/read_session.hpp"
#include "file/session/session.hpp"
#include "file/write/write_session.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

/// Returns the span of a call on a file.
inline trace::FileSpan call(Session& session, trace::BuiltIn kind) {
  return trace::FileSpan(trace::kind(kind), session.file().accounts.trace_id());
}

/// Returns the note for reports of waits in `call`, which must live as long as the program.
inline CallNote note(Session& session, const char* call) {
  return CallNote(call, session.file().path, wait_limits_of(session.file().environment.hints));
}

/// The session of a call, for as long as the call lasts. Throws when the File or Dataset was moved
/// from, and while another thread is in a call on the same file.
class Turn {
 public:
  explicit Turn(const std::shared_ptr<Session>& session) : session_(session.get()) {
    if (session_ == nullptr) {
      throw Error(ErrorCode::kInvalidArgument, "this File or Dataset was moved from: it has no file any more");
    }
    begin_call(session_->file()).throw_if_error();
  }
  ~Turn() { session_->file().calls.leave(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Session* operator->() const { return session_; }
  Session& operator*() const { return *session_; }

 private:
  Session* session_;
};

inline Turn live(const std::shared_ptr<Session>& session) {
  return Turn(session);
}

/// Returns the session as a ReadSession or a WriteSession; throws when it is the other.
template <typename Direction>
Direction& directed(Session& session, const char* call) {
  const auto itself = session.itself();
  if (!std::holds_alternative<Direction*>(itself)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} does not fit the way in which '{}' was opened: it {}", call,
                                                         session.file().path, how_opened(session.file())));
  }
  return *std::get<Direction*>(itself);
}

/// Does the same as Turn, for a file that was opened in one direction.
template <typename Direction>
class DirectedTurn {
 public:
  DirectedTurn(const std::shared_ptr<Session>& session, const char* call)
      : turn_(session), session_(directed<Direction>(*turn_, call)) {}
  Direction* operator->() const { return &session_; }
  Direction& operator*() const { return session_; }

 private:
  Turn turn_;
  Direction& session_;
};

using WriteTurn = DirectedTurn<WriteSession>;
using ReadTurn = DirectedTurn<ReadSession>;

/// Ends a commit or flush; what was recorded so far then goes where a crash can't harm it.
template <typename Move>
Status finish_call(Session& session, trace::BuiltIn kind, const char* name, Move move) {
  const CallNote noted = note(session, name);
  Status status;
  {
    const trace::FileSpan span = call(session, kind);
    status = move();
  }
  trace::Recorder::instance().flush_to_file();
  return status;
}

}  // namespace stria::file
