#include "storage/uring/transfer_engine.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"

namespace stria::storage {

namespace {

constexpr size_t kDepth = 32;

/// Returns the first `bytes` of `pieces`.
std::vector<iovec> first_bytes(std::span<const iovec> pieces, int64_t bytes) {
  std::vector<iovec> head;
  for (size_t left = static_cast<size_t>(bytes); left > 0; pieces = pieces.subspan(1)) {
    STRIA_CHECK(!pieces.empty(), bytes, left);
    const size_t now = std::min(left, pieces.front().iov_len);
    head.push_back({pieces.front().iov_base, now});
    left -= now;
  }
  return head;
}

}  // namespace

TransferEngine::TransferEngine(SystemCalls& calls, int descriptor, TransferError error)
    : calls_(calls), descriptor_(descriptor), error_(std::move(error)) {}

Result<std::unique_ptr<TransferEngine>> TransferEngine::make(SystemCalls& calls, int descriptor, TransferError error) {
  std::unique_ptr<TransferEngine> engine(new TransferEngine(calls, descriptor, std::move(error)));
  const int result = io_uring_queue_init(kDepth, &engine->ring_, 0);
  if (result < 0) {
    engine->ring_.ring_fd = -1;
    return Status(ErrorCode::kUnsupported, Status::from_errno(-result, "io_uring is not available here").message());
  }
  return engine;
}

TransferEngine::~TransferEngine() {
  if (ring_.ring_fd >= 0) {
    finish_all();
    io_uring_queue_exit(&ring_);
  }
}

// Where memory runs out, the engine knows nothing of the batch.
void TransferEngine::start(WriteBatch& batch) {
  Transfers transfers;
  for (const Run& run : batch.list.runs) {
    Transfer& transfer = transfers.emplace_back();
    transfer.batch = &batch;
    transfer.offset = run.offset;
    transfer.bytes = run.bytes;
    transfer.pieces = std::span(batch.list.pieces).subspan(run.first_piece, run.piece_count);
    transfer.place = std::prev(transfers.end());
  }
  batch.unfinished = transfers.size();
  waiting_.splice(waiting_.end(), transfers);
  submit();
}

/// Moves waiting transfers into the ring while it has room, and tells the kernel.
void TransferEngine::submit() {
  while (!waiting_.empty() && under_way_.size() < kDepth) {
    Transfer& transfer = waiting_.front();
    if (!transfer.batch->outcome.ok()) {
      end(waiting_, transfer);
    } else if (const int error_number = prepare(transfer); error_number != 0) {
      give_up(waiting_, transfer, error_number);
    } else {
      under_way_.splice(under_way_.end(), waiting_, transfer.place);
    }
  }
  // When the submission fails (a full completion queue, an interruption), the entries stay in the
  // ring for the next call.
  io_uring_submit(&ring_);
}

/// Fills a submission entry. Returns an error's number, when a test makes the transfer fail.
int TransferEngine::prepare(Transfer& transfer) {
  int64_t bytes = transfer.bytes;
  int error_number = calls_.admit_transfer(descriptor_, true, transfer.offset, &bytes);
  while (error_number == EINTR) {
    bytes = transfer.bytes;
    error_number = calls_.admit_transfer(descriptor_, true, transfer.offset, &bytes);
  }
  if (error_number != 0) {
    return error_number;
  }
  transfer.shortened.clear();
  if (bytes < transfer.bytes) {
    const Status made = or_out_of_memory([&] {
      transfer.shortened = first_bytes(transfer.pieces, bytes);
      return Status();
    });
    if (!made.ok()) {
      return ENOMEM;
    }
  }
  const std::span<const iovec> pieces =
      transfer.shortened.empty() ? std::span<const iovec>(transfer.pieces) : transfer.shortened;
  // Has room: never more are under way than the ring is deep.
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  STRIA_CHECK(entry != nullptr, under_way_.size());
  io_uring_prep_writev(entry, descriptor_, pieces.data(), static_cast<unsigned>(pieces.size()),
                       static_cast<uint64_t>(transfer.offset));
  io_uring_sqe_set_data(entry, &transfer);
  return 0;
}

void TransferEngine::give_up(Transfers& from, Transfer& transfer, int error_number) {
  if (transfer.batch->outcome.ok()) {
    transfer.batch->outcome = or_out_of_memory([&] { return error_(transfer.offset, transfer.bytes, error_number); });
  }
  end(from, transfer);
}

void TransferEngine::end(Transfers& from, Transfer& transfer) {
  STRIA_CHECK(transfer.batch->unfinished > 0, transfer.offset);
  --transfer.batch->unfinished;
  from.erase(transfer.place);
}

/// Takes one completion: the transfer is done, has failed, or goes on with what remains.
void TransferEngine::complete(Transfer& transfer, int result) {
  if (result == 0 || (result < 0 && result != -EINTR && result != -EAGAIN)) {
    give_up(under_way_, transfer, result == 0 ? EIO : -result);
    return;
  }
  STRIA_CHECK(result <= transfer.bytes, result, transfer.bytes, transfer.offset);
  if (result > 0) {
    transfer.offset += result;
    transfer.bytes -= result;
    transfer.pieces = skip_bytes(transfer.pieces, result);
  }
  if (transfer.bytes == 0) {
    end(under_way_, transfer);
  } else {
    waiting_.splice(waiting_.begin(), under_way_, transfer.place);
  }
}

void TransferEngine::progress(bool wait) {
  submit();
  io_uring_cqe* entry = nullptr;
  // One call submits and waits, so that entries for which the kernel had no room are offered again
  // before this thread waits for them.
  if (wait && !under_way_.empty() && io_uring_submit_and_wait(&ring_, 1) < 0) {
    return;  // interrupted, or still no room: the caller asks again
  }
  while (io_uring_peek_cqe(&ring_, &entry) == 0) {
    Transfer* transfer = static_cast<Transfer*>(io_uring_cqe_get_data(entry));
    const int result = entry->res;
    io_uring_cqe_seen(&ring_, entry);
    complete(*transfer, result);
  }
  submit();
}

void TransferEngine::finish(const WriteBatch& batch) {
  while (!batch.finished()) {
    progress(true);
  }
}

void TransferEngine::finish_all() {
  while (!under_way_.empty() || !waiting_.empty()) {
    progress(true);
  }
}

}  // namespace stria::storage
