#include "server/connections/greeting.hpp"

#include <functional>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "server/connections/resources/background.hpp"

namespace stria::server {

namespace {

using wire::Kind;
using wire::ProofKind;

// A client that waits to be known expects no word meanwhile.
asio::awaitable<void> say_nothing() {
  co_return;
}

/// None where nothing is proven.
std::optional<wire::Key> key_of_proofs(const SharedState& shared, ProofKind kind, const wire::Claim& claim) {
  if (kind == ProofKind::kMunge) {
    return wire::Munge::greeting_key();
  }
  return kind == ProofKind::kKey ? std::optional(shared.key->for_claim(claim)) : std::nullopt;
}

}  // namespace

asio::awaitable<void> Greeting::hear() {
  Messages& messages = client_.messages;
  const SharedState& shared = *client_.shared;
  co_await messages.receive(shared.patience.greeting);
  const auto hello = wire::decode<wire::Hello>(messages.body());
  if (messages.header().kind != Kind::kHello || messages.header().payload_bytes != 0 || !hello.ok()) {
    throw Error(ErrorCode::kFormat, "no greeting");
  }
  hello_ = *hello;
  challenge_.wants = wanted_proof(shared.key.get(), shared.munge.get(), client_.peer, hello_.claim);
  challenge_.server = shared.identity;
  wire::randomise(challenge_.nonce);
  if (shared.encrypts && !client_.peer) {
    if (!hello_.exchange) {
      const Status why(ErrorCode::kPermissionDenied,
                       "the server encrypts: a client must not have STRIA_ENCRYPT=0, and another server needs --encrypt");
      co_await messages.turn_away(why);
    }
    challenge_.exchange = exchange_.emplace().mine();
  }
  key_ = key_of_proofs(shared, challenge_.wants, hello_.claim);
  if (key_) {
    challenge_.proof = key_->server_proof(hello_, challenge_);
  }
  if (challenge_.wants == ProofKind::kMunge) {
    co_await seal();
  }
}

asio::awaitable<void> Greeting::challenge() {
  Messages& messages = client_.messages;
  const std::vector<std::byte> challenge_body = wire::encode(challenge_);
  co_await messages.reply(wire::reply_to(Kind::kHello), challenge_body);
  co_await messages.receive(client_.shared->patience.greeting);
  const Result<Caller> caller = co_await check_proof();
  if (!caller.ok()) {
    co_await messages.turn_away(caller.status());
  }
  client_.caller = *caller;
  client_.session = hello_.session;
}

asio::awaitable<void> Greeting::welcome() {
  co_await client_.messages.reply(wire::reply_to(Kind::kProof), {});
  if (exchange_) {
    STRIA_CHECK(key_.has_value(), challenge_.wants);  // only a proven client is encrypted for
    const auto keys = exchange_->keys_with(*hello_.exchange, *key_, hello_, challenge_);
    if (!client_.messages.stream().encrypt(keys.value())) {
      throw Error(ErrorCode::kFormat, "more than a greeting");
    }
  }
}

asio::awaitable<void> Greeting::seal() {
  using Sealed = std::optional<Result<std::string>>;
  std::function<Sealed()> work = [munge = client_.shared->munge, proof = challenge_.proof] {
    return Sealed(munge->seal(proof));
  };
  const Sealed sealed =
      co_await in_background<Sealed>(client_.shared->munge_threads, std::move(work), kWorkingEvery, say_nothing);
  if (!sealed->ok()) {
    const Status why = sealed->status().with_context("the server");
    co_await client_.messages.turn_away(why);
  }
  challenge_.credential = **sealed;
}

asio::awaitable<Result<Caller>> Greeting::check_proof() {
  const Messages& messages = client_.messages;
  const SharedState& shared = *client_.shared;
  if (messages.header().kind != Kind::kProof || messages.header().payload_bytes != 0) {
    throw Error(ErrorCode::kFormat, "no proof");
  }
  if (challenge_.wants == ProofKind::kMunge) {
    const auto said = wire::decode<wire::Credential>(messages.body());
    if (!said.ok()) {
      co_return said.status();
    }
    using Found = std::optional<Result<Caller>>;
    const wire::Proof proof = key_->client_proof(hello_, challenge_);
    std::function<Found()> work = [munge = shared.munge, credential = said->text, proof] {
      return Found(caller_of(*munge, credential, proof));
    };
    const Found found =
        co_await in_background<Found>(client_.shared->munge_threads, std::move(work), kWorkingEvery, say_nothing);
    co_return *found;
  }
  const auto said = wire::decode<wire::KeyProof>(messages.body());
  if (!said.ok() || (key_ && !wire::same_proof(said->proof, key_->client_proof(hello_, challenge_)))) {
    co_return Status(ErrorCode::kPermissionDenied, "the client has another key than this server");
  }
  co_return caller_of(shared.key.get(), client_.peer, hello_.claim);
}

}  // namespace stria::server
