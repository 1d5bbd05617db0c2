#include "comm/mpi/mpi_comm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "comm/end_of_mpi.hpp"
#include "comm/mpi/mpi_request.hpp"
#include "comm/mpi/node_memory.hpp"
#include "comm/mpi/parking.hpp"
#include "comm/mpi/rank_nodes.hpp"
#include "comm/mpi/small_gather.hpp"
#include "comm/mpi/sparse_sizes.hpp"
#include "comm/mpi/wait_watch.hpp"
#include "comm/pause.hpp"
#include "comm/reduced.hpp"

namespace stria {

namespace {

// The library's own tags. Those of callers are moved up behind them.
constexpr int kGatherTag = 0;
constexpr int kSparseTag = 1;              // data of a sparse exchange
constexpr int kSparseSizeTags[] = {2, 3};  // their sizes, in even and in odd exchanges
constexpr int kProgressTag = 4;            // never sent
constexpr int kWaitTag = 5;                // questions for which ranks others wait
constexpr int kSmallTag = 6;               // small gatherings, between the first ranks of nodes
constexpr int kFirstUserTag = 7;
// The most values in one reduction call: keeps counts within `int`, and MPI's temporary
// buffers small.
constexpr size_t kReduceValues = size_t{1} << 24;
// A communicator that lives for a few operations doesn't pay for a small gathering.
constexpr int kOperationsBeforeSmallGather = 8;

MPI_Op mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return MPI_SUM;
    case ReduceOp::kMin:
      return MPI_MIN;
    case ReduceOp::kMax:
      return MPI_MAX;
  }
  return MPI_OP_NULL;
}

class MpiComm : public Comm {
 public:
  MpiComm(MPI_Comm world, MPI_Comm node);
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;
  ~MpiComm() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::span<const int> node_of_rank() const override { return nodes_.of_rank; }
  int node_rank() const override { return node_rank_; }
  int node_size() const override { return node_size_; }

  void barrier() override;
  void broadcast(std::span<std::byte> data, int root) override;
  void all_reduce(std::span<int64_t> values, ReduceOp op) override;
  void exclusive_scan(std::span<int64_t> values) override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void gather(std::span<const std::byte> mine, int root, const PieceTaker& take) override;
  Result<std::shared_ptr<SharedBuffer>> allocate_shared(SharedBytes wanted) override {
    return allocate_node_memory(node_, wanted.bytes);
  }
  std::unique_ptr<CommRequest> send(std::span<const std::byte> data, int to, int tag) override;
  std::unique_ptr<CommRequest> receive(std::span<std::byte> data, int from, int tag) override;
  std::optional<int> take_message(int tag, std::vector<std::byte>& content) override;
  void set_attendant(std::shared_ptr<Attendant> attendant) override {
    if (attendant != nullptr) {
      attend_in_waits(attendant);
    }
    Comm::set_attendant(std::move(attendant));
  }
  void wait(CommRequest& request) override;
  void pause(int attempt) override;
  void look_at_wait(bool begins) override { watch_.look(begins); }
  void wait_while(std::atomic<uint32_t>& word, uint32_t seen) override;
  void wake(std::atomic<uint32_t>& word) override { wake_sleepers(word); }
  Messages sparse_exchange(const Messages& outgoing) override;
  void park(std::unique_ptr<CommRequest>&& request) override { park_message(world_, std::move(request)); }

 private:
  SmallGather* small_gather(size_t bytes);
  void wait_for(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE);

  MPI_Comm world_;
  MPI_Comm node_;  // world_ where all ranks are on one node
  int rank_ = 0;
  int size_ = 1;
  int node_rank_ = 0;
  int node_size_ = 1;
  uint64_t number_ = 0;
  RankNodes nodes_;
  SparseSizes sparse_sizes_;
  WaitWatch watch_;
  int operations_ = 0;  // those that a small gathering could have served
  std::unique_ptr<SmallGather> small_gather_;
};

MpiComm::MpiComm(MPI_Comm world, MPI_Comm node)
    : world_(world), node_(node), sparse_sizes_(world, {kSparseSizeTags[0], kSparseSizeTags[1]}), watch_(world, kWaitTag) {
  MPI_Comm_rank(world_, &rank_);
  MPI_Comm_size(world_, &size_);
  MPI_Comm_rank(node_, &node_rank_);
  MPI_Comm_size(node_, &node_size_);
  nodes_ = find_nodes(world_, node_);
  watch_.set_names(&nodes_.of_rank, &nodes_.hosts);
  number_ = number_communicator(world_);
  int rank_of_process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_process);
  check::note_rank_of_process(rank_of_process);
}

// Ranks come here at different times, so that nothing here is collective.
MpiComm::~MpiComm() {
  if (is_mpi_running()) {
    park_communicator({.number = number_, .world = world_, .node = node_, .ranks = size_, .wait_tag = kWaitTag});
  }
}

void MpiComm::pause(int attempt) {
  attend();
  polite_pause(attempt);
  if (attempt >= kYieldingPauses) {
    watch_.look(attempt == kYieldingPauses);
  }
}

/// Does the same as wait_politely(), but for a call of all ranks.
void MpiComm::wait_for(MPI_Request& request, MPI_Status* status) {
  int done = 0;
  MPI_Test(&request, &done, status);
  for (int attempt = 0; done == 0; ++attempt) {
    pause(attempt);
    MPI_Test(&request, &done, status);
  }
}

/// Serves an operation with so many bytes per rank; none on one node, and none for more bytes.
SmallGather* MpiComm::small_gather(size_t bytes) {
  if (node_size_ == size_ || bytes * static_cast<size_t>(size_) > SmallGather::kMostBytes) {
    return nullptr;
  }
  // Its making calls this function too. The count has passed the mark by then, so that it is made
  // once.
  if (++operations_ == kOperationsBeforeSmallGather) {
    auto made = SmallGather::create(*this, world_, kSmallTag);
    small_gather_ = made.ok() ? std::move(*made) : nullptr;
  }
  return small_gather_.get();
}

void MpiComm::barrier() {
  const std::byte nothing{};
  if (SmallGather* small = small_gather(1)) {
    small->gather(*this, std::span(&nothing, 1));
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(world_, &request);
  wait_for(request);
}

void MpiComm::broadcast(std::span<std::byte> data, int root) {
  for_each_piece(data.size(), [&](size_t first, int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data.data() + first, bytes, MPI_BYTE, root, world_, &request);
    wait_for(request);
  });
}

/// Reduces the values of all ranks, which lie behind one another, in rank order.
void reduce_gathered(std::span<const std::byte> all, std::span<int64_t> values, ReduceOp op) {
  const size_t bytes = values.size_bytes();
  std::memcpy(values.data(), all.data(), bytes);
  for (size_t first = bytes; first < all.size(); first += bytes) {
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t other = 0;
      std::memcpy(&other, all.data() + first + i * sizeof other, sizeof other);
      values[i] = reduced(values[i], other, op);
    }
  }
}

void MpiComm::all_reduce(std::span<int64_t> values, ReduceOp op) {
  if (values.empty()) {
    return;
  }
  if (SmallGather* small = small_gather(values.size_bytes())) {
    reduce_gathered(small->gather(*this, std::as_bytes(values)), values, op);
    return;
  }
  for (size_t first = 0; first < values.size(); first += kReduceValues) {
    const int count = static_cast<int>(std::min(kReduceValues, values.size() - first));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, values.data() + first, count, MPI_INT64_T, mpi_op(op), world_, &request);
    wait_for(request);
  }
}

void MpiComm::exclusive_scan(std::span<int64_t> values) {
  for (size_t first = 0; first < values.size(); first += kReduceValues) {
    const int count = static_cast<int>(std::min(kReduceValues, values.size() - first));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iexscan(MPI_IN_PLACE, values.data() + first, count, MPI_INT64_T, MPI_SUM, world_, &request);
    wait_for(request);
  }
  if (rank_ == 0) {
    // MPI leaves the first rank's result undefined.
    std::fill(values.begin(), values.end(), 0);
  }
}

void MpiComm::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  STRIA_CHECK(all.size() == static_cast<size_t>(size_) * mine.size(), all.size(), mine.size());
  const size_t bytes = mine.size();
  SmallGather* const small = bytes > 0 ? small_gather(bytes) : nullptr;
  if (small != nullptr) {
    const auto gathered = small->gather(*this, mine);
    std::memcpy(all.data(), gathered.data(), gathered.size());
    return;
  }
  if (bytes <= kMpiPieceBytes / static_cast<size_t>(size_)) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(mine.data(), static_cast<int>(bytes), MPI_BYTE, all.data(), static_cast<int>(bytes), MPI_BYTE, world_,
                   &request);
    wait_for(request);
    return;
  }
  // The pieces are too large for one call. One broadcast for each rank moves the same bytes, and
  // latency doesn't matter at this size.
  std::memcpy(all.data() + bytes * static_cast<size_t>(rank_), mine.data(), bytes);
  for (int root = 0; root < size_; ++root) {
    broadcast(all.subspan(bytes * static_cast<size_t>(root), bytes), root);
  }
}

// Receives one message from each rank; only the root waits for them.
void MpiComm::gather(std::span<const std::byte> mine, int root, const PieceTaker& take) {
  STRIA_CHECK(mine.size() <= kGatherBytesMax, mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank_ != root) {
    MPI_Isend(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, root, kGatherTag, world_, &request);
    wait_for(request);
    return;
  }
  std::array<std::byte, kGatherBytesMax> piece;
  for (int from = 0; from < size_; ++from) {
    if (from == root) {
      take(root, mine);
      continue;
    }
    MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from, kGatherTag, world_, &request);
    MPI_Status status;
    wait_for(request, &status);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    take(from, std::span(piece).first(static_cast<size_t>(bytes)));
  }
}

std::unique_ptr<CommRequest> MpiComm::send(std::span<const std::byte> data, int to, int tag) {
  STRIA_ASSERT(0 <= to && to < size_ && tag >= 0, to, size_, tag);
  auto message = std::make_unique<MpiMessage>();
  if (is_mpi_running()) {  // a file that outlives MPI has nobody to tell
    message->start_send(world_, data, to, kFirstUserTag + tag);
  }
  return message;
}

std::unique_ptr<CommRequest> MpiComm::receive(std::span<std::byte> data, int from, int tag) {
  STRIA_ASSERT(0 <= from && from < size_ && tag >= 0, from, size_, tag);
  auto message = std::make_unique<MpiMessage>();
  message->start_receive(world_, data, from, kFirstUserTag + tag);
  return message;
}

// MPI keeps the message until there is room for it: nobody gives back one that was matched.
std::optional<int> MpiComm::take_message(int tag, std::vector<std::byte>& content) {
  int found = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, kFirstUserTag + tag, world_, &found, &status);
  if (found == 0) {
    return std::nullopt;
  }
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  content.resize(static_cast<size_t>(bytes));
  const int from = status.MPI_SOURCE;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Improbe(from, status.MPI_TAG, world_, &found, &message, &status);
  if (found == 0) {
    return std::nullopt;
  }
  int matched_bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &matched_bytes);
  STRIA_CHECK(matched_bytes == bytes, matched_bytes, bytes, from, tag);
  MPI_Mrecv(content.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  return from;
}

void MpiComm::wait(CommRequest& request) {
  for (int attempt = 0; !request.test(); ++attempt) {
    pause(attempt);
  }
}

// The program's own messages may depend on this rank, so that it lets MPI work on
// them now and then.
void MpiComm::wait_while(std::atomic<uint32_t>& word, uint32_t seen) {
  attend();
  for (bool begins = true; !sleep_while(word, seen); begins = false) {
    watch_.look(begins);
    attend();
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, kProgressTag, world_, &found, MPI_STATUS_IGNORE);
  }
}

Comm::Messages MpiComm::sparse_exchange(const Messages& outgoing) {
  STRIA_ASSERT(are_well_addressed(outgoing, size_), outgoing.size(), size_);
  const SparseSizes::Announced announced = sparse_sizes_.exchange(*this, outgoing);
  const auto own = std::find_if(outgoing.begin(), outgoing.end(), [&](const auto& message) { return message.first == rank_; });
  Messages incoming;
  const Status room = or_out_of_memory([&] {
    for (const auto& [from, bytes] : announced.coming) {
      incoming.emplace_back(from, std::vector<std::byte>(static_cast<size_t>(bytes)));
    }
    if (own != outgoing.end()) {
      incoming.push_back(*own);
    }
    return Status();
  });
  std::array<int64_t, 1> lacks = {room.ok() ? 0 : 1};
  if (announced.largest > kSparseBytesUnasked) {
    all_reduce(lacks, ReduceOp::kMax);
  }
  if (lacks[0] != 0) {
    throw std::bad_alloc();
  }
  MpiMessage pieces;
  for (auto& [from, data] : incoming) {
    if (from != rank_) {
      pieces.start_receive(world_, data, from, kSparseTag);
    }
  }
  for (const auto& [to, data] : outgoing) {
    if (to != rank_) {
      pieces.start_send(world_, data, to, kSparseTag);
    }
  }
  wait(pieces);
  std::sort(incoming.begin(), incoming.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return incoming;
}

}  // namespace

Status check_communicator(MPI_Comm parent) {
  if (!is_mpi_running()) {
    return Status(ErrorCode::kInvalidArgument, "MPI is not initialised, or already finalised");
  }
  if (parent == MPI_COMM_NULL) {
    return Status(ErrorCode::kInvalidArgument, "the communicator is MPI_COMM_NULL");
  }
#ifdef OPEN_MPI
  if (parent == nullptr) {
    return Status(ErrorCode::kInvalidArgument, "this is not a communicator: MPI knows no such handle");
  }
#endif
  return Status();
}

Result<std::unique_ptr<Comm>> make_mpi_comm(MPI_Comm parent) {
  STRIA_RETURN_IF_ERROR(check_communicator(parent));
  int is_inter = 0;
  MPI_Comm_test_inter(parent, &is_inter);
  if (is_inter != 0) {
    return Status(ErrorCode::kInvalidArgument, "the communicator is an intercommunicator");
  }
  // The nonblocking duplicate and a polite barrier put off the blocking calls below until
  // every rank is here.
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(parent, &world, &request);
  wait_for_all(parent, request);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
  MPI_Ibarrier(world, &request);
  wait_for_all(world, request);
  free_parked(world);
  return std::unique_ptr<Comm>(std::make_unique<MpiComm>(world, make_node_communicator(world)));
}

}  // namespace stria
