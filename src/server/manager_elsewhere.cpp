#include "server/manager_elsewhere.hpp"

#include <fmt/format.h>

#include <utility>

#include "storage/striped/call.hpp"

namespace stria::server {

namespace {

constexpr std::chrono::milliseconds kRefusalPatience{1000};

}  // namespace

ManagerElsewhere::ManagerElsewhere(const std::string& join, Connect connect, RoleRecord& role,
                                   std::function<Status(storage::ServerLink&, storage::Clock::time_point)> check)
    : connect_(std::move(connect)), role_(role), check_(std::move(check)) {
  if (const auto joined = wire::parse_addresses(join); joined.ok()) {
    joined_ = *joined;
  }
}

std::unique_ptr<storage::ServerLink> ManagerElsewhere::link() const {
  std::vector<wire::Address> addresses;
  const std::string manager = role_.manager();
  if (const auto known = wire::Address::parse(manager); known.ok()) {
    addresses.push_back(*known);
  }
  for (const wire::Address& each : joined_) {
    if (each.text() != manager) {
      addresses.push_back(each);
    }
  }
  if (addresses.empty()) {
    return nullptr;
  }
  auto made = connect_(std::move(addresses));
  made->after_greeting = check_;
  return made;
}

Result<std::vector<std::byte>> ManagerElsewhere::ask(wire::Kind kind, std::vector<std::byte> body,
                                                     std::chrono::milliseconds patience) {
  if (link_ == nullptr || known_ != role_.manager()) {
    known_ = role_.manager();
    link_ = link();
  }
  if (link_ == nullptr) {
    return Status(ErrorCode::kIo, "it isn't known where the store's manager is");
  }
  storage::Call call;
  call.link = link_.get();
  call.kind = kind;
  call.body = std::move(body);
  call.patience = patience;
  STRIA_RETURN_IF_ERROR(storage::run_calls({&call, 1}));
  return std::move(call.reply);
}

Status ManagerElsewhere::refuse(uint64_t epoch) {
  const wire::Role told{.step = wire::RoleStep::kNote, .mark = role_.mark(), .manager = role_.manager()};
  storage::Call call;
  call.link = link_.get();
  call.kind = wire::Kind::kRole;
  call.body = wire::encode(told);
  call.patience = kRefusalPatience;
  static_cast<void>(storage::run_calls({&call, 1}));
  const std::string where = link_->server();
  if (link_->has_others()) {
    link_->try_next();
  }
  return Status(ErrorCode::kIo,
                fmt::format("the manager at {} (epoch {}) was replaced by the one at {}", where, epoch, told.manager));
}

}  // namespace stria::server
