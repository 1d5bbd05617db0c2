// The kinds of spans that Stria itself records. Others are defined at run time (recorder.hpp): a
// program's own regions, and the calls that the wrappers see.
#pragma once

#include <span>

#include "stria/phases.hpp"
#include "trace/events/event.hpp"

namespace stria::trace {

/// The number of a built-in kind, the same in every trace.
enum class BuiltIn : uint16_t {
  // Calls of the application.
  kFileCreate,
  kFileOpen,
  kDatasetPut,
  kDatasetGet,
  kFileFlush,
  kFileCommit,
  kFileAbandon,
  kFileVerify,
  kFileReadList,
  kFileClose,
  // Phases of the engine in the order of stria::Phase, its planning, and what it does in the
  // background.
  kPhaseOpen,
  kPhaseCommit = kPhaseOpen + static_cast<uint16_t>(kPhaseCount) - 1,
  kPlan,
  kBackgroundWrite,
  kBackgroundRead,
  kBackgroundEnd,   ///< sync, and the file's name
  kBackgroundWait,  ///< the program waits for it
  // Requests to the storage.
  kStorageOpen,
  kStorageClose,
  kStorageWrite,
  kStorageWriteBehind,  ///< from its start until its wait() has returned
  kStorageRead,
  kStorageSync,
  kStorageResize,
  kStorageReserve,
  kStorageName,  ///< rename, remove, sync of a directory
  // Messages and collective operations.
  kSend,
  kReceive,
  kMessageWait,
  kBarrier,
  kBroadcast,
  kReduce,
  kGather,
  kShareMemory,
};
inline constexpr int kBuiltInCount = static_cast<int>(BuiltIn::kShareMemory) + 1;

/// Names and properties by number.
std::span<const KindInfo> built_in_kinds();

constexpr Layer layer_of(BuiltIn kind) {
  return kind < BuiltIn::kPhaseOpen ? Layer::kApp : kind <= BuiltIn::kBackgroundWait ? Layer::kEngine : Layer::kStorage;
}
constexpr Kind kind(BuiltIn built_in) {
  return {static_cast<uint16_t>(built_in), layer_of(built_in)};
}
constexpr Kind kind(Phase phase) {
  return kind(static_cast<BuiltIn>(static_cast<uint16_t>(BuiltIn::kPhaseOpen) + static_cast<uint16_t>(phase)));
}

}  // namespace stria::trace
