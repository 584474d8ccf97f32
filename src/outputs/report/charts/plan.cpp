#include "outputs/report/charts/plan.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <vector>

#include "base/errors.h"
#include "outputs/report/charts/chart.h"
#include "outputs/summary.h"

namespace simgrad::outputs::report {
namespace {

using Json = nlohmann::ordered_json;

/// Different texts, in the order in which they come.
class Texts {
 public:
  std::int64_t place(const std::string& text) {
    const auto [at, is_new] = places_.emplace(text, static_cast<std::int64_t>(all_.size()));
    if (is_new) all_.push_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
  std::map<std::string, std::int64_t> places_;
};

struct Key {
  std::string name;
  Texts values;
  std::vector<std::int64_t> places;  ///< of each candidate's value; -1: it has none
};

/// The parameters of the candidates, a column a key.
std::vector<Key> keys_of(const Json& candidates) {
  std::vector<Key> keys;
  Texts names;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    for (const auto& [name, value] : candidates[c].at("parameters").items()) {
      const auto k = static_cast<std::size_t>(names.place(name));
      if (k == keys.size()) keys.push_back({name, {}, std::vector<std::int64_t>(candidates.size(), -1)});
      keys[k].places[c] = keys[k].values.place(value.is_string() ? value.get<std::string>() : compact(value));
    }
  return keys;
}

void write_texts(Writer& writer, const Json& candidates, const char* name) {
  Texts texts;
  std::vector<std::int64_t> places;
  for (const Json& each : candidates) places.push_back(texts.place(each.at(name).get<std::string>()));
  writer.key(name);
  writer.begin_object();
  writer.member("texts", texts.all());
  writer.member("places", places);
  writer.end_object();
}

void write_expected(Writer& writer, const Json& candidates, const char* name) {
  writer.key(name);
  writer.begin_array();
  for (const Json& each : candidates) {
    const Json& expected = each.at("expected");
    if (expected.is_null() || expected.at(name).is_null())
      writer.null();
    else
      writer.rounded(expected.at(name).get<double>());
  }
  writer.end_array();
}

void write_candidates(Writer& writer, const Json& candidates) {
  writer.key("candidates");
  writer.begin_object();
  std::vector<std::int64_t> numbers;
  for (const Json& each : candidates) numbers.push_back(each.at("candidate").get<std::int64_t>());
  writer.member("number", numbers);
  write_texts(writer, candidates, "label");
  write_texts(writer, candidates, "state");
  for (const char* name : {"time_s", "cost_usd", "energy_j"}) write_expected(writer, candidates, name);
  write_objects(writer, "keys", keys_of(candidates), [&](const Key& key) {
    writer.member("name", key.name);
    writer.member("texts", key.values.all());
    writer.member("places", key.places);
  });
  writer.end_object();
}

void write_choices(Writer& writer, const char* name, const Json& choices) {
  std::vector<std::int64_t> numbers;
  for (const Json& each : choices) numbers.push_back(each.at("candidate").get<std::int64_t>());
  writer.member(name, numbers);
}

void write_plan(Writer& writer, const Json& plan) {
  const Json& texts = plan.at("texts");
  const auto text = [](const Json& of, const char* name) { return of.at(name).get<std::string>(); };
  writer.begin_object();
  for (const char* name : {"sentence", "objective"}) writer.member(name, text(plan, name));
  for (const char* name : {"tie", "decided", "effort"}) writer.member(name, text(texts, name));
  for (const char* name : {"limits", "turns"}) writer.member(name, texts.at(name).get<std::vector<std::string>>());
  const Json& winner = plan.at("winner");
  writer.member("winner", winner.is_null() ? std::nullopt : std::optional(winner.at("candidate").get<std::int64_t>()));
  write_choices(writer, "ties", plan.at("ties"));
  write_choices(writer, "front", plan.at("front"));
  write_objects(writer, "bounds", plan.at("limits"), [&](const Json& limit) {
    writer.member("limit", text(limit, "limit"));
    writer.member("at_most", limit.at("at_most").get<double>());
  });
  write_objects(writer, "refused", plan.at("refused"), [&](const Json& refused) {
    const Json& nearest = refused.at("nearest");
    writer.member("reason", text(refused, "reason"));
    writer.member("count", refused.at("count").get<std::int64_t>());
    for (const char* name : {"text", "fault"}) writer.member(name, text(nearest, name));
    writer.member("excess", nearest.at("excess").get<double>());
  });
  write_candidates(writer, plan.at("candidates"));
  writer.end_object();
}

}  // namespace

std::string plan_data(const Json& plan) {
  Writer writer;
  try {
    write_plan(writer, plan);
  } catch (const Json::exception& fault) {
    throw base::EnvironmentError(fmt::format("this is not the answer of simgrad plan: {}", fault.what()));
  }
  return writer.take();
}

}  // namespace simgrad::outputs::report
