// SQLite's session extension. Some builds of SQLite lack it: a manager that was built with one of
// them can't have a standby, and says so.
#pragma once

#include <sqlite3.h>

namespace stria::server {

#ifdef SQLITE_ENABLE_SESSION

inline constexpr bool kHasSessions = true;

#else

inline constexpr bool kHasSessions = false;
struct sqlite3_session;
struct sqlite3_changeset_iter;
inline constexpr int SQLITE_CHANGESET_ABORT = 2;

inline int sqlite3session_create(sqlite3*, const char*, sqlite3_session**) {
  return SQLITE_MISUSE;
}
inline int sqlite3session_attach(sqlite3_session*, const char*) {
  return SQLITE_MISUSE;
}
inline void sqlite3session_delete(sqlite3_session*) {}
inline int sqlite3session_isempty(sqlite3_session*) {
  return 1;
}
inline int sqlite3session_changeset(sqlite3_session*, int*, void**) {
  return SQLITE_MISUSE;
}
inline int sqlite3changeset_apply(sqlite3*, int, void*, int (*)(void*, const char*),
                                  int (*)(void*, int, sqlite3_changeset_iter*), void*) {
  return SQLITE_MISUSE;
}

#endif

}  // namespace stria::server
