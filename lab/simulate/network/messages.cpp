#include "network/messages.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "access/request/message_tags.hpp"

namespace stria::simulate {

size_t Messages::HashOfWay::operator()(const Way& way) const {
  uint64_t key = static_cast<uint64_t>(way.from) << 32 ^ static_cast<uint64_t>(way.to) << 8 ^ static_cast<uint64_t>(way.tag);
  key *= 0x9E3779B97F4A7C15U;
  return static_cast<size_t>(key ^ key >> 29);
}

Messages::Messages(Clock& clock, const Nodes& nodes, std::span<const int> node_of_rank, const Options& options)
    : clock_(clock), nodes_(nodes), node_of_rank_(node_of_rank), options_(options), pausing_(node_of_rank.size(), 0) {
  const int count = *std::max_element(node_of_rank.begin(), node_of_rank.end()) + 1;
  links_out_.resize(static_cast<size_t>(count));
  links_in_.resize(static_cast<size_t>(count));
}

bool Messages::is_payload(int tag) const {
  return tag == access::kWriteDataTag || tag == access::kReadDataTag;
}

bool Messages::carries(int tag) const {
  return options_.carries_payload || !is_payload(tag);
}

std::shared_ptr<Transfer> Messages::send(std::span<const std::byte> data, int to, int tag) {
  const Way way{clock_.current(), to, tag};
  clock_.charge(nodes_.message_s);
  auto sent = std::make_shared<Sent>(Sent{.data = data,
                                          .copy = {},
                                          .transfer = std::make_shared<Transfer>(),
                                          .moment = clock_.free_at(),
                                          .is_eager = static_cast<double>(data.size()) <= nodes_.eager_bytes,
                                          .has_arrived = false});
  sent->transfer->owner = way.from;
  ++traffic_.messages;
  traffic_.bytes += static_cast<int64_t>(data.size());
  if (sent->is_eager) {
    if (carries(tag)) {  // Otherwise only its length counts; the sender's memory may be gone.
      sent->copy.assign(data.begin(), data.end());
      sent->data = sent->copy;
    }
    sent->transfer->done = true;
    travel(way, static_cast<int64_t>(data.size()), sent->moment, [this, way, sent] {
      sent->has_arrived = true;
      match(way);
    });
  }
  channels_[way].sent.push_back(sent);
  if (!sent->is_eager) {
    match(way);
  }
  return sent->transfer;
}

std::shared_ptr<Transfer> Messages::receive(std::span<std::byte> data, int from, int tag) {
  const Way way{from, clock_.current(), tag};
  auto transfer = std::make_shared<Transfer>();
  transfer->owner = way.to;
  transfer->copy_s = nodes_.message_s + (is_payload(tag) ? static_cast<double>(data.size()) / nodes_.memory_rate : 0);
  channels_[way].awaited.push_back({data, transfer, clock_.free_at()});
  match(way);
  return transfer;
}

void Messages::match(const Way& way) {
  const auto found = channels_.find(way);
  if (found == channels_.end()) {
    return;
  }
  Channel& channel = found->second;
  while (!channel.sent.empty() && !channel.awaited.empty()) {
    const std::shared_ptr<Sent> sent = channel.sent.front();
    if (sent->is_eager && !sent->has_arrived) {
      return;
    }
    const Awaited awaited = std::move(channel.awaited.front());
    channel.sent.erase(channel.sent.begin());
    channel.awaited.erase(channel.awaited.begin());
    if (sent->data.size() != awaited.buffer.size()) {
      clock_.fail(Status(ErrorCode::kInternal, "a message of " + std::to_string(sent->data.size()) + " bytes from rank " +
                                                   std::to_string(way.from) + " to rank " + std::to_string(way.to) +
                                                   " with tag " + std::to_string(way.tag) + " met a receive of " +
                                                   std::to_string(awaited.buffer.size()) + " bytes"));
      return;
    }
    deliver(way, sent, awaited);
  }
  if (channel.sent.empty() && channel.awaited.empty()) {
    channels_.erase(found);
  }
}

void Messages::deliver(const Way& way, const std::shared_ptr<Sent>& sent, const Awaited& awaited) {
  const auto finish = [this, way, sent, awaited] {
    if (carries(way.tag)) {
      std::copy(sent->data.begin(), sent->data.end(), awaited.buffer.begin());
    }
    complete(*awaited.transfer);
    if (!sent->is_eager) {
      complete(*sent->transfer);
    }
  };
  if (sent->is_eager) {
    finish();
    return;
  }
  // Both sides have told each other first.
  const double both = std::max(sent->moment, awaited.moment) + 2 * nodes_.latency_s;
  travel(way, static_cast<int64_t>(sent->data.size()), both, finish);
}

void Messages::travel(const Way& way, int64_t bytes, double moment, std::function<void()> arrived) {
  const int from = node_of_rank_[static_cast<size_t>(way.from)];
  const int to = node_of_rank_[static_cast<size_t>(way.to)];
  if (from == to) {
    // Payload within a node is packed where it belongs; only descriptions are copied.
    clock_.at(moment + nodes_.local_latency_s + static_cast<double>(bytes) / nodes_.memory_rate, std::move(arrived));
    return;
  }
  traffic_.bytes_away += bytes;
  const double seconds = static_cast<double>(bytes) / nodes_.link_rate;
  // The link is asked when the bytes come to it, so that it serves them in that order.
  clock_.at(moment, [this, from, to, seconds, arrived = std::move(arrived)]() mutable {
    const double head = link_out(from).serve(clock_.now(), seconds) - seconds + nodes_.latency_s;
    clock_.at(head, [this, to, seconds, arrived = std::move(arrived)]() mutable {
      clock_.at(link_in(to).serve(clock_.now(), seconds), std::move(arrived));
    });
  });
}

void Messages::complete(Transfer& transfer) {
  transfer.done = true;
  if (transfer.waiting_rank >= 0) {
    clock_.wake(transfer.waiting_rank, clock_.now());
  } else if (pausing_[static_cast<size_t>(transfer.owner)] != 0) {
    clock_.wake(transfer.owner, clock_.now());
  }
}

void Messages::pause_until(double moment) {
  const int rank = clock_.current();
  clock_.wake(rank, moment);
  pausing_[static_cast<size_t>(rank)] = 1;
  clock_.block("pauses");
  pausing_[static_cast<size_t>(rank)] = 0;
}

}  // namespace stria::simulate
