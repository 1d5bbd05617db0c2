// Describes what is recorded of a span, and the kinds of spans.
#pragma once

#include <cstdint>
#include <string>

namespace stria::trace {

/// Says where a kind of span belongs, between the application and the device.
enum class Layer : uint8_t {
  kApp,      ///< calls of the application: put, commit, MPI_File_write_all, H5Dwrite …
  kLibrary,  ///< calls of one library by another
  kEngine,   ///< phases of the engine: pack, exchange, write, …
  kStorage,  ///< requests to the storage, and messages between ranks
};
inline constexpr int kLayerCount = 4;

/// Returns the stable lower-case name, e.g. "engine".
const char* layer_name(Layer layer);

/// Says what `Record::detail` of a kind means.
enum class Detail : uint8_t {
  kNone,
  kCount,    ///< number of pieces of a list request, of transfers of a commit …
  kPeer,     ///< the rank at the other end of a message
  kDataset,  ///< number of a dataset's name
};

/// A kind as the recording side knows it: its number in the table of kinds, and its layer.
struct Kind {
  uint16_t id = 0;
  Layer layer = Layer::kApp;
};

/// One finished span, in a rank's buffer and in the file (docs/formats/trace.md). Times are those
/// of the rank's own clock.
struct Record {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t bytes = -1;   ///< -1: none
  int64_t offset = -1;  ///< in the file; -1: none
  uint32_t id = 0;      ///< unique on its rank, from 1
  uint32_t parent = 0;  ///< id of the span around it; 0: none
  int32_t detail = -1;
  uint16_t kind = 0;
  uint16_t file = 0;  ///< number of the file's name; 0: none
};
static_assert(sizeof(Record) == 48);

/// A kind as the reader knows it.
struct KindInfo {
  std::string name;
  Layer layer = Layer::kApp;
  Detail detail = Detail::kNone;
  /// Spans of this kind may overlap others of their thread, as a write under way overlaps the
  /// packing of the next.
  bool overlaps = false;
};

}  // namespace stria::trace
