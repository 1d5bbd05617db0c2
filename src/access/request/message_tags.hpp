// The tags of this layer's messages, one meaning each. Those of the other layers: comm/ below 32010, file/meet/ 32030.
#pragma once

namespace stria::access {

enum MessageTag : int {
  kNewsTag = 32010,    ///< of an abort signal, along the edges of its heap
  kMeetTag = 32011,    ///< among the ranks of a node: the length of what a rank tells the others
  kPiecesTag = 32012,  ///< contributor to aggregator: the pieces of a round, their sizes before

  // A write through aggregators.
  kGoTag = 32013,    ///< aggregator to contributor: the round's buffer is free (1), or the write failed (0): the last token
  kDoneTag = 32014,  ///< contributor to aggregator: its share is packed (1), or it could not (0)
  kWriteDataTag = 32015,   ///< contributor on another node to aggregator: the packed bytes, if it could
  kWrittenTag = 32016,     ///< aggregator to contributor, after a failure: how many of its rounds were written
  kWritePlaceTag = 32017,  ///< delegate to a rank that it speaks for: where its share goes, or that the aggregator has failed
  kPlacedTag = 32018,      ///< that rank to the delegate: its share is there (1), or it could not (0)

  // A read through aggregators.
  kFilledTag = 32019,     ///< aggregator to contributor: the round's bytes are there up to this end of the file, or it failed
  kTakenTag = 32020,      ///< contributor to aggregator: the shared buffer may be used again
  kReadDataTag = 32021,   ///< aggregator to a rank of another node: the packed bytes, unless it failed
  kReadPlaceTag = 32022,  ///< delegate to a rank that it speaks for: the file's end, and where its bytes are
  kEmptiedTag = 32023,    ///< that rank to the delegate: it has taken them
};

}  // namespace stria::access
