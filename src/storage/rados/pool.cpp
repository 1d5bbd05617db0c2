#include "storage/rados/pool.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/signals_blocked.hpp"

namespace stria::storage {

namespace {

// All objects of Stria's are in this namespace of their pool.
constexpr const char* kNamespace = "stria";
constexpr std::chrono::seconds kPauseAfterFailure{5};

std::string user() {
  const char* named = std::getenv("STRIA_RADOS_USER");
  return named == nullptr || *named == '\0' ? "admin" : named;
}

std::string configuration_file() {
  const char* named = std::getenv("CEPH_CONF");
  return named == nullptr || *named == '\0' ? "/etc/ceph/ceph.conf, or CEPH_CONF" : fmt::format("'{}' (CEPH_CONF)", named);
}

Status configure(const Librados& rados, rados_t cluster) {
  const int read = rados.conf_read_file(cluster, nullptr);
  if (read < 0) {
    return Status::from_errno(
        -read, fmt::format("the settings of a Ceph cluster can't be read; they are expected in {}", configuration_file()));
  }
  rados.conf_parse_env(cluster, nullptr);
  // Nothing waits for ever, and nothing is printed beside the error.
  const std::string seconds = std::to_string(rados_patience().count());
  for (const char* option : {"client_mount_timeout", "rados_mon_op_timeout", "rados_osd_op_timeout"}) {
    rados.conf_set(cluster, option, seconds.c_str());
  }
  rados.conf_set(cluster, "log_to_stderr", "false");
  rados.conf_set(cluster, "err_to_stderr", "false");
  return {};
}

Status cannot_connect(int error_number) {
  const std::string what = fmt::format("the Ceph cluster of {} can't be reached as client.{}", configuration_file(), user());
  const Status reason = Status::from_errno(error_number, what);
  const char* advice =
      error_number == ETIMEDOUT
          ? "; is it up (ceph -s)? STRIA_RADOS_TIMEOUT is the time that it has"
          : "; are its monitors named there, and is the user's keyring readable? STRIA_RADOS_USER names another";
  return reason.with_message(reason.message() + advice);
}

std::string pools_of(const ClusterConnection& connection) {
  std::vector<char> names(64 << 10);
  const int bytes = connection.rados().pool_list(connection.get(), names.data(), names.size());
  std::string list;
  for (const char* name = names.data(); bytes > 0 && *name != '\0'; name += std::strlen(name) + 1) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  return list.empty() ? "none" : list;
}

/// The pools of this process, and the connection that they share.
struct Pools {
  std::mutex mutex;
  std::shared_ptr<ClusterConnection> connection;
  std::map<std::string, std::shared_ptr<const Pool>> pools;
  Status failure;
  Clock::time_point failed_at;

  Result<std::shared_ptr<ClusterConnection>> connect(const Librados& rados) {
    if (connection == nullptr && !failure.ok() && Clock::now() < failed_at + kPauseAfterFailure) {
      return failure;
    }
    if (connection == nullptr) {
      auto made = ClusterConnection::make(rados);
      if (!made.ok()) {
        failure = made.status();
        failed_at = Clock::now();
        return failure;
      }
      connection = std::move(*made);
    }
    return connection;
  }
};

}  // namespace

std::chrono::seconds rados_patience() {
  const char* text = std::getenv("STRIA_RADOS_TIMEOUT");
  const long seconds = text == nullptr ? 0 : std::atol(text);
  return std::chrono::seconds(seconds > 0 && seconds < 1000000 ? seconds : 30);
}

Result<std::shared_ptr<ClusterConnection>> ClusterConnection::make(const Librados& rados) {
  const SignalsBlocked blocked;
  rados_t cluster = nullptr;
  const int created = rados.create(&cluster, user().c_str());
  if (created < 0) {
    return cannot_connect(-created);
  }
  auto connection = std::make_shared<ClusterConnection>(rados, cluster);
  STRIA_RETURN_IF_ERROR(configure(rados, cluster));
  const int connected = rados.connect(cluster);
  return connected < 0 ? Result<std::shared_ptr<ClusterConnection>>(cannot_connect(-connected)) : std::move(connection);
}

ClusterConnection::ClusterConnection(const Librados& rados, rados_t cluster)
    : rados_(rados), cluster_(cluster), process_(getpid()) {}

ClusterConnection::~ClusterConnection() {
  if (is_ours()) {
    rados_.shutdown(cluster_);
  }
}

bool ClusterConnection::is_ours() const {
  return process_ == getpid();
}

Result<std::shared_ptr<const Pool>> Pool::named(const std::string& name) {
  STRIA_ASSIGN_OR_RETURN(const Librados* rados, Librados::load());
  // Made after librados was loaded, so that it goes before it.
  static Pools all;
  const std::lock_guard lock(all.mutex);
  STRIA_ASSIGN_OR_RETURN(auto connection, all.connect(*rados));
  if (!connection->is_ours()) {
    return Status(ErrorCode::kUnsupported, "a process that has used rados:// can't use it in its forks");
  }
  std::shared_ptr<const Pool>& pool = all.pools[name];
  if (pool == nullptr) {
    rados_ioctx_t io = nullptr;
    const int opened = rados->ioctx_create(connection->get(), name.c_str(), &io);
    if (opened == -ENOENT) {
      return Status(ErrorCode::kNotFound, fmt::format("the cluster has no pool '{}'; it has: {}. Make one with: ceph osd pool "
                                                      "create {}",
                                                      name, pools_of(*connection), name));
    }
    if (opened < 0) {
      return Status::from_errno(-opened, fmt::format("open the pool '{}' as client.{}", name, user()));
    }
    pool = std::make_shared<const Pool>(std::move(connection), name, io);
  }
  return pool;
}

Pool::Pool(std::shared_ptr<ClusterConnection> connection, std::string name, rados_ioctx_t io)
    : connection_(std::move(connection)), name_(std::move(name)), io_(io) {
  rados().ioctx_set_namespace(io_, kNamespace);
  // A write into a full pool fails; else it would wait until there is space.
  rados().set_pool_full_try(io_);
}

Pool::~Pool() {
  if (connection_->is_ours()) {
    rados().ioctx_destroy(io_);
  }
}

uint64_t Pool::client() const {
  return rados().get_instance_id(cluster());
}

uint64_t Pool::number() const {
  std::array<char, 64> cluster_id{};
  rados().cluster_fsid(cluster(), cluster_id.data(), cluster_id.size());
  const std::string text = fmt::format("{}/{}", cluster_id.data(), rados().ioctx_get_id(io_));
  return hash_bytes(std::as_bytes(std::span(text)));
}

int Pool::server_count() const {
  const char* command = R"({"prefix": "osd stat", "format": "json"})";
  char* answer = nullptr;
  size_t bytes = 0;
  const int asked = rados().mon_command(cluster(), &command, 1, "", 0, &answer, &bytes, nullptr, nullptr);
  const std::string text = asked < 0 || answer == nullptr ? "" : std::string(answer, bytes);
  rados().buffer_free(answer);
  constexpr std::string_view kKey = "\"num_up_osds\":";
  const size_t at = text.find(kKey);
  return at == std::string::npos ? 1 : std::max(1, std::atoi(text.c_str() + at + kKey.size()));
}

bool Pool::is_given_up() const {
  return Clock::now().time_since_epoch() < given_up_until_.load();
}

Status Pool::error(int result, const std::string& object) const {
  const Status plain = Status::from_errno(-result, fmt::format("object '{}' of the pool '{}'", object, name_));
  switch (-result) {
    case ETIME:
    case ETIMEDOUT:
      if (!is_given_up()) {
        given_up_until_ = (Clock::now() + kPauseAfterFailure).time_since_epoch();
      }
      return plain.with_message(
          plain.message() + fmt::format(" (the cluster had {} s, STRIA_RADOS_TIMEOUT); see ceph -s", rados_patience().count()));
    case EPERM:
    case EACCES:
      return plain.with_message(plain.message() + fmt::format("; see what it may do: ceph auth get client.{}", user()));
    case EDQUOT:
    case ENOSPC:
      return plain.with_message(plain.message() + "; the pool or the cluster is full: see ceph df");
    case EOPNOTSUPP:
      return plain.with_message(plain.message() + "; names and headers need a replicated pool, not an erasure-coded one");
    default:
      return plain;
  }
}

}  // namespace stria::storage
