// The beginning of every file, over whatever communicator: drivers and hints taken up, the session made.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "comm/waiting.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// What this rank says while it waits for others in a call that opens a file: limits that the hints give. `call` and `path`
/// outlive it. Takes no memory: the ranks have not agreed to anything yet.
CallNote note_opening(const char* call, const std::string& path, const Hints& hints);

/// A new file of the ranks of `comm`. Throws stria::Error. Collective: yes.
std::shared_ptr<Session> create_session(std::shared_ptr<Comm> comm, const std::string& path, const CreateOptions& options);

/// A file opened by the ranks of `comm`. Throws stria::Error. Collective: yes.
std::shared_ptr<Session> open_session(std::shared_ptr<Comm> comm, const std::string& path, const OpenOptions& options);

}  // namespace stria::file
