#include "comm/simulated/network.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace stria {

Network::Channel& Network::channel(int from, int to, int tag) {
  // Ranks are below 2^16, so the key is unique.
  const uint64_t key = (static_cast<uint64_t>(from) << 48) | (static_cast<uint64_t>(to) << 32) | static_cast<uint32_t>(tag);
  std::unique_ptr<Channel>& found = channels_[key];
  if (found == nullptr) {
    found = std::make_unique<Channel>();
  }
  return *found;
}

void Network::complete(Transfer& transfer) {
  transfer.done = true;
  if (transfer.waiting_rank >= 0) {
    scheduler_.wake(transfer.waiting_rank);
  }
}

std::shared_ptr<Transfer> Network::send(std::span<const std::byte> data, int from, int to, int tag) {
  STRIA_ASSERT(0 <= to && static_cast<size_t>(to) < node_of_rank_.size(), from, to, tag);
  auto transfer = std::make_shared<Transfer>();
  Channel& way = channel(from, to, tag);
  Message message;
  if (scheduler_.random(2) == 0) {
    message.copy.assign(data.begin(), data.end());
    transfer->done = true;
  } else {
    message.original = data;
    message.send = transfer;
  }
  way.under_way.push_back(std::move(message));
  if (from != to) {
    RankTraffic& sender = traffic_[static_cast<size_t>(from)];
    RankTraffic& receiver = traffic_[static_cast<size_t>(to)];
    ++sender.messages_sent;
    ++receiver.messages_received;
    sender.bytes_sent += static_cast<int64_t>(data.size());
    receiver.bytes_received += static_cast<int64_t>(data.size());
    if (node_of_rank_[static_cast<size_t>(from)] != node_of_rank_[static_cast<size_t>(to)]) {
      ++sender.messages_sent_away;
      sender.bytes_sent_away += static_cast<int64_t>(data.size());
    }
  }
  // Each event delivers the oldest message of its channel, so that delays can't change the
  // order of messages.
  scheduler_.schedule([this, &way, from, to, tag] {
    STRIA_CHECK(!way.under_way.empty(), from, to, tag);
    way.arrived.push_back(std::move(way.under_way.front()));
    way.under_way.pop_front();
    match(way, from, to, tag);
  });
  return transfer;
}

std::shared_ptr<Transfer> Network::receive(std::span<std::byte> data, int from, int to, int tag) {
  STRIA_ASSERT(0 <= from && static_cast<size_t>(from) < node_of_rank_.size(), from, to, tag);
  auto transfer = std::make_shared<Transfer>();
  Channel& way = channel(from, to, tag);
  way.receives.push_back({data, transfer});
  match(way, from, to, tag);
  return transfer;
}

std::optional<int> Network::take(int to, int tag, std::vector<std::byte>& content) {
  for (int from = 0; from < static_cast<int>(node_of_rank_.size()); ++from) {
    Channel& way = channel(from, to, tag);
    if (!way.arrived.empty()) {
      const auto data = way.arrived.front().data();
      content.assign(data.begin(), data.end());
      const Message message = std::move(way.arrived.front());
      way.arrived.pop_front();
      if (message.send != nullptr) {
        complete(*message.send);
      }
      return from;
    }
  }
  return std::nullopt;
}

void Network::match(Channel& way, int from, int to, int tag) {
  while (!way.arrived.empty() && !way.receives.empty()) {
    const Message message = std::move(way.arrived.front());
    const Receive receive = std::move(way.receives.front());
    way.arrived.pop_front();
    way.receives.pop_front();
    if (message.data().size() != receive.buffer.size()) {
      scheduler_.fail(Status(ErrorCode::kInternal,
                             "a message of " + std::to_string(message.data().size()) + " bytes from rank " +
                                 std::to_string(from) + " to rank " + std::to_string(to) + " with tag " + std::to_string(tag) +
                                 " met a receive of " + std::to_string(receive.buffer.size()) + " bytes"));
      return;
    }
    std::copy(message.data().begin(), message.data().end(), receive.buffer.begin());
    complete(*receive.transfer);
    if (message.send != nullptr) {
      complete(*message.send);
    }
  }
}

}  // namespace stria
