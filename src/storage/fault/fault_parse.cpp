// Reads fault scripts: the grammar of fault_script.hpp.
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "storage/fault/fault_script.hpp"

namespace stria::storage {

namespace {

constexpr std::array<const char*, 24> kOperationNames = {
    "open",           "write",           "read",     "size",      "resize",     "preallocate",
    "sync",           "close",           "rename",   "remove",    "make_link",  "exists",
    "sync_directory", "list_directory",  "lock",     "sys_open",  "sys_write",  "sys_read",
    "sys_resize",     "sys_preallocate", "sys_sync", "sys_close", "sys_rename", "sys_remove"};

constexpr std::pair<const char*, int> kErrorNames[] = {
    {"ENOSPC", ENOSPC},        {"EIO", EIO},       {"EINTR", EINTR},   {"EDQUOT", EDQUOT},
    {"EROFS", EROFS},          {"EACCES", EACCES}, {"EPERM", EPERM},   {"ENOENT", ENOENT},
    {"ENOMEM", ENOMEM},        {"EFBIG", EFBIG},   {"ESTALE", ESTALE}, {"EINVAL", EINVAL},
    {"EBADF", EBADF},          {"EMFILE", EMFILE}, {"EAGAIN", EAGAIN}, {"ETIMEDOUT", ETIMEDOUT},
    {"EOPNOTSUPP", EOPNOTSUPP}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

/// Parses a number of at least zero, with an optional k, m or g.
std::optional<int64_t> parse_number(std::string_view text) {
  int64_t unit = 1;
  if (!text.empty()) {
    const std::string_view suffixes = "kmg";
    const size_t power = suffixes.find(text.back());
    if (power != std::string_view::npos) {
      unit = int64_t{1} << (10 * (power + 1));
      text.remove_suffix(1);
    }
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  int64_t result = 0;
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || !checked_multiply(value, unit, &result)) {
    return std::nullopt;
  }
  return result;
}

std::optional<int> parse_errno(std::string_view text) {
  for (const auto& [name, number] : kErrorNames) {
    if (text == name) {
      return number;
    }
  }
  const std::optional<int64_t> number = parse_number(text);
  return number && *number > 0 && *number < 4096 ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

std::optional<std::vector<Operation>> parse_operation(std::string_view text) {
  std::vector<Operation> operations;
  for (size_t i = 0; i < kOperationNames.size(); ++i) {
    const Operation operation = static_cast<Operation>(i);
    if (text == kOperationNames[i] || (text == "any" && operation < Operation::kSysOpen)) {
      operations.push_back(operation);
    }
  }
  return operations.empty() ? std::nullopt : std::optional(operations);
}

/// The rule that is being read: what its parts have said so far.
struct RuleReader {
  FaultRule rule;
  bool has_action = false;
  bool has_count = false;

  /// Reads one part, "key=value"; the error says what is wrong with it.
  Status read(std::string_view part);
  Status read_condition(std::string_view key, std::string_view value);
  Status read_range(std::string_view value);
  Status read_action(std::string_view key, std::string_view value);
  Status finish();
  bool is_only(std::initializer_list<Operation> allowed) const;
};

Status wrong(const std::string& why) {
  return Status(ErrorCode::kInvalidArgument, why);
}

bool RuleReader::is_only(std::initializer_list<Operation> allowed) const {
  for (Operation operation : rule.operations) {
    bool found = false;
    for (Operation candidate : allowed) {
      found = found || candidate == operation;
    }
    if (!found) {
      return false;
    }
  }
  return true;
}

Status RuleReader::read(std::string_view part) {
  const size_t equals = part.find('=');
  const std::string_view key = part.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
  const bool is_action = key == "errno" || key == "short" || key == "delay_ms" || key == "kill";
  if (is_action && std::exchange(has_action, true)) {
    return wrong("a rule has one action");
  }
  if ((key == "kill") != (equals == std::string_view::npos)) {
    return wrong("'" + std::string(part) + "' is not key=value or kill");
  }
  return is_action ? read_action(key, value) : read_condition(key, value);
}

Status RuleReader::read_range(std::string_view value) {
  const std::vector<std::string_view> ends = split(value, '-');
  const std::optional<int64_t> begin = parse_number(ends[0]);
  const std::optional<int64_t> end = ends.size() == 2 ? parse_number(ends[1]) : std::nullopt;
  if (!begin || !end || *begin >= *end) {
    return wrong("range wants BEGIN-END with BEGIN < END, not '" + std::string(value) + "'");
  }
  rule.range = {*begin, *end};
  return {};
}

Status RuleReader::read_condition(std::string_view key, std::string_view value) {
  if (key == "path") {
    rule.path_part = value;
    return value.empty() ? wrong("path wants some text") : Status();
  }
  if (key == "range") {
    return read_range(value);
  }
  if (key == "count" && value == "all") {
    rule.count = kUnlimited;
    has_count = true;
    return {};
  }
  const std::optional<int64_t> number = parse_number(value);
  if (key != "rank" && key != "nth" && key != "count" && key != "after") {
    return wrong("there is no condition or action '" + std::string(key) + "'");
  }
  if (!number || ((key == "nth" || key == "count") && *number == 0) ||
      (key == "rank" && *number > std::numeric_limits<int>::max())) {
    return wrong(std::string(key) + " can't be '" + std::string(value) + "'");
  }
  if (key == "rank") {
    rule.rank = static_cast<int>(*number);
  } else if (key == "nth") {
    rule.nth = *number;
  } else if (key == "count") {
    rule.count = *number;
    has_count = true;
  } else {
    rule.after_bytes = *number;
  }
  return {};
}

Status RuleReader::read_action(std::string_view key, std::string_view value) {
  if (key == "kill") {
    rule.action = FaultRule::Action::kKill;
    return {};
  }
  if (key == "errno") {
    const std::optional<int> number = parse_errno(value);
    if (!number) {
      return wrong("no error is called '" + std::string(value) + "'");
    }
    rule.error_number = *number;
    rule.action = FaultRule::Action::kError;
    return {};
  }
  const std::optional<int64_t> number = parse_number(value);
  if (!number || (key == "short" && *number == 0)) {
    return wrong(std::string(key) + " can't be '" + std::string(value) + "'");
  }
  if (key == "short") {
    rule.short_bytes = *number;
    rule.action = FaultRule::Action::kShort;
  } else {
    rule.delay_ms = *number;
    rule.action = FaultRule::Action::kDelay;
  }
  return {};
}

Status RuleReader::finish() {
  if (!has_action) {
    return wrong("the rule lacks an action: errno=, short=, delay_ms= or kill");
  }
  if (rule.action == FaultRule::Action::kShort && !is_only({Operation::kSysWrite, Operation::kSysRead})) {
    return wrong("only sys_write and sys_read can be short");
  }
  if (rule.action == FaultRule::Action::kError && rule.error_number == EINTR && rule.operations.front() < Operation::kSysOpen) {
    return wrong("only system calls (sys_...) are interrupted");
  }
  if (rule.after_bytes >= 0) {
    if (!is_only({Operation::kWrite, Operation::kSysWrite})) {
      return wrong("after= is for write and sys_write");
    }
    rule.count = has_count ? rule.count : kUnlimited;
  }
  return {};
}

Result<FaultRule> parse_rule(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  RuleReader reader;
  const auto operations = parse_operation(parts.front());
  if (!operations) {
    return wrong("there is no operation '" + std::string(parts.front()) + "'");
  }
  reader.rule.operations = *operations;
  for (size_t i = 1; i < parts.size(); ++i) {
    STRIA_RETURN_IF_ERROR(reader.read(parts[i]));
  }
  STRIA_RETURN_IF_ERROR(reader.finish());
  return std::move(reader.rule);
}

}  // namespace

const char* operation_name(Operation operation) {
  return kOperationNames[static_cast<size_t>(operation)];
}

Result<std::shared_ptr<FaultScript>> FaultScript::parse(const std::string& text, int rank) {
  std::vector<FaultRule> rules;
  for (std::string_view part : split(text, ';')) {
    auto rule = parse_rule(part);
    if (!rule.ok()) {
      return rule.status().with_context("fault script, rule '" + std::string(part) + "'");
    }
    rules.push_back(std::move(*rule));
  }
  return std::make_shared<FaultScript>(std::move(rules), rank);
}

}  // namespace stria::storage
