// Memory's end of a transfer: the source of a write, or the sink of a read.
#pragma once

#include "access/request/request.hpp"
#include "base/check.hpp"

namespace stria::access {

class Endpoint {
 public:
  static Endpoint of_write(StreamSource& source) { return {&source, nullptr}; }
  static Endpoint of_read(StreamSink& sink) { return {nullptr, &sink}; }

  bool writes() const { return source_ != nullptr; }
  /// \pre writes()
  StreamSource& source() const {
    STRIA_ASSERT(source_ != nullptr);
    return *source_;
  }
  /// \pre !writes()
  StreamSink& sink() const {
    STRIA_ASSERT(sink_ != nullptr);
    return *sink_;
  }

 private:
  Endpoint(StreamSource* source, StreamSink* sink) : source_(source), sink_(sink) {}

  StreamSource* source_;
  StreamSink* sink_;
};

}  // namespace stria::access
