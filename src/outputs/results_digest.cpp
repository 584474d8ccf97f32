#include "outputs/results_digest.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/hash.h"
#include "outputs/describe_run.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

/// A visitor of descriptions: appends the bytes of the fields. Lists and texts begin with their lengths, so that
/// different fields have different bytes.
class Bytes {
 public:
  explicit Bytes(std::string& bytes) : bytes_(bytes) {}

  void index(std::string_view /*name*/) {}
  template <class T>
  void value(std::string_view /*name*/, const T& field, record::Presence /*presence*/ = {}) {
    add(field);
  }
  void metric(std::string_view /*name*/, const std::optional<double>& field) { add(field); }
  void computed(std::string_view /*name*/, const std::optional<double>& /*field*/) {}  // follows from others
  void grid_point(std::string_view /*name*/, const Json& field) { add(field); }
  void text_or_null(std::string_view /*name*/, const std::string& field) { add(field); }
  void counts(std::string_view /*name*/, const std::map<std::int64_t, std::int64_t>& field) {
    add(field.size());
    for (const auto& [value, count] : field) add(value), add(count);
  }
  template <class Item>
  void items(std::string_view /*name*/, const std::vector<Item>& all, record::Presence /*presence*/) {
    add(all.size());
    for (const Item& item : all) describe(item, *this);
  }

  template <class Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void add(Number number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    bytes_.append(bytes, sizeof number);
  }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }
  void add(const Json& tree) { add(compact(tree)); }
  template <class T>
  void add(const std::optional<T>& field) {
    add(field.has_value());
    if (field) add(*field);
  }
  template <class T>
  void add(const std::vector<T>& all) {
    add(all.size());
    for (const T& each : all) add(each);
  }

 private:
  std::string& bytes_;
};

template <class Item>
void add_hashes(std::string& hashes, const std::vector<Item>& items) {
  std::string bytes;
  for (const Item& item : items) {
    bytes.clear();
    Bytes visitor(bytes);
    describe(item, visitor);
    hashes += base::hash(bytes);
  }
  hashes += '\n';
}

/// The running program: another build may write other files of equal results. simgrad-plan counts as the simgrad that
/// lies beside it.
std::string program() {
  std::error_code unread;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unread);
  for (const std::filesystem::path& path : {self.parent_path() / "simgrad", self})
    if (struct stat file = {}; stat(path.c_str(), &file) == 0)
      return fmt::format("{} {}.{:09}", file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
  return {};
}

}  // namespace

std::string digest(const Results& results) {
  std::string all;
  Bytes head(all);
  for (const std::string& text : {program(), results.name, results.title, results.version, results.command})
    head.add(text);
  head.add(results.complete);
  head.add(results.all_ranks);
  head.add(results.scenario);
  add_hashes(all, results.runs);
  add_hashes(all, results.baselines);
  add_hashes(all, results.counterfactuals);
  add_hashes(all, results.dropped);
  return base::hash(all);
}

}  // namespace simgrad::outputs
