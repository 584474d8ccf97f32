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

using record::GradientPart;
using record::GradientTimes;
using record::TimePart;
using record::TimeParts;

/// Returns the seconds of a part. Gradients of which some parts are known by their kind are the rest of them.
double seconds(const TimeParts& parts, const GradientTimes& gradient, const TimeDetail& which) {
  if (which.kind) return gradient[*which.kind].value_or(0.0);
  if (which.part != TimePart::compute_gradient) return parts[which.part];
  double rest = parts[which.part];
  for (std::size_t k = 0; k < record::gradient_parts; ++k) rest -= gradient[static_cast<GradientPart>(k)].value_or(0.0);
  return rest > 1e-9 * parts[which.part] ? rest : 0.0;
}

/// Returns all parts, those of gradients by kind first.
std::vector<TimeDetail> every_detail() {
  std::vector<TimeDetail> all;
  for (std::size_t k = 0; k < record::gradient_parts; ++k)
    all.push_back({TimePart::compute_gradient, static_cast<GradientPart>(k)});
  for (std::size_t k = 0; k < record::time_parts; ++k) all.push_back({static_cast<TimePart>(k)});
  return all;
}

/// The parts that occur in any rank of any case; none if a run has no parts.
std::vector<TimeDetail> occurring(const std::vector<const Case*>& cases) {
  const std::vector<TimeDetail> all = every_detail();
  std::vector<bool> occurs(all.size());
  for (const Case* one : cases) {
    if (!parts_of(*one)) return {};
    for (const Run* run : one->runs)
      for (const record::RankUse& rank : run->record.ranks)
        for (std::size_t k = 0; k < all.size(); ++k)
          occurs[k] = occurs[k] || seconds(rank.parts, rank.gradient, all[k]) > 0.0;
  }
  std::vector<TimeDetail> found;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (occurs[k]) found.push_back(all[k]);
  return found;
}

std::vector<double> picked(const TimeParts& parts, const GradientTimes& gradient,
                           const std::vector<TimeDetail>& which) {
  std::vector<double> picked;
  for (const TimeDetail& part : which) picked.push_back(seconds(parts, gradient, part));
  return picked;
}

std::vector<double> picked(const Case& one, const std::vector<TimeDetail>& which) {
  return picked(parts_of(one).value_or(TimeParts{}), gradient_of(one).value_or(GradientTimes{}), which);
}

std::string_view phrase_of(const TimeDetail& detail) {
  return detail.kind ? phrase(*detail.kind) : phrase(detail.part);
}

RankTimes ranks_of(const Case& one, std::size_t most, const std::vector<TimeDetail>& detail) {
  RankTimes times{.strategy = one.strategy, .point = one.point, .names = {}, .parts = {}, .detail = {}};
  std::size_t workers = 0;
  std::size_t servers = 0;
  for (const record::RankUse& rank : one.runs.front()->record.ranks) {
    if (times.names.size() == most) break;
    const bool works = rank.role == "worker";
    times.names.push_back(works ? tr("rank {}", workers++) : tr("server {}", servers++));
    times.parts.push_back({rank.compute_s, rank.communicate_s, rank.wait_s, rank.down_s});
    times.detail.push_back(picked(rank.parts, rank.gradient, detail));
  }
  return times;
}

Table table(const ReportModel& model, const std::vector<const Case*>& cases, const std::vector<TimeDetail>& detail) {
  Table table;
  table.columns = {{"strategy"}, {"parameters"}, {"compute", "s"}, {"communicate", "s"}, {"wait", "s"}, {"down", "s"}};
  for (const TimeDetail& part : detail)
    if (part.part != TimePart::down) table.columns.push_back({std::string(phrase_of(part)), "s"});
  for (const Case* one : cases) {
    const Parts& parts = *one->row.parts_s;
    table.rows.push_back({model.label(*one), model.text(*one), parts[0], parts[1], parts[2], parts[3]});
    const std::vector<double> times = picked(*one, detail);
    for (std::size_t k = 0; k < detail.size(); ++k)
      if (detail[k].part != TimePart::down) table.rows.back().emplace_back(times[k]);
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
    chart.rows.push_back({one->strategy, one->point, *one->row.parts_s, picked(*one, chart.detail)});
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
  write_objects(writer, "detail", time.detail, [&](const TimeDetail& detail) {
    const std::size_t place = detail.kind ? record::time_parts + static_cast<std::size_t>(*detail.kind)
                                          : static_cast<std::size_t>(detail.part);
    writer.member("name", tr(phrase_of(detail)));
    writer.member("part", place);
    writer.member("of", static_cast<std::size_t>(record::activity_of(detail.part)));
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
