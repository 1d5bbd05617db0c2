// Commands on stores: they run in one process, without MPI.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "storage/striped/store.hpp"
#include "wire/address.hpp"
#include "wire/messages.hpp"

namespace stria::tool {

/// True for those subcommands for which MPI is not started.
bool runs_alone(const std::string& subcommand);

void add_serve(CLI::App& app, Action& action);
void add_ls(CLI::App& app, Action& action);
void add_cp(CLI::App& app, Action& action);
void add_rm(CLI::App& app, Action& action);
void add_mv(CLI::App& app, Action& action);
void add_stat(CLI::App& app, Action& action);
void add_df(CLI::App& app, Action& action);
void add_scrub(CLI::App& app, Action& action);

/// A path in a store, with a session to ask about it. Throws stria::Error (kInvalidArgument) for
/// other paths.
struct StoreFile {
  std::shared_ptr<storage::Store> store;
  std::string path;  ///< within the store
};
StoreFile find_in_store(const std::string& url);

/// What the manager knows of it. Throws stria::Error.
wire::Attributes attributes_of(const std::string& url);

/// What is in a directory, sorted. Throws stria::Error.
std::vector<wire::Listed::Entry> entries_of(const std::string& url);

/// `directory` and `name` with one slash between.
std::string joined(const std::string& directory, const std::string& name);

/// "12.3 MB"
std::string readable(int64_t bytes);

}  // namespace stria::tool
