#include "mpiio/nodes/nodes_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "comm/mpi/wait_watch.hpp"

namespace stria::mpiio {

namespace {

constexpr std::chrono::milliseconds kFirstInterval(20);
constexpr std::chrono::milliseconds kLongestInterval(1000);

}  // namespace

void NodesClient::start(NodesMessage::Kind kind, const std::array<int64_t, NodesMessage::kValues>& values) {
  if (sockets_.empty()) {
    std::vector<DatagramSocket> sockets;
    for (int i = 0; i < place_.address_count; ++i) {
      if (auto socket = DatagramSocket::connected_to(place_.addresses[static_cast<size_t>(i)])) {
        sockets.push_back(std::move(*socket));
      }
    }
    sockets_ = std::move(sockets);
  }
  question_.token = place_.token;
  question_.kind = kind;
  question_.rank = rank_;
  ++question_.sequence;
  question_.values = values;
  asking_ = true;
  interval_ = kFirstInterval;
  send();
}

void NodesClient::send() {
  for (const DatagramSocket& socket : sockets_) {
    socket.send(question_, nullptr);
  }
  next_send_ = Clock::now() + interval_;
  interval_ = std::min<Clock::duration>(2 * interval_, kLongestInterval);
}

std::optional<NodesMessage> NodesClient::poll() {
  if (!asking_) {
    return std::nullopt;
  }
  auto answer = receive();
  if (!answer && Clock::now() >= next_send_) {
    send();
  }
  return answer;
}

std::optional<NodesMessage> NodesClient::receive() {
  for (size_t i = 0; i < sockets_.size(); ++i) {
    while (const auto message = sockets_[i].receive(nullptr)) {
      if (!is_answer(*message)) {
        continue;
      }
      if (!std::exchange(has_answered_, true)) {
        keep_only(i);
        i = 0;
      }
      if (message->sequence == question_.sequence) {
        asking_ = false;
        return message;
      }
    }
  }
  return std::nullopt;
}

// True if the message answers a question of this rank, the last or an earlier one.
bool NodesClient::is_answer(const NodesMessage& message) const {
  return message.token == place_.token && message.kind == NodesMessage::Kind::kAnswer && message.rank == rank_;
}

void NodesClient::keep_only(size_t socket) {
  STRIA_CHECK(socket < sockets_.size(), socket, sockets_.size());
  std::swap(sockets_[0], sockets_[socket]);
  sockets_.erase(sockets_.begin() + 1, sockets_.end());
}

std::optional<NodesMessage> NodesClient::wait(Clock::time_point deadline) {
  while (true) {
    if (auto answer = poll()) {
      return answer;
    }
    const auto now = Clock::now();
    if (now >= deadline) {
      return std::nullopt;
    }
    if (long_wait_.is_due()) {
      say_wait(rank_, long_wait_.seconds(), "an answer of rank 0, on another node, by UDP");
    }
    if (long_wait_.is_over_deadline()) {
      give_up_job();
    }
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(std::min(next_send_, deadline) - now);
    wait_for_datagram(sockets_, std::max(static_cast<int>(pause.count()), 1));
  }
}

Status NodesClient::greet(std::chrono::milliseconds patience) {
  start(NodesMessage::Kind::kHello, {});
  if (place_.address_count > 0 && wait(Clock::now() + patience)) {
    return Status();
  }
  std::string tried;
  for (int i = 0; i < place_.address_count; ++i) {
    tried += (i == 0 ? "" : ", ") + place_.addresses[static_cast<size_t>(i)].text();
  }
  return Status(ErrorCode::kUnsupported,
                fmt::format("rank 0, on another node, can't be reached by UDP at {}", tried.empty() ? "any address" : tried));
}

NodesMessage NodesClient::ask(NodesMessage::Kind kind, const std::array<int64_t, NodesMessage::kValues>& values) {
  start(kind, values);
  long_wait_.begin();
  return *wait(Clock::time_point::max());
}

}  // namespace stria::mpiio
