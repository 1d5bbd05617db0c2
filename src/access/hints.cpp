#include "access/hints.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>

namespace stria::access {

namespace {

constexpr int64_t kMaxBufferBytes = int64_t{1} << 40;

std::optional<int64_t> parse_number(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional<int64_t>(value) : std::nullopt;
}

// Each setter returns an empty string, or what the value should have been.
using Setter = std::function<std::string(ResolvedHints&, const std::string&)>;

Setter number(int64_t ResolvedHints::*field, int64_t minimum, int64_t maximum) {
  return [=](ResolvedHints& hints, const std::string& text) -> std::string {
    auto value = parse_number(text);
    if (!value || *value < minimum || *value > maximum) {
      return fmt::format("a number from {} to {}", minimum, maximum);
    }
    hints.*field = *value;
    return "";
  };
}

Setter choice(Switch ResolvedHints::*field) {
  return [=](ResolvedHints& hints, const std::string& text) -> std::string {
    if (text == "automatic" || text == "auto") {
      hints.*field = Switch::kAutomatic;
    } else if (text == "enable") {
      hints.*field = Switch::kEnable;
    } else if (text == "disable") {
      hints.*field = Switch::kDisable;
    } else {
      return "automatic, enable or disable";
    }
    return "";
  };
}

std::string set_aggregators(ResolvedHints& hints, const std::string& text) {
  auto value = parse_number(text);
  if (!value || *value < 1 || *value > 1 << 20) {
    return "a number of ranks, at least 1";
  }
  hints.aggregator_count = static_cast<int>(*value);
  return "";
}

std::string set_method(ResolvedHints& hints, const std::string& text) {
  for (Method method : {Method::kAutomatic, Method::kListIo, Method::kTwoPhase}) {
    if (text == method_name(method)) {
      hints.method = method;
      return "";
    }
  }
  return "automatic, list_io or two_phase";
}

std::string set_driver(ResolvedHints& hints, const std::string& text) {
  if (text != "posix" && text != "uring" && text != "memory") {
    return "posix, uring or memory";
  }
  hints.driver = text;
  return "";
}

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = {
      {"cb_nodes", set_aggregators},
      {"cb_buffer_size", number(&ResolvedHints::collective_buffer_bytes, 64 << 10, kMaxBufferBytes)},
      {"romio_cb_write", choice(&ResolvedHints::collective_write)},
      {"romio_cb_read", choice(&ResolvedHints::collective_read)},
      {"striping_unit", number(&ResolvedHints::striping_unit_bytes, 0, kMaxBufferBytes)},
      {"stria_method", set_method},
      {"stria_staging_size", number(&ResolvedHints::staging_bytes, 64 << 10, kMaxBufferBytes)},
      {"stria_direct", choice(&ResolvedHints::direct)},
      {"stria_shared_memory", choice(&ResolvedHints::shared_memory)},
      {"stria_driver", set_driver},
      {"stria_alignment", number(&ResolvedHints::alignment_bytes, 1, 1 << 30)},
  };
  return table;
}

const char* switch_name(Switch value) {
  return value == Switch::kAutomatic ? "automatic" : value == Switch::kEnable ? "enable" : "disable";
}

}  // namespace

const char* method_name(Method method) {
  switch (method) {
    case Method::kListIo:
      return "list_io";
    case Method::kTwoPhase:
      return "two_phase";
    default:
      return "automatic";
  }
}

ResolvedHints resolve_hints(const Hints& hints, std::vector<std::string>& warnings) {
  ResolvedHints resolved;
  for (const auto& [name, value] : hints) {
    auto found = setters().find(name);
    if (found == setters().end()) {
      warnings.push_back(fmt::format("hint '{}' is not known and has no effect", name));
      continue;
    }
    if (std::string expected = found->second(resolved, value); !expected.empty()) {
      warnings.push_back(fmt::format("hint '{}' has the value '{}' but needs {}; its default is used", name, value, expected));
    }
  }
  return resolved;
}

Hints effective_hints(const ResolvedHints& hints) {
  return {
      {"cb_nodes", std::to_string(hints.aggregator_count)},
      {"cb_buffer_size", std::to_string(hints.collective_buffer_bytes)},
      {"romio_cb_write", switch_name(hints.collective_write)},
      {"romio_cb_read", switch_name(hints.collective_read)},
      {"striping_unit", std::to_string(hints.striping_unit_bytes)},
      {"stria_method", method_name(hints.method)},
      {"stria_staging_size", std::to_string(hints.staging_bytes)},
      {"stria_direct", switch_name(hints.direct)},
      {"stria_shared_memory", switch_name(hints.shared_memory)},
      {"stria_driver", hints.driver},
      {"stria_alignment", std::to_string(hints.alignment_bytes)},
  };
}

}  // namespace stria::access
