// A pool of a Ceph cluster, as this process has it open.
//
// A process has one connection to its cluster, made when the first path asks for it, and one Pool
// for each pool that it uses. Which cluster: as for the program `ceph`, by CEPH_CONF and CEPH_ARGS.
// STRIA_RADOS_USER names the user (admin), STRIA_RADOS_TIMEOUT the seconds after which a cluster
// that doesn't answer is given up (30).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/rados/librados.hpp"

namespace stria::storage {

using Clock = std::chrono::steady_clock;

/// Returns the time that the cluster has for an answer.
std::chrono::seconds rados_patience();

/// The process's connection. The last pool closes it.
class ClusterConnection {
 public:
  static Result<std::shared_ptr<ClusterConnection>> make(const Librados& rados);
  ClusterConnection(const Librados& rados, rados_t cluster);
  ClusterConnection(const ClusterConnection&) = delete;
  ClusterConnection& operator=(const ClusterConnection&) = delete;
  ~ClusterConnection();

  const Librados& rados() const { return rados_; }
  rados_t get() const { return cluster_; }
  /// True in the process that made it. A fork of it has none of its threads.
  bool is_ours() const;

 private:
  const Librados& rados_;
  rados_t cluster_;
  pid_t process_;
};

/// This is thread-safe.
class Pool {
 public:
  /// Returns the pool of this name; connects to the cluster first where that hasn't been done. A
  /// cluster that couldn't be reached is not asked again for some seconds.
  static Result<std::shared_ptr<const Pool>> named(const std::string& name);

  Pool(std::shared_ptr<ClusterConnection> connection, std::string name, rados_ioctx_t io);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  const Librados& rados() const { return connection_->rados(); }
  rados_ioctx_t io() const { return io_; }
  rados_t cluster() const { return connection_->get(); }
  const std::string& name() const { return name_; }
  bool is_ours() const { return connection_->is_ours(); }
  /// Returns the number by which the cluster knows this process.
  uint64_t client() const;
  /// Returns a number that stands for the cluster and the pool.
  uint64_t number() const;
  /// Returns how many storage daemons are up; 1 where the cluster doesn't tell.
  int server_count() const;
  /// True for some seconds after the cluster didn't answer. What a program does then, such as
  /// closing its files, fails at once; it doesn't wait once more for each step.
  bool is_given_up() const;
  /// Returns what a call of librados returned, as an error that names pool and object and says what
  /// to do.
  Status error(int result, const std::string& object) const;

 private:
  std::shared_ptr<ClusterConnection> connection_;
  std::string name_;
  rados_ioctx_t io_;
  mutable std::atomic<Clock::duration> given_up_until_{};
};

}  // namespace stria::storage
