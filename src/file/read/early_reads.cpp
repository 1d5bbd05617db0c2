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
bool may_read_early(std::span<const Transfer> gets, const Catalog& catalog, const storage::Capabilities& capabilities,
                    const Environment& environment) {
  const int ranks = environment.comm->size();
  if (ranks == 1 || gets.empty() || environment.is_served) {
    return false;
  }
  access::RequestShape direct{.write = false, .in_lockstep = true};
  access::RequestShape decoded;
  for (const Transfer& get : gets) {
    add_to(catalog[get.dataset].data_offset >= 0 ? direct : decoded, get);
  }
  return direct.total_bytes + decoded.total_bytes < access::kWorthTellingBytes &&
         decoded.total_bytes < NodeChunks::kWorthBytes / ranks &&
         (direct.total_bytes == 0 || access::reads_at_once(direct, capabilities, environment.hints));
}

}  // namespace stria::file
