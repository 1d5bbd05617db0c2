#include "mpiio/background/agreements.hpp"

#include <algorithm>

namespace stria::mpiio {

namespace {

JobBoard& board_of(const Job& job) {
  return *job.operation->file->shared().board();
}

// Null on one node, and where the other nodes can't be reached.
NodesBoard* nodes_of(const Job& job) {
  return job.operation->file->shared().nodes();
}

// Keeps this rank's own failure, which says more.
void note_failure_elsewhere(Job& job, int error_class) {
  Operation& operation = *job.operation;
  if (operation.outcome.ok() && error_class != MPI_SUCCESS) {
    operation.outcome = {error_class, "'" + operation.file->path() + "': another rank of the collective operation failed"};
  }
}

}  // namespace

void Agreements::begin(const JobPtr& job) {
  JobBoard& board = board_of(*job);
  here_[&board].push_back(job);
  job->board_number = board.begin();
}

std::vector<Agreements::JobPtr> Agreements::look() {
  std::vector<JobPtr> known;
  for (auto& [board, queue] : here_) {
    look_at_node(*board, queue, known);
  }
  for (auto& [nodes, queue] : away_) {
    look_at_others(*nodes, queue, known);
  }
  const auto is_done = [](const auto& entry) { return entry.second.empty(); };
  std::erase_if(here_, is_done);
  std::erase_if(away_, is_done);
  return known;
}

// Only so many operations after the first unfinished one can have a place on the board.
void Agreements::look_at_node(JobBoard& board, Queue& queue, std::vector<JobPtr>& known) {
  const size_t reach = std::min<size_t>(queue.size(), JobBoard::kPlaces);
  for (size_t i = 0; i < reach; ++i) {
    Job& job = *queue[i];
    if (job.part_done && !job.posted) {
      job.posted = board.post(job.board_number, job.operation->outcome.error_class());
    }
  }
  int error_class = MPI_SUCCESS;
  while (!queue.empty() && queue.front()->posted && board.complete(queue.front()->board_number, error_class)) {
    const JobPtr job = std::move(queue.front());
    queue.pop_front();
    note_failure_elsewhere(*job, error_class);
    if (NodesBoard* nodes = nodes_of(*job)) {
      nodes->publish(job->board_number, error_class);
      away_[nodes].push_back(job);
    } else {
      known.push_back(job);
    }
  }
}

void Agreements::look_at_others(NodesBoard& nodes, Queue& queue, std::vector<JobPtr>& known) {
  int error_class = MPI_SUCCESS;
  while (!queue.empty() && nodes.complete(queue.front()->board_number, error_class)) {
    note_failure_elsewhere(*queue.front(), error_class);
    known.push_back(std::move(queue.front()));
    queue.pop_front();
  }
}

}  // namespace stria::mpiio
