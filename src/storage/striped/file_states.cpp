#include "storage/striped/file_states.hpp"

#include <algorithm>
#include <map>

#include "storage/striped/call.hpp"

namespace stria::storage {

namespace {

/// A slot of one of the files.
struct Slot {
  size_t file = 0;
  int64_t slot = 0;
};

/// Says what one server is asked: some slots, each of another file.
struct Questions {
  std::string address;
  std::vector<Slot> slots;
};

/// A request asks for at most so many files.
std::vector<Questions> questions_about(std::span<const wire::Opened> places) {
  std::map<std::string, std::vector<Slot>> by_server;
  for (size_t file = 0; file < places.size(); ++file) {
    for (size_t slot = 0; slot < places[file].slots.size(); ++slot) {
      by_server[places[file].slots[slot].address].push_back({file, static_cast<int64_t>(slot)});
    }
  }
  std::vector<Questions> questions;
  for (const auto& [address, slots] : by_server) {
    for (size_t begin = 0; begin < slots.size(); begin += wire::kMaxListed) {
      const size_t end = std::min<size_t>(begin + wire::kMaxListed, slots.size());
      questions.push_back({address, {slots.data() + begin, slots.data() + end}});
    }
  }
  return questions;
}

Status no_answer(const std::string& address) {
  return Status(ErrorCode::kIo, address.empty() ? "a server of the file is not in the store any more"
                                                : "server " + address + " doesn't answer");
}

/// Adds what the server told of one slot of the file.
void add(FileState& state, const wire::Opened& place, int64_t slot, const wire::Extents::Entry& told) {
  if (told.error != ErrorCode::kOk) {
    state.trouble.update(Status(told.error, "a server can't tell how much it has of the file"));
    return;
  }
  const wire::Layout layout{place.stripe_bytes, static_cast<int64_t>(place.slots.size())};
  state.bytes = std::max(state.bytes, layout.file_bytes(slot, told.extent.local_bytes));
  state.modified_ns = std::max(state.modified_ns, told.extent.modified_ns);
  state.allocated_bytes += told.allocated_bytes;
}

/// True where another question may tell: a part moves to another server, or has moved; or a server
/// doesn't know the ticket, as another manager has just taken over.
bool may_be_told_again(const Status& trouble) {
  return trouble.code() == ErrorCode::kNotFound || trouble.code() == ErrorCode::kPermissionDenied;
}

/// Asks about a file for which may_be_told_again() is true. What the disks hold of
/// it isn't known then, and counts as its bytes.
FileState state_where_it_is(const std::shared_ptr<Store>& store, const wire::Opened& place, const StatesAsker& asker) {
  const auto state = state_of_file(store, place, asker.patience);
  FileState found = state.ok() ? *state : FileState();
  found.allocated_bytes = found.bytes;
  found.trouble = state.status();
  return found;
}

}  // namespace

Result<wire::Looked> look(Store& store, const wire::Look& what) {
  STRIA_ASSIGN_OR_RETURN(const auto reply, store.ask_manager(wire::Kind::kLook, wire::encode(what)));
  return wire::decode<wire::Looked>(reply);
}

Result<wire::LookedAll> look_all(Store& store, const wire::List& request) {
  STRIA_ASSIGN_OR_RETURN(const auto reply, store.ask_manager(wire::Kind::kLookAll, wire::encode(request)));
  return wire::decode<wire::LookedAll>(reply);
}

std::vector<FileState> states_of_files(const std::shared_ptr<Store>& store, std::span<const wire::Opened> places,
                                       StatesAsker& asker) {
  std::vector<FileState> states(places.size());
  std::vector<Questions> asked;
  std::vector<Store::Borrowed> links;
  std::vector<Call> calls;
  const auto fail = [&](const Questions& questions, const Status& why) {
    for (const Slot& slot : questions.slots) {
      states[slot.file].trouble.update(why);
    }
  };
  for (Questions& questions : questions_about(places)) {
    if (questions.address.empty() || asker.silent.contains(questions.address)) {
      fail(questions, no_answer(questions.address));
      continue;
    }
    auto link = Store::borrow(store, questions.address);
    if (!link.ok()) {
      fail(questions, link.status());
      continue;
    }
    links.push_back(std::move(*link));
    wire::ExtentsOf request;
    for (const Slot& slot : questions.slots) {
      const wire::Opened& place = places[slot.file];
      const bool second = place.slots[static_cast<size_t>(slot.slot)].second;
      request.files.push_back({wire::part_number(place.file, second), place.ticket});
    }
    Call& call = calls.emplace_back();
    call.link = links.back().link();
    call.kind = wire::Kind::kExtents;
    call.body = wire::encode(request);
    call.patience = asker.patience;
    asked.push_back(std::move(questions));
  }
  static_cast<void>(run_calls(calls));  // each has its outcome
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto told =
        calls[i].outcome.ok() ? wire::decode<wire::Extents>(calls[i].reply) : Result<wire::Extents>(calls[i].outcome);
    if (!told.ok() || told->entries.size() != asked[i].slots.size()) {
      fail(asked[i], told.ok() ? Status(ErrorCode::kFormat, "a server tells of other files than was asked") : told.status());
      if (calls[i].outcome.code() == ErrorCode::kIo) {
        asker.silent.insert(asked[i].address);
      }
      continue;
    }
    for (size_t each = 0; each < told->entries.size(); ++each) {
      const Slot& slot = asked[i].slots[each];
      add(states[slot.file], places[slot.file], slot.slot, told->entries[each]);
    }
  }
  for (size_t file = 0; file < places.size(); ++file) {
    if (may_be_told_again(states[file].trouble)) {
      states[file] = state_where_it_is(store, places[file], asker);
    }
  }
  return states;
}

}  // namespace stria::storage
