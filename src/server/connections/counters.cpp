#include "server/connections/counters.hpp"

#include <string_view>

#include "server/connections/shared_state.hpp"

namespace stria::server {

namespace {

using wire::Kind;

struct NamedKind {
  Kind kind;
  const char* name;
};
constexpr NamedKind kNamedKinds[] = {
    {Kind::kOpen, "open"},
    {Kind::kClose, "close"},
    {Kind::kReclaim, "reclaim"},
    {Kind::kStat, "stat"},
    {Kind::kRename, "rename"},
    {Kind::kRemove, "remove"},
    {Kind::kList, "list"},
    {Kind::kMakeDirectory, "make_directory"},
    {Kind::kSyncNames, "sync_names"},
    {Kind::kServers, "servers"},
    {Kind::kPulse, "pulse"},
    {Kind::kSetOwnership, "set_ownership"},
    {Kind::kRetire, "retire"},
    {Kind::kWrite, "write"},
    {Kind::kRead, "read"},
    {Kind::kExtent, "extent"},
    {Kind::kResize, "resize"},
    {Kind::kReserve, "reserve"},
    {Kind::kSync, "sync"},
    {Kind::kLock, "lock"},
    {Kind::kUnlock, "unlock"},
    {Kind::kIsLocked, "is_locked"},
    {Kind::kScrub, "scrub"},
    {Kind::kStatus, "status"},
    {Kind::kParts, "parts"},
    {Kind::kCondition, "condition"},
    {Kind::kConditions, "conditions"},
    {Kind::kNewFiles, "new_files"},
    {Kind::kBackup, "backup"},
    {Kind::kNamed, "named"},
    {Kind::kKnown, "known"},
    {Kind::kPaths, "paths"},
    {Kind::kAdopt, "adopt"},
    {Kind::kDiscard, "discard"},
    {Kind::kMovePart, "move_part"},
    {Kind::kMoveBegin, "move_begin"},
    {Kind::kMoveCommit, "move_commit"},
    {Kind::kMoveAbort, "move_abort"},
    {Kind::kMoving, "moving"},
    {Kind::kWhere, "where"},
    {Kind::kSetQuota, "set_quota"},
    {Kind::kQuotas, "quotas"},
    {Kind::kUsage, "usage"},
    {Kind::kExtents, "extents"},
    {Kind::kLook, "look"},
    {Kind::kLookAll, "look_all"},
    {Kind::kResolve, "resolve"},
    {Kind::kChange, "change"},
    {Kind::kMakeLink, "make_link"},
    {Kind::kLinkName, "link_name"},
    {Kind::kSetAttribute, "set_attribute"},
    {Kind::kGetAttribute, "get_attribute"},
    {Kind::kMake, "make"},
    {Kind::kCloseAll, "close_all"},
    {Kind::kRole, "role"},
    {Kind::kFollow, "follow"},
    {Kind::kPromote, "promote"},
};

void add_budget(wire::Figures& figures, const std::string& name, const Budget& budget) {
  figures.add(name, budget.used());
  figures.add(name + "_limit", budget.most());
  figures.add(name + "_waiting", budget.waiting());
}

void add_log(wire::Figures& figures, const EventLog& log) {
  for (const Level level : {Level::kInfo, Level::kWarning, Level::kError}) {
    figures.add(std::string("log_lines_total{level=\"") + level_name(level) + "\"}", log.count(level));
  }
  figures.add("log_left_out_total", log.left_out());
}

void add_manager(wire::Figures& figures, const SharedState& shared) {
  const Manager& manager = *shared.manager.operator->();
  figures.add("servers", manager.servers().servers);
  figures.add("servers_up", manager.servers().up);
  figures.add("servers_take_new_files", manager.servers().take_new_files);
  figures.add("last_backup_seconds", manager.last_backup_s());
  const ChangeStream::State state = shared.stream->state();
  figures.add("standby_known", shared.stream->standby() != wire::Identity{} ? 1 : 0);
  figures.add("standby_in_step", state == ChangeStream::State::kInStep ? 1 : 0);
  figures.add("manager_unsure", state == ChangeStream::State::kUnsure ? 1 : 0);
  figures.add("standby_changes_waiting", shared.stream->behind());
}

}  // namespace

const char* name_of_kind(Kind kind) {
  for (const NamedKind& each : kNamedKinds) {
    if (each.kind == kind) {
      return each.name;
    }
  }
  return "greeting";
}

wire::Figures figures_of(const SharedState& shared) {
  const Counters& counters = shared.counters;
  wire::Figures figures;
  const auto age = std::chrono::steady_clock::now() - counters.start;
  figures.add("uptime_seconds", std::chrono::duration_cast<std::chrono::seconds>(age).count());
  figures.add("manager", shared.manages() ? 1 : 0);
  figures.add("manager_replaced", shared.was_replaced() ? 1 : 0);
  figures.add("epoch", static_cast<int64_t>(shared.role->epoch()));
  figures.add("standby_marks_in_step", shared.role->mark().in_step != wire::Identity{} ? 1 : 0);
  figures.add("standby", shared.in_step && !shared.manager.is_here() ? 1 : 0);
  figures.add("standby_follows", shared.in_step && !shared.manager.is_here() && shared.in_step() ? 1 : 0);
  figures.add("protocol_version", shared.newest_version);
  const Objects::Space space = shared.objects->space();
  figures.add("space_bytes", space.total_bytes);
  figures.add("space_free_bytes", space.free_bytes);
  figures.add("connections", counters.open_connections);
  figures.add("connections_limit", static_cast<int64_t>(shared.bounds.connections));
  figures.add("connections_total", counters.connections);
  figures.add("connections_refused_total", counters.refused);
  figures.add("connections_made_room_total", counters.made_room);
  figures.add("connections_timed_out_total", counters.timed_out);
  add_budget(figures, "message_bytes", shared.messages);
  add_budget(figures, "description_bytes", shared.descriptions);
  add_budget(figures, "buffers", shared.buffers.budget());
  figures.add("disk_queue", shared.disk_threads.jobs());
  figures.add("manager_queue", shared.manager_thread.jobs());
  figures.add("range_locks", shared.locks.count());
  figures.add("open_objects", static_cast<int64_t>(shared.objects->open_count()));
  figures.add("written_bytes_total", counters.written_bytes);
  figures.add("read_bytes_total", counters.read_bytes);
  figures.add("disk_condition", static_cast<int64_t>(shared.watch.condition()));
  figures.add("disk_errors_total", shared.watch.disk_errors());
  figures.add("clients_refused_total", shared.watch.clients_refused());
  figures.add("slow_requests_total", shared.watch.slow_requests());
  if (shared.watch.log() != nullptr) {
    add_log(figures, *shared.watch.log());
  }
  if (shared.manages()) {
    add_manager(figures, shared);
  }
  for (const NamedKind& each : kNamedKinds) {
    const Counters::OfKind& of_kind = counters.kinds[static_cast<size_t>(each.kind)];
    figures.add(std::string("requests_total{kind=\"") + each.name + "\"}", of_kind.requests);
  }
  for (const NamedKind& each : kNamedKinds) {
    const Counters::OfKind& of_kind = counters.kinds[static_cast<size_t>(each.kind)];
    figures.add(std::string("request_nanoseconds_total{kind=\"") + each.name + "\"}", of_kind.nanoseconds);
  }
  for (size_t code = 1; code < Counters::kCodes; ++code) {
    figures.add(std::string("errors_total{code=\"") + error_code_name(static_cast<ErrorCode>(code)) + "\"}",
                counters.errors[code]);
  }
  return figures;
}

std::string metrics_text(const wire::Figures& figures) {
  std::string text;
  std::string_view before;
  for (const wire::Figures::Entry& entry : figures.entries) {
    const std::string_view name = std::string_view(entry.name).substr(0, entry.name.find('{'));
    if (name != before) {
      text += "# TYPE stria_" + std::string(name) + (name.ends_with("_total") ? " counter\n" : " gauge\n");
      before = name;
    }
    text += "stria_" + entry.name + " " + std::to_string(entry.value) + "\n";
  }
  return text;
}

}  // namespace stria::server
