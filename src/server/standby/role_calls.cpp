#include "server/standby/role_calls.hpp"

#include <utility>

#include "storage/striped/call.hpp"

namespace stria::server {

RoleCalls::Answers RoleCalls::ask(std::span<const Roster::Server> servers, const wire::Role& what,
                                  std::chrono::milliseconds patience) {
  Answers answers;
  std::vector<storage::Call> calls;
  std::vector<wire::Identity> asked;
  for (const Roster::Server& server : servers) {
    const auto address = wire::Address::parse(server.address);
    if (!address.ok()) {
      answers.emplace(server.identity, Status(ErrorCode::kIo, "it has no address"));
      continue;
    }
    std::unique_ptr<storage::ServerLink>& link = links_[server.address];
    if (link == nullptr) {
      link = connect_({*address});
    }
    storage::Call& call = calls.emplace_back();
    call.link = link.get();
    call.kind = wire::Kind::kRole;
    call.body = wire::encode(what);
    call.patience = patience;
    call.before_sending = [link = link.get(), identity = server.identity](std::vector<std::byte>&) {
      return link->server_identity() == identity ? Status()
                                                 : Status(ErrorCode::kAborted, "another directory answers at its address");
    };
    asked.push_back(server.identity);
  }
  static_cast<void>(storage::run_calls(calls));  // each has its outcome
  for (size_t i = 0; i < calls.size(); ++i) {
    const storage::Call& call = calls[i];
    answers.emplace(asked[i],
                    call.outcome.ok() ? wire::decode<wire::RoleTold>(call.reply) : Result<wire::RoleTold>(call.outcome));
  }
  return answers;
}

}  // namespace stria::server
