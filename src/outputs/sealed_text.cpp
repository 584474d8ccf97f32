#include "outputs/sealed_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace simgrad::outputs {

namespace {

constexpr std::string_view checksum_begin = R"(,"checksum":")", checksum_end = R"("})";
constexpr std::size_t checksum_digits = 32;

std::string checksum_of(std::string text) {
  constexpr std::string_view member = R"("wall_s":)";
  if (const std::size_t at = text.find(member); at != std::string::npos) {
    const std::size_t number = at + member.size();
    text.erase(number, std::min(text.find_first_of(",}", number), text.size()) - number);
  }
  return base::hash(text);
}

}  // namespace

std::string sealed(std::string object) {
  const std::string checksum = checksum_of(object);
  object.pop_back();  // the object's "}"
  return object.append(checksum_begin).append(checksum).append(checksum_end);
}

Unsealed unsealed(std::string text) {
  const std::size_t size = checksum_begin.size() + checksum_digits + checksum_end.size();
  if (text.size() < size || !text.ends_with(checksum_end)) return {};
  const std::size_t at = text.size() - size;
  if (text.compare(at, checksum_begin.size(), checksum_begin) != 0) return {};
  const std::string checksum = text.substr(at + checksum_begin.size(), checksum_digits);
  text.resize(at);
  text += '}';
  if (checksum_of(text) != checksum) return {.has_checksum = true};
  return {.has_checksum = true, .object = std::move(text)};
}

}  // namespace simgrad::outputs
