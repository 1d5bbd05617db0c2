// stria server drain and rebalance.
#pragma once

#include "command.hpp"

namespace stria::tool {

void add_drain_server(Command server, Action& action);
void add_rebalance(Command server, Action& action);

}  // namespace stria::tool
