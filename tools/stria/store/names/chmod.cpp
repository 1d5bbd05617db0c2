// stria chmod and stria chown: who may do what with files of a store.
#include <fmt/format.h>

#include "store/owners.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct ChmodArguments {
  std::string what;
  std::vector<std::string> paths;
  bool recursive = false;
};

using Change = std::function<void(const wire::Attributes& now, wire::SetOwnership& change)>;

void apply(const std::string& url, bool recursive, const Change& change) {
  const wire::Attributes now = attributes_of(url);
  // The entries come first: the change may shut us out.
  if (recursive && now.is_directory) {
    for (const StoreEntry& entry : entries_of(url)) {
      if (!entry.is_link) {
        apply(joined(url, entry.name), recursive, change);
      }
    }
  }
  wire::SetOwnership request;
  change(now, request);
  set_ownership(url, request);
}

int change_ownership(const ChmodArguments& arguments, const Change& change) {
  for (const std::string& path : arguments.paths) {
    apply(path, arguments.recursive, change);
  }
  return kDone;
}

int run_chmod(const ChmodArguments& arguments) {
  return change_ownership(arguments, [&](const wire::Attributes& now, wire::SetOwnership& request) {
    request.mode = changed_mode(now.owner.mode, arguments.what);
  });
}

int run_chown(const ChmodArguments& arguments) {
  const size_t colon = arguments.what.find(':');
  const std::string user = arguments.what.substr(0, colon);
  const std::string group = colon == std::string::npos ? "" : arguments.what.substr(colon + 1);
  if (user.empty() && group.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "give USER, USER:GROUP or :GROUP");
  }
  wire::SetOwnership wanted;
  if (!user.empty()) {
    wanted.uid = user_id(user);
  }
  if (!group.empty()) {
    wanted.gid = group_id(group);
  }
  return change_ownership(arguments, [&](const wire::Attributes&, wire::SetOwnership& request) { request = wanted; });
}

void add(Command app, Action& action, const char* name, const char* help, const char* what,
         int (*start)(const ChmodArguments&)) {
  auto arguments = std::make_shared<ChmodArguments>();
  Command command = app.add_subcommand(name, help);
  command.add_option("what", arguments->what, what).required();
  command.add_option("paths", arguments->paths, "stria://SERVER/PATH ...").required();
  command.add_flag("-R,--recursive", arguments->recursive, "also all that is below");
  command.callback([=, &action] { action = [=](Ranks&) { return start(*arguments); }; });
}

}  // namespace

void add_chmod(Command app, Action& action) {
  add(app, action, "chmod", "who may read, write and enter files and directories of a store", "640, or u+x,go-w", run_chmod);
  add(app, action, "chown", "to whom files and directories of a store belong", "USER, USER:GROUP or :GROUP", run_chown);
}

}  // namespace stria::tool
