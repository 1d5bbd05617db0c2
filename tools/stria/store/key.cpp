// stria key: a user's key, made of the cluster's.
#include "wire/trust/key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "store/owners.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct KeyArguments {
  std::string user;
  std::string file;
  std::string key;
  std::vector<std::string> groups;
  int64_t days = 365;
};

wire::User described_user(const KeyArguments& arguments) {
  const auto known = user_of(arguments.user);
  wire::User user = known.value_or(wire::User{});
  if (!known) {
    user.uid = user_id(arguments.user);
    if (arguments.groups.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("this machine knows no user {}: give the groups (--groups)", arguments.user));
    }
  }
  if (!arguments.groups.empty()) {
    user.gid = group_id(arguments.groups[0]);
    user.groups.clear();
    for (const std::string& group : arguments.groups) {
      user.groups.push_back(group_id(group));
    }
  }
  if (user.groups.size() > wire::kMaxGroups) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("at most {} groups", wire::kMaxGroups));
  }
  return user;
}

void write_private(const std::string& path, const std::string& text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = descriptor >= 0 && write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const Status outcome = written ? Status() : Status::from_errno(errno, fmt::format("write '{}'", path));
  if (descriptor >= 0) {
    close(descriptor);
  }
  outcome.throw_if_error();
}

int run_key(const KeyArguments& arguments) {
  const auto key = arguments.key.empty() ? wire::Key::from_environment().value() : wire::Key::load(arguments.key).value();
  if (key == nullptr || key->is_users()) {
    throw Error(ErrorCode::kInvalidArgument, "a user's key is made of the cluster's: give its file (--key, or STRIA_KEY_FILE)");
  }
  constexpr int64_t kDaySeconds = 86400;
  const auto until = static_cast<uint64_t>(std::time(nullptr) + arguments.days * kDaySeconds);
  const wire::Claim claim{wire::ClaimKind::kUserKey, described_user(arguments), until};
  write_private(arguments.file, key->for_claim(claim).user_key_text());
  return kDone;
}

}  // namespace

void add_key(Command app, Action& action) {
  auto arguments = std::make_shared<KeyArguments>();
  Command command = app.add_subcommand("key", "a key by which a user proves to a store's servers who it is");
  command.add_option("user", arguments->user, "by name or number").required();
  command.add_option("file", arguments->file, "the new key file, for the user to name in STRIA_KEY_FILE")
      .required()
      .check(not_empty());
  command.add_option("--key", arguments->key, "the file with the cluster's key (or STRIA_KEY_FILE)");
  command.add_option("--groups", arguments->groups, "the user's groups, first its own (otherwise as this machine says)")
      .delimiter(',');
  command.add_option("--days", arguments->days, "how long it is good").check(in_range(0, 36500)).show_default();
  command.callback([=, &action] { action = [=](Ranks&) { return run_key(*arguments); }; });
}

}  // namespace stria::tool
