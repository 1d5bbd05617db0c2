#include "file/read/early_reads.hpp"

#include "access/failure/message_signal.hpp"
#include "file/chunks/node_chunks.hpp"
#include "file/session/agreement.hpp"

namespace stria::file {

access::Plan plan_of_early_reads() {
  return {.way = access::Alone{.method = access::Method::kListIo, .in_batches = true},
          .reason = "each rank reads its own bytes before the ranks meet"};
}

// Chunks that several ranks want are better decoded once, if there are many.
bool may_read_early(const OpenFile& file) {
  const int ranks = file.comm().size();
  if (ranks == 1 || file.pending.empty() || file.environment.is_served) {
    return false;
  }
  access::RequestShape direct{.write = false, .in_lockstep = true};
  access::RequestShape decoded;
  for (const Transfer& get : file.pending) {
    add_to(file.catalog[get.dataset].data_offset >= 0 ? direct : decoded, get);
  }
  return direct.total_bytes + decoded.total_bytes < access::kWorthTellingBytes &&
         decoded.total_bytes < NodeChunks::kWorthBytes / ranks &&
         (direct.total_bytes == 0 || access::reads_at_once(direct, file.capabilities, file.environment.hints));
}

}  // namespace stria::file
