#include "storage/traced/traced_file.hpp"

#include <algorithm>
#include <utility>

#include "stria/datatype.hpp"
#include "trace/events/ticks.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::storage {

namespace {

using trace::BuiltIn;
using trace::Counter;
using trace::Direction;

/// Tells a span which bytes of the file a list of segments is about.
template <typename AnySpan, typename Segment>
void describe(AnySpan& span, std::span<const Segment> segments) {
  int64_t bytes = 0;
  int64_t offset = segments.empty() ? -1 : segments[0].offset;
  for (const Segment& segment : segments) {
    bytes += segment.bytes;
    offset = std::min(offset, segment.offset);
  }
  span.set_bytes(bytes);
  span.set_offset(offset);
  span.set_detail(static_cast<int64_t>(segments.size()));
}

/// A write under way. Its span and its time last until its wait() has returned.
class TracedWrite final : public PendingWrite {
 public:
  TracedWrite(std::unique_ptr<PendingWrite> write, trace::FileCounters& counters, const trace::LooseSpan& span, int64_t begin)
      : write_(std::move(write)), counters_(counters), span_(span), begin_(begin) {}
  bool done() override { return write_->done(); }
  Status wait() override {
    Status outcome = write_->wait();
    counters_.finish_request(Direction::kWrite, trace::ticks() - begin_);
    span_.finish();
    return outcome;
  }

 private:
  std::unique_ptr<PendingWrite> write_;
  trace::FileCounters& counters_;
  trace::LooseSpan span_;
  int64_t begin_;
};

}  // namespace

TracedFile::TracedFile(std::unique_ptr<File> file, uint16_t id)
    : file_(std::move(file)), counters_(trace::Recorder::instance().counters(id)), id_(id) {
  counters_.add(Counter::kOpens);
  const Capabilities& can = file_->capabilities();
  counters_.raise(Counter::kAlignmentBytes, std::max({can.stripe_bytes, can.lock_unit_bytes, can.block_bytes}));
}

TracedFile::~TracedFile() {
  count_close();
}

Status TracedFile::write(std::span<const WriteSegment> segments) {
  if (!trace::is_counting()) {
    return file_->write(segments);
  }
  trace::FileSpan span(trace::kind(BuiltIn::kStorageWrite), id_);
  if (span->recorded()) {
    describe(*span.operator->(), segments);
  }
  const int64_t begin = trace::ticks();
  Status outcome = file_->write(segments);
  counters_.request(Direction::kWrite, segments, trace::ticks() - begin);
  return outcome;
}

template <typename Start>
std::unique_ptr<PendingWrite> TracedFile::start(std::span<const WriteSegment> segments, Start&& start) {
  if (!trace::is_counting()) {
    return start();
  }
  const trace::FileScope scope(id_);
  trace::LooseSpan span(trace::kind(BuiltIn::kStorageWriteBehind));
  if (trace::is_recorded(trace::Layer::kStorage)) {
    describe(span, segments);
  }
  const int64_t begin = trace::ticks();
  counters_.request(Direction::kWrite, segments, 0);
  return std::make_unique<TracedWrite>(start(), counters_, span, begin);
}

std::unique_ptr<PendingWrite> TracedFile::start_write(std::span<const WriteSegment> segments) {
  return start(segments, [&] { return file_->start_write(segments); });
}

std::unique_ptr<PendingWrite> TracedFile::start_locked_write(std::span<const WriteSegment> segments, const LockTaker& take) {
  return start(segments, [&] { return file_->start_locked_write(segments, take); });
}

Result<int64_t> TracedFile::read(std::span<const ReadSegment> segments) {
  if (!trace::is_counting()) {
    return file_->read(segments);
  }
  trace::FileSpan span(trace::kind(BuiltIn::kStorageRead), id_);
  if (span->recorded()) {
    describe(*span.operator->(), segments);
  }
  const int64_t begin = trace::ticks();
  Result<int64_t> outcome = file_->read(segments);
  counters_.request(Direction::kRead, segments, trace::ticks() - begin);
  return outcome;
}

namespace {

/// Returns a region as one segment with as many bytes, which begins at the first place where the
/// region can have a byte.
template <typename Segment>
Segment stretch_of(const TypeWindow& region) {
  return {region.displacement + region.type.true_lower_bound(), nullptr, region.window.size()};
}

}  // namespace

Status TracedFile::write_type(const TypeWindow& region, const std::byte* data) {
  if (!trace::is_counting()) {
    return file_->write_type(region, data);
  }
  const auto stretch = stretch_of<WriteSegment>(region);
  const std::span<const WriteSegment> segments(&stretch, 1);
  trace::FileSpan span(trace::kind(BuiltIn::kStorageWrite), id_);
  if (span->recorded()) {
    describe(*span.operator->(), segments);
  }
  const int64_t begin = trace::ticks();
  Status outcome = file_->write_type(region, data);
  counters_.request(Direction::kWrite, segments, trace::ticks() - begin);
  return outcome;
}

Result<int64_t> TracedFile::read_type(const TypeWindow& region, std::byte* data) {
  if (!trace::is_counting()) {
    return file_->read_type(region, data);
  }
  const auto stretch = stretch_of<ReadSegment>(region);
  const std::span<const ReadSegment> segments(&stretch, 1);
  trace::FileSpan span(trace::kind(BuiltIn::kStorageRead), id_);
  if (span->recorded()) {
    describe(*span.operator->(), segments);
  }
  const int64_t begin = trace::ticks();
  Result<int64_t> outcome = file_->read_type(region, data);
  counters_.request(Direction::kRead, segments, trace::ticks() - begin);
  return outcome;
}

Status TracedFile::resize(int64_t bytes) {
  const trace::FileSpan span(trace::kind(BuiltIn::kStorageResize), id_);
  return file_->resize(bytes);
}

Status TracedFile::preallocate(int64_t bytes) {
  trace::FileSpan span(trace::kind(BuiltIn::kStorageReserve), id_);
  span->set_bytes(bytes);
  return file_->preallocate(bytes);
}

Status TracedFile::sync() {
  const trace::FileSpan span(trace::kind(BuiltIn::kStorageSync), id_);
  counters_.add(Counter::kSyncs);
  return file_->sync();
}

Status TracedFile::close() {
  const trace::FileSpan span(trace::kind(BuiltIn::kStorageClose), id_);
  count_close();
  return file_->close();
}

void TracedFile::count_close() {
  if (!std::exchange(closed_, true)) {
    counters_.add(Counter::kCloses);
  }
}

}  // namespace stria::storage
