#include "workload/workload.hpp"

#include <algorithm>

namespace stria::bench {

int64_t Workload::useful_bytes() const {
  int64_t bytes = 0;
  for (const Call& call : calls) {
    for (const Part& part : call.parts) {
      bytes += part.file.elements() * arrays[part.array].element_bytes;
    }
  }
  return bytes;
}

int64_t Workload::place(size_t array) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < array; ++i) {
    bytes += arrays[i].bytes();
  }
  return bytes;
}

void for_each_piece(const Workload& workload, const Part& part, const std::function<void(const Piece&)>& take) {
  const int64_t element_bytes = workload.arrays[part.array].element_bytes;
  Runs memory(part.memory);
  Runs file(part.file);
  int64_t memory_done = 0;  // elements of the present runs
  int64_t file_done = 0;
  Piece pending{0, 0, 0};
  while (!memory.done() && !file.done()) {
    const int64_t elements = std::min(memory.elements() - memory_done, file.elements() - file_done);
    const Piece piece{part.memory_bytes + (memory.offset() + memory_done) * element_bytes,
                      (file.offset() + file_done) * element_bytes, elements * element_bytes};
    if (pending.bytes > 0 && pending.memory_bytes + pending.bytes == piece.memory_bytes &&
        pending.file_bytes + pending.bytes == piece.file_bytes) {
      pending.bytes += piece.bytes;
    } else {
      if (pending.bytes > 0) {
        take(pending);
      }
      pending = piece;
    }
    memory_done += elements;
    file_done += elements;
    if (memory_done == memory.elements()) {
      memory.next();
      memory_done = 0;
    }
    if (file_done == file.elements()) {
      file.next();
      file_done = 0;
    }
  }
  if (pending.bytes > 0) {
    take(pending);
  }
}

void for_each_stretch(const Workload& workload, const Part& part, const std::function<void(int64_t, int64_t)>& take) {
  const int64_t element_bytes = workload.arrays[part.array].element_bytes;
  int64_t begin = 0;
  int64_t end = 0;
  for (Runs file(part.file); !file.done(); file.next()) {
    const int64_t offset = file.offset() * element_bytes;
    if (offset != end || end == begin) {
      if (end > begin) {
        take(begin, end - begin);
      }
      begin = end = offset;
    }
    end += file.elements() * element_bytes;
  }
  if (end > begin) {
    take(begin, end - begin);
  }
}

RequestCounts count_requests(const Workload& workload, const RequestLimits& limits) {
  const auto divided = [](int64_t whole, int64_t unit) { return (whole + unit - 1) / unit; };
  RequestCounts counts;
  for (const Call& call : workload.calls) {
    int64_t stretches = 0;
    int64_t first = INT64_MAX;
    int64_t last = 0;
    for (const Part& part : call.parts) {
      const int64_t place = workload.place(part.array);
      for_each_piece(workload, part, [&](const Piece&) { ++counts.multiple; });
      for_each_stretch(workload, part, [&](int64_t offset, int64_t bytes) {
        ++stretches;
        first = std::min(first, place + offset);
        last = std::max(last, place + offset + bytes);
      });
    }
    counts.list += divided(stretches, limits.list_regions);
    counts.sieving += last > first ? divided(last - first, limits.sieve_bytes) : 0;
  }
  return counts;
}

}  // namespace stria::bench
