/// results.json and the record of one run, read back.
#include <cstdint>
#include <map>

#include "outputs/reader.h"

namespace simgrad::outputs {
namespace {

using Json = nlohmann::ordered_json;

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
          .background_bytes = json.has("background_bytes")
                                  ? std::optional(json.integer<std::int64_t>("background_bytes"))
                                  : std::nullopt};
}

record::Wire wire_from(const Reader& json) {
  return {.link = json.text("link"), .from = json.text("from"), .to = json.text("to")};
}

record::CollectiveUse collective_from(const Reader& json) {
  return {.name = json.text("name"),
          .members = json.integer<std::int64_t>("members"),
          .bytes = json.integer<std::int64_t>("bytes"),
          .calls = json.integer<std::int64_t>("calls"),
          .predicted_s = json.number("predicted_s"),
          .simulated_s = json.number("simulated_s"),
          .skew_s = json.number("skew_s")};
}

record::LinkBin bin_from(const Reader& json) {
  return {.link = json.text("link"),
          .from_s = json.number("from_s"),
          .to_s = json.number("to_s"),
          .bytes = json.number("bytes"),
          .utilisation = json.number("utilisation")};
}

template <class Item>
std::vector<Item> items_if_any(const Reader& json, const char* key, Item (*item_from)(const Reader&)) {
  return json.has(key) ? items_from(json, key, item_from) : std::vector<Item>();
}

std::map<std::int64_t, std::int64_t> counts_from(const Reader& run) {
  std::map<std::int64_t, std::int64_t> counts;
  if (!run.has("staleness_counts")) return counts;
  for (const Json& pair : run.array("staleness_counts")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number_integer())
      run.refuse("staleness_counts", pair, "pairs of a staleness and a number of gradients");
    counts[pair[0].get<std::int64_t>()] = pair[1].get<std::int64_t>();
  }
  return counts;
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
          .staleness_counts = counts_from(run),
          .metric_name = run.text_or_empty("metric_name"),
          .network_model = run.text_or_empty("network_model"),
          .notes = notes_from(run),
          .curve = items_from(run, "curve", evaluation_from),
          .ranks = items_from(run, "ranks", rank_from),
          .hosts = items_if_any(run, "hosts", host_from),
          .links = items_from(run, "links", link_from),
          .link_bins = items_if_any(run, "link_utilisation", bin_from),
          .wires = items_if_any(run, "wires", wire_from),
          .collectives = items_if_any(run, "collectives", collective_from),
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

}  // namespace

Run run_from_json(const Json& json) { return run_from(Reader(json, "run")); }

Results results_from_json(const Json& json) {
  const Reader results(json, "results");
  if (results.integer<int>("schema") != schema) results.refuse("schema", results.at("schema"), "1");
  return {.name = results.text("name"),
          .title = results.text("title"),
          .version = results.text("version"),
          .complete = results.flag("complete"),
          .command = results.text_or("command", ""),
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

}  // namespace simgrad::outputs
