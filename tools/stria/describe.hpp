// The command line as data, from which the man pages and the shells' completion are made.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace stria::tool {

/// The word that asks for it, alone on the command line.
inline constexpr const char* kDescribe = "--describe";

/// A command: `name`, `help`, its `options` as the parser has them, and the `commands` below.
nlohmann::json described(const CLI::App& app);

}  // namespace stria::tool
