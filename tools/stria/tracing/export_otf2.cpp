// The OTF2 writer. Locations are lanes, so that every location is strictly nested. Requests with
// bytes are I/O operations on a handle of their file and rank. Messages and collective operations
// are those of MPI. Definitions have the numbers of the trace, where it has any.
#include <fmt/format.h>

#include <filesystem>

#include "stria/status.hpp"
#include "tracing/exporters.hpp"

#ifdef STRIA_WITH_OTF2
#include <otf2/otf2.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "tracing/communication.hpp"
#include "tracing/lanes.hpp"
#endif

namespace stria::tool {

#ifndef STRIA_WITH_OTF2

void export_otf2(const trace::TraceFile&, const std::string&) {
  throw Error(ErrorCode::kUnsupported, "this build has no OTF2: install libotf2-trace-dev and build again");
}

#else

namespace {

using trace::Event;
using trace::Layer;
using trace::TraceFile;

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
OTF2_TimeStamp no_time(void*, OTF2_FileType, OTF2_LocationRef) {
  return 0;
}

void require(OTF2_ErrorCode code, const char* what) {
  if (code != OTF2_SUCCESS) {
    throw Error(ErrorCode::kIo, fmt::format("{}: {}", what, OTF2_Error_GetDescription(code)));
  }
}

/// Says how the I/O operations of a kind are written; mode -1: not as an operation.
struct Operation {
  int mode = -1;
  OTF2_IoOperationFlag flags = OTF2_IO_OPERATION_FLAG_NONE;
  OTF2_IoParadigmRef paradigm = 0;
};

enum Paradigm : OTF2_IoParadigmRef { kPosix, kMpiIo, kHdf5, kNetcdf, kParadigmCount };

Operation operation_of(const trace::KindInfo& kind) {
  Operation operation;
  const std::string_view name = kind.name;
  const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const bool known = kind.layer == Layer::kStorage || has("MPI_File_") || has("H5D") || has("ncmpi_");
  if (!known) {
    return operation;
  }
  if (has("write") || has("put_var")) {
    operation.mode = OTF2_IO_OPERATION_MODE_WRITE;
  } else if (has("read") || has("get_var")) {
    operation.mode = OTF2_IO_OPERATION_MODE_READ;
  } else if (has("sync")) {
    operation.mode = OTF2_IO_OPERATION_MODE_FLUSH;
  }
  operation.flags |= has("_all") ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : OTF2_IO_OPERATION_FLAG_NONE;
  operation.flags |= kind.overlaps ? OTF2_IO_OPERATION_FLAG_NON_BLOCKING : OTF2_IO_OPERATION_FLAG_NONE;
  operation.paradigm = has("MPI_File_") ? kMpiIo : has("H5D") ? kHdf5 : has("ncmpi_") ? kNetcdf : kPosix;
  return operation;
}

class Otf2Writer {
 public:
  Otf2Writer(const TraceFile& trace, const std::string& path)
      : trace_(trace), communication_(trace), lanes_(lanes_of_all_ranks(trace)) {
    for (const trace::KindInfo& kind : trace.kinds) {
      operations_.push_back(operation_of(kind));
    }
    archive_ = OTF2_Archive_Open(path.c_str(), "trace", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20, OTF2_SUBSTRATE_POSIX,
                                 OTF2_COMPRESSION_NONE);
    if (archive_ == nullptr) {
      throw Error(ErrorCode::kIo, fmt::format("OTF2 can't create an archive in '{}'", path));
    }
  }
  Otf2Writer(const Otf2Writer&) = delete;
  Otf2Writer& operator=(const Otf2Writer&) = delete;
  ~Otf2Writer() {
    OTF2_AttributeList_Delete(attributes_);
    if (archive_ != nullptr) {
      OTF2_Archive_Close(archive_);
    }
  }

  void run() {
    static const OTF2_FlushCallbacks kFlush = {flush_always, no_time};
    require(OTF2_Archive_SetFlushCallbacks(archive_, &kFlush, nullptr), "OTF2");
    require(OTF2_Archive_SetSerialCollectiveCallbacks(archive_), "OTF2");
    require(OTF2_Archive_SetCreator(archive_, "Stria"), "OTF2");
    require(OTF2_Archive_OpenEvtFiles(archive_), "OTF2 event files");
    std::vector<uint64_t> counts;
    for (size_t location = 0; location < lanes_.size(); ++location) {
      counts.push_back(write_events(location));
    }
    require(OTF2_Archive_CloseEvtFiles(archive_), "OTF2 event files");
    write_local_definitions();
    write_definitions(counts);
    OTF2_Archive* archive = archive_;
    archive_ = nullptr;
    require(OTF2_Archive_Close(archive), "OTF2 archive");
  }

 private:
  /// Returns a handle for each file, rank and paradigm.
  OTF2_IoHandleRef handle(const Event& event, OTF2_IoParadigmRef paradigm) {
    const auto next = static_cast<OTF2_IoHandleRef>(handles_.size());
    return handles_.try_emplace({event.file, event.rank, paradigm}, next).first->second;
  }

  OTF2_AttributeList* attributes(const Event& event) {
    OTF2_AttributeList_RemoveAllAttributes(attributes_);
    const auto add = [this](Attribute attribute, int64_t value) { OTF2_AttributeList_AddInt64(attributes_, attribute, value); };
    if (event.offset >= 0) {
      add(kOffset, event.offset);
    }
    if (event.bytes >= 0) {
      add(kBytes, event.bytes);
    }
    if (event.peer >= 0) {
      add(kPeer, event.peer);
    }
    if (event.count != 1) {
      add(kCount, event.count);
    }
    if (event.file >= 0) {
      OTF2_AttributeList_AddStringRef(attributes_, kFile, string(trace_.files[static_cast<size_t>(event.file)]));
    }
    if (event.dataset >= 0) {
      OTF2_AttributeList_AddStringRef(attributes_, kDataset, string(trace_.datasets[static_cast<size_t>(event.dataset)]));
    }
    return attributes_;
  }

  /// Each rank has at least one lane, which represents it in communicators.
  static std::vector<Lane> lanes_of_all_ranks(const TraceFile& trace) {
    std::vector<Lane> lanes = lay_out(trace);
    std::vector<bool> has_lane(trace.ranks.size());
    for (const Lane& lane : lanes) {
      has_lane[static_cast<size_t>(lane.rank)] = true;
    }
    for (int rank = 0; rank < trace.rank_count(); ++rank) {
      if (!has_lane[static_cast<size_t>(rank)]) {
        lanes.push_back({rank, 0, 0, {}});
      }
    }
    std::stable_sort(lanes.begin(), lanes.end(), [](const Lane& a, const Lane& b) { return a.rank < b.rank; });
    return lanes;
  }

  // A message is under way from the beginning of its span to the end.
  void begin_communication(OTF2_EvtWriter* writer, const Event& event) {
    const auto time = static_cast<OTF2_TimeStamp>(std::max<int64_t>(event.begin_ns, 0));
    const Communicating role = communication_.role(event);
    if (role == Communicating::kSend) {
      require(OTF2_EvtWriter_MpiIsend(writer, nullptr, time, static_cast<uint32_t>(event.peer), 0, tag_of(event),
                                      bytes_of(event), event.id),
              "OTF2 send");
    } else if (role == Communicating::kReceive) {
      require(OTF2_EvtWriter_MpiIrecvRequest(writer, nullptr, time, event.id), "OTF2 receive");
    } else if (role != Communicating::kNone) {
      require(OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, time), "OTF2 collective");
    }
  }

  void end_communication(OTF2_EvtWriter* writer, const Event& event) {
    const auto time = static_cast<OTF2_TimeStamp>(std::max<int64_t>(event.end_ns, 0));
    const Communicating role = communication_.role(event);
    if (role == Communicating::kSend) {
      require(OTF2_EvtWriter_MpiIsendComplete(writer, nullptr, time, event.id), "OTF2 send");
    } else if (role == Communicating::kReceive) {
      require(OTF2_EvtWriter_MpiIrecv(writer, nullptr, time, static_cast<uint32_t>(event.peer), 0, tag_of(event),
                                      bytes_of(event), event.id),
              "OTF2 receive");
    } else if (role != Communicating::kNone) {
      static const std::map<Communicating, OTF2_CollectiveOp> kOperations = {
          {Communicating::kBarrier, OTF2_COLLECTIVE_OP_BARRIER},
          {Communicating::kBroadcast, OTF2_COLLECTIVE_OP_BCAST},
          {Communicating::kReduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
          {Communicating::kGather, OTF2_COLLECTIVE_OP_ALLGATHER}};
      const uint32_t communicator = communication_.communicator(event);
      const bool rooted = role == Communicating::kBroadcast && event.peer >= 0;
      const uint32_t root = rooted ? communication_.rank_in(communicator, event.peer) : OTF2_COLLECTIVE_ROOT_NONE;
      require(OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, time, kOperations.at(role), communicator, root, bytes_of(event),
                                              bytes_of(event)),
              "OTF2 collective");
    }
  }

  static uint32_t tag_of(const Event& event) { return static_cast<uint32_t>(std::max<int64_t>(event.offset, 0)); }

  uint64_t write_events(size_t location) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_, location);
    const auto time = [](int64_t ns) { return static_cast<OTF2_TimeStamp>(std::max<int64_t>(ns, 0)); };
    walk(
        trace_, lanes_[location],
        [&](const Event& event) {
          require(OTF2_EvtWriter_Enter(writer, attributes(event), time(event.begin_ns), event.kind), "OTF2 enter");
          begin_communication(writer, event);
          const Operation& operation = operations_[event.kind];
          if (operation.mode >= 0 && event.file >= 0) {
            require(OTF2_EvtWriter_IoOperationBegin(
                        writer, attributes(event), time(event.begin_ns), handle(event, operation.paradigm),
                        static_cast<OTF2_IoOperationMode>(operation.mode), operation.flags, bytes_of(event), event.id),
                    "OTF2 I/O operation");
          }
        },
        [&](const Event& event) {
          const Operation& operation = operations_[event.kind];
          if (operation.mode >= 0 && event.file >= 0) {
            require(OTF2_EvtWriter_IoOperationComplete(writer, nullptr, time(event.end_ns), handle(event, operation.paradigm),
                                                       bytes_of(event), event.id),
                    "OTF2 I/O operation");
          }
          end_communication(writer, event);
          require(OTF2_EvtWriter_Leave(writer, nullptr, time(event.end_ns), event.kind), "OTF2 leave");
        });
    uint64_t count = 0;
    require(OTF2_EvtWriter_GetNumberOfEvents(writer, &count), "OTF2 events");
    require(OTF2_Archive_CloseEvtWriter(archive_, writer), "OTF2 events");
    return count;
  }

  static uint64_t bytes_of(const Event& event) { return static_cast<uint64_t>(std::max<int64_t>(event.bytes, 0)); }

  void write_local_definitions() {
    require(OTF2_Archive_OpenDefFiles(archive_), "OTF2 definition files");
    for (size_t location = 0; location < lanes_.size(); ++location) {
      require(OTF2_Archive_CloseDefWriter(archive_, OTF2_Archive_GetDefWriter(archive_, location)), "OTF2 definitions");
    }
    require(OTF2_Archive_CloseDefFiles(archive_), "OTF2 definition files");
  }

  OTF2_StringRef string(const std::string& text) {
    const auto next = static_cast<OTF2_StringRef>(strings_.size());
    return strings_.try_emplace(text, next).first->second;
  }

  void write_definitions(const std::vector<uint64_t>& counts) {
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    const auto start = static_cast<uint64_t>(std::max<int64_t>(trace_.start_unix_ns, 0));
    require(OTF2_GlobalDefWriter_WriteClockProperties(definitions_, 1'000'000'000, 0, static_cast<uint64_t>(trace_.end_ns) + 1,
                                                      start),
            "OTF2 clock");
    collect_strings();
    for (const auto& [text, number] : strings_) {
      require(OTF2_GlobalDefWriter_WriteString(definitions_, number, text.c_str()), "OTF2 string");
    }
    for (OTF2_AttributeRef attribute = 0; attribute < kAttributeCount; ++attribute) {
      const bool text = attribute == kFile || attribute == kDataset;
      require(OTF2_GlobalDefWriter_WriteAttribute(definitions_, attribute, string(kAttributeNames[attribute]), string(""),
                                                  text ? OTF2_TYPE_STRING : OTF2_TYPE_INT64),
              "OTF2 attribute");
    }
    write_regions();
    write_system(counts);
    write_communicators();
    write_io();
  }

  // Every text that definitions use gets a number before the strings are written.
  void collect_strings() {
    for (const char* text : {"", "machine", "node", "POSIX I/O", "POSIX", "MPI-IO", "HDF5", "PnetCDF", "MPI"}) {
      string(text);
    }
    for (size_t communicator = 0; communicator < communication_.communicators().size(); ++communicator) {
      string(communicator_name(communicator));
    }
    for (const char* name : kAttributeNames) {
      string(name);
    }
    for (const trace::KindInfo& kind : trace_.kinds) {
      string(kind.name);
      string(trace::layer_name(kind.layer));
    }
    for (const std::string& file : trace_.files) {
      string(file);
    }
    for (const std::string& host : hosts()) {
      string(host);
    }
    for (int rank = 0; rank < trace_.rank_count(); ++rank) {
      string(rank_name(rank));
    }
    for (const Lane& lane : lanes_) {
      string(lane_name(lane));
    }
  }

  static std::string rank_name(int rank) { return fmt::format("rank {}", rank); }
  static std::string lane_name(const Lane& lane) {
    return lane.number == 0 ? fmt::format("thread {}", lane.thread)
                            : fmt::format("thread {} background {}", lane.thread, lane.number);
  }
  std::set<std::string> hosts() const {
    std::set<std::string> hosts;
    for (const trace::RankInfo& rank : trace_.ranks) {
      hosts.insert(rank.host);
    }
    return hosts;
  }

  void write_regions() {
    for (size_t kind = 0; kind < trace_.kinds.size(); ++kind) {
      const OTF2_StringRef name = string(trace_.kinds[kind].name);
      const OTF2_RegionRole role = operations_[kind].mode >= 0 ? OTF2_REGION_ROLE_FILE_IO : OTF2_REGION_ROLE_FUNCTION;
      require(OTF2_GlobalDefWriter_WriteRegion(definitions_, static_cast<OTF2_RegionRef>(kind), name, name,
                                               string(trace::layer_name(trace_.kinds[kind].layer)), role, OTF2_PARADIGM_USER,
                                               OTF2_REGION_FLAG_NONE, string(""), 0, 0),
              "OTF2 region");
    }
  }

  void write_system(const std::vector<uint64_t>& counts) {
    require(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, 0, string("machine"), string("machine"),
                                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE),
            "OTF2 machine");
    std::map<std::string, OTF2_SystemTreeNodeRef> nodes;
    for (const std::string& host : hosts()) {
      nodes[host] = static_cast<OTF2_SystemTreeNodeRef>(nodes.size()) + 1;
      require(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, nodes[host], string(host), string("node"), 0),
              "OTF2 node");
    }
    for (int rank = 0; rank < trace_.rank_count(); ++rank) {
      require(OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, static_cast<OTF2_LocationGroupRef>(rank),
                                                      string(rank_name(rank)), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                      nodes[trace_.ranks[static_cast<size_t>(rank)].host],
                                                      OTF2_UNDEFINED_LOCATION_GROUP),
              "OTF2 rank");
    }
    for (size_t location = 0; location < lanes_.size(); ++location) {
      require(OTF2_GlobalDefWriter_WriteLocation(definitions_, location, string(lane_name(lanes_[location])),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, counts[location],
                                                 static_cast<OTF2_LocationGroupRef>(lanes_[location].rank)),
              "OTF2 location");
    }
  }

  static std::string communicator_name(size_t number) {
    return number == 0 ? "all ranks" : fmt::format("communicator {}", number);
  }

  void write_communicators() {
    std::vector<uint64_t> location_of_rank(trace_.ranks.size());
    for (size_t location = lanes_.size(); location-- > 0;) {
      location_of_rank[static_cast<size_t>(lanes_[location].rank)] = location;
    }
    require(OTF2_GlobalDefWriter_WriteGroup(definitions_, 0, string("MPI"), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(location_of_rank.size()),
                                            location_of_rank.data()),
            "OTF2 ranks");
    for (OTF2_CommRef number = 0; number < communication_.communicators().size(); ++number) {
      const std::vector<uint64_t>& ranks = communication_.communicators()[number];
      const OTF2_StringRef name = string(communicator_name(number));
      require(OTF2_GlobalDefWriter_WriteGroup(definitions_, number + 1, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                              OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(ranks.size()), ranks.data()),
              "OTF2 group");
      require(OTF2_GlobalDefWriter_WriteComm(definitions_, number, name, number + 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
              "OTF2 communicator");
    }
  }

  void write_io() {
    const char* names[kParadigmCount] = {"POSIX", "MPI-IO", "HDF5", "PnetCDF"};
    for (OTF2_IoParadigmRef paradigm = 0; paradigm < kParadigmCount; ++paradigm) {
      const OTF2_IoParadigmClass kind = paradigm == kPosix ? OTF2_IO_PARADIGM_CLASS_SERIAL : OTF2_IO_PARADIGM_CLASS_PARALLEL;
      require(OTF2_GlobalDefWriter_WriteIoParadigm(definitions_, paradigm, string(names[paradigm]), string(names[paradigm]),
                                                   kind, OTF2_IO_PARADIGM_FLAG_OS * (paradigm == kPosix ? 1U : 0U), 0, nullptr,
                                                   nullptr, nullptr),
              "OTF2 I/O paradigm");
    }
    for (size_t file = 0; file < trace_.files.size(); ++file) {
      require(OTF2_GlobalDefWriter_WriteIoRegularFile(definitions_, static_cast<OTF2_IoFileRef>(file),
                                                      string(trace_.files[file]), 0),
              "OTF2 file");
    }
    // Readers expect definitions in the order of their numbers.
    std::map<OTF2_IoHandleRef, Handle> by_number;
    for (const auto& [key, number] : handles_) {
      by_number.emplace(number, key);
    }
    for (const auto& [number, key] : by_number) {
      require(
          OTF2_GlobalDefWriter_WriteIoHandle(definitions_, number, string(trace_.files[static_cast<size_t>(std::get<0>(key))]),
                                             static_cast<OTF2_IoFileRef>(std::get<0>(key)), std::get<2>(key),
                                             OTF2_IO_HANDLE_FLAG_PRE_CREATED, OTF2_UNDEFINED_COMM, OTF2_UNDEFINED_IO_HANDLE),
          "OTF2 handle");
      require(OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(definitions_, number, OTF2_IO_ACCESS_MODE_READ_WRITE,
                                                                OTF2_IO_STATUS_FLAG_NONE),
              "OTF2 handle");
    }
  }

  using Handle = std::tuple<int32_t, int32_t, OTF2_IoParadigmRef>;  ///< file, rank, paradigm
  enum Attribute : OTF2_AttributeRef { kOffset, kBytes, kPeer, kCount, kFile, kDataset, kAttributeCount };
  static constexpr const char* kAttributeNames[kAttributeCount] = {"offset", "bytes", "peer", "count", "file", "dataset"};

  const TraceFile& trace_;
  Communication communication_;
  std::vector<Lane> lanes_;
  std::vector<Operation> operations_;  ///< by kind
  OTF2_Archive* archive_ = nullptr;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  OTF2_AttributeList* attributes_ = OTF2_AttributeList_New();
  std::map<Handle, OTF2_IoHandleRef> handles_;
  std::map<std::string, OTF2_StringRef> strings_;
};

}  // namespace

void export_otf2(const TraceFile& trace, const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    throw Error(ErrorCode::kAlreadyExists, fmt::format("'{}' is there already; OTF2 wants a directory of its own", path));
  }
  Otf2Writer(trace, path).run();
}

#endif

}  // namespace stria::tool
