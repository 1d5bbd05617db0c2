#include "file/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/hash.hpp"

namespace stria::file {

namespace {

std::string without_leading_slash(const std::string& path) {
  size_t first = path.find_first_not_of('/');
  return first == std::string::npos ? "" : path.substr(first);
}

}  // namespace

Session::Session(Environment environment, std::string path) : environment_(std::move(environment)), path_(std::move(path)) {
  if (environment_.direct_driver == nullptr) {
    environment_.direct_driver = environment_.driver;
  }
}

void Session::poison(const Status& status) {
  if (poisoned_.ok() && !status.ok()) {
    poisoned_ = status;
  }
}

Status Session::record(int dataset, const Hyperslab& slab, const Memory& memory) {
  auto transfer = make_transfer(dataset, datasets_[static_cast<size_t>(dataset)], slab, memory);
  if (!transfer.ok()) {
    poison(transfer.status());
    return transfer.status();
  }
  if (transfer->region.size() > 0) {
    pending_.push_back(std::move(*transfer));
  }
  return Status();
}

int Session::add(DatasetEntry entry) {
  auto number = static_cast<int>(datasets_.size());
  index_of_path_.emplace(entry.spec.path, number);
  datasets_.push_back(std::move(entry));
  return number;
}

uint64_t Session::hints_hash() const {
  std::string text;
  for (const auto& [name, value] : access::effective_hints(environment_.hints)) {
    if (name != "stria_driver") {  // a node's kernel may lack one
      text += name + "=" + value + "\n";
    }
  }
  return hash_bytes(std::as_bytes(std::span(text)));
}

Result<int> Session::find(const std::string& dataset_path) const {
  std::string wanted = without_leading_slash(dataset_path);
  auto found = index_of_path_.find(wanted);
  if (found == index_of_path_.end()) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no dataset '{}'", path_, wanted));
  }
  return found->second;
}

Result<access::RequestShape> Session::agree_on_request(bool write, bool durable, int64_t extra_hash) {
  int64_t bytes = 0;
  int64_t pieces = 0;
  for (const Transfer& transfer : pending_) {
    bytes += transfer.region.size();
    pieces += transfer.region.piece_count();
  }
  std::array<int64_t, 2> sums = {bytes, pieces};
  comm().all_reduce(std::span<int64_t>(sums), ReduceOp::kSum);
  std::array<int64_t, 3> most = {poisoned_.ok() ? 0 : 1, extra_hash, -extra_hash};
  comm().all_reduce(std::span<int64_t>(most), ReduceOp::kMax);
  if (most[0] != 0) {
    return comm().agree(poisoned_);
  }
  if (most[1] != -most[2]) {
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}': the ranks don't define the same datasets, attributes and tables, or differ in options or hints",
                    path_));
  }
  report_.useful_bytes += sums[0];
  return access::RequestShape{sums[0], sums[1], write, durable};
}

storage::Capabilities Session::share_capabilities(storage::Capabilities mine) {
  comm().broadcast(std::as_writable_bytes(std::span(&mine, 1)), 0);
  return mine;
}

void Session::note_time() {
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count();
}

}  // namespace stria::file
