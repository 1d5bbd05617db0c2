// Many small pieces in a request: by list, by datatype, and by lists of different lengths.
#include <algorithm>
#include <span>

#include "measures.hpp"
#include "storage/striped/frame_stream.hpp"
#include "storage/striped/striped_driver.hpp"
#include "storage/striped/striped_file.hpp"

namespace stria::bench {
namespace {

using storage::ReadSegment;
using storage::WriteSegment;

/// One piece in four of the file.
struct Pieces {
  int64_t bytes;
  std::vector<std::byte> data;

  Pieces(int64_t piece_bytes, int64_t count) : bytes(piece_bytes), data(static_cast<size_t>(piece_bytes * count)) {}
  int64_t count() const { return static_cast<int64_t>(data.size()) / bytes; }
  template <typename Segment>
  std::vector<Segment> segments() {
    std::vector<Segment> list(static_cast<size_t>(count()));
    for (int64_t i = 0; i < count(); ++i) {
      list[static_cast<size_t>(i)] = {4 * i * bytes, data.data() + i * bytes, bytes};
    }
    return list;
  }
};

/// Seconds, and bytes sent besides the data.
struct Cost {
  double seconds;
  double description_bytes;
};

template <typename Work>
Cost cost_of(int64_t data_bytes_sent, Work work) {
  int64_t before[3];
  int64_t after[3];
  storage::stria_wire_traffic(before);
  const double begin = wall();
  work();
  const double seconds = wall() - begin;
  storage::stria_wire_traffic(after);
  return {seconds, static_cast<double>(after[1] - before[1] - data_bytes_sent)};
}

}  // namespace

void measure_pieces(const Arguments& arguments, storage::Driver& /*driver*/, Figures& figures) {
  const int64_t count = std::clamp<int64_t>(16 * kMiB / arguments.size, 1024, 1 << 19);
  Pieces written(arguments.size, count);
  Pieces back(arguments.size, count);
  storage::StripedDriver striped;
  const auto plain = create(striped, arguments.directory + "/pieces");
  auto* file = dynamic_cast<storage::StripedFile*>(plain.get());
  need(file != nullptr, "pieces are measured on a store");
  need(plain->resize(4 * arguments.size * count));
  const Datatype type = Datatype::vector(count, 1, 4, Datatype::bytes(arguments.size)).value();
  const ByteRange window{0, arguments.size * count};
  const int64_t bytes = window.size();
  for (int cycle = -1; cycle < arguments.cycles; ++cycle) {  // the first is of a new file
    fill(written.data, 2 * cycle);
    const auto to_write = written.segments<WriteSegment>();
    const auto to_read = back.segments<ReadSegment>();
    const Cost list_write = cost_of(bytes, [&] { need(file->write(to_write)); });
    const Cost type_read = cost_of(0, [&] { need(file->read_type({type, 0, window}, back.data.data()).status()); });
    need(written.data == back.data, "what was read by datatype is not what was written by list");
    fill(written.data, 2 * cycle + 1);
    const Cost type_write = cost_of(bytes, [&] { need(file->write_type({type, 0, window}, written.data.data())); });
    const Cost list_read = cost_of(0, [&] { need(file->read(to_read).status()); });
    need(written.data == back.data, "what was read by list is not what was written by datatype");
    if (cycle >= 0) {
      const std::pair<const char*, Cost> all[] = {
          {"list_write", list_write}, {"type_read", type_read}, {"type_write", type_write}, {"list_read", list_read}};
      for (const auto& [name, cost] : all) {
        figures.add(std::string(name) + "_s", cost.seconds / static_cast<double>(count));
        figures.add(std::string(name) + "_description_bytes", cost.description_bytes);
      }
    }
  }
}

// Measures the same pieces of 8 bytes in requests of so many.
void measure_lists(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  Pieces written(8, arguments.size);
  Pieces back(8, arguments.size);
  const auto file = create(driver, arguments.directory + "/lists");
  for (int cycle = 0; cycle < arguments.cycles; ++cycle) {
    for (const size_t regions : {1, 16, 64, 256, 1024, 4096, 32768}) {
      fill(written.data, cycle);
      const auto to_write = written.segments<WriteSegment>();
      const auto to_read = back.segments<ReadSegment>();
      const auto each = [&](const auto& list, const auto& move) {
        const double begin = wall();
        for (size_t i = 0; i < list.size(); i += regions) {
          move(std::span(list).subspan(i, std::min(regions, list.size() - i)));
        }
        return (wall() - begin) / static_cast<double>(list.size());
      };
      figures.add("write_" + std::to_string(regions) + "_s", each(to_write, [&](auto part) { need(file->write(part)); }));
      figures.add("read_" + std::to_string(regions) + "_s", each(to_read, [&](auto part) { need(file->read(part).status()); }));
      need(written.data == back.data, "what was read is not what was written");
    }
  }
}

}  // namespace stria::bench
