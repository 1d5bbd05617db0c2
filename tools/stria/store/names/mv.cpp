// stria mv: renames a file within a store or a pool.
#include "storage/path.hpp"
#include "storage/rados/rados_path.hpp"
#include "storage/registry/registry.hpp"
#include "store/names/places.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

/// A pool renames within a directory only. Elsewhere a file is copied, and then removed.
bool needs_copy(const std::string& from, const std::string& to) {
  if (!storage::is_rados_path(from) || !storage::is_rados_path(to)) {
    return false;
  }
  const auto source = storage::RadosPath::parse(from).value();
  const auto target = storage::RadosPath::parse(to).value();
  return source.pool != target.pool || source.directory != target.directory;
}

int run(const std::string& from, const std::string& where) {
  if (is_root(from)) {
    throw Error(ErrorCode::kInvalidArgument, "'" + from + "' is a root, which keeps its name");
  }
  if (!storage::is_remote_path(where) || storage::is_rados_path(from) != storage::is_rados_path(where)) {
    throw Error(ErrorCode::kInvalidArgument, "'" + where + "' is not in the store of '" + from +
                                                 "', and mv only changes names: copy it (stria cp), then remove it (stria rm)");
  }
  const std::string to = target_of(from, where);
  if (needs_copy(from, to)) {
    copy_file(from, to, true);
    remove_name(from);
  } else {
    storage::make_driver("posix").value()->rename(from, to).throw_if_error();
  }
  return kDone;
}

}  // namespace

void add_mv(Command app, Action& action) {
  auto from = std::make_shared<std::string>();
  auto to = std::make_shared<std::string>();
  Command command =
      app.add_subcommand("mv", "give a file or a directory of a store another name, replacing a file that had it");
  command.add_option("from", *from, "stria://SERVER/PATH, or rados://POOL/PATH for a file").required();
  command.add_option("to", *to, "the same store, or any pool of the cluster; a directory keeps its name and takes it in")
      .required();
  command.callback([=, &action] { action = [=](Ranks&) { return run(*from, *to); }; });
}

}  // namespace stria::tool
