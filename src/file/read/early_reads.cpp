// What a rank reads before it meets the others.
//
// Problem: the ranks meet to plan a read, and once more to agree on its outcome. Where ranks
// outnumber processors, a meeting takes longer than many a read.
// Method: on storage of the node's own, a rank whose bytes lie close, or in long pieces, reads them
// at once: no plan would have them read otherwise. Then the ranks meet, and tell what is left to be
// read and who has failed. Where nothing is left and nobody has failed, that meeting was all. Else
// what is left is planned and read by all, as it is without early reads.
// Cost: one meeting. A rank hears of a failure elsewhere only when its own bytes are read, so that
// these must be few. A file that is read by its parity takes another meeting.
#include "access/failure/message_signal.hpp"
#include "file/read/read_session.hpp"

namespace stria::file {

namespace {

access::Plan plan_of_early_reads() {
  return {.way = access::Alone{.method = access::Method::kListIo, .in_batches = true},
          .reason = "each rank reads its own bytes before the ranks meet"};
}

}  // namespace

// Chunks that several ranks want are better decoded once, if there are many.
bool ReadSession::may_read_early() const {
  if (comm().size() == 1 || pending_.empty() || !poisoned_.ok()) {
    return false;
  }
  access::RequestShape direct{.write = false, .in_lockstep = true};
  access::RequestShape decoded;
  for (const Transfer& transfer : pending_) {
    add_to(catalog_[transfer.dataset].data_offset >= 0 ? direct : decoded, transfer);
  }
  return direct.total_bytes + decoded.total_bytes < access::kWorthTellingBytes &&
         decoded.total_bytes < NodeChunks::kWorthBytes / comm().size() &&
         (direct.total_bytes == 0 || access::reads_at_once(direct, capabilities_, environment_.hints));
}

ReadSession::Early ReadSession::read_early() {
  Early early;
  if (!may_read_early()) {
    return early;
  }
  const Status status = or_out_of_memory([&]() -> Status {
    const access::Plan plan = plan_of_early_reads();
    report_.method = access::method_name(plan.method());
    report_.reason = plan.reason;
    return move_all(plan);
  });
  if (!status.ok()) {
    early.has_failed = true;
    poison(status);
    return early;
  }
  for (const Transfer& transfer : pending_) {
    early.bytes += transfer.region.size();
  }
  pending_.clear();
  return early;
}

// What some rank has read early may be damaged: then that is read again, by the file's parity.
Result<Agreed> ReadSession::meet_after(const Early& early, Call call) {
  const Aside read{.useful_bytes = early.bytes};
  auto agreed = agree_on_request(call, false, read);
  if (agreed.ok() || !heal(agreed.status())) {
    return agreed;
  }
  poisoned_ = early.has_failed ? Status() : poisoned_;
  return agree_on_request(call, false, read);
}

// Everything is read, on every rank.
Status ReadSession::end_early(const Early& early) {
  reserve_.attempt([&] {
    const access::Plan plan = plan_of_early_reads();
    if (early.bytes > 0) {
      trace_plan(plan);
      return;
    }
    note_plan(plan);
    ProgressMeter(progress_, pending_).finish();
  });
  return Status();
}

}  // namespace stria::file
