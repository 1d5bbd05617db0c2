#include "server/manager/succession/change_recorder.hpp"

#include <utility>

#include "base/check.hpp"

namespace stria::server {

namespace {

Status session_error(int code) {
  return code == SQLITE_OK ? Status() : sqlite_error(code, sqlite3_errstr(code));
}

}  // namespace

Status ChangeRecorder::begin() {
  const int made = sqlite3session_create(database_.handle(), "main", &session_);
  if (made != SQLITE_OK) {
    session_ = nullptr;
    return session_error(made);
  }
  return session_error(sqlite3session_attach(session_, nullptr));
}

Status ChangeRecorder::start() {
  stop();
  std::vector<Change> known;
  schema_.clear();
  schema_version_ = 0;
  STRIA_RETURN_IF_ERROR(take_schema(known));
  syncs_ = unsynced_.syncs();
  return begin();
}

void ChangeRecorder::stop() {
  if (session_ != nullptr) {
    sqlite3session_delete(std::exchange(session_, nullptr));
  }
}

Status ChangeRecorder::take_schema(std::vector<Change>& changes) {
  int64_t version = 0;
  {
    Query query = database_.query("PRAGMA schema_version");
    version = query.next() ? query.number(0) : 0;
    STRIA_RETURN_IF_ERROR(query.status());
  }
  if (version == schema_version_) {
    return {};
  }
  Query query = database_.query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid");
  while (query.next()) {
    const std::string sql = query.text(0);
    if (schema_.insert(sql).second) {
      const auto bytes = std::as_bytes(std::span(sql));
      changes.push_back({.form = wire::ChangeForm::kSchema, .bytes = {bytes.begin(), bytes.end()}});
    }
  }
  STRIA_RETURN_IF_ERROR(query.status());
  schema_version_ = version;
  return {};
}

Result<std::vector<Change>> ChangeRecorder::take() {
  STRIA_CHECK(!database_.in_transaction());  // or the standby would get what may yet be undone
  std::vector<Change> changes;
  if (session_ == nullptr || (sqlite3session_isempty(session_) != 0 && syncs_ == unsynced_.syncs())) {
    return changes;
  }
  STRIA_RETURN_IF_ERROR(take_schema(changes));
  int bytes = 0;
  void* data = nullptr;
  STRIA_RETURN_IF_ERROR(session_error(sqlite3session_changeset(session_, &bytes, &data)));
  const auto* first = static_cast<const std::byte*>(data);
  Change change;
  change.durable = syncs_ != unsynced_.syncs();
  change.bytes.insert(change.bytes.end(), first, first + bytes);
  sqlite3_free(data);
  syncs_ = unsynced_.syncs();
  sqlite3session_delete(std::exchange(session_, nullptr));
  STRIA_RETURN_IF_ERROR(begin());
  if (!change.bytes.empty() || change.durable) {
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace stria::server
