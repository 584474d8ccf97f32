#include "outputs/report/charts/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "outputs/report/data/phrases.h"
#include "outputs/report/data/time_phrases.h"
#include "outputs/report/sentences/explanation.h"
#include "outputs/summary.h"
#include "outputs/text/language.h"

namespace simgrad::outputs::report {
namespace {

double compute_share(const Case& one) {
  const double sum = std::accumulate(one.row.parts_s->begin(), one.row.parts_s->end(), 0.0);
  return sum > 0.0 ? (*one.row.parts_s)[0] / sum : 0.0;
}

/// Returns the cases of which the sentence may speak, the one that computes for the largest share first.
std::vector<const Case*> by_computing(std::vector<const Case*> cases) {
  // Cases that diverged are no examples, unless there are no others.
  const auto is_sound = [](const Case* one) { return one->row.sound(); };
  if (std::ranges::any_of(cases, is_sound)) std::erase_if(cases, std::not_fn(is_sound));
  std::ranges::stable_sort(cases, {}, [](const Case* one) { return -compute_share(*one); });
  return cases;
}

/// Sets the sentence and the cases that it is about.
void tell(Time& chart, const ReportModel& model, const std::vector<const Case*>& cases) {
  const Case& most = *cases.front();
  const Case& least = *cases.back();
  std::string& text = chart.sentence;
  text = tr("{} computes for {} of its time", model.named(most), percent(compute_share(most)));
  chart.about = subject_of(least);
  if (cases.size() == 1) {
    const std::string rest = overhead_text(most);
    text += (rest.empty() ? "" : tr(": ") + rest) + tr(".");
    return;
  }
  if (compute_share(most) - compute_share(least) < 0.005) {
    text += tr(", and every other case nearly as much.");
    chart.about = subject_of(most);
    return;
  }
  if (most.point != least.point) chart.other = subject_of(most);
  const std::string rest = overhead_text(least);
  text += tr(", the largest share, and {} for {}, the smallest{}.", model.named(least), percent(compute_share(least)),
             rest.empty() ? "" : tr(": ") + rest);
}

using record::TimePart;
using record::TimeParts;

/// The parts that occur in any rank of any case; none if a run has no parts.
std::vector<TimePart> occurring(const std::vector<const Case*>& cases) {
  std::array<bool, record::time_parts> occurs{};
  for (const Case* one : cases) {
    if (!parts_of(*one)) return {};
    for (const Run* run : one->runs)
      for (const record::RankUse& rank : run->record.ranks)
        for (std::size_t k = 0; k < record::time_parts; ++k)
          occurs[k] = occurs[k] || rank.parts[static_cast<TimePart>(k)] > 0.0;
  }
  std::vector<TimePart> found;
  for (std::size_t k = 0; k < record::time_parts; ++k)
    if (occurs[k]) found.push_back(static_cast<TimePart>(k));
  return found;
}

std::vector<double> picked(const TimeParts& parts, const std::vector<TimePart>& which) {
  std::vector<double> seconds;
  for (const TimePart part : which) seconds.push_back(parts[part]);
  return seconds;
}

RankTimes ranks_of(const Case& one, std::size_t most, const std::vector<TimePart>& detail) {
  RankTimes times{.strategy = one.strategy, .point = one.point, .names = {}, .parts = {}, .detail = {}};
  std::size_t workers = 0;
  std::size_t servers = 0;
  for (const record::RankUse& rank : one.runs.front()->record.ranks) {
    if (times.names.size() == most) break;
    const bool works = rank.role == "worker";
    times.names.push_back(works ? tr("rank {}", workers++) : tr("server {}", servers++));
    times.parts.push_back({rank.compute_s, rank.communicate_s, rank.wait_s, rank.down_s});
    times.detail.push_back(picked(rank.parts, detail));
  }
  return times;
}

Table table(const ReportModel& model, const std::vector<const Case*>& cases, const std::vector<TimePart>& detail) {
  Table table;
  table.columns = {{"strategy"}, {"parameters"}, {"compute", "s"}, {"communicate", "s"}, {"wait", "s"}, {"down", "s"}};
  for (const TimePart part : detail)
    if (part != TimePart::down) table.columns.push_back({std::string(phrase(part)), "s"});
  for (const Case* one : cases) {
    const Parts& parts = *one->row.parts_s;
    table.rows.push_back({model.label(*one), model.text(*one), parts[0], parts[1], parts[2], parts[3]});
    for (const TimePart part : detail)
      if (part != TimePart::down) table.rows.back().emplace_back((*parts_of(*one))[part]);
  }
  return table;
}

}  // namespace

std::optional<Time> time(const ReportModel& model) {
  std::vector<const Case*> cases = model.ran();
  std::erase_if(cases, [](const Case* one) { return !one->row.parts_s; });
  if (cases.empty()) return std::nullopt;
  Time chart;
  tell(chart, model, by_computing(cases));
  chart.detail = occurring(cases);
  chart.table = table(model, cases, chart.detail);
  const std::size_t most = std::max<std::size_t>(8, most_ranks_in_all / cases.size());
  bool cut = false;
  for (const Case* one : cases) {
    chart.rows.push_back(
        {one->strategy, one->point, *one->row.parts_s, picked(parts_of(*one).value_or(TimeParts{}), chart.detail)});
    chart.ranks.push_back(ranks_of(*one, most, chart.detail));
    const std::size_t all = one->runs.front()->record.ranks.size();
    if (all > most && !cut) chart.sentence += tr(" The first {} of {} ranks are shown.", most, all);
    cut = cut || all > most;
  }
  return chart;
}

namespace {

template <class Numbers>
void write_parts(Writer& writer, const Numbers& parts) {
  writer.begin_array();
  for (const double part : parts) writer.value(part);
  writer.end_array();
}

}  // namespace

void write(Writer& writer, const Time& time) {
  writer.begin_object();
  write_chart(writer, time);
  writer.key("other");
  write(writer, time.other);
  write_objects(writer, "detail", time.detail, [&](TimePart part) {
    writer.member("name", tr(phrase(part)));
    writer.member("part", static_cast<std::size_t>(part));
    writer.member("of", static_cast<std::size_t>(record::activity_of(part)));
  });
  write_objects(writer, "rows", time.rows, [&](const TimeRow& row) {
    writer.member("strategy", row.strategy);
    writer.member("point", row.point);
    writer.key("parts");
    write_parts(writer, row.parts);
    writer.key("detail");
    write_parts(writer, row.detail);
  });
  write_objects(writer, "ranks", time.ranks, [&](const RankTimes& ranks) {
    writer.member("strategy", ranks.strategy);
    writer.member("point", ranks.point);
    writer.member("names", ranks.names);
    writer.key("parts");
    writer.begin_array();
    for (const Parts& parts : ranks.parts) write_parts(writer, parts);
    writer.end_array();
    writer.key("detail");
    writer.begin_array();
    for (const std::vector<double>& detail : ranks.detail) write_parts(writer, detail);
    writer.end_array();
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
