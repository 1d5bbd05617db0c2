// Versions of the protocol.
//
// Servers and clients of a store are not exchanged at the same moment: each speaks its own version
// and the one before. A client greets in the newest that it speaks. A server that doesn't speak it
// answers in its own, and the client greets again in that one, if it can. The connection keeps the
// version of its greeting.
//
// A message of a newer version has a kind that first_version_of() knows (wire/frame.hpp). Messages
// that there were keep their fields, because a request, and the reply to a change of names, may be
// repeated on a connection of another version. Only errors, which are encoded when they are sent,
// and answers to servers' own messages, which aren't repeated, may have fields of a newer version:
// Reader and Writer say which one is spoken.
#pragma once

#include <cstdint>

#include "stria/status.hpp"

namespace stria::wire {

inline constexpr uint16_t kVersion = 4;
inline constexpr uint16_t kOldestVersion = 3;
/// A manager tells its servers since then which of several managers it is (wire/standby.hpp).
inline constexpr uint16_t kVersionWithEpochs = 4;
/// An error tells since then why it occurred, as a number beside its words.
inline constexpr uint16_t kVersionWithReasons = 4;

/// Returns the newest version that this process speaks: kVersion, or what STRIA_WIRE_VERSION says,
/// by which tests have a server or a client of the version before.
Result<uint16_t> newest_version();

}  // namespace stria::wire
