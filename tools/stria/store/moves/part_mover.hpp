// Moves one part of a file to another server while clients use it.
//
// Problem: the part may be large, and its clients are not to wait for all of it.
// Method: the part is copied while it is followed: its server says what clients have changed since.
// That is copied again, and again, until it is little. For the last of it the part is held: clients
// wait. Then the new server syncs, and the manager says that the part is there
// (docs/formats/wire.md, "Moves"). Where a step fails the move is undone, and the part stays. A
// manager that is started again, one that takes over, and either server that is started again end
// the moves that they find: such a move is begun anew.
// Cost: the part's bytes through this process, each verified on its way; two syncs of the names,
// and one of the part.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "store/store_command.hpp"
#include "wire/moves.hpp"

namespace stria::tool {

/// Keeps a rate.
class Throttle {
 public:
  /// Takes 0 for any rate.
  explicit Throttle(int64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}
  /// Sleeps until so many more may have been moved. After a pause that others have made, no more
  /// come at once than in a second.
  void moved(int64_t bytes);

 private:
  int64_t bytes_per_second_;
  int64_t bytes_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class PartMover {
 public:
  /// `moved` hears of bytes that were copied. All outlive this.
  PartMover(std::shared_ptr<storage::Store> store, Throttle& throttle, std::function<void(int64_t)> moved)
      : store_(std::move(store)), throttle_(throttle), moved_(std::move(moved)) {}

  /// Moves the part. kAborted: not now, since it is in use. kNotFound: the file has gone, or has no
  /// part there.
  Status move(const wire::MoveBegin& request);

 private:
  struct Attempt {
    Status outcome;
    bool was_ended = false;  ///< by others, so that it can be begun anew
  };
  Attempt move_once(const wire::MoveBegin& request);
  Status copy_part(const wire::MoveBegun& move, wire::PartMoved& last);
  Status hold(const wire::MoveBegun& move, uint64_t since, wire::PartMoved& last);
  Status finish(const wire::MoveBegun& move, const wire::PartMoved& last);
  Status copy(const wire::MoveBegun& move, ByteRange range, bool skips_zeros);
  Status cut(const wire::MoveBegun& move, int64_t end);
  Status copy_changed(const wire::MoveBegun& move, const wire::PartMoved& changed);
  Status read(const wire::MoveBegun& move, ByteRange range, int64_t& bytes);
  Status write(const wire::MoveBegun& move, ByteRange range);
  Status resize(const wire::MoveBegun& move, int64_t bytes);
  Result<int64_t> allocated_bytes(const wire::MoveBegun& move, const wire::ServerPlace& server);
  Status reserve(const wire::MoveBegun& move, int64_t bytes);
  Result<wire::PartMoved> step(const wire::MoveBegun& move, wire::MoveStep step, uint64_t since, int64_t modified_ns = 0);
  Result<std::vector<std::byte>> ask_server(const wire::ServerPlace& server, wire::Kind kind, std::vector<std::byte> body);

  std::shared_ptr<storage::Store> store_;
  Throttle& throttle_;
  std::function<void(int64_t)> moved_;
  uint64_t file_ = 0;
  int64_t copied_end_ = 0;    // the end of what the target has
  int64_t copied_bytes_ = 0;  // in all
  std::vector<std::byte> buffer_;
};

}  // namespace stria::tool
