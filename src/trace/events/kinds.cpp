#include "trace/events/kinds.hpp"

#include <vector>

namespace stria::trace {

namespace {

std::vector<KindInfo> make_kinds() {
  std::vector<KindInfo> kinds(static_cast<size_t>(kBuiltInCount));
  auto name = [&kinds](BuiltIn kind, const char* text, Detail detail = Detail::kNone, bool overlaps = false) {
    kinds[static_cast<size_t>(kind)] = {text, layer_of(kind), detail, overlaps};
  };
  name(BuiltIn::kFileCreate, "File::create");
  name(BuiltIn::kFileOpen, "File::open");
  name(BuiltIn::kDatasetPut, "Dataset::put", Detail::kDataset);
  name(BuiltIn::kDatasetGet, "Dataset::get", Detail::kDataset);
  name(BuiltIn::kFileFlush, "File::flush");
  name(BuiltIn::kFileCommit, "File::commit");
  name(BuiltIn::kFileAbandon, "File::abandon");
  name(BuiltIn::kFileVerify, "File::verify");
  name(BuiltIn::kFileReadList, "File::read_list");
  name(BuiltIn::kFileClose, "File::close");
  for (size_t phase = 0; phase < kPhaseCount; ++phase) {
    const auto which = static_cast<Phase>(phase);
    kinds[kind(which).id] = {.name = phase_name(which), .layer = Layer::kEngine, .detail = Detail::kCount};
  }
  name(BuiltIn::kPlan, "plan");
  name(BuiltIn::kBackgroundWrite, "background write");
  name(BuiltIn::kBackgroundRead, "background read");
  name(BuiltIn::kBackgroundEnd, "background end");
  name(BuiltIn::kBackgroundWait, "background wait");
  name(BuiltIn::kStorageOpen, "storage open");
  name(BuiltIn::kStorageClose, "storage close");
  name(BuiltIn::kStorageWrite, "storage write", Detail::kCount);
  name(BuiltIn::kStorageWriteBehind, "storage write behind", Detail::kCount, true);
  name(BuiltIn::kStorageRead, "storage read", Detail::kCount);
  name(BuiltIn::kStorageSync, "storage sync");
  name(BuiltIn::kStorageResize, "storage resize");
  name(BuiltIn::kStorageReserve, "storage reserve");
  name(BuiltIn::kStorageName, "storage name");
  name(BuiltIn::kSend, "send", Detail::kPeer, true);
  name(BuiltIn::kReceive, "receive", Detail::kPeer, true);
  name(BuiltIn::kMessageWait, "message wait");
  name(BuiltIn::kBarrier, "barrier");
  name(BuiltIn::kBroadcast, "broadcast", Detail::kPeer);
  name(BuiltIn::kReduce, "reduce");
  name(BuiltIn::kGather, "gather");
  name(BuiltIn::kShareMemory, "share memory");
  return kinds;
}

}  // namespace

std::span<const KindInfo> built_in_kinds() {
  static const std::vector<KindInfo> kinds = make_kinds();
  return kinds;
}

}  // namespace stria::trace
