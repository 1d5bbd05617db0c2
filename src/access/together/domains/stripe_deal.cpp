#include "access/together/domains/stripe_deal.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::access {

namespace {

// Smaller blocks would cost more in requests than more aggregators gain.
constexpr int64_t kLeastBlockBytes = 64 << 10;

int64_t divide_up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

}  // namespace

StripeDeal::StripeDeal(ByteRange hull, int aggregators, int64_t stripe_bytes, int stripe_count)
    : hull_(hull),
      block_bytes_(stripe_bytes),
      servers_(aggregators % stripe_count == 0 ? stripe_count : aggregators),
      aggregators_a_server_(aggregators / servers_) {
  STRIA_CHECK(aggregators > 0 && stripe_bytes > 0 && stripe_count > 0, aggregators, stripe_bytes, stripe_count);
  int64_t stripes = hull.empty() ? 0 : (hull.end - 1) / stripe_bytes - hull.begin / stripe_bytes + 1;
  while (stripes * blocks_a_stripe_ < aggregators && block_bytes_ % (2 * kLeastBlockBytes) == 0) {
    block_bytes_ /= 2;
    blocks_a_stripe_ *= 2;
  }
}

int64_t StripeDeal::first_of_server(int server, int64_t file_block) const {
  int64_t stripe = file_block / blocks_a_stripe_;
  int64_t round = stripe <= server ? 0 : divide_up(stripe - server, servers_);
  bool within = stripe == server + round * servers_;
  return round * blocks_a_stripe_ + (within ? file_block % blocks_a_stripe_ : 0);
}

StripeDeal::Turns StripeDeal::turns(int aggregator, ByteRange range) const {
  STRIA_ASSERT(0 <= aggregator && aggregator < servers_ * aggregators_a_server_, aggregator, servers_, aggregators_a_server_);
  if (range.empty()) {
    return {};
  }
  int server = aggregator % servers_;
  int64_t place = aggregator / servers_;
  int64_t begin = first_of_server(server, range.begin / block_bytes_);
  int64_t end = first_of_server(server, (range.end - 1) / block_bytes_ + 1);
  int64_t first = begin <= place ? 0 : divide_up(begin - place, aggregators_a_server_);
  int64_t last = end <= place ? 0 : divide_up(end - place, aggregators_a_server_);
  return {first, std::max<int64_t>(last - first, 0)};
}

int64_t StripeDeal::block_count(int aggregator) const {
  return turns(aggregator, hull_).count;
}

ByteRange StripeDeal::block(int aggregator, int64_t number) const {
  STRIA_ASSERT(0 <= number && number < block_count(aggregator), aggregator, number);
  int64_t server = aggregator % servers_;
  int64_t in_sequence = aggregator / servers_ + (turns(aggregator, hull_).first + number) * aggregators_a_server_;
  int64_t stripe = server + in_sequence / blocks_a_stripe_ * servers_;
  int64_t begin = (stripe * blocks_a_stripe_ + in_sequence % blocks_a_stripe_) * block_bytes_;
  return {begin, begin + block_bytes_};
}

bool StripeDeal::meets(int aggregator, ByteRange range) const {
  STRIA_ASSERT(range.empty() || intersect(range, hull_) == range, range.begin, range.end, hull_.begin, hull_.end);
  return turns(aggregator, range).count > 0;
}

}  // namespace stria::access
