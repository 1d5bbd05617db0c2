#include "mpiio/background/agreements.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace stria::mpiio {

namespace {

// Keeps this rank's own failure, which says more.
void note_failure_elsewhere(Job& job, int error_class) {
  Operation& operation = *job.operation;
  if (operation.outcome.ok() && error_class != MPI_SUCCESS) {
    operation.outcome = outcome_in_words(
        error_class, [&] { return "'" + operation.file->path() + "': another rank of the collective operation failed"; });
  }
}

// Tells whether all ranks of the node have done their parts. The board is asked once.
bool has_ended_here(JobBoard& board, Job& job) {
  int error_class = MPI_SUCCESS;
  if (!job.ended_here && job.posted && board.complete(job.board_number, error_class)) {
    job.ended_here = true;
    job.error_class_here = error_class;
    note_failure_elsewhere(job, error_class);
  }
  return job.ended_here;
}

}  // namespace

void Agreements::begin(const JobPtr& job) {
  JobBoard& board = *job->operation->file->shared().board();
  UnderWay& file = files_[&board];
  file.nodes = job->operation->file->shared().nodes();
  file.here.push_back(job);
  job->board_number = board.begin();
}

Agreements::Queue Agreements::look() noexcept {
  for (auto& [board, file] : files_) {
    try {
      look_at_node(*board, file);
      look_at_others(file);
    } catch (const std::bad_alloc&) {
      continue;  // the next look goes on where this one has ended
    }
  }
  std::erase_if(files_, [](const auto& entry) { return entry.second.here.empty() && entry.second.away.empty(); });
  return std::exchange(known_, Queue());
}

// The board has places for only so many operations after the first unfinished one.
void Agreements::look_at_node(JobBoard& board, UnderWay& file) {
  size_t reach = JobBoard::kPlaces;
  for (auto job = file.here.begin(); job != file.here.end() && reach > 0; ++job, --reach) {
    if ((*job)->part_done && !(*job)->posted) {
      (*job)->posted = board.post((*job)->board_number, (*job)->operation->outcome.error_class());
    }
  }
  while (!file.here.empty() && has_ended_here(board, *file.here.front())) {
    const Job& job = *file.here.front();
    if (file.nodes != nullptr) {
      file.nodes->publish(job.board_number, job.error_class_here);
    }
    Queue& next = file.nodes != nullptr ? file.away : known_;
    next.splice(next.end(), file.here, file.here.begin());
  }
}

void Agreements::look_at_others(UnderWay& file) {
  int error_class = MPI_SUCCESS;
  while (!file.away.empty() && file.nodes->complete(file.away.front()->board_number, error_class)) {
    note_failure_elsewhere(*file.away.front(), error_class);
    known_.splice(known_.end(), file.away, file.away.begin());
  }
}

}  // namespace stria::mpiio
