// The beginning of every file on any communicator: takes up drivers and hints, and
// makes the session.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "comm/waiting.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// Returns the note for reports of waits in a call that opens a file, with the limits that the
/// hints give. `call` and `path` must outlive it. It allocates no memory, because the ranks have
/// not agreed on anything yet.
CallNote note_opening(const char* call, const std::string& path, const Hints& hints);

/// Creates a new file of the ranks of `comm`. Throws stria::Error. Collective: yes.
std::shared_ptr<Session> create_session(std::shared_ptr<Comm> comm, const std::string& path, const CreateOptions& options);

/// Opens a file that the ranks of `comm` add to. Throws stria::Error. Collective: yes.
std::shared_ptr<Session> append_session(std::shared_ptr<Comm> comm, const std::string& path, const AppendOptions& options);

/// Opens a file for the ranks of `comm`. Throws stria::Error. Collective: yes.
std::shared_ptr<Session> open_session(std::shared_ptr<Comm> comm, const std::string& path, const OpenOptions& options);

}  // namespace stria::file
