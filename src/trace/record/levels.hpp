// The levels by name, and what each records.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "stria/trace.hpp"

namespace stria::trace {

/// Reads "off", "counters", "app", "library" or "full".
std::optional<Level> parse_level(const std::string& name);
const char* level_name(Level level);

/// The whole process records at this level from now on.
void apply_level(Level level);
Level applied_level();
/// Keeps the recorded_layers of another library equal to those here; see recorder_link.hpp.
void follow_levels(std::atomic<uint32_t>& layers);

}  // namespace stria::trace
