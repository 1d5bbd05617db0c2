#include "file/move/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/checked.hpp"
#include "datatype/pack/pack.hpp"

namespace stria::file {

namespace {

Status invalid(const DatasetEntry& dataset, const std::string& what) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': {}", dataset.spec.path, what));
}

// One dimension of a hyperslab, with its defaults filled in.
struct Span {
  int64_t start = 0, count = 0, stride = 1, block = 1;
};

Status check_span(const DatasetEntry& dataset, size_t dim, const Span& span) {
  int64_t size = dataset.spec.dims[dim];
  if (span.start < 0 || span.count < 0 || span.stride < 1 || span.block < 1 || span.stride < span.block) {
    return invalid(dataset,
                   fmt::format("dimension {} of the hyperslab (start {}, count {}, stride {}, block {}) is not a region", dim,
                               span.start, span.count, span.stride, span.block));
  }
  int64_t reach = 0;
  bool fits = span.count == 0
                  ? span.start <= size
                  : (checked_multiply(span.count - 1, span.stride, &reach) && checked_add(reach, span.start, &reach) &&
                     checked_add(reach, span.block, &reach) && reach <= size);
  if (!fits) {
    return invalid(dataset,
                   fmt::format("dimension {} of the hyperslab (start {}, count {}, stride {}, block {}) passes the end at {}",
                               dim, span.start, span.count, span.stride, span.block, size));
  }
  return Status();
}

Result<std::vector<Span>> resolve_spans(const DatasetEntry& dataset, const Hyperslab& slab) {
  size_t rank = dataset.spec.dims.size();
  auto wrong = [&](const std::vector<int64_t>& values) { return !values.empty() && values.size() != rank; };
  if (slab.start.size() != rank || slab.count.size() != rank || wrong(slab.stride) || wrong(slab.block)) {
    return invalid(dataset, fmt::format("the hyperslab must have {} dimensions", rank));
  }
  std::vector<Span> spans(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t block = slab.block.empty() ? 1 : slab.block[dim];
    spans[dim] = {slab.start[dim], slab.count[dim], slab.stride.empty() ? block : slab.stride[dim], block};
    STRIA_RETURN_IF_ERROR(check_span(dataset, dim, spans[dim]));
    // A number on which no element depends is dropped, because it may be out of all bounds.
    spans[dim].block = spans[dim].count == 0 ? 1 : spans[dim].block;
    spans[dim].stride = spans[dim].count <= 1 ? spans[dim].block : spans[dim].stride;
  }
  return spans;
}

// What a file that grows has already, it keeps.
Status check_rows_new(const DatasetEntry& dataset, const Transfer& transfer) {
  return transfer.row_count > 0 && transfer.first_row < dataset.old_rows
             ? invalid(dataset, fmt::format("its first {} rows are in the file already, and can't be put again; the put begins "
                                            "at row {}",
                                            dataset.old_rows, transfer.first_row))
             : Status();
}

// Describes the region as nested vectors, innermost dimension first; normalisation joins what is
// contiguous.
Status describe_region(const DatasetEntry& dataset, const std::vector<Span>& spans, Transfer& transfer) {
  int64_t extent_bytes = dataset.spec.element.bytes;
  transfer.region = Datatype::bytes(extent_bytes);
  for (size_t dim = spans.size(); dim-- > 0;) {
    const Span& span = spans[dim];
    const int64_t step_bytes = dim == 0 && dataset.is_interleaved() ? dataset.spec.row_stride_bytes : extent_bytes;
    STRIA_ASSIGN_OR_RETURN(Datatype block, Datatype::hvector(span.block, 1, step_bytes, transfer.region));
    STRIA_ASSIGN_OR_RETURN(transfer.region, Datatype::hvector(span.count, 1, span.stride * step_bytes, block));
    transfer.displacement += span.start * step_bytes;
    extent_bytes *= dataset.spec.dims[dim];
  }
  return Status();
}

void note_shape(const DatasetEntry& dataset, const std::vector<Span>& spans, Transfer& transfer) {
  bool plain = true;
  bool whole_rows = true;
  for (size_t dim = 0; dim < spans.size(); ++dim) {
    plain = plain && (spans[dim].stride == spans[dim].block || spans[dim].count <= 1);
    whole_rows = whole_rows && (dim == 0 || spans[dim].count * spans[dim].block == dataset.spec.dims[dim]);
  }
  transfer.whole_rows = plain && whole_rows;
  transfer.first_row = spans.empty() ? 0 : spans[0].start;
  bool no_rows = !spans.empty() && spans[0].count == 0;
  transfer.row_count = spans.empty() ? 1 : no_rows ? 0 : (spans[0].count - 1) * spans[0].stride + spans[0].block;
  transfer.has_gaps = !plain;
  for (const Span& span : spans) {
    transfer.start.push_back(span.start);
    transfer.count.push_back(span.count == 0 ? 0 : (span.count - 1) * span.stride + span.block);
  }
}

// Bits are no numbers that could be converted.
Status check_meaning(const DatasetEntry& dataset, const Memory& memory) {
  const bool is_half = dataset.spec.element.meaning == Meaning::kHalf;
  return is_half && memory.element != ElementType::kUint16
             ? invalid(dataset, "holds numbers of half precision: put and get their bits, as uint16")
             : Status();
}

// Records and strings are bytes to the engine.
Status check_kind(const DatasetEntry& dataset, const Memory& memory) {
  using Kinds = container::ElementSpec::Kind;
  if (dataset.spec.element.kind == Kinds::kNumber) {
    return check_meaning(dataset, memory);
  }
  if (dataset.spec.element.kind == Kinds::kCompound) {
    return memory.element == ElementType::kByte
               ? Status()
               : invalid(dataset, "holds records: put and get them as memory of records, or use the calls for tables");
  }
  return dataset.spec.element.kind == Kinds::kString && memory.element == ElementType::kByte
             ? Status()
             : invalid(dataset, "holds no numbers; use the calls for strings, or put and get their bytes");
}

Status check_memory(const DatasetEntry& dataset, const Transfer& transfer, const Memory& memory) {
  STRIA_RETURN_IF_ERROR(check_kind(dataset, memory));
  if (dataset.spec.element.kind == container::ElementSpec::Kind::kCompound) {
    return Status();  // carry_records() looks at it
  }
  int64_t stored_bytes = element_bytes(dataset.stored_element());
  int64_t memory_bytes = element_bytes(memory.element);
  int64_t elements = transfer.region.size() / stored_bytes;
  if (memory.type.size() % memory_bytes != 0 || memory.type.size() / memory_bytes != elements) {
    return invalid(dataset, fmt::format("the hyperslab has {} elements, but the memory region has {} bytes of {}", elements,
                                        memory.type.size(), element_type_name(memory.element)));
  }
  if (memory.data == nullptr && elements > 0) {
    return invalid(dataset, "the memory address is null");
  }
  return Status();
}

}  // namespace

Result<Transfer> make_transfer(int index, const DatasetEntry& dataset, const Hyperslab& slab, const Memory& memory) {
  STRIA_ASSIGN_OR_RETURN(std::vector<Span> spans, resolve_spans(dataset, slab));
  Transfer transfer;
  transfer.dataset = index;
  STRIA_RETURN_IF_ERROR(describe_region(dataset, spans, transfer));
  note_shape(dataset, spans, transfer);
  STRIA_RETURN_IF_ERROR(check_rows_new(dataset, transfer));
  STRIA_RETURN_IF_ERROR(check_memory(dataset, transfer, memory));
  transfer.memory = memory;
  if (dataset.spec.unlimited) {
    transfer.slab = slab;
  }
  return transfer;
}

Status carry_records(const DatasetEntry& dataset, bool put, Transfer& transfer) {
  if (dataset.spec.element.kind != container::ElementSpec::Kind::kCompound) {
    return Status();
  }
  const int64_t count = transfer.region.size() / dataset.spec.element.bytes;
  auto records = put ? RecordsInTransit::of_put(dataset, count, transfer.memory)
                     : RecordsInTransit::of_get(dataset, count, transfer.memory);
  STRIA_RETURN_IF_ERROR(records.status().with_context(fmt::format("dataset '{}'", dataset.spec.path)));
  transfer.records = std::move(*records);
  return Status();
}

namespace {

// Notes the rows that a map touches, and whether it means all of them.
void note_rows(const DatasetEntry& dataset, Transfer& transfer) {
  const int64_t row_bytes = std::max<int64_t>(dataset.row_bytes(), 1);
  const int64_t begin = transfer.region.true_lower_bound(), end = transfer.region.true_upper_bound();
  transfer.whole_rows = transfer.region.piece_count() == 1 && begin % row_bytes == 0 && end % row_bytes == 0;
  transfer.first_row = begin / row_bytes;
  transfer.row_count = (end + row_bytes - 1) / row_bytes - transfer.first_row;
  transfer.has_gaps = !transfer.whole_rows;
  if (!dataset.spec.dims.empty()) {
    transfer.start.assign(dataset.spec.dims.size(), 0);
    transfer.count = dataset.spec.dims;
    transfer.start[0] = transfer.first_row;
    transfer.count[0] = transfer.row_count;
  }
}

}  // namespace

Result<Transfer> make_transfer(int index, const DatasetEntry& dataset, const ElementMap& elements, const Memory& memory) {
  if (dataset.spec.element.kind != container::ElementSpec::Kind::kNumber) {
    return invalid(dataset, "holds no numbers, and only numbers go by a map");
  }
  if (dataset.spec.unlimited) {
    return Status(
        ErrorCode::kUnsupported,
        fmt::format("dataset '{}' has an unlimited dimension: put and get it by boxes, without maps", dataset.spec.path));
  }
  STRIA_RETURN_IF_ERROR(check_meaning(dataset, memory));
  const int64_t memory_bytes = element_bytes(memory.element);
  if (memory.type.size() != elements.count() * memory_bytes || !memory.type.is_contiguous()) {
    return invalid(dataset, fmt::format("a map of {} elements needs as many consecutive numbers, not {} bytes of {}",
                                        elements.count(), memory.type.size(), element_type_name(memory.element)));
  }
  const int64_t size = dataset.data_bytes() / dataset.spec.element.bytes;
  if (elements.end() > size) {
    return invalid(dataset, fmt::format("the map has element {}, but there are only {}", elements.end() - 1, size));
  }
  if (memory.data == nullptr && elements.end() > 0) {
    return invalid(dataset, "the memory address is null");
  }
  Transfer transfer;
  transfer.dataset = index;
  transfer.memory = memory;
  STRIA_ASSIGN_OR_RETURN(transfer.region, elements.region(dataset.spec.element.bytes));
  STRIA_ASSIGN_OR_RETURN(transfer.memory.type, elements.memory(memory_bytes));
  note_rows(dataset, transfer);
  STRIA_RETURN_IF_ERROR(check_rows_new(dataset, transfer));
  return transfer;
}

Status pack_memory(const Memory& memory, std::span<const ByteRange> order, std::byte* to) {
  if (memory.type.piece_count() == 1) {
    const std::byte* const first = static_cast<const std::byte*>(memory.data) + memory.type.displacement();
    for (const ByteRange& range : order) {
      std::memcpy(to, first + range.begin, static_cast<size_t>(range.size()));
      to += range.size();
    }
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const Packer packer, Packer::create({{.memory = static_cast<std::byte*>(memory.data),
                                                               .type = memory.type,
                                                               .memory_element = memory.element,
                                                               .stored_element = memory.element}}));
  std::vector<PackPart> parts;
  for (const ByteRange& range : order) {
    parts.push_back({0, range.begin, range.end, to});
    to += range.size();
  }
  packer.pack(parts);
  return Status();
}

Status hold_memory(Transfer& put, std::span<const ByteRange> order) {
  const int64_t bytes = std::accumulate(order.begin(), order.end(), int64_t{0},
                                        [](int64_t sum, const ByteRange& range) { return sum + range.size(); });
  std::vector<std::byte> kept(static_cast<size_t>(bytes));
  STRIA_RETURN_IF_ERROR(pack_memory(put.memory, order, kept.data()));
  put.kept = std::move(kept);
  put.memory = Memory(put.kept.data(), Datatype::bytes(bytes), put.memory.element);
  return Status();
}

}  // namespace stria::file
