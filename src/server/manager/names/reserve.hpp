// Space on the disk that is kept for changes which free space.
//
// Problem: on a full disk not even a file's removal fits into the log of names.
// Method: a file of 4 MiB beside the names, which is given up when such a change finds no room, and
// made again when there is. Cost: these 4 MiB, and a look at the disk each second without them.
#pragma once

#include <string>

#include "stria/status.hpp"

namespace stria::server {

class Reserve {
 public:
  explicit Reserve(std::string path) : path_(std::move(path)) {}

  /// Makes it where it is missing, if the disk then still has 1 MiB free.
  void keep();
  /// False when there was none to give up.
  bool give_up();

 private:
  std::string path_;
  bool held_ = false;
};

/// What frees space, and finds none, is done again with what is kept for it.
template <typename Body>
Status with_reserve(Reserve& reserve, Body body) {
  const Status outcome = body();
  return outcome.code() == ErrorCode::kNoSpace && reserve.give_up() ? body() : outcome;
}

}  // namespace stria::server
