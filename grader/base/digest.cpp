// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>

#include "grader/base/result.hpp"

namespace membound::base {
namespace {

/// Enough of a digest to keep long names apart.
constexpr std::size_t kDigestLetters = 16;

using Bytes = std::array<unsigned char, EVP_MAX_MD_SIZE>;

std::string hex_of(const Bytes& bytes, unsigned size) {
  return hex({reinterpret_cast<const char*>(bytes.data()), size});
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  MEMBOUND_CHECK(state_->context != nullptr);
  MEMBOUND_CHECK(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view part) {
  MEMBOUND_CHECK(EVP_DigestUpdate(state_->context, part.data(), part.size()) == 1);
}

std::string Sha256::finish() {
  Bytes bytes{};
  unsigned size = 0;
  MEMBOUND_CHECK(EVP_DigestFinal_ex(state_->context, bytes.data(), &size) == 1);
  return hex_of(bytes, size);
}

std::string sha256(std::string_view text) {
  Sha256 digest;
  digest.add(text);
  return digest.finish();
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  Bytes bytes{};
  unsigned size = 0;
  MEMBOUND_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                      reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                      bytes.data(), &size) != nullptr);
  return hex_of(bytes, size);
}

bool same_digest(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  MEMBOUND_CHECK(
      RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
  return bytes;
}

std::string hex(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 0xf];
  }
  return text;
}

std::string file_name(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string name;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos && !(c == '.' && name.empty())) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  if (name.size() > kMostFileNameBytes)
    name = name.substr(0, kMostFileNameBytes) + "-" + sha256(text).substr(0, kDigestLetters);
  return name.empty() ? "%" : name;
}

}  // namespace membound::base
