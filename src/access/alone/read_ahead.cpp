#include "access/alone/read_ahead.hpp"

#include <algorithm>

#include "datatype/cursor.hpp"

namespace stria::access {

void ReadAhead::before(std::span<const BatchPart> batch) {
  const auto streams = std::max<int64_t>(static_cast<int64_t>(batch.size()), 1);
  const int64_t stretch_bytes = std::max(kAheadBytes / streams / 2, kLeastStretchBytes);
  for (size_t i = 0; i < batch.size(); ++i) {
    const BatchPart& part = batch[i];
    if (part.end == part.stream->size() && part.begin == 0) {
      continue;  // all of it comes now
    }
    Asked& asked = asked_of(part, i);
    // There are two stretches: one that is read, and the one that comes.
    while (asked.end < part.stream->size() && asked.end - part.end < stretch_bytes) {
      const int64_t end = std::min(asked.end + stretch_bytes, part.stream->size());
      ask(*part.stream, asked.end, end);
      asked.end = end;
    }
  }
}

// Successive batches have the same streams in the same order, until a panel ends.
ReadAhead::Asked& ReadAhead::asked_of(const BatchPart& part, size_t hint) {
  if (asked_.size() <= hint) {
    asked_.resize(hint + 1);
  }
  Asked& asked = asked_[hint];
  if (asked.stream != part.stream) {
    asked = {part.stream, part.begin};
  }
  asked.end = std::max(asked.end, part.begin);
  return asked;
}

void ReadAhead::ask(const Stream& stream, int64_t begin, int64_t end) {
  Cursor cursor(stream.file_type, stream.displacement);
  cursor.seek(stream.skip_bytes + begin);
  const int64_t first = cursor.piece().begin;
  cursor.seek(stream.skip_bytes + end - 1);
  const ByteRange range{first, cursor.piece().begin + 1};
  if (range.size() <= 2 * (end - begin)) {
    file_.will_read(range);
  }
}

}  // namespace stria::access
