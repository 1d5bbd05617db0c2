#include "tracing/communication.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

namespace stria::tool {

namespace {

using trace::Event;

Communicating communicating(const trace::KindInfo& kind) {
  static const std::map<std::string, Communicating> kNames = {
      {"send", Communicating::kSend},           {"receive", Communicating::kReceive}, {"barrier", Communicating::kBarrier},
      {"broadcast", Communicating::kBroadcast}, {"reduce", Communicating::kReduce},   {"gather", Communicating::kGather}};
  const auto found = kind.layer == trace::Layer::kStorage ? kNames.find(kind.name) : kNames.end();
  return found == kNames.end() ? Communicating::kNone : found->second;
}

bool is_message(Communicating role) {
  return role == Communicating::kSend || role == Communicating::kReceive;
}

}  // namespace

Communication::Communication(const trace::TraceFile& trace) : trace_(trace) {
  for (const trace::KindInfo& kind : trace.kinds) {
    kinds_.push_back(communicating(kind));
  }
  communicators_.emplace_back(trace.ranks.size());
  std::iota(communicators_[0].begin(), communicators_[0].end(), uint64_t{0});
  match_messages();
  match_collectives();
}

Communication::MessageKey Communication::key_of(const Event& event, Communicating role) {
  const bool sends = role == Communicating::kSend;
  return {sends ? event.rank : event.peer, sends ? event.peer : event.rank, event.offset, event.file};
}

void Communication::match_messages() {
  for (const Event& event : trace_.events) {
    if (is_message(kind_of(event)) && event.peer >= 0) {
      unmatched_[key_of(event, kind_of(event))] += kind_of(event) == Communicating::kSend ? 1 : -1;
    }
  }
}

void Communication::match_collectives() {
  std::map<int32_t, std::set<uint64_t>> members;
  std::map<int32_t, std::map<uint64_t, std::vector<Communicating>>> sequences;
  for (const Event& event : trace_.events) {
    const auto rank = static_cast<uint64_t>(event.rank);
    members[event.file].insert(rank);
    if (kind_of(event) > Communicating::kReceive) {
      sequences[event.file][rank].push_back(kind_of(event));
    }
  }
  for (const auto& [file, of_rank] : sequences) {
    // Those without a file belong to the run.
    const std::set<uint64_t> all(communicators_[0].begin(), communicators_[0].end());
    const std::set<uint64_t>& ranks = file < 0 ? all : members[file];
    const std::vector<Communicating>& first = of_rank.begin()->second;
    const bool whole =
        of_rank.size() == ranks.size() &&
        std::all_of(of_rank.begin(), of_rank.end(), [&first](const auto& other) { return other.second == first; });
    if (!whole) {
      continue;
    }
    const std::vector<uint64_t> list(ranks.begin(), ranks.end());
    auto place = std::find(communicators_.begin(), communicators_.end(), list);
    if (place == communicators_.end()) {
      communicators_.push_back(list);
      place = communicators_.end() - 1;
    }
    communicator_of_file_[file] = static_cast<uint32_t>(place - communicators_.begin());
  }
}

Communicating Communication::role(const Event& event) const {
  const Communicating role = kind_of(event);
  if (is_message(role)) {
    return event.peer >= 0 && unmatched_.at(key_of(event, role)) == 0 ? role : Communicating::kNone;
  }
  return communicator_of_file_.contains(event.file) ? role : Communicating::kNone;
}

uint32_t Communication::communicator(const Event& event) const {
  // The peers of messages are ranks of the run.
  return is_message(kind_of(event)) ? 0 : communicator_of_file_.at(event.file);
}

uint32_t Communication::rank_in(uint32_t communicator, int rank) const {
  const std::vector<uint64_t>& ranks = communicators_[communicator];
  const auto place = std::lower_bound(ranks.begin(), ranks.end(), static_cast<uint64_t>(rank));
  return static_cast<uint32_t>(place - ranks.begin());
}

}  // namespace stria::tool
