// A driver by which each rank reaches files on the own disks of other nodes too, through the ranks
// there (node_service.hpp).
//
// Links are followed on this node: they lie on storage that all nodes see, and lead to a path on a
// node's own. Which rank has that path is known from the beginning. All other paths are this rank's
// own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "file/nodes/node_service.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// The ranks to ask, by what they have. What this rank sees by itself isn't in it.
struct NodeRoutes {
  std::map<std::string, int> of_files{};
  std::map<std::string, int> of_directories{};
};

class NodesDriver final : public storage::Driver {
 public:
  NodesDriver(std::shared_ptr<storage::Driver> own, std::shared_ptr<NodeService> service, NodeRoutes routes)
      : own_(std::move(own)), service_(std::move(service)), routes_(std::move(routes)) {}

  const char* name() const override { return own_->name(); }
  Result<std::unique_ptr<storage::File>> open(const std::string& path, const storage::OpenOptions& options) override;
  Result<std::unique_ptr<storage::File>> open_again(const storage::File& file, const storage::OpenOptions& options) override;
  Result<storage::Identity> identity(const std::string& path) override;
  Result<storage::NameInfo> name_info(const std::string& path) override;
  std::string follow_links(const std::string& path) override { return own_->follow_links(path); }
  Result<storage::Destination> find_destination(const std::string& path) override { return own_->find_destination(path); }
  Status set_attributes(storage::File& file, const storage::FileAttributes& attributes) override;
  Status rename(const std::string& from, const std::string& to) override { return own_->rename(from, to); }
  /// A removal on another node is done without an outcome: what is removed isn't waited for.
  Status remove(const std::string& path) override;
  Status make_link(const std::string& target, const std::string& path) override { return own_->make_link(target, path); }
  Result<bool> exists(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<std::vector<std::string>> list_directory(const std::string& directory) override;

 private:
  /// Returns the rank to ask for this path; -1: none.
  int rank_of(const std::string& path) const;
  Result<std::vector<std::byte>> ask_for(int rank, Ask what, const std::string& path) const;

  std::shared_ptr<storage::Driver> own_;
  std::shared_ptr<NodeService> service_;
  NodeRoutes routes_;
};

}  // namespace stria::file
