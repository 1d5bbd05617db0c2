#include "wire/key.hpp"

#include <sodium.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace stria::wire {

namespace {

constexpr size_t kLeastBytes = 16;

/// True once libsodium may be used. It needs no special instructions.
bool sodium_ready() {
  static const bool ready = sodium_init() >= 0;
  return ready;
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
  return std::shared_ptr<const Key>(std::make_shared<Key>(std::as_bytes(std::span(secret))));
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
  writer.bytes(hello.session);
  writer.bytes(hello.nonce);
  writer.bytes(challenge.server);
  writer.bytes(challenge.nonce);
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
