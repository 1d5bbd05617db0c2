#include "storage/driver.hpp"

#include <utility>

namespace stria::storage {

namespace {

class FinishedWrite : public PendingWrite {
 public:
  explicit FinishedWrite(Status outcome) : outcome_(std::move(outcome)) {}
  bool done() override { return true; }
  Status wait() override { return std::move(outcome_); }

 private:
  Status outcome_;
};

}  // namespace

std::unique_ptr<PendingWrite> File::start_write(std::span<const WriteSegment> segments) {
  return std::make_unique<FinishedWrite>(write(segments));
}

}  // namespace stria::storage
