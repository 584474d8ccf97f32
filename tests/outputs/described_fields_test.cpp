// Every field that is described is written, read back, tabulated, and a metric if it is a number.
#include <algorithm>
#include <map>
#include <set>

#include "base/errors.h"
#include "catch.h"
#include "outputs/describe_run.h"
#include "outputs/fields.h"
#include "outputs/run_text.h"
#include "outputs/sample.h"

namespace described_fields_test {

using namespace simgrad;
using namespace simgrad::outputs;
using record::Presence;

namespace {

/// Gives every described field a value of its own, and every list two items.
class Filler {
 public:
  std::vector<std::string> names;            ///< names of all fields
  std::vector<std::string> columns;          ///< names of the fields in a CSV file
  std::map<std::string, double> numbers;     ///< numbers that are read back, by name
  std::map<std::string, std::size_t> lists;  ///< how many fields the items of a list have

  void index(std::string_view name) { add(name, true); }
  void metric(std::string_view name, std::optional<double>& field) {
    field = next();
    add(name, false);  // its column has the metric's own name
  }
  void computed(std::string_view name, const std::optional<double>& /*field*/) { add(name, true); }
  void grid_point(std::string_view name, Json& field) {
    field = {{"cluster.workers", 2}};
    add(name, false);
  }
  void text_or_null(std::string_view name, std::string& field) { value(name, field); }
  void counts(std::string_view name, std::map<std::int64_t, std::int64_t>& field) {
    field = {{1, 2}, {3, 4}};
    add(name, false);
  }
  template <class T>
  void value(std::string_view name, T& field, Presence presence = Presence::always) {
    set(name, field);
    add(name, presence != Presence::detail);
  }
  template <class Item>
  void items(std::string_view name, std::vector<Item>& all, Presence /*presence*/) {
    all.resize(2);
    Filler item;
    item.last_ = last_;
    for (Item& each : all) {
      item.names.clear();
      describe(each, item);
    }
    last_ = item.last_;
    lists[std::string(name)] = item.names.size();
    add(name, false);
  }

 private:
  double next() { return last_ += 1.0; }

  void set(std::string_view name, std::string& field) { field = std::string(name) + " " + std::to_string(next()); }
  void set(std::string_view /*name*/, bool& field) { field = true; }
  void set(std::string_view /*name*/, Json& field) { field = {{"option", next()}}; }
  void set(std::string_view name, std::optional<Json>& field) { set(name, field.emplace()); }
  void set(std::string_view /*name*/, record::Status& field) { field = record::Status::failed; }
  void set(std::string_view name, std::vector<std::string>& field) { field = {std::string(name), "another"}; }
  template <class Number>
  void set(std::string_view name, Number& field) {
    field = static_cast<std::int64_t>(next());
    numbers[std::string(name)] = last_;
  }

  void add(std::string_view name, bool column) {
    names.emplace_back(name);
    if (column) columns.emplace_back(name);
  }

  double last_ = 1000.0;
};

struct Filled {
  Run run;
  Filler fields;
  Filled() { describe(run, fields); }
};

std::vector<std::string> header(const std::string& csv) {
  std::vector<std::string> names;
  const std::string line = csv.substr(0, csv.find('\n'));
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t end = std::min(line.find(',', from), line.size());
    names.push_back(line.substr(from, end - from));
    from = end + 1;
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

TEST_CASE("every described field of a run is in its JSON, once and in the order of the description") {
  const Filled filled;
  std::vector<std::string> written;
  const Json json = to_json(filled.run);
  for (const auto& [name, value] : json.items()) written.push_back(name);
  CHECK(written == filled.fields.names);
  CHECK(std::set<std::string>(written.begin(), written.end()).size() == written.size());
  for (const auto& [name, fields] : filled.fields.lists) {
    INFO(name);
    REQUIRE(json.at(name).size() == 2);
    CHECK(json.at(name)[1].size() == fields);
  }
}

TEST_CASE("every described field is read back as it was written") {
  const Filled filled;
  const Json json = to_json(filled.run);
  CHECK(to_json(run_from_json(json)) == json);
  for (const auto& [name, number] : filled.fields.numbers) {
    INFO(name);
    CHECK(json.at(name) == number);
    CHECK(field(run_from_json(json), name) == number);
  }
}

TEST_CASE("every described field is read back from the text without a tree, too") {
  const Filled filled;
  const std::string text = compact(to_json(filled.run));
  const auto read = run_from_text(text);
  REQUIRE(read);
  CHECK(compact(to_json(*read)) == text);
}

TEST_CASE("every described number is a metric") {
  const Filled filled;
  for (const auto& [name, number] : filled.fields.numbers) {
    INFO(name);
    CHECK(contains(numeric_fields(), name));
    CHECK(field(filled.run, name) == number);
  }
}

TEST_CASE("every described field that is no list has its column in runs.csv, in order") {
  Results results;
  results.runs.push_back(Filled().run);
  std::vector<std::string> expected = Filled().fields.columns;
  expected.insert(std::ranges::find(expected, "seed"), "param.cluster.workers");
  CHECK(header(runs_csv(results)) == expected);
}

TEST_CASE("a member that older releases did not write may be missing, and no other") {
  const Filled filled;
  std::set<std::string> optional;
  for (const std::string& name : filled.fields.names) {
    Json json = to_json(filled.run);
    json.erase(name);
    try {
      run_from_json(json);
      optional.insert(name);
    } catch (const base::EnvironmentError& error) {
      CHECK(std::string(error.what()) == "run: \"" + name + "\" is missing");
    }
  }
  // Computed fields are never read.
  std::set<std::string> expected{"compute_s",
                                 "communicate_s",
                                 "wait_s",
                                 "down_s",
                                 "final_metric",
                                 "consensus_distance",
                                 "bytes_to_target",
                                 "interference",
                                 "staleness_counts",
                                 "hosts",
                                 "stored_bytes",
                                 "server_imbalance",
                                 "sources",
                                 "cache_hit_rate",
                                 "wires",
                                 "collectives",
                                 "link_utilisation",
                                 "samples_seen",
                                 "diverged_step",
                                 "memory_bytes_max",
                                 "dropped_share",
                                 "expert_imbalance",
                                 "loss_floor",
                                 "predicted_step_s",
                                 "prediction_error",
                                 "parallel",
                                 "bubble_s",
                                 "bubble_share",
                                 "dimensions",
                                 "synchronised_share",
                                 "bytes_saved",
                                 "blocks",
                                 "gradient_products_s",
                                 "gradient_attention_s",
                                 "gradient_elementwise_s",
                                 "tokens",
                                 "samples_per_s",
                                 "samples_per_s_per_device",
                                 "tokens_per_s",
                                 "tokens_per_s_per_device",
                                 "mfu",
                                 "hfu",
                                 "days_per_trillion_tokens",
                                 "dollars_per_trillion_tokens",
                                 "kwh_per_trillion_tokens"};
  for (const char* name : {"requests",
                           "requests_per_s",
                           "output_tokens",
                           "prompt_tokens",
                           "output_tokens_per_s",
                           "ttft_s_mean",
                           "ttft_s_median",
                           "ttft_s_p95",
                           "ttft_s_p99",
                           "tpot_s_mean",
                           "tpot_s_median",
                           "tpot_s_p95",
                           "tpot_s_p99",
                           "latency_s_mean",
                           "latency_s_median",
                           "latency_s_p95",
                           "latency_s_p99",
                           "queue_s_mean",
                           "queue_s_median",
                           "queue_s_p95",
                           "queue_s_p99",
                           "device_utilisation",
                           "memory_bound_share",
                           "iterations",
                           "batch_mean",
                           "cache_share_max",
                           "cache_bytes_max",
                           "capacity_requests_per_s",
                           "within_limits",
                           "dollars_per_million_tokens",
                           "joules_per_token",
                           "served_requests"})
    expected.insert(name);
  for (const auto& [name, member] : Bill::fields()) expected.insert(std::string(name));
  for (std::size_t k = 0; k + 1 < record::time_parts; ++k)
    expected.insert(std::string(record::field_name(static_cast<record::TimePart>(k))));
  CHECK(optional == expected);
}

}  // namespace described_fields_test
