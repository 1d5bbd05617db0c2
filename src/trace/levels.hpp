// Levels by name, and what each records.
#pragma once

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

}  // namespace stria::trace
