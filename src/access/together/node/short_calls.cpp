#include "access/together/node/short_calls.hpp"

#include "access/together/node/node_windows.hpp"
#include "base/check.hpp"

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

bool may_pass(const KeptBuffers& kept, bool write, int64_t bytes) {
  return kept.windows != nullptr && kept.windows->short_calls().may_pass(write, bytes);
}

void pass(Comm& comm, const KeptBuffers& kept) {
  STRIA_ASSERT(kept.windows != nullptr);
  kept.windows->short_calls().pass(comm);
}

void stop_passing(const KeptBuffers& kept) {
  if (kept.windows != nullptr) {
    kept.windows->short_calls().stop();
  }
}

}  // namespace stria::access
