// Commands on stores, some of them also on pools of a Ceph cluster (rados://). They run in one
// process, without MPI.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/readable.hpp"
#include "command.hpp"
#include "storage/striped/file_states.hpp"
#include "storage/striped/store.hpp"
#include "wire/address.hpp"
#include "wire/messages.hpp"
#include "wire/upkeep.hpp"

namespace stria::tool {

/// Returns true for subcommands that run without MPI.
bool runs_alone(const std::string& subcommand);

void add_serve(Command app, Action& action);
void add_ls(Command app, Action& action);
void add_cp(Command app, Action& action);
void add_rm(Command app, Action& action);
void add_mv(Command app, Action& action);
void add_mkdir(Command app, Action& action);
void add_stat(Command app, Action& action);
void add_chmod(Command app, Action& action);  ///< adds chown, too
void add_key(Command app, Action& action);
void add_df(Command app, Action& action);
void add_retire(Command app, Action& action);
void add_promote(Command app, Action& action);
void add_server(Command app, Action& action);  ///< new-files, no-new-files, drain, rebalance
void add_quota(Command app, Action& action);
void add_backup(Command app, Action& action);
void add_fsck(Command app, Action& action);
void add_scrub(Command app, Action& action);
void add_status(Command app, Action& action);
void add_mount(Command app, Action& action);

/// A path in a store, with a session to ask about it. Throws stria::Error (kInvalidArgument) for
/// other paths.
struct StoreFile {
  std::shared_ptr<storage::Store> store;
  std::string path;  ///< within the store
};
StoreFile find_in_store(const std::string& url);

/// Returns what the manager knows of it. Throws stria::Error.
wire::Attributes attributes_of(const std::string& url);

/// Changes owner, group or mode; the path within is the URL's. Throws stria::Error.
void set_ownership(const std::string& url, wire::SetOwnership change);

/// Returns the store's servers, as its manager knows them. Throws stria::Error.
wire::StoreServers servers_of(const StoreFile& file, const std::string& url);

/// Asks for the states of files, and lets no server that is away delay this more than once.
class StateAsker {
 public:
  /// When a server of the file doesn't answer, what the others know, and trouble() tells which.
  storage::FileState ask(const std::string& url, const wire::Opened& place) { return ask_all(url, {&place, 1}).front(); }
  /// Returns the same for many files, all at the same time. `url`: where they are.
  std::vector<storage::FileState> ask_all(const std::string& url, std::span<const wire::Opened> places);
  /// Returns an empty text where all answered.
  const std::string& trouble() const { return trouble_; }

 private:
  storage::StatesAsker asker_;
  std::string trouble_;
};

/// Prints the trouble, if there was any; returns the exit status that says so.
int told_trouble(const StateAsker& asker);

/// Returns its address, or that it has none any more.
std::string address_of(const wire::StoreServers::Entry& server);

/// Finds one of them, by its number or its address. Throws stria::Error where there is none.
wire::ServerPlace find_server(const std::string& url, const std::string& name);

/// Says whether each server takes new files, by its number. Empty where the manager is of a version
/// that can't tell. Throws stria::Error.
using Conditions = std::map<int64_t, wire::Conditions::Entry>;
Conditions conditions_of(const StoreFile& file, const std::string& url);

/// "up", or for how long nothing was heard of it; and why it gets no new files, in a word.
std::string state_of(const wire::StoreServers::Entry& server, const Conditions& conditions);

/// True when it has signed off, and not come back.
bool has_ended(int64_t server, const Conditions& conditions);

/// True when its disk is read-only or fails.
bool has_bad_disk(const wire::StoreServers::Entry& server, const Conditions& conditions);

// Names in a store or in a pool. They throw stria::Error, kInvalidArgument for other paths.

bool is_root(const std::string& url);
bool is_directory(const std::string& url);
struct StoreEntry : wire::Listed::Entry {
  bool is_link = false;  ///< symbolic: what it points to is looked at under its own name
};
/// Returns the entries of a directory, sorted.
std::vector<StoreEntry> entries_of(const std::string& url);
/// Returns the name itself, where it is a symbolic link's. Throws stria::Error.
wire::Looked name_itself(const std::string& url);
/// Removes a file, or an empty directory.
void remove_name(const std::string& url);
/// Makes a copy of a file, under a name that it gets when it is complete; of this machine too.
void copy_file(const std::string& from, const std::string& to, bool sync);

/// Returns `directory` and `name` with one slash between.
std::string joined(const std::string& directory, const std::string& name);

}  // namespace stria::tool
