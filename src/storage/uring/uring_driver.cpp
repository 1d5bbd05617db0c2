#include "storage/uring/uring_driver.hpp"

#include <utility>

#include "storage/messages.hpp"
#include "storage/uring/uring_file.hpp"

namespace stria::storage {

namespace {

// Large enough to make a request's own cost negligible, small enough that a collective buffer makes
// several requests.
constexpr int64_t kRunBytes = 4 << 20;

class UringWrite : public PendingWrite {
 public:
  UringWrite(std::shared_ptr<TransferEngine> engine, RunList list) : engine_(std::move(engine)) {
    batch_.list = std::move(list);
    engine_->start(batch_);
  }
  UringWrite(const UringWrite&) = delete;
  UringWrite& operator=(const UringWrite&) = delete;
  ~UringWrite() override { engine_->finish(batch_); }

  bool done() override {
    if (!batch_.finished()) {
      engine_->progress(false);
    }
    return batch_.finished();
  }
  Status wait() override {
    engine_->finish(batch_);
    return batch_.outcome;
  }

 private:
  std::shared_ptr<TransferEngine> engine_;
  WriteBatch batch_;
};

}  // namespace

UringFile::~UringFile() {
  if (engine_ != nullptr) {
    engine_->finish_all();
  }
}

bool UringFile::has_engine() {
  if (!tried_ && file_->opened().is_open()) {
    tried_ = true;
    const OpenDescriptor* file = &file_->opened();
    auto made = TransferEngine::make(file_->opened().calls(), file_->opened().number(),
                                     [file](int64_t offset, int64_t bytes, int error_number) {
                                       return file->transfer_error("write", offset, bytes, error_number);
                                     });
    if (made.ok()) {
      engine_ = std::move(*made);
    }
  }
  return engine_ != nullptr && file_->opened().is_open();
}

std::unique_ptr<PendingWrite> UringFile::start_write(std::span<const WriteSegment> segments) {
  if (!check_segments("write", path(), segments).ok() || !has_engine()) {
    return file_->start_write(segments);
  }
  return std::make_unique<UringWrite>(engine_, make_runs(segments, kRunBytes));
}

Status UringFile::write(std::span<const WriteSegment> segments) {
  return file_->opened().is_direct() ? start_write(segments)->wait() : file_->write(segments);
}

Status UringFile::close() {
  if (engine_ != nullptr) {
    engine_->finish_all();
  }
  return file_->close();
}

Result<std::shared_ptr<Driver>> UringDriver::make(SystemCalls& calls) {
  STRIA_ASSIGN_OR_RETURN(const std::unique_ptr<TransferEngine> probe, TransferEngine::make(calls, -1, nullptr));
  return std::shared_ptr<Driver>(new UringDriver(calls));
}

Result<std::unique_ptr<File>> UringDriver::open(const std::string& path, const OpenOptions& options) {
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<PosixFile> file, PosixFile::open(calls(), path, options));
  return std::unique_ptr<File>(std::make_unique<UringFile>(std::move(file)));
}

Result<std::unique_ptr<File>> UringDriver::open_again(const File& file, const OpenOptions& options) {
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<PosixFile> again, PosixFile::open_again(calls(), file, options));
  return std::unique_ptr<File>(std::make_unique<UringFile>(std::move(again)));
}

}  // namespace stria::storage
