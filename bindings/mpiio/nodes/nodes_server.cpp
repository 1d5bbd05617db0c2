#include "mpiio/nodes/nodes_server.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "base/signals_blocked.hpp"

namespace stria::mpiio {

namespace {

NodesMessage answer_to(const NodesMessage& question) {
  NodesMessage answer;
  answer.token = question.token;
  answer.kind = NodesMessage::Kind::kAnswer;
  answer.rank = question.rank;
  answer.sequence = question.sequence;
  return answer;
}

}  // namespace

// It is never destroyed: its thread may outlive the end of main().
NodesServer& NodesServer::instance() {
  static auto* instance = new NodesServer;
  return *instance;
}

NodesServer::~NodesServer() {
  end();
}

NodesPlace NodesServer::add(std::unique_ptr<NodesLedger> ledger) {
  const Held lock(mutex_);
  start(lock);
  NodesPlace place;
  place.token = make_token();
  for (const DatagramSocket& socket : sockets_) {
    place.addresses[static_cast<size_t>(place.address_count++)] = socket.address();
  }
  channels_[place.token].ledger = std::move(ledger);
  return place;
}

void NodesServer::forget(const Token& token) {
  const std::lock_guard lock(mutex_);
  channels_.erase(token);
}

NodesAnswer NodesServer::exchange(const Token& token, const NodesReport& report) {
  const Held lock(mutex_);
  const auto found = channels_.find(token);
  STRIA_CHECK(found != channels_.end());  // forgotten, or another process's
  Channel& channel = found->second;
  if (channel.ledger->take(report)) {
    answer_waiters(lock, channel);
  }
  return channel.ledger->answer(report);
}

// There are no sockets where there is no thread to answer.
void NodesServer::start(const Held& held) {
  STRIA_ASSERT(holds(held, mutex_));
  if (thread_.joinable()) {
    return;
  }
  sockets_.clear();
  for (const SocketAddress& address : own_addresses()) {
    if (auto socket = DatagramSocket::bound_to(address); socket && sockets_.size() < NodesPlace::kAddresses) {
      sockets_.push_back(std::move(*socket));
    }
  }
  wake_ = eventfd(0, EFD_CLOEXEC);
  ending_ = false;
  try {
    std::vector<pollfd> waits{{wake_, POLLIN, 0}};
    for (const DatagramSocket& socket : sockets_) {
      waits.push_back({socket.descriptor(), POLLIN, 0});
    }
    const SignalsBlocked blocked;
    thread_ = std::thread(&NodesServer::work, this, std::move(waits));
  } catch (const std::exception&) {
    sockets_.clear();
    close(wake_);
  }
}

void NodesServer::end() {
  if (!thread_.joinable()) {
    return;
  }
  ending_ = true;
  const uint64_t one = 1;
  static_cast<void>(write(wake_, &one, sizeof one));
  thread_.join();
  close(wake_);
}

// Its memory is made by start(): a lack of it here would end the program.
void NodesServer::work(std::vector<pollfd> waits) {
  while (!ending_) {
    poll(waits.data(), waits.size(), -1);
    for (size_t i = 1; i < waits.size(); ++i) {
      if (waits[i].revents != 0) {
        take(sockets_[i - 1]);
      }
    }
  }
}

void NodesServer::take(const DatagramSocket& socket) {
  SocketAddress from;
  const auto question = socket.receive(&from);
  if (!question) {
    return;
  }
  const Held lock(mutex_);
  if (const auto channel = channels_.find(question->token); channel != channels_.end()) {
    try {
      handle(lock, channel->second, {from, &socket, *question});
    } catch (const std::bad_alloc&) {
      return;  // The message counts as lost: it is sent again.
    }
  }
}

void NodesServer::handle(const Held& held, Channel& channel, const Waiter& asked) {
  STRIA_ASSERT(holds(held, mutex_));
  const NodesMessage& question = asked.question;
  if (question.kind == NodesMessage::Kind::kHello) {
    asked.socket->send(answer_to(question), &asked.from);
  } else if (question.kind == NodesMessage::Kind::kAdd) {
    const auto before = channel.ledger->add(question.rank, question.sequence, question.values[0], question.values[1]);
    if (before) {
      NodesMessage answer = answer_to(question);
      answer.values[0] = *before;
      asked.socket->send(answer, &asked.from);
    }
  } else if (question.kind == NodesMessage::Kind::kOutcomes) {
    const bool news_for_all = channel.ledger->take(content_of<NodesReport>(question));
    const auto before = channel.waiters.find(question.rank);
    if (before != channel.waiters.end() && before->second.question.sequence > question.sequence) {
      return;  // it has been under way for long
    }
    if (answer_with_news(held, channel, asked)) {
      channel.waiters.erase(question.rank);
    } else {
      channel.waiters.insert_or_assign(question.rank, asked);
    }
    if (news_for_all) {
      answer_waiters(held, channel);
    }
  }
}

void NodesServer::answer_waiters(const Held& held, Channel& channel) {
  std::erase_if(channel.waiters, [&](const auto& entry) { return answer_with_news(held, channel, entry.second); });
}

// False when there is none.
bool NodesServer::answer_with_news(const Held& held, const Channel& channel, const Waiter& waiter) const {
  STRIA_ASSERT(holds(held, mutex_));
  const auto report = content_of<NodesReport>(waiter.question);
  const NodesAnswer news = channel.ledger->answer(report);
  if (news.known <= report.known) {
    return false;
  }
  NodesMessage answer = answer_to(waiter.question);
  set_content(answer, news);
  waiter.socket->send(answer, &waiter.from);
  return true;
}

}  // namespace stria::mpiio
