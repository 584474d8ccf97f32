/// results.json and the record of one run, written and read back.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema = 1;

Json json_of(const record::Evaluation& evaluation) {
  return {{"step", evaluation.step},
          {"simulated_s", number_or_null(evaluation.simulated_s)},
          {"samples", evaluation.samples},
          {"loss", number_or_null(evaluation.loss)},
          {"metric", number_or_null(evaluation.metric)},
          {"consensus_distance", number_or_null(evaluation.consensus_distance)}};
}

Json json_of(const record::RankUse& rank, std::size_t index) {
  return {{"rank", index},
          {"role", rank.role},
          {"compute_s", number_or_null(rank.compute_s)},
          {"communicate_s", number_or_null(rank.communicate_s)},
          {"wait_s", number_or_null(rank.wait_s)},
          {"down_s", number_or_null(rank.down_s)},
          {"bytes_sent", rank.bytes_sent},
          {"bytes_received", rank.bytes_received},
          {"host_class", rank.host_class},
          {"host", rank.host}};
}

Json json_of(const record::LinkUse& link) {
  Json json = {{"link", link.link},
               {"bytes", link.bytes},
               {"utilisation", number_or_null(link.utilisation)},
               {"link_class", link.link_class}};
  if (link.background_bytes) json["background_bytes"] = *link.background_bytes;
  return json;
}

Json json_of(const record::LinkBin& bin) {
  return {{"link", bin.link},
          {"from_s", number_or_null(bin.from_s)},
          {"to_s", number_or_null(bin.to_s)},
          {"bytes", number_or_null(bin.bytes)},
          {"utilisation", number_or_null(bin.utilisation)}};
}

Json json_of(const record::HostUse& host) {
  return {{"host_class", host.host_class},
          {"busy_s", number_or_null(host.busy_s)},
          {"down_s", number_or_null(host.down_s)},
          {"serves", host.serves},
          {"spot", host.spot},
          {"price_usd_per_h", number_or_null(host.price_usd_per_h)},
          {"idle_w", number_or_null(host.idle_w)},
          {"busy_w", number_or_null(host.busy_w)}};
}

/// The members of one JSON object, each of the type it must have.
class Reader {
 public:
  /// `what` names the object in an error: "run", "curve".  It must outlive the reader.
  Reader(const Json& json, std::string_view what, std::optional<std::size_t> index = {})
      : json_(json), what_(what), index_(index) {
    if (!json.is_object())
      throw base::EnvironmentError(fmt::format("{}: found {}, expected an object", place(), found(json)));
  }

  std::string text(const char* key) const {
    const Json& member = at(key);
    if (!member.is_string()) refuse(key, member, "a text");
    return member.get<std::string>();
  }
  std::string text_or_empty(const char* key) const { return at(key).is_null() ? std::string() : text(key); }

  /// Of a member that files of older releases do not have.
  bool has(const char* key) const { return json_.contains(key); }
  std::string text_or(const char* key, const char* without) const { return json_.contains(key) ? text(key) : without; }

  bool flag(const char* key) const {
    const Json& member = at(key);
    if (!member.is_boolean()) refuse(key, member, "true or false");
    return member.get<bool>();
  }

  template <class Integer>
  Integer integer(const char* key) const {
    const Json& member = at(key);
    if (!member.is_number_integer()) refuse(key, member, "an integer");
    const bool fits = member.is_number_unsigned() ? std::in_range<Integer>(member.get<std::uint64_t>())
                                                  : std::in_range<Integer>(member.get<std::int64_t>());
    if (!fits) refuse(key, member, "an integer in range");
    return member.get<Integer>();
  }

  std::optional<std::int64_t> integer_or_nothing(const char* key) const {
    return at(key).is_null() ? std::nullopt : std::optional(integer<std::int64_t>(key));
  }

  std::optional<double> number_or_nothing(const char* key) const {
    const Json& member = at(key);
    if (member.is_null()) return std::nullopt;
    if (!member.is_number()) refuse(key, member, "a number or null");
    return member.get<double>();
  }
  /// A null was written for a number that is not finite: see to_json.
  double number(const char* key) const {
    return number_or_nothing(key).value_or(std::numeric_limits<double>::quiet_NaN());
  }

  const Json& object(const char* key) const {
    const Json& member = at(key);
    if (!member.is_object()) refuse(key, member, "an object");
    return member;
  }
  const Json& array(const char* key) const {
    const Json& member = at(key);
    if (!member.is_array()) refuse(key, member, "an array");
    return member;
  }

  const Json& at(const char* key) const {
    const auto member = json_.find(key);
    if (member == json_.end()) throw base::EnvironmentError(fmt::format("{}: \"{}\" is missing", place(), key));
    return *member;
  }

  [[noreturn]] void refuse(const char* key, const Json& member, std::string_view expected) const {
    throw base::EnvironmentError(fmt::format("{}: \"{}\" is {}, expected {}", place(), key, found(member), expected));
  }

 private:
  /// Short enough for a message, whatever a damaged file holds.
  static std::string found(const Json& json) {
    if (json.is_structured()) return json.is_array() ? "an array" : "an object";
    const std::string text = compact(json);
    return text.size() <= 40 ? text : fmt::format("a {}", json.type_name());
  }
  std::string place() const { return index_ ? fmt::format("{}[{}]", what_, *index_) : std::string(what_); }

  const Json& json_;
  std::string_view what_;
  std::optional<std::size_t> index_;
};

record::Status status_from(const Reader& run) {
  const std::string text = run.text("status");
  using enum record::Status;
  for (const record::Status status : {reached, stopped, diverged, failed}) {
    if (record::name(status) == text) return status;
  }
  run.refuse("status", text, "reached, stopped, diverged or failed");
}

record::Evaluation evaluation_from(const Reader& json) {
  return {.step = json.integer<std::int64_t>("step"),
          .simulated_s = json.number("simulated_s"),
          .samples = json.integer<std::int64_t>("samples"),
          .loss = json.number_or_nothing("loss"),
          .metric = json.number_or_nothing("metric"),
          .consensus_distance = json.number_or_nothing("consensus_distance")};
}

record::RankUse rank_from(const Reader& json) {
  return {.role = json.text("role"),
          .compute_s = json.number("compute_s"),
          .communicate_s = json.number("communicate_s"),
          .wait_s = json.number("wait_s"),
          .down_s = json.number("down_s"),
          .bytes_sent = json.integer<std::int64_t>("bytes_sent"),
          .bytes_received = json.integer<std::int64_t>("bytes_received"),
          .host_class = json.text_or("host_class", "host"),
          .host = json.has("host") ? json.integer<std::int64_t>("host") : 0};
}

record::HostUse host_from(const Reader& json) {
  return {.host_class = json.text("host_class"),
          .busy_s = json.number("busy_s"),
          .down_s = json.number("down_s"),
          .serves = json.flag("serves"),
          .spot = json.flag("spot"),
          .price_usd_per_h = json.number_or_nothing("price_usd_per_h"),
          .idle_w = json.number_or_nothing("idle_w"),
          .busy_w = json.number_or_nothing("busy_w")};
}

Bill bill_from(const Reader& run) {
  Bill bill;
  for (const auto& [name, field] : Bill::fields()) {
    const std::string key(name);
    if (run.has(key.c_str())) bill.*field = run.number_or_nothing(key.c_str());
  }
  return bill;
}

record::LinkUse link_from(const Reader& json) {
  return {.link = json.text("link"),
          .bytes = json.integer<std::int64_t>("bytes"),
          .utilisation = json.number("utilisation"),
          .link_class = json.text_or("link_class", "link"),
          .background_bytes = json.has("background_bytes") ? std::optional(json.integer<std::int64_t>("background_bytes"))
                                                           : std::nullopt};
}

record::LinkBin bin_from(const Reader& json) {
  return {.link = json.text("link"),
          .from_s = json.number("from_s"),
          .to_s = json.number("to_s"),
          .bytes = json.number("bytes"),
          .utilisation = json.number("utilisation")};
}

template <class Item>
std::vector<Item> items_from(const Reader& json, const char* key, Item (*item_from)(const Reader&)) {
  const Json& array = json.array(key);
  std::vector<Item> items;
  items.reserve(array.size());
  for (std::size_t i = 0; i < array.size(); ++i) items.push_back(item_from(Reader(array[i], key, i)));
  return items;
}

std::vector<std::string> notes_from(const Reader& run) {
  std::vector<std::string> notes;
  for (const Json& note : run.array("notes")) {
    if (!note.is_string()) run.refuse("notes", note, "texts");
    notes.push_back(note.get<std::string>());
  }
  return notes;
}

record::Record record_from(const Reader& run) {
  return {.status = status_from(run),
          .error = run.text_or_empty("error"),
          .simulated_s = run.number("simulated_s"),
          .steps = run.integer<std::int64_t>("steps"),
          .samples = run.integer<std::int64_t>("samples"),
          .epochs = run.number("epochs"),
          .final_loss = run.number_or_nothing("final_loss"),
          .time_to_target_s = run.number_or_nothing("time_to_target_s"),
          .bytes = run.integer<std::int64_t>("bytes"),
          .messages = run.integer<std::int64_t>("messages"),
          .staleness_mean = run.number_or_nothing("staleness_mean"),
          .staleness_max = run.number_or_nothing("staleness_max"),
          .spectral_gap = run.number_or_nothing("spectral_gap"),
          .crashes = run.integer_or_nothing("crashes"),
          .lost_s = run.number_or_nothing("lost_s"),
          .recovery_s = run.number_or_nothing("recovery_s"),
          .checkpoint_s = run.number_or_nothing("checkpoint_s"),
          .goodput = run.number_or_nothing("goodput"),
          .server_imbalance = run.has("server_imbalance") ? run.number_or_nothing("server_imbalance") : std::nullopt,
          .cache_hit_rate = run.has("cache_hit_rate") ? run.number_or_nothing("cache_hit_rate") : std::nullopt,
          .metric_name = run.text_or_empty("metric_name"),
          .network_model = run.text_or_empty("network_model"),
          .notes = notes_from(run),
          .curve = items_from(run, "curve", evaluation_from),
          .ranks = items_from(run, "ranks", rank_from),
          .hosts = run.has("hosts") ? items_from(run, "hosts", host_from) : std::vector<record::HostUse>(),
          .links = items_from(run, "links", link_from),
          .link_bins = run.has("link_utilisation") ? items_from(run, "link_utilisation", bin_from)
                                                   : std::vector<record::LinkBin>(),
          .stored_bytes = run.has("stored_bytes") ? run.integer<std::int64_t>("stored_bytes") : 0};
}

Run run_from(const Reader& run) {
  return {.id = run.text("id"),
          .strategy = run.text("strategy"),
          .label = run.text("label"),
          .options = run.object("options"),
          .parameters = run.object("parameters"),
          .seed = run.integer<std::uint64_t>("seed"),
          .workers = run.integer<std::int64_t>("workers"),
          .record = record_from(run),
          .speedup_throughput = run.number_or_nothing("speedup_throughput"),
          .speedup_time_to_target = run.number_or_nothing("speedup_time_to_target"),
          .efficiency = run.number_or_nothing("efficiency"),
          .interference = run.has("interference") ? run.number_or_nothing("interference") : std::nullopt,
          .bill = bill_from(run),
          .wall_s = run.number("wall_s")};
}

/// A run a line: two files can be compared line by line, and a run is found with grep.
std::string lines_of(const std::vector<Run>& runs) {
  std::string text;
  for (const Run& run : runs) text += (text.empty() ? "\n    " : ",\n    ") + compact(to_json(run));
  return runs.empty() ? "[]" : "[" + text + "\n  ]";
}

}  // namespace

Json to_json(const Run& run) {
  Json json = summary(run);
  if (run.interference) json["interference"] = number_or_null(run.interference);
  for (const auto& [name, value] : fields_of_some(run))
    if (value) json[name] = number_or_null(value);
  Json& curve = json["curve"] = Json::array();
  for (const auto& evaluation : run.record.curve) curve.push_back(json_of(evaluation));
  Json& ranks = json["ranks"] = Json::array();
  for (std::size_t r = 0; r < run.record.ranks.size(); ++r) ranks.push_back(json_of(run.record.ranks[r], r));
  Json& hosts = json["hosts"] = Json::array();
  for (const auto& host : run.record.hosts) hosts.push_back(json_of(host));
  json["stored_bytes"] = run.record.stored_bytes;
  Json& links = json["links"] = Json::array();
  for (const auto& link : run.record.links) links.push_back(json_of(link));
  if (!run.record.link_bins.empty()) {
    Json& bins = json["link_utilisation"] = Json::array();
    for (const auto& bin : run.record.link_bins) bins.push_back(json_of(bin));
  }
  return json;
}

Run run_from_json(const Json& json) { return run_from(Reader(json, "run")); }

Results results_from_json(const Json& json) {
  const Reader results(json, "results");
  if (results.integer<int>("schema") != schema) results.refuse("schema", results.at("schema"), "1");
  return {.name = results.text("name"),
          .title = results.text("title"),
          .version = results.text("version"),
          .complete = results.flag("complete"),
          .scenario = results.object("scenario"),
          .runs = items_from(results, "runs", run_from),
          .baselines = items_from(results, "baselines", run_from)};
}

Json parse_json(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::exception& fault) {
    throw base::EnvironmentError(fmt::format("not JSON, or cut short: {}", fault.what()));
  }
}

std::string results_json(const Results& results) {
  const Json scenario = results.scenario.is_null() ? Json::object() : results.scenario;
  std::string text = "{\n";
  text += fmt::format("  \"schema\": {},\n", schema);
  text += fmt::format("  \"version\": {},\n", compact(results.version));
  text += fmt::format("  \"name\": {},\n", compact(results.name));
  text += fmt::format("  \"title\": {},\n", compact(results.title));
  text += fmt::format("  \"complete\": {},\n", results.complete);
  text += fmt::format("  \"scenario\": {},\n", compact(scenario));
  text += fmt::format("  \"runs\": {},\n", lines_of(results.runs));
  text += fmt::format("  \"baselines\": {}\n}}\n", lines_of(results.baselines));
  return text;
}

}  // namespace simgrad::outputs
