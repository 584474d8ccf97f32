/// JSON read back, with errors that name a member that is missing or of the wrong type.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "outputs/summary.h"

namespace simgrad::outputs {

/// The members of one JSON object, each of the type it must have.
class Reader {
 public:
  /// `what` names the object in an error: "run", "curve".  `json` and `what` must outlive the reader.
  Reader(const nlohmann::ordered_json& json, std::string_view what, std::optional<std::size_t> index = {})
      : json_(json), what_(what), index_(index) {
    if (!json.is_object())
      throw base::EnvironmentError(fmt::format("{}: found {}, expected an object", place(), found(json)));
  }

  std::string text(std::string_view key) const {
    const nlohmann::ordered_json& member = at(key);
    if (!member.is_string()) refuse(key, member, "a text");
    return member.get<std::string>();
  }
  std::string text_or_empty(std::string_view key) const { return at(key).is_null() ? std::string() : text(key); }

  /// False for a member that this object lacks, as files of older releases do.
  bool has(std::string_view key) const { return json_.contains(key); }
  std::string text_or(std::string_view key, std::string_view without) const {
    return has(key) ? text(key) : std::string(without);
  }

  bool flag(std::string_view key) const {
    const nlohmann::ordered_json& member = at(key);
    if (!member.is_boolean()) refuse(key, member, "true or false");
    return member.get<bool>();
  }

  template <class Integer>
  Integer integer(std::string_view key) const {
    const nlohmann::ordered_json& member = at(key);
    if (!member.is_number_integer()) refuse(key, member, "an integer");
    const bool fits = member.is_number_unsigned() ? std::in_range<Integer>(member.get<std::uint64_t>())
                                                  : std::in_range<Integer>(member.get<std::int64_t>());
    if (!fits) refuse(key, member, "an integer in range");
    return member.get<Integer>();
  }

  std::optional<std::int64_t> integer_or_nothing(std::string_view key) const {
    return at(key).is_null() ? std::nullopt : std::optional(integer<std::int64_t>(key));
  }

  std::optional<double> number_or_nothing(std::string_view key) const {
    const nlohmann::ordered_json& member = at(key);
    if (member.is_null()) return std::nullopt;
    if (!member.is_number()) refuse(key, member, "a number or null");
    return member.get<double>();
  }
  /// A null was written for a number that is not finite: see to_json.
  double number(std::string_view key) const {
    return number_or_nothing(key).value_or(std::numeric_limits<double>::quiet_NaN());
  }

  const nlohmann::ordered_json& object(std::string_view key) const {
    const nlohmann::ordered_json& member = at(key);
    if (!member.is_object()) refuse(key, member, "an object");
    return member;
  }
  const nlohmann::ordered_json& array(std::string_view key) const {
    const nlohmann::ordered_json& member = at(key);
    if (!member.is_array()) refuse(key, member, "an array");
    return member;
  }

  const nlohmann::ordered_json& at(std::string_view key) const {
    const auto member = json_.find(key);
    if (member == json_.end()) throw base::EnvironmentError(fmt::format("{}: \"{}\" is missing", place(), key));
    return *member;
  }

  [[noreturn]] void refuse(std::string_view key, const nlohmann::ordered_json& member,
                           std::string_view expected) const {
    throw base::EnvironmentError(fmt::format("{}: \"{}\" is {}, expected {}", place(), key, found(member), expected));
  }

 private:
  /// The value as it stands in a message: short, whatever a damaged file holds.
  static std::string found(const nlohmann::ordered_json& json) {
    if (json.is_structured()) return json.is_array() ? "an array" : "an object";
    const std::string text = compact(json);
    return text.size() <= 40 ? text : fmt::format("a {}", json.type_name());
  }
  std::string place() const { return index_ ? fmt::format("{}[{}]", what_, *index_) : std::string(what_); }

  const nlohmann::ordered_json& json_;
  std::string_view what_;
  std::optional<std::size_t> index_;
};

}  // namespace simgrad::outputs
