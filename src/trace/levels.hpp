// Levels by name, and what each records.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "stria/trace.hpp"

namespace stria::trace {

/// "off", "counters", "app", "library" or "full".
std::optional<Level> parse_level(const std::string& name);
const char* level_name(Level level);

/// Records so much from now on, in the whole process.
void apply_level(Level level);
Level applied_level();
/// Keeps another library's recorded_layers as they are here; see recorder_link.hpp.
void follow_levels(std::atomic<uint32_t>& layers);

}  // namespace stria::trace
