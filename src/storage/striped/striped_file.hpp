// An open file of a store; see striped_driver.hpp.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "storage/driver.hpp"
#include "storage/lists/write_queue.hpp"
#include "storage/striped/pass.hpp"
#include "storage/striped/store.hpp"
#include "stria/datatype.hpp"
#include "wire/layout.hpp"

namespace stria::storage {

class StripedRangeLock;

class StripedFile : public File {
 public:
  struct Opening {
    uint64_t handle = 0;
    bool writable = false;
  };
  StripedFile(std::shared_ptr<Store> store, std::string path, const wire::Opened& opened, const Opening& opening);
  StripedFile(const StripedFile&) = delete;
  StripedFile& operator=(const StripedFile&) = delete;
  ~StripedFile() override;

  const std::string& path() const override { return path_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override;
  Status write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_write(std::span<const WriteSegment> segments) override;
  std::unique_ptr<PendingWrite> start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;
  Status write_type(const TypeWindow& region, const std::byte* data) override;
  Result<int64_t> read_type(const TypeWindow& region, std::byte* data) override;
  /// The server of the first slot holds the lock as long as the connection that took it lives. If
  /// the lock is lost before it is given up, the next write, sync or close reports it. A lock
  /// behind the end of any file guards no bytes: it tells other writers of this one. It is taken
  /// again before the next write, and only where others have come meanwhile does that write fail.
  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override;
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override;
  Result<bool> is_locked_elsewhere(ByteRange range) override;
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override;
  Status close() override;

  /// Opens another handle on the same file.
  Result<std::unique_ptr<File>> open_again(bool writable) const;

 private:
  friend class TransferRun;
  friend class StripedRangeLock;
  Status check(const char* operation, bool writes);
  /// A request to one of the file's servers, with the file's ticket.
  Call call_to(Store::Borrowed& link, wire::Kind kind, std::vector<std::byte> body);
  /// An error when another server answers than at first.
  Status recognise(const ServerLink& server);
  /// Sends the same kind of request to every slot, or to those for which `body` gives one. Returns
  /// the replies by slot.
  Result<std::vector<std::vector<std::byte>>> ask_slots(wire::Kind kind,
                                                        const std::function<std::vector<std::byte>(int64_t slot)>& body);
  Status resize_slots(wire::Kind kind, int64_t bytes);
  Result<int64_t> file_bytes();
  std::unique_ptr<PendingWrite> queue(std::function<Status()> job);
  /// Asks the server of the first slot about a lock, and returns its answer.
  Result<bool> ask_lock(Store::Borrowed& link, wire::Kind kind, const wire::LockRange& range, uint32_t wait_ms);
  /// Takes a lock; null when it didn't become free within that time.
  Result<std::unique_ptr<RangeLock>> lock_within(ByteRange range, LockMode mode, uint32_t wait_ms);
  /// Takes the notes again that a server has forgotten, before a write begins.
  Status renew_notes();
  /// Gives a lock up, and returns whether it had been held until now.
  Status unlock(Store::Borrowed& borrowed, ByteRange range, int64_t generation);
  void note_lost(ByteRange range, const Status& why);

  std::shared_ptr<Store> store_;
  std::string path_;
  uint64_t file_;
  Pass pass_;
  uint64_t holder_ = 0;  ///< identifies this handle's locks
  wire::Layout layout_;
  std::vector<std::string> servers_;  ///< addresses by slot
  Opening opening_;
  Capabilities capabilities_;
  bool open_ = true;
  std::mutex known_mutex_;
  std::map<std::string, wire::Identity> known_;  ///< who answered first, by address
  std::mutex notes_mutex_;
  std::set<StripedRangeLock*> notes_;  ///< locks that are held and guard no bytes
  std::mutex lost_mutex_;
  Status lost_lock_;
  std::unique_ptr<WriteQueue> queue_;  ///< made by the first start_write()
};

}  // namespace stria::storage
