#include "wire/trust/key.hpp"

#include <sodium.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/check.hpp"

namespace stria::wire {

namespace {

constexpr size_t kLeastBytes = 16;
constexpr std::string_view kUserTitle = "stria-user-key";

/// True once libsodium may be used. It needs no special instructions.
bool sodium_ready() {
  static const bool ready = sodium_init() >= 0;
  return ready;
}

std::string hex(std::span<const unsigned char> bytes) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.pop_back();
  return text;
}

/// Reads "5,6" as two numbers and "-" as none; false for anything else.
bool parse_groups(const std::string& text, std::vector<uint32_t>& groups) {
  std::istringstream parts(text == "-" ? "" : text);
  for (std::string part; std::getline(parts, part, ',');) {
    char* end = nullptr;
    groups.push_back(static_cast<uint32_t>(std::strtoul(part.c_str(), &end, 10)));
    if (part.empty() || *end != '\0' || groups.size() > kMaxGroups) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<const Key>> Key::load(const std::string& path) {
  struct stat details = {};
  if (stat(path.c_str(), &details) != 0) {
    return Status::from_errno(errno, "read the key file '" + path + "'");
  }
  if ((details.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Status(ErrorCode::kPermissionDenied, "the key file '" + path + "' is open to others: chmod 600 it");
  }
  std::ifstream file(path, std::ios::binary);
  const std::string secret((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || secret.size() < kLeastBytes || !sodium_ready()) {
    return Status(ErrorCode::kInvalidArgument,
                  "the key file '" + path + "' holds no key: make one with head -c 32 /dev/urandom > '" + path + "'");
  }
  if (secret.starts_with(kUserTitle)) {
    auto key = parse_users(secret);
    return key.ok() ? key : key.status().with_context("the key file '" + path + "'");
  }
  return std::shared_ptr<const Key>(std::make_shared<Key>(std::as_bytes(std::span(secret))));
}

Result<std::shared_ptr<const Key>> Key::parse_users(const std::string& text) {
  std::istringstream fields(text);
  std::string title;
  std::string groups;
  std::string digits;
  const std::shared_ptr<Key> key(new Key());
  Claim& claim = key->claim_;
  claim.kind = ClaimKind::kUserKey;
  fields >> title >> claim.user.uid >> claim.user.gid >> groups >> claim.until_s >> digits;
  size_t bytes = 0;
  const int code = sodium_hex2bin(key->key_.data(), key->key_.size(), digits.data(), digits.size(), nullptr, &bytes, nullptr);
  if (!fields || title != kUserTitle || code != 0 || bytes != key->key_.size() || !parse_groups(groups, claim.user.groups)) {
    return Status(ErrorCode::kInvalidArgument, "it holds no user's key as 'stria key' writes it");
  }
  return std::shared_ptr<const Key>(key);
}

std::string Key::user_key_text() const {
  STRIA_ASSERT(is_users());
  std::string groups;
  for (const uint32_t group : claim_.user.groups) {
    groups += (groups.empty() ? "" : ",") + std::to_string(group);
  }
  return std::string(kUserTitle) + " " + std::to_string(claim_.user.uid) + " " + std::to_string(claim_.user.gid) + " " +
         (groups.empty() ? "-" : groups) + " " + std::to_string(claim_.until_s) + " " + hex(key_) + "\n";
}

Claim Key::claim() const {
  return is_users() ? claim_ : Claim{ClaimKind::kClusterKey, this_user(), 0};
}

Key Key::for_claim(const Claim& claim) const {
  STRIA_ASSERT(!is_users());
  if (claim.kind != ClaimKind::kUserKey) {
    return *this;
  }
  Key key;
  key.claim_ = claim;
  std::vector<std::byte> said{std::byte{'u'}};
  Writer writer(said);
  claim.put(writer);
  crypto_auth(key.key_.data(), reinterpret_cast<const unsigned char*>(said.data()), said.size(), key_.data());
  return key;
}

Result<std::shared_ptr<const Key>> Key::from_environment() {
  const char* path = std::getenv("STRIA_KEY_FILE");
  if (path == nullptr || *path == '\0') {
    return std::shared_ptr<const Key>();
  }
  return load(path);
}

Key::Key(std::span<const std::byte> secret) {
  static_assert(crypto_auth_KEYBYTES == 32 && crypto_auth_BYTES == 32);
  static_cast<void>(sodium_ready());
  crypto_generichash(key_.data(), key_.size(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), nullptr,
                     0);
}

Proof Key::prove(char role, const Hello& hello, const Challenge& challenge) const {
  std::vector<std::byte> said{static_cast<std::byte>(role)};
  Writer writer(said);
  hello.put(writer);
  Challenge asked = challenge;
  asked.proof = {};
  asked.credential.clear();
  asked.put(writer);
  Proof proof;
  crypto_auth(reinterpret_cast<unsigned char*>(proof.data()), reinterpret_cast<const unsigned char*>(said.data()), said.size(),
              key_.data());
  return proof;
}

bool same_proof(const Proof& a, const Proof& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

void randomise(std::span<std::byte> bytes) {
  static_cast<void>(sodium_ready());
  randombytes_buf(bytes.data(), bytes.size());
}

}  // namespace stria::wire
