// Describes what a mount agrees on with the kernel, beyond what libfuse does.
//
// Problem: before each write the kernel asks for the file's capabilities, which it would have to
// take away: a request as long as a small write itself. It asks no more of a file system that takes
// away what a write takes (FUSE_HANDLE_KILLPRIV_V2), but libfuse before 3.17 doesn't offer it.
// Method: with those, the answer to the kernel's first request is completed on its way.
// Cost: none after that.
#pragma once

#define FUSE_USE_VERSION 35
#include <fuse3/fuse.h>

namespace stria::tool {

/// Must be called for a session that is mounted and hasn't begun. A process has at most one.
void offer_to_take_privileges(fuse* session);

/// Tells, in the call init, whether the kernel leaves it to the file system to take set-user-ID and
/// set-group-ID from files that users write, cut or give away.
bool leaves_privileges(fuse_conn_info* connection);

}  // namespace stria::tool
