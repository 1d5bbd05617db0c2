#include "access/together/node/short_calls.hpp"

namespace stria::access {

std::optional<std::span<const int64_t>> ShortCalls::come(Comm& comm, std::span<const int64_t> mine) {
  const auto all = meeting_.come(comm, mine);
  in_step_ = all.has_value();
  if (!all) {
    passing_ = false;
    missed_.store(meeting_.operation());
  }
  return all;
}

void ShortCalls::note_meeting(bool all_short, bool write) {
  passing_ = all_short;
  writes_ = write;
  since_ = meeting_.operation();
}

}  // namespace stria::access
