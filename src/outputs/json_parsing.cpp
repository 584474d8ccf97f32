/// JSON text to values, with faults in a user's words.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_depth.h"
#include "base/place.h"
#include "outputs/reader.h"
#include "outputs/results.h"

namespace simgrad::outputs {

using Json = nlohmann::ordered_json;

namespace {

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

/// Makes the values of a text as they come. The library's own maker looks through all keys of an object for each that
/// is added to it, so that 100,000 keys take half a minute.
class Maker {
 public:
  Maker(const std::string& text, const std::string& file) : text_(text), file_(file) {}

  Json take() { return std::move(root_); }

  // The functions that the library calls; each returns whether parsing shall go on.
  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }  // which is not in JSON
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool key(std::string& name) {
    open_.back().key = std::move(name);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception& fault) {
    if (dynamic_cast<const nlohmann::json::parse_error*>(&fault) == nullptr)  // the only other fault of a text
      throw base::EnvironmentError(
          fmt::format("{}: found a number beyond the range of doubles, expected at most 1.8e308", file_));
    throw base::EnvironmentError(fmt::format("{}: not JSON, or cut short: {}",
                                             base::place_in(text_, at > 0 ? at - 1 : 0, file_),
                                             found_in_json(fault.what())));
  }

 private:
  /// A list or an object that is being read.
  struct Open {
    Json* value;
    std::string key = {};                            ///< of the next member
    std::map<std::string, std::size_t> places = {};  ///< of the members, once there are many
  };

  static auto& member(auto& members, std::size_t at) { return members.begin()[static_cast<std::ptrdiff_t>(at)]; }

  bool put(Json value) {
    add(std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back({.value = &add(std::move(value))});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json& add(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    Open& parent = open_.back();
    if (parent.value->is_array()) return parent.value->get_ref<Json::array_t&>().emplace_back(std::move(value));
    auto& members = parent.value->get_ref<Json::object_t&>();
    // The last of several members of one name counts.
    if (const std::size_t same = place_of(parent, members); same < members.size())
      return member(members, same).second = std::move(value);
    return members.emplace_back(std::move(parent.key), std::move(value)).second;
  }

  /// The place of the member of that name, or behind the last one.
  static std::size_t place_of(Open& parent, const Json::object_t& members) {
    constexpr std::size_t few = 32;
    const std::size_t count = members.size();
    if (count < few) {
      std::size_t at = 0;
      while (at < count && member(members, at).first != parent.key) ++at;
      return at;
    }
    if (parent.places.empty())
      for (std::size_t at = 0; at < count; ++at) parent.places.emplace(member(members, at).first, at);
    return parent.places.emplace(parent.key, count).first->second;
  }

  const std::string& text_;
  const std::string& file_;
  Json root_;
  std::vector<Open> open_;
};

}  // namespace

Json parse_json(const std::string& text, const std::string& file) {
  if (const std::size_t deep = base::too_deep_json(text); deep != std::string::npos)
    throw base::EnvironmentError(fmt::format("{}: nested more than {} deep, expected less",
                                             base::place_in(text, deep, file), base::json_depth_most));
  Maker maker(text, file);
  Json::sax_parse(text, &maker);
  return maker.take();
}

}  // namespace simgrad::outputs
