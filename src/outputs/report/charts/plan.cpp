#include "outputs/report/charts/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/errors.h"
#include "outputs/reader.h"
#include "outputs/report/charts/chart.h"
#include "outputs/summary.h"
#include "outputs/text/language.h"
#include "outputs/text/recognised.h"

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
    for (const auto& [name, value] : Reader(candidates[c], "candidates", c).object("parameters").items()) {
      const auto k = static_cast<std::size_t>(names.place(name));
      if (k == keys.size()) keys.push_back({name, {}, std::vector<std::int64_t>(candidates.size(), -1)});
      keys[k].places[c] = keys[k].values.place(value.is_string() ? value.get<std::string>() : compact(value));
    }
  return keys;
}

/// The numbers of the candidates in a list of that name.
std::vector<std::int64_t> numbers_of(const Json& list, const char* name) {
  std::vector<std::int64_t> numbers;
  for (std::size_t k = 0; k < list.size(); ++k)
    numbers.push_back(Reader(list[k], name, k).integer<std::int64_t>("candidate"));
  return numbers;
}

void write_texts(Writer& writer, const Json& candidates, const char* name) {
  Texts texts;
  std::vector<std::int64_t> places;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    places.push_back(texts.place(Reader(candidates[c], "candidates", c).text(name)));
  writer.key(name);
  writer.begin_object();
  writer.member("texts", texts.all());
  writer.member("places", places);
  writer.end_object();
}

void write_expected(Writer& writer, const Json& candidates, const char* name) {
  writer.key(name);
  writer.begin_array();
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const Json& expected = Reader(candidates[c], "candidates", c).at("expected");
    const auto number = expected.is_null() ? std::nullopt : Reader(expected, "expected").number_or_nothing(name);
    if (number)
      writer.rounded(*number);
    else
      writer.null();
  }
  writer.end_array();
}

void write_candidates(Writer& writer, const Json& candidates) {
  writer.key("candidates");
  writer.begin_object();
  writer.member("number", numbers_of(candidates, "candidates"));
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

/// The first clause of a fault, without its numbers.
std::string first_clause(const std::string& fault) {
  std::string text;
  for (const char c : fault.substr(0, std::min(fault.find("; "), fault.find("；"))))
    if (c < '0' || c > '9')
      text += c;
    else if (!text.ends_with('N'))
      text += 'N';
  return text;
}

/// The reason for which candidates are refused, in the language of the process. The planner takes most of them from a
/// fault, which the catalogue knows as a whole.
std::string shown_reason(const std::string& reason, const std::string& fault) {
  const bool of_fault = language() != Language::english && reason == first_clause(fault);
  return of_fault ? first_clause(translated(fault)) : translated(reason);
}

/// The texts in a list of that name.
std::vector<std::string> texts_of(const Reader& reader, const char* name) {
  std::vector<std::string> texts;
  for (const Json& each : reader.array(name)) {
    if (!each.is_string()) reader.refuse(name, each, "only texts");
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

void write_refused(Writer& writer, const Json& refused) {
  const Reader reader(refused, "refused"), nearest(reader.at("nearest"), "nearest");
  const std::string fault = nearest.text("fault");
  writer.member("reason", shown_reason(reader.text("reason"), fault));
  writer.member("count", reader.integer<std::int64_t>("count"));
  writer.member("text", nearest.text("text"));
  writer.member("fault", translated(fault));
  writer.member("excess", nearest.number("excess"));
}

void write_plan(Writer& writer, const Json& json) {
  const Reader plan(json, "plan"), texts(plan.at("texts"), "texts");
  writer.begin_object();
  for (const char* name : {"sentence", "objective"}) writer.member(name, plan.text(name));
  writer.member("tie", texts.text("tie"));
  // Plans of earlier versions have no sentences about failures.
  const auto with = [&](const char* name, const char* further) {
    const std::string more = texts.text_or(further, "");
    return texts.text(name) + (more.empty() ? "" : between_sentences()) + more;
  };
  writer.member("decided", with("decided", "failures"));
  writer.member("effort", with("effort", "left_out"));
  for (const char* name : {"limits", "turns"}) writer.member(name, texts_of(texts, name));
  const Json& winner = plan.at("winner");
  writer.member("winner", winner.is_null()
                              ? std::nullopt
                              : std::optional(Reader(winner, "winner").integer<std::int64_t>("candidate")));
  for (const char* name : {"ties", "front"}) writer.member(name, numbers_of(plan.array(name), name));
  write_objects(writer, "bounds", plan.array("limits"), [&](const Json& limit) {
    const Reader reader(limit, "limits");
    writer.member("limit", reader.text("limit"));
    writer.member("at_most", reader.number("at_most"));
  });
  write_objects(writer, "refused", plan.array("refused"), [&](const Json& refused) { write_refused(writer, refused); });
  write_candidates(writer, plan.array("candidates"));
  writer.end_object();
}

}  // namespace

std::string plan_data(const Json& plan) {
  Writer writer;
  try {
    write_plan(writer, plan);
  } catch (const base::EnvironmentError& fault) {
    throw base::EnvironmentError(fmt::format("this is not the answer of simgrad plan: {}", fault.what()));
  }
  return writer.take();
}

}  // namespace simgrad::outputs::report
