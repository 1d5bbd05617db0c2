// Describes what a store or a pool knows about a name, for stat and ls.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "store/store_command.hpp"

namespace stria::tool {

/// `bytes` and `modified` are null where `asker` gets no answer. Throws stria::Error.
nlohmann::json described_name(const std::string& url, StateAsker& asker);

/// Returns a time since 1970 on this machine's clock; `with_seconds`: otherwise to the minute.
std::string time_text(int64_t ns, bool with_seconds);

}  // namespace stria::tool
