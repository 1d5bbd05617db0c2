// The tags of this layer's messages, one meaning each. Those of the other layers: comm/ below
// 32010, file/meet/ 32030.
#pragma once

namespace stria::access {

enum MessageTag : int {
  kNewsTag = 32010,    ///< an abort signal, along the edges of its heap
  kMeetTag = 32011,    ///< among the ranks of a node: the length of what a rank tells the others
  kPiecesTag = 32012,  ///< contributor to aggregator: the pieces of a round, their sizes before

  // A write through aggregators.
  /// Aggregator to contributor: the round's buffer is free (1), or the write failed (0), which is
  /// the last token.
  kGoTag = 32013,
  kDoneTag = 32014,  ///< contributor to aggregator: its share is packed (1), or could not be (0)
  /// Contributor on another node to aggregator: the packed bytes, if it could pack them.
  kWriteDataTag = 32015,
  /// Aggregator to contributor, after a failure: how many of its rounds were written.
  kWrittenTag = 32016,
  /// Delegate to a rank that it speaks for: where its share goes, or that the
  /// aggregator has failed.
  kWritePlaceTag = 32017,
  /// That rank tells the delegate: its share is there (1), or could not be packed (0).
  kPlacedTag = 32018,

  // A read through aggregators.
  /// Aggregator to contributor: the round's bytes are there, up to this end of the
  /// file; or it failed.
  kFilledTag = 32019,
  kTakenTag = 32020,  ///< contributor to aggregator: the shared buffer may be used again
  /// Aggregator to a rank of another node: the packed bytes, unless it failed.
  kReadDataTag = 32021,
  /// Delegate to a rank that it speaks for: the file's end, and where its bytes are.
  kReadPlaceTag = 32022,
  kEmptiedTag = 32023,  ///< that rank to the delegate: it has taken them

  // Contributions that travel along the axes of a grid.
  kMetTag = 32024,         ///< to the first rank of a node: which aggregators this one meets
  kParcelSizeTag = 32025,  ///< along an axis: how many bytes are to come
  kParcelRoomTag = 32026,  ///< the answer: there is room for them (1), or none (0)
  kParcelTag = 32027,      ///< they
};

}  // namespace stria::access
