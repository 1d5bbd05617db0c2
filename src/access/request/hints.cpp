#include "access/request/hints.hpp"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>

#include "access/request/aggregator_places.hpp"
#include "storage/first_server.hpp"

namespace stria::access {

namespace {

constexpr int64_t kMaxBufferBytes = int64_t{1} << 40;
constexpr int64_t kMostStripes = 1 << 20;
constexpr int64_t kUsualLeastRate = 1'000'000;
constexpr int64_t kMostSeconds = 1 << 30;
constexpr int64_t kMostSubfiles = 1 << 16;
constexpr int64_t kMostThreads = 1024;

std::optional<int64_t> parse_number(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional<int64_t>(value) : std::nullopt;
}

// Each setter returns an empty string, or what values are allowed.
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

// The program promises to make collective calls only. In ROMIO both directions then use
// two-phase I/O.
std::string set_no_independent_calls(ResolvedHints& hints, const std::string& text) {
  if (text != "true" && text != "false") {
    return "true or false";
  }
  hints.no_independent_calls = text == "true";
  return "";
}

std::string set_method(ResolvedHints& hints, const std::string& text) {
  for (Method method : {Method::kAutomatic, Method::kMultiple, Method::kListIo, Method::kDatatypeIo, Method::kDataSieving,
                        Method::kHybrid, Method::kTwoPhase}) {
    if (text == method_name(method)) {
      hints.method = method;
      return "";
    }
  }
  return "automatic, multiple, list_io, datatype_io, data_sieving, hybrid or two_phase";
}

std::string set_domains(ResolvedHints& hints, const std::string& text) {
  using Domains = ResolvedHints::Domains;
  for (Domains domains : {Domains::kAutomatic, Domains::kEven, Domains::kAligned, Domains::kStriped}) {
    if (text == domains_name(domains)) {
      hints.domains = domains;
      return "";
    }
  }
  return "automatic, even, aligned or striped";
}

std::string set_striping_factor(ResolvedHints& hints, const std::string& text) {
  auto value = parse_number(text);
  if (!value || *value < 1 || *value > kMostStripes) {
    return "a number of servers, at least 1";
  }
  hints.striping_factor = static_cast<int>(*value);
  return "";
}

std::string set_first_server(ResolvedHints& hints, const std::string& text) {
  auto value = parse_number(text);
  if (!value || *value < -1 || *value > kMostStripes) {
    return "the number of a server, or -1 for any";
  }
  hints.first_server = static_cast<int>(*value);
  return "";
}

std::string set_first_choice(ResolvedHints& hints, const std::string& text) {
  if (text != "in_turn" && text != "by_load") {
    return "in_turn or by_load";
  }
  if (hints.first_server < 0) {  // start_iodevice comes before
    hints.first_server = text == "by_load" ? storage::FirstServer::kByLoad : storage::FirstServer::kInTurn;
  }
  return "";
}

std::string set_mimic_stripe(ResolvedHints& hints, const std::string& text) {
  size_t comma = text.find(',');
  auto count = parse_number(text.substr(0, comma));
  auto bytes = comma == std::string::npos ? std::nullopt : parse_number(text.substr(comma + 1));
  if (!count || !bytes || *count < 1 || *count > kMostStripes || *bytes < 1 || *bytes > kMaxBufferBytes) {
    return "a number of servers and a size in bytes, as in 4,1048576";
  }
  hints.mimic_stripe_count = static_cast<int>(*count);
  hints.mimic_stripe_bytes = *bytes;
  return "";
}

std::string set_aggregator_places(ResolvedHints& hints, const std::string& text) {
  auto places = parse_aggregator_places(text);
  if (!places) {
    return "entries host:N or *:N divided by commas, N a number or *, as in host1:2,*:1";
  }
  hints.aggregator_places = std::move(*places);
  return "";
}

std::string set_subfiles(ResolvedHints& hints, const std::string& text) {
  auto value = text == "nodes" ? ResolvedHints::kSubfileForEachNode : parse_number(text);
  if (!value || (*value < 0 && text != "nodes") || *value > kMostSubfiles) {
    return fmt::format("a number of files from 0 to {}, or nodes", kMostSubfiles);
  }
  hints.subfile_count = *value;
  return "";
}

std::string set_staging_place(ResolvedHints& hints, const std::string& text) {
  if (!text.starts_with('/') && !text.starts_with("stria://")) {
    return "a directory from the root, or one of a store, as in stria://host:port/directory";
  }
  hints.staging_place = text;
  return "";
}

std::string set_part_places(ResolvedHints& hints, const std::string& text) {
  std::vector<std::string> places;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    places.push_back(text.substr(begin, end - begin));
    begin = end + 1;
    if (!places.back().starts_with('/')) {
      return "directories from the root divided by colons, as in /nvme0/run:/nvme1/run";
    }
  }
  hints.part_places = std::move(places);
  return "";
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
      {"romio_no_indep_rw", set_no_independent_calls},
      {"romio_ds_write", choice(&ResolvedHints::sieve_writes)},
      {"romio_ds_read", choice(&ResolvedHints::sieve_reads)},
      {"ind_rd_buffer_size", number(&ResolvedHints::read_window_bytes, 1, kMaxBufferBytes)},
      {"ind_wr_buffer_size", number(&ResolvedHints::write_window_bytes, 1, kMaxBufferBytes)},
      {"cb_config_list", set_aggregator_places},
      {"striping_factor", set_striping_factor},
      {"start_iodevice", set_first_server},
      {"stria_first_server", set_first_choice},
      {"stria_mimic_stripe", set_mimic_stripe},
      {"stria_file_domains", set_domains},
      {"striping_unit", number(&ResolvedHints::striping_unit_bytes, 0, kMaxBufferBytes)},
      {"stria_method", set_method},
      {"stria_staging_size", number(&ResolvedHints::staging_bytes, 64 << 10, kMaxBufferBytes)},
      {"stria_staging_limit", number(&ResolvedHints::staging_limit_bytes, 0, INT64_MAX)},
      {"stria_cache_bytes", number(&ResolvedHints::cache_bytes, 0, INT64_MAX)},
      {"stria_async", choice(&ResolvedHints::async)},
      {"stria_staging", set_staging_place},
      {"stria_staging_rate", number(&ResolvedHints::staging_rate, 0, INT64_MAX)},
      {"stria_staging_writers", number(&ResolvedHints::staging_writers, 1, 1 << 20)},
      {"stria_direct", choice(&ResolvedHints::direct)},
      {"stria_shared_memory", choice(&ResolvedHints::shared_memory)},
      {"stria_axes", choice(&ResolvedHints::axes)},
      {"stria_subfiles", set_subfiles},
      {"stria_parity", number(&ResolvedHints::parity_count, 0, ResolvedHints::kMostParities)},
      {"stria_part_places", set_part_places},
      {"stria_home_every", number(&ResolvedHints::home_every, 0, 1 << 30)},
      {"stria_put_copies", number(&ResolvedHints::put_copies_bytes, 0, INT64_MAX)},
      {"stria_put_check", choice(&ResolvedHints::put_check)},
      {"stria_put_overlaps", choice(&ResolvedHints::put_overlaps)},
      {"stria_compress_threads", number(&ResolvedHints::compress_threads, 1, kMostThreads)},
      {"stria_driver", set_driver},
      {"stria_alignment", number(&ResolvedHints::alignment_bytes, 1, 1 << 30)},
      {"stria_wait_warning_s", number(&ResolvedHints::wait_warning_s, 0, kMostSeconds)},
      {"stria_wait_deadline_s", number(&ResolvedHints::wait_deadline_s, 0, kMostSeconds)},
  };
  return table;
}

void name_first_server(int first_server, Hints& effective) {
  if (first_server >= 0) {
    effective["start_iodevice"] = std::to_string(first_server);
  } else if (first_server == storage::FirstServer::kByLoad) {
    effective["stria_first_server"] = "by_load";
  } else if (first_server == storage::FirstServer::kInTurn) {
    effective["stria_first_server"] = "in_turn";
  }
}

const char* switch_name(Switch value) {
  return value == Switch::kAutomatic ? "automatic" : value == Switch::kEnable ? "enable" : "disable";
}

}  // namespace

const char* method_name(Method method) {
  switch (method) {
    case Method::kMultiple:
      return "multiple";
    case Method::kDatatypeIo:
      return "datatype_io";
    case Method::kDataSieving:
      return "data_sieving";
    case Method::kHybrid:
      return "hybrid";
    case Method::kListIo:
      return "list_io";
    case Method::kTwoPhase:
      return "two_phase";
    default:
      return "automatic";
  }
}

const char* domains_name(ResolvedHints::Domains domains) {
  switch (domains) {
    case ResolvedHints::Domains::kEven:
      return "even";
    case ResolvedHints::Domains::kAligned:
      return "aligned";
    case ResolvedHints::Domains::kStriped:
      return "striped";
    default:
      return "automatic";
  }
}

std::string set_hint(ResolvedHints& hints, const std::string& name, const std::string& value) {
  const auto found = setters().find(name);
  if (found == setters().end()) {
    return fmt::format("hint '{}' is not known and has no effect", name);
  }
  const std::string expected = found->second(hints, value);
  return expected.empty()
             ? ""
             : fmt::format("hint '{}' has the value '{}' but needs {}; its default is used", name, value, expected);
}

ResolvedHints resolve_hints(const Hints& hints, std::vector<std::string>& warnings) {
  ResolvedHints resolved;
  for (const auto& [name, value] : hints) {
    if (std::string problem = set_hint(resolved, name, value); !problem.empty()) {
      warnings.push_back(std::move(problem));
    }
  }
  if (resolved.staging_rate > 0 && resolved.staging_rate < kUsualLeastRate) {
    warnings.push_back(
        fmt::format("hint 'stria_staging_rate' is in bytes a second: {} is less than 1 MB/s", resolved.staging_rate));
  }
  if (!resolved.staging_place.empty() && resolved.subfile_count != 0) {
    warnings.emplace_back("hint 'stria_staging' has no effect on new files with 'stria_subfiles', whose parts lie beside them");
  }
  if (!resolved.staging_place.empty() && resolved.subfile_count == 0 && resolved.parity_count != 0) {
    warnings.emplace_back("hint 'stria_staging' has no effect on new files with 'stria_parity', which lies beside them");
  }
  if (!resolved.part_places.empty() && resolved.subfile_count == 0 && resolved.parity_count == 0) {
    warnings.emplace_back("hint 'stria_part_places' has no effect without 'stria_subfiles' or 'stria_parity'");
  }
  if (resolved.home_every != 0 && resolved.part_places.empty()) {
    warnings.emplace_back("hint 'stria_home_every' has no effect without 'stria_part_places'");
  }
  if (resolved.no_independent_calls) {
    resolved.collective_write = Switch::kEnable;
    resolved.collective_read = Switch::kEnable;
  }
  return resolved;
}

Hints effective_hints(const ResolvedHints& hints) {
  Hints effective = {
      {"cb_config_list", hints.aggregator_places.empty() ? "*:*" : text_of(hints.aggregator_places)},
      {"romio_no_indep_rw", hints.no_independent_calls ? "true" : "false"},
      {"romio_ds_write", switch_name(hints.sieve_writes)},
      {"romio_ds_read", switch_name(hints.sieve_reads)},
      {"ind_rd_buffer_size", std::to_string(hints.read_window_bytes)},
      {"ind_wr_buffer_size", std::to_string(hints.write_window_bytes)},
      {"striping_factor", std::to_string(hints.striping_factor)},
      {"stria_file_domains", domains_name(hints.domains)},
      {"cb_nodes", std::to_string(hints.aggregator_count)},
      {"cb_buffer_size", std::to_string(hints.collective_buffer_bytes)},
      {"romio_cb_write", switch_name(hints.collective_write)},
      {"romio_cb_read", switch_name(hints.collective_read)},
      {"striping_unit", std::to_string(hints.striping_unit_bytes)},
      {"stria_method", method_name(hints.method)},
      {"stria_staging_size", std::to_string(hints.staging_bytes)},
      {"stria_async", switch_name(hints.async)},
      {"stria_direct", switch_name(hints.direct)},
      {"stria_shared_memory", switch_name(hints.shared_memory)},
      {"stria_axes", switch_name(hints.axes)},
      {"stria_driver", hints.driver},
      {"stria_alignment", std::to_string(hints.alignment_bytes)},
  };
  name_first_server(hints.first_server, effective);
  if (hints.staging_limit_bytes >= 0) {
    effective["stria_staging_limit"] = std::to_string(hints.staging_limit_bytes);
  }
  if (hints.cache_bytes >= 0) {
    effective["stria_cache_bytes"] = std::to_string(hints.cache_bytes);
  }
  if (!hints.staging_place.empty()) {
    effective["stria_staging"] = hints.staging_place;
  }
  if (hints.staging_rate > 0) {
    effective["stria_staging_rate"] = std::to_string(hints.staging_rate);
  }
  if (hints.staging_writers > 1) {
    effective["stria_staging_writers"] = std::to_string(hints.staging_writers);
  }
  if (hints.subfile_count != 0) {
    effective["stria_subfiles"] =
        hints.subfile_count == ResolvedHints::kSubfileForEachNode ? "nodes" : std::to_string(hints.subfile_count);
  }
  if (hints.parity_count != 0) {
    effective["stria_parity"] = std::to_string(hints.parity_count);
  }
  if (!hints.part_places.empty()) {
    effective["stria_part_places"] = fmt::format("{}", fmt::join(hints.part_places, ":"));
  }
  if (hints.home_every != 0) {
    effective["stria_home_every"] = std::to_string(hints.home_every);
  }
  if (hints.put_copies_bytes != ResolvedHints().put_copies_bytes) {
    effective["stria_put_copies"] = std::to_string(hints.put_copies_bytes);
  }
  if (hints.put_check != Switch::kAutomatic) {
    effective["stria_put_check"] = switch_name(hints.put_check);
  }
  if (hints.put_overlaps != Switch::kAutomatic) {
    effective["stria_put_overlaps"] = switch_name(hints.put_overlaps);
  }
  if (hints.compress_threads != 1) {
    effective["stria_compress_threads"] = std::to_string(hints.compress_threads);
  }
  if (hints.mimic_stripe_count > 0) {
    effective["stria_mimic_stripe"] = fmt::format("{},{}", hints.mimic_stripe_count, hints.mimic_stripe_bytes);
  }
  for (const auto& [name, seconds] :
       {std::pair("stria_wait_warning_s", hints.wait_warning_s), std::pair("stria_wait_deadline_s", hints.wait_deadline_s)}) {
    if (seconds >= 0) {
      effective[name] = std::to_string(seconds);
    }
  }
  return effective;
}

}  // namespace stria::access
