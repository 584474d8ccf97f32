#include "outputs/run_text.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "base/errors.h"
#include "outputs/describe_run.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;
using record::Presence;

/// Thrown at the first byte that this release would not have written.
struct OtherText {};

/// The text of a value, from its beginning on.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : rest_(text) {}

  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  void expect(std::string_view expected) {
    if (!take(expected)) throw OtherText();
  }
  bool at_end() const { return rest_.empty(); }

  /// Takes the beginning of a member, up to its value. Nothing is taken if another one is here.
  bool take_member(std::string_view name, bool first) {
    const std::size_t quote = first ? 0 : 1, end = quote + 1 + name.size();
    if (rest_.size() < end + 2 || (!first && rest_[0] != ',') || rest_[quote] != '"' || rest_[end] != '"' ||
        rest_[end + 1] != ':' || rest_.substr(quote + 1, name.size()) != name)
      return false;
    rest_.remove_prefix(end + 2);
    return true;
  }

  template <class Number>
  Number number() {
    Number value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw OtherText();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.empty() || std::string_view(",]}").find(rest_.front()) == std::string_view::npos) throw OtherText();
    return value;
  }

  std::string text() {
    const std::string_view quoted = string_token();
    if (quoted.find('\\') == std::string_view::npos) return std::string(quoted.substr(1, quoted.size() - 2));
    return Json::parse(quoted).get<std::string>();
  }

  /// A list or an object with all that it has.
  std::string_view tree() {
    const std::string_view all = rest_;
    int depth = 0;
    do {
      if (rest_.empty()) throw OtherText();
      if (rest_.front() == '"') {
        string_token();
        continue;
      }
      if (rest_.front() == '{' || rest_.front() == '[') ++depth;
      if (rest_.front() == '}' || rest_.front() == ']') --depth;
      rest_.remove_prefix(1);
    } while (depth > 0);
    return all.substr(0, all.size() - rest_.size());
  }

 private:
  /// A string with its quotes.
  std::string_view string_token() {
    if (!rest_.starts_with('"')) throw OtherText();
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) throw OtherText();
    const std::string_view quoted = rest_.substr(0, end + 1);
    rest_.remove_prefix(end + 1);
    return quoted;
  }

  std::string_view rest_;
};

/// Reads the described fields of one object, in their order.
class TextReader {
 public:
  explicit TextReader(TextCursor& text) : text_(text) { text_.expect("{"); }
  void close() { text_.expect("}"); }

  void index(std::string_view name) {
    expect_member(name);
    text_.number<std::int64_t>();
  }
  template <class T>
  void value(std::string_view name, T& field, Presence presence = Presence::always) {
    if (has_member(name, presence)) read(field);
  }
  void metric(std::string_view name, std::optional<double>& field) { value(name, field); }
  void computed(std::string_view name, const std::optional<double>& /*field*/) {
    expect_member(name);
    std::optional<double> unused;
    read(unused);
  }
  void grid_point(std::string_view name, Json& field) { value(name, field); }
  void text_or_null(std::string_view name, std::string& field) {
    expect_member(name);
    field = text_.take("null") ? std::string() : text_.text();
  }
  void counts(std::string_view name, std::map<std::int64_t, std::int64_t>& field) {
    if (!has_member(name, Presence::some)) return;
    list([&] {
      text_.expect("[");
      const auto value = text_.number<std::int64_t>();
      text_.expect(",");
      field[value] = text_.number<std::int64_t>();
      text_.expect("]");
    });
  }
  template <class Item>
  void items(std::string_view name, std::vector<Item>& all, Presence presence) {
    if (!has_member(name, presence)) return;
    list([&] {
      TextReader item(text_);
      describe(all.emplace_back(), item);
      item.close();
    });
  }

 private:
  void expect_member(std::string_view name) {
    if (!take_member(name)) throw OtherText();
  }
  bool has_member(std::string_view name, Presence presence) {
    if (take_member(name)) return true;
    if (presence == Presence::always) throw OtherText();
    return false;
  }
  bool take_member(std::string_view name) {
    if (!text_.take_member(name, first_)) return false;
    first_ = false;
    return true;
  }
  template <class Read>
  void list(Read read_item) {
    text_.expect("[");
    if (text_.take("]")) return;
    do read_item();
    while (text_.take(","));
    text_.expect("]");
  }

  void read(std::string& field) { field = text_.text(); }
  void read(bool& field) {
    field = text_.take("true");
    if (!field) text_.expect("false");
  }
  void read(double& field) {
    field = text_.take("null") ? std::numeric_limits<double>::quiet_NaN() : text_.number<double>();
  }
  void read(std::int64_t& field) { field = text_.number<std::int64_t>(); }
  void read(std::uint64_t& field) { field = text_.number<std::uint64_t>(); }
  template <class Number>
  void read(std::optional<Number>& field) {
    field = text_.take("null") ? std::nullopt : std::optional(text_.number<Number>());
  }
  void read(Json& field) { field = parse_json(std::string(text_.tree())); }
  void read(std::optional<Json>& field) { read(field.emplace()); }
  void read(std::vector<std::string>& field) {
    field.clear();
    list([&] { field.push_back(text_.text()); });
  }
  void read(record::Status& field) {
    const std::string text = text_.text();
    using enum record::Status;
    for (const record::Status status : {reached, stopped, diverged, failed})
      if (record::name(status) == text) {
        field = status;
        return;
      }
    throw OtherText();
  }

  TextCursor& text_;
  bool first_ = true;
};

}  // namespace

std::optional<Run> run_from_text(std::string_view text) {
  try {
    TextCursor cursor(text);
    TextReader reader(cursor);
    Run run;
    describe(run, reader);
    reader.close();
    if (!cursor.at_end()) return {};
    for (record::RankUse& rank : run.record.ranks) rank.parts[record::TimePart::down] = rank.down_s;
    return run;
  } catch (const OtherText&) {
    return {};
  } catch (const nlohmann::json::exception&) {
    return {};
  } catch (const base::EnvironmentError&) {
    return {};
  }
}

}  // namespace simgrad::outputs
