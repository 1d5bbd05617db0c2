#include "storage/striped/file_state.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "storage/striped/call.hpp"
#include "wire/trust/ticket.hpp"

namespace stria::storage {

namespace {

constexpr std::chrono::milliseconds kBetweenQuestions{20};
constexpr std::chrono::milliseconds kLongestBetweenQuestions{200};

/// Asks once, where the parts are by `place`.
Result<FileState> ask_state(const std::shared_ptr<Store>& store, const wire::Opened& place, std::chrono::milliseconds patience,
                            std::vector<std::string>* silent) {
  STRIA_RETURN_IF_ERROR(wire::check_servers(place));
  std::vector<Store::Borrowed> links;
  std::vector<Call> calls;
  for (const wire::ServerPlace& slot : place.slots) {
    STRIA_ASSIGN_OR_RETURN(auto link, Store::borrow(store, slot.address));
    links.push_back(std::move(link));
    Call& call = calls.emplace_back();
    call.link = links.back().link();
    call.kind = wire::Kind::kExtent;
    call.body = wire::encode(wire::LocalFile{wire::part_number(place.file, slot.second), place.ticket, 0});
    call.patience = patience;
  }
  const Status asked = run_calls(calls);
  for (size_t slot = 0; silent != nullptr && slot < calls.size(); ++slot) {
    if (calls[slot].outcome.code() == ErrorCode::kIo) {
      silent->push_back(place.slots[slot].address);
    }
  }
  STRIA_RETURN_IF_ERROR(asked);
  const wire::Layout layout{place.stripe_bytes, static_cast<int64_t>(place.slots.size())};
  FileState state;
  for (size_t slot = 0; slot < calls.size(); ++slot) {
    STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(calls[slot].reply));
    state.bytes = std::max(state.bytes, layout.file_bytes(static_cast<int64_t>(slot), extent.local_bytes));
    state.modified_ns = std::max(state.modified_ns, extent.modified_ns);
  }
  return state;
}

/// Returns another ticket of the same rights, which are none.
Result<wire::Ticket> ask_for_ticket(Store& store, uint64_t file) {
  STRIA_ASSIGN_OR_RETURN(const Store::Again again, store.open_again(file, 0));
  STRIA_RETURN_IF_ERROR(store.close(again.handle));
  return again.good.ticket;
}

}  // namespace

Result<FileState> state_of_file(const std::shared_ptr<Store>& store, const wire::Opened& place,
                                std::chrono::milliseconds patience, std::vector<std::string>* silent) {
  const auto deadline = Clock::now() + (patience.count() > 0 ? patience : server_patience());
  wire::Opened now = place;
  auto pause = kBetweenQuestions;
  while (true) {
    auto state = ask_state(store, now, patience, silent);
    if (wire::is_foreign_ticket(state.status()) && Clock::now() < deadline) {
      // A server has yet to hear that another manager has taken over, or this ticket is of the one
      // before.
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestBetweenQuestions);
      STRIA_ASSIGN_OR_RETURN(now.ticket, ask_for_ticket(*store, place.file));
      continue;
    }
    if (state.status().code() != ErrorCode::kNotFound || Clock::now() > deadline) {
      return state;
    }
    // A part of it moves to another server, or has moved.
    STRIA_ASSIGN_OR_RETURN(now.slots, ask_where(*store, place.file));
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

}  // namespace stria::storage
