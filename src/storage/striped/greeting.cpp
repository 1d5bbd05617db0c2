#include "storage/striped/greeting.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "wire/trust/munge.hpp"

namespace stria::storage {

namespace {

using wire::ProofKind;

constexpr size_t kUserEntryBytes = 16 << 10;  // the bytes of a user in the machine's list

const char* server_user() {
  const char* text = std::getenv("STRIA_SERVER_USER");
  return text == nullptr || *text == '\0' ? nullptr : text;
}

/// Tells whether the text is the number or the name of the user.
bool names_user(const char* text, uint32_t uid) {
  if (std::to_string(uid) == text) {
    return true;
  }
  std::vector<char> memory(kUserEntryBytes);
  passwd entry = {};
  passwd* found = nullptr;
  getpwnam_r(text, &entry, memory.data(), memory.size(), &found);
  return found != nullptr && found->pw_uid == uid;
}

Status believe(uint32_t runner) {
  const char* expected = server_user();
  if (runner == 0 || runner == geteuid() || (expected != nullptr && names_user(expected, runner))) {
    return {};
  }
  return Status(ErrorCode::kPermissionDenied, "user " + std::to_string(runner) +
                                                  " runs the server, who is neither root nor you: if that is right, set "
                                                  "STRIA_SERVER_USER to the user's name or number");
}

Result<std::shared_ptr<const wire::Munge>> munge_of_client() {
  auto munge = wire::Munge::load();
  return munge.ok() ? munge : munge.status().with_context("the server wants proof by MUNGE, or a key (STRIA_KEY_FILE)");
}

}  // namespace

Result<Encryption> encryption_from_environment() {
  const char* value = std::getenv("STRIA_ENCRYPT");
  const std::string_view text = value == nullptr ? "" : value;
  if (text.size() > 1 || text.find_first_not_of("01") != text.npos) {
    return Status(ErrorCode::kInvalidArgument, "STRIA_ENCRYPT is 1 (always), 0 (never), or not set (as the servers want)");
  }
  return text.empty() ? Encryption::kAsServerWants : text == "1" ? Encryption::kAlways : Encryption::kNever;
}

Greeting::Greeting(const Side& side) : side_(side) {
  hello_.session = side.session;
  wire::randomise(hello_.nonce);
  hello_.claim = side.key == nullptr ? wire::Claim{wire::ClaimKind::kWord, wire::this_user(), 0} : side.key->claim();
  if (!side.over_unix && side.encryption != Encryption::kNever) {
    hello_.exchange = exchange_.emplace().mine();
  }
}

const wire::Key* Greeting::key_of_proofs(const wire::Challenge& challenge) const {
  return challenge.wants == ProofKind::kMunge ? &wire::Munge::greeting_key() : side_.key;
}

Status Greeting::check(const wire::Challenge& challenge) const {
  const wire::Key* const key = key_of_proofs(challenge);
  if (challenge.wants == ProofKind::kKey && key == nullptr) {
    return Status(ErrorCode::kPermissionDenied, "the server wants the cluster's key: set STRIA_KEY_FILE to a file with it");
  }
  if (challenge.wants == ProofKind::kKey && !wire::same_proof(challenge.proof, key->server_proof(hello_, challenge))) {
    return Status(ErrorCode::kPermissionDenied, "the server has another key than the file that STRIA_KEY_FILE names");
  }
  if (challenge.wants == ProofKind::kMunge) {
    STRIA_ASSIGN_OR_RETURN(const auto munge, munge_of_client());
    STRIA_ASSIGN_OR_RETURN(const wire::User runner, munge->open(challenge.credential, key->server_proof(hello_, challenge)));
    STRIA_RETURN_IF_ERROR(believe(runner.uid));
  }
  if (challenge.wants == ProofKind::kNone && !side_.over_unix && server_user() != nullptr) {
    return Status(ErrorCode::kPermissionDenied,
                  "the server does not prove who runs it, and STRIA_SERVER_USER is set: start it with --munge or --key");
  }
  if (challenge.exchange && (!hello_.exchange || challenge.wants == ProofKind::kNone)) {
    return Status(ErrorCode::kFormat, "the server wants to encrypt with a client that did not offer to");
  }
  if (!challenge.exchange && !side_.over_unix && side_.encryption == Encryption::kAlways) {
    return Status(ErrorCode::kPermissionDenied,
                  "the server does not encrypt, and this side insists on it: start all servers of the store with --encrypt, "
                  "or unset STRIA_ENCRYPT");
  }
  return {};
}

Result<std::vector<std::byte>> Greeting::answer(const wire::Challenge& challenge) const {
  STRIA_RETURN_IF_ERROR(check(challenge));
  const wire::Key* const key = key_of_proofs(challenge);
  const wire::Proof proof = key == nullptr ? wire::Proof() : key->client_proof(hello_, challenge);
  if (challenge.wants != ProofKind::kMunge) {
    return wire::encode(wire::KeyProof{proof});
  }
  STRIA_ASSIGN_OR_RETURN(const auto munge, munge_of_client());
  STRIA_ASSIGN_OR_RETURN(std::string credential, munge->seal(proof));
  return wire::encode(wire::Credential{std::move(credential)});
}

Result<std::optional<wire::RecordKeys>> Greeting::record_keys(const wire::Challenge& challenge) const {
  if (!challenge.exchange) {
    return std::optional<wire::RecordKeys>();
  }
  STRIA_CHECK(exchange_.has_value() && key_of_proofs(challenge) != nullptr, challenge.wants);
  STRIA_ASSIGN_OR_RETURN(const auto keys,
                         exchange_->keys_with(*challenge.exchange, *key_of_proofs(challenge), hello_, challenge));
  return std::optional(keys);
}

}  // namespace stria::storage
