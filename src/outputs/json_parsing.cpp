/// JSON text to values, with faults in a user's words.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "outputs/reader.h"
#include "outputs/results.h"

namespace simgrad::outputs {

using Json = nlohmann::ordered_json;

namespace {

constexpr int json_depth_most = 256;

std::string json_place(std::string_view text, std::size_t at, const std::string& file) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 in the first line
  return fmt::format("{}:{}:{}", file, 1 + std::ranges::count(before, '\n'), before.size() - line_begin + 1);
}

/// Refuses lists and objects within lists and objects that whoever writes or destroys them could not follow: each level
/// is a call.
void require_shallow_json(std::string_view text, const std::string& file) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text && c == '\\')
      ++at;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == ']' || c == '}'))
      --depth;
    else if (!in_text && (c == '[' || c == '{') && ++depth > json_depth_most)
      throw base::EnvironmentError(
          fmt::format("{}: nested more than {} deep, expected less", json_place(text, at, file), json_depth_most));
  }
}

/// The library's finding, such as `unexpected ']'; expected '}'`, in our words.
std::string found_in_json(std::string_view description) {
  if (const auto dash = description.find(" - "); dash != std::string_view::npos) description.remove_prefix(dash + 3);
  if (const auto more = description.find("; last read:"); more != std::string_view::npos)
    description = description.substr(0, more);
  // nlohmann_json 3.11.3 has a finding of its own for an empty text.
  if (description.find("empty input") != std::string_view::npos) description = "unexpected end of input";
  constexpr std::string_view unexpected = "unexpected ";
  if (!description.starts_with(unexpected)) return fmt::format("found an {}, expected JSON", description);
  const std::string_view rest = description.substr(unexpected.size());
  const auto expected = rest.find("; expected ");
  if (expected == std::string_view::npos) return fmt::format("found {}, expected a value", rest);
  return fmt::format("found {}, {}", rest.substr(0, expected), rest.substr(expected + 2));
}

}  // namespace

Json parse_json(const std::string& text, const std::string& file) {
  require_shallow_json(text, file);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& fault) {
    const std::size_t at = fault.byte > 0 ? fault.byte - 1 : 0;
    throw base::EnvironmentError(
        fmt::format("{}: not JSON, or cut short: {}", json_place(text, at, file), found_in_json(fault.what())));
  } catch (const nlohmann::json::exception&) {  // the only other fault of a text
    throw base::EnvironmentError(
        fmt::format("{}: found a number beyond the range of doubles, expected at most 1.8e308", file));
  }
}

}  // namespace simgrad::outputs
