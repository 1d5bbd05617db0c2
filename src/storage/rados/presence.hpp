// Tells who has a file open.
//
// Problem: a program that is killed leaves its locks behind, and a file without a name may only go
// when no program has it open.
// Method: each handle watches the file's header object. The cluster drops the watch of a program
// that has gone, after kWatchSeconds. Whoever wants to know who is left notifies the header.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "storage/rados/pool.hpp"

namespace stria::storage {

inline constexpr uint32_t kWatchSeconds = 20;

/// A handle on a file, as the cluster knows it.
struct Holder {
  uint64_t client = 0;
  uint64_t cookie = 0;
  auto operator<=>(const Holder&) const = default;
};

/// One handle's watch. The destructor withdraws it.
class Presence {
 public:
  /// kNotFound when there is no such header.
  static Result<std::unique_ptr<Presence>> announce(std::shared_ptr<const Pool> pool, const std::string& header);
  struct Watch;
  explicit Presence(std::shared_ptr<Watch> watch) : watch_(std::move(watch)) {}
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence();

  Holder holder() const;
  /// True when the cluster has dropped the watch: others then take this program for gone.
  bool is_lost() const;

 private:
  std::shared_ptr<Watch> watch_;
};

/// The handles on a file.
struct Present {
  std::set<Holder> answered;
  std::set<Holder> silent;  ///< gone, or stopped; the cluster has not dropped them yet
  bool none() const { return answered.empty() && silent.empty(); }
};

Result<Present> who_is_present(const Pool& pool, const std::string& header);

}  // namespace stria::storage
