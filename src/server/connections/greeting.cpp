// The greeting of a connection: who the client is, and what both sides need to encrypt.
#include <functional>
#include <optional>

#include "server/connections/background.hpp"
#include "server/connections/connection.hpp"

namespace stria::server {

namespace {

using std::chrono::milliseconds;
using wire::Kind;
using wire::ProofKind;

// A client that waits to be known expects no word meanwhile.
asio::awaitable<void> say_nothing() {
  co_return;
}

}  // namespace

asio::awaitable<void> Connection::turn_away(const Status& why) {
  shared_->watch.turned_away(why, client_);
  co_await refuse(why);
  throw Error(ErrorCode::kPermissionDenied, "a stranger");
}

asio::awaitable<void> Connection::greet() {
  co_await receive_head(shared_->patience.greeting);
  const auto hello = wire::decode<wire::Hello>(body_);
  if (header_.kind != Kind::kHello || header_.payload_bytes != 0 || !hello.ok()) {
    throw Error(ErrorCode::kFormat, "no greeting");
  }
  std::optional<wire::KeyExchange> exchange;
  wire::Challenge challenge;
  challenge.wants = wanted_proof(shared_->key.get(), shared_->munge.get(), peer_, hello->claim);
  challenge.server = shared_->identity;
  wire::randomise(challenge.nonce);
  if (shared_->encrypts && !peer_) {
    if (!hello->exchange) {
      const Status why(ErrorCode::kPermissionDenied,
                       "the server encrypts: a client must not have STRIA_ENCRYPT=0, and another server needs --encrypt");
      co_await turn_away(why);
    }
    challenge.exchange = exchange.emplace().mine();
  }
  const std::optional<wire::Key> key = key_of_proofs(challenge.wants, hello->claim);
  if (key) {
    challenge.proof = key->server_proof(*hello, challenge);
  }
  if (challenge.wants == ProofKind::kMunge) {
    co_await seal(challenge);
  }
  const std::vector<std::byte> challenge_body = wire::encode(challenge);
  challenged_ = challenge.wants != ProofKind::kNone;
  co_await reply(wire::reply_to(Kind::kHello), challenge_body);
  co_await receive_head(shared_->patience.greeting);
  const Result<Caller> caller = co_await check_proof(*hello, challenge);
  if (!caller.ok()) {
    co_await turn_away(caller.status());
  }
  caller_ = *caller;
  co_await take_over(hello->session);
  co_await count_user();
  co_await reply(wire::reply_to(Kind::kProof), {});
  if (exchange) {
    const auto keys = exchange->keys_with(*hello->exchange, *key, *hello, challenge);
    if (!stream_.encrypt(keys.value())) {
      throw Error(ErrorCode::kFormat, "more than a greeting");
    }
  }
}

std::optional<wire::Key> Connection::key_of_proofs(ProofKind kind, const wire::Claim& claim) const {
  if (kind == ProofKind::kMunge) {
    return wire::Munge::greeting_key();
  }
  return kind == ProofKind::kKey ? std::optional(shared_->key->for_claim(claim)) : std::nullopt;
}

asio::awaitable<void> Connection::seal(wire::Challenge& challenge) {
  using Sealed = std::optional<Result<std::string>>;
  std::function<Sealed()> work = [munge = shared_->munge, proof = challenge.proof] { return Sealed(munge->seal(proof)); };
  const Sealed sealed = co_await in_background<Sealed>(shared_->munge_threads, std::move(work), kWorkingEvery, say_nothing);
  if (!sealed->ok()) {
    const Status why = sealed->status().with_context("the server");
    co_await turn_away(why);
  }
  challenge.credential = **sealed;
}

asio::awaitable<Result<Caller>> Connection::check_proof(const wire::Hello& hello, const wire::Challenge& challenge) {
  if (header_.kind != Kind::kProof || header_.payload_bytes != 0) {
    throw Error(ErrorCode::kFormat, "no proof");
  }
  if (challenge.wants == ProofKind::kMunge) {
    const auto said = wire::decode<wire::Credential>(body_);
    if (!said.ok()) {
      co_return said.status();
    }
    using Found = std::optional<Result<Caller>>;
    const wire::Proof proof = wire::Munge::greeting_key().client_proof(hello, challenge);
    std::function<Found()> work = [munge = shared_->munge, credential = said->text, proof] {
      return Found(caller_of(*munge, credential, proof));
    };
    const Found found = co_await in_background<Found>(shared_->munge_threads, std::move(work), kWorkingEvery, say_nothing);
    co_return *found;
  }
  const auto said = wire::decode<wire::KeyProof>(body_);
  const std::optional<wire::Key> key = key_of_proofs(challenge.wants, hello.claim);
  if (!said.ok() || (key && !wire::same_proof(said->proof, key->client_proof(hello, challenge)))) {
    co_return Status(ErrorCode::kPermissionDenied, "the client has another key than this server");
  }
  co_return caller_of(shared_->key.get(), peer_, hello.claim);
}

asio::awaitable<void> Connection::take_over(const wire::Identity& session) {
  session_ = session;
  while (true) {
    std::shared_ptr<Connection> before;
    {
      const std::lock_guard lock(shared_->sessions_mutex);
      std::shared_ptr<Connection>& holder = shared_->sessions[session];
      if (holder == nullptr) {
        holder = shared_from_this();
        greeted_ = true;
        co_return;
      }
      before = holder;
    }
    before->stop();
    const auto bell = std::make_shared<Bell>(stream_.executor());
    co_await bell->wait(milliseconds(2));
  }
}

// After the session's connection before, if there was one, has ended.
asio::awaitable<void> Connection::count_user() {
  if (caller_.is_super) {
    co_return;
  }
  const size_t most = shared_->bounds.connections_of_user();
  counted_ = shared_->users.add(caller_.user.uid, most);
  if (!counted_) {
    const Status why(ErrorCode::kResourceExhausted, "user " + std::to_string(caller_.user.uid) + " has " +
                                                        std::to_string(most) +
                                                        " connections already, the most for one user (--connections)");
    co_await turn_away(why);
  }
}

}  // namespace stria::server
