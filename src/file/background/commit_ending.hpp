// Describes how a commit in the background ends, once ranks have written: what the first rank of a
// node and rank 0 do, and the handles for it.
//
// Method: the node's first rank, when all of its node have written, makes that durable and tells
// rank 0 (node_links.hpp). Rank 0, when it has heard of all nodes, gives the file its name and
// tells them; they tell their boards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/waiting.hpp"
#include "file/background/node_links.hpp"
#include "file/background/outcome_board.hpp"
#include "file/background/pace.hpp"
#include "file/background/staging_place.hpp"
#include "file/background/unpublished_file.hpp"
#include "file/parity/lone_parity.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Says what a commit in the background is about.
struct AboutCommit {
  std::string path;  ///< the path as the program gave it
  std::string stored_path;
  uint16_t trace_id = 0;
  bool sync = true;
  int64_t writers = 1;         ///< ranks of a node that write at a time
  int64_t bytes_a_second = 0;  ///< what a node writes; 0: any number
  WaitLimits wait_limits{};
};

class CommitEnding {
 public:
  /// `about` must outlive this.
  CommitEnding(const AboutCommit& about, std::shared_ptr<OutcomeBoard> board);

  /// Connects the nodes, where there are several. Collective: yes; the outcome is the same
  /// everywhere.
  Status join(Comm& comm);
  /// Rank 0 says how large the file is to be.
  void set_end(int64_t file_bytes) { file_bytes_ = file_bytes; }
  /// This rank's handles: rank 0 has `target`, another rank `opened` or nothing. The first rank of
  /// another node has `opened` where it is to sync. `drain`, of rank 0, is to follow where the file
  /// is written at another place than its own.
  struct Handles {
    std::shared_ptr<storage::Driver> driver;
    std::unique_ptr<UnpublishedFile> target;
    std::unique_ptr<storage::File> opened;
    std::unique_ptr<Drain> drain;
    std::unique_ptr<LoneParity> parity;  ///< rank 0's, where the file gets some
  };
  void take_handles(Handles handles) noexcept;

  /// Returns the file to which this rank writes; null: it has none.
  storage::File* file() const;
  /// Returns the outcome of the commit, once it is known.
  std::optional<Status> look(Pace& pace);
  /// Tells whether the last look has done a piece of what there is to do.
  bool goes_on() const { return goes_on_; }
  /// Closes the handle of a rank that isn't rank 0.
  Status close() noexcept;
  /// Tells the other nodes, and this one.
  void decide(const Status& outcome) noexcept;

 private:
  Status end_node(const Status& written);
  std::optional<Status> collect_nodes();
  std::optional<Status> end(const Status& written, Pace& pace);
  std::optional<Status> bring_piece(Pace& pace);
  Status publish();
  Status about_failure(const Status& outcome) const;

  const AboutCommit& about_;
  std::shared_ptr<OutcomeBoard> board_;
  std::vector<Peer> peers_;
  std::optional<Status> node_written_;
  int64_t file_bytes_ = 0;
  Handles handles_;
  bool goes_on_ = false;
};

}  // namespace stria::file
