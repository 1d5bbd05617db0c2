// What a store or a pool knows about a name, for stat and ls.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace stria::tool {

/// Throws stria::Error.
nlohmann::json described_name(const std::string& url);

}  // namespace stria::tool
