#include "outputs/report/charts/time.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "outputs/report/data/phrases.h"
#include "outputs/report/sentences/explanation.h"

namespace simgrad::outputs::report {
namespace {

double compute_share(const Case& one) {
  const double sum = std::accumulate(one.row.parts_s->begin(), one.row.parts_s->end(), 0.0);
  return sum > 0.0 ? (*one.row.parts_s)[0] / sum : 0.0;
}

std::string sentence(const ReportModel& model, std::vector<const Case*> cases) {
  std::ranges::stable_sort(cases, {}, [](const Case* one) { return -compute_share(*one); });
  const Case& most = *cases.front();
  const Case& least = *cases.back();
  const std::string text =
      fmt::format("{} computes for {} of its time", model.named(most), percent(compute_share(most)));
  if (cases.size() == 1) {
    const std::string rest = overhead_text(most);
    return text + (rest.empty() ? "" : ": " + rest) + ".";
  }
  if (compute_share(most) - compute_share(least) < 0.005) return text + ", and every other case nearly as much.";
  const std::string rest = overhead_text(least);
  return text + fmt::format(", the largest share, and {} for {}, the smallest{}.", model.named(least),
                            percent(compute_share(least)), rest.empty() ? "" : ": " + rest);
}

RankTimes ranks_of(const Case& one, std::size_t most) {
  RankTimes times{.strategy = one.strategy, .point = one.point, .names = {}, .parts = {}};
  std::size_t workers = 0;
  std::size_t servers = 0;
  for (const record::RankUse& rank : one.runs.front()->record.ranks) {
    if (times.names.size() == most) break;
    const bool works = rank.role == "worker";
    times.names.push_back(works ? fmt::format("rank {}", workers++) : fmt::format("{} {}", rank.role, servers++));
    times.parts.push_back({rank.compute_s, rank.communicate_s, rank.wait_s, rank.down_s});
  }
  return times;
}

Table table(const ReportModel& model, const std::vector<const Case*>& cases) {
  Table table;
  table.columns = {{"strategy"}, {"parameters"}, {"compute", "s"}, {"communicate", "s"}, {"wait", "s"}, {"down", "s"}};
  for (const Case* one : cases) {
    const Parts& parts = *one->row.parts_s;
    table.rows.push_back({model.label(*one), model.text(*one), parts[0], parts[1], parts[2], parts[3]});
  }
  return table;
}

}  // namespace

std::optional<Time> time(const ReportModel& model) {
  std::vector<const Case*> cases = model.ran();
  std::erase_if(cases, [](const Case* one) { return !one->row.parts_s; });
  if (cases.empty()) return std::nullopt;
  Time chart;
  chart.sentence = sentence(model, cases);
  chart.table = table(model, cases);
  const std::size_t most = std::max<std::size_t>(8, most_ranks_in_all / cases.size());
  for (const Case* one : cases) {
    chart.rows.push_back({one->strategy, one->point, *one->row.parts_s});
    chart.ranks.push_back(ranks_of(*one, most));
    const std::size_t all = one->runs.front()->record.ranks.size();
    if (all > most && chart.sentence.find("are shown") == std::string::npos)
      chart.sentence += fmt::format(" The first {} of {} ranks are shown.", most, all);
  }
  return chart;
}

namespace {

void write_parts(Writer& writer, const Parts& parts) {
  writer.begin_array();
  for (const double part : parts) writer.value(part);
  writer.end_array();
}

}  // namespace

void write(Writer& writer, const Time& time) {
  writer.begin_object();
  write_chart(writer, time);
  write_objects(writer, "rows", time.rows, [&](const TimeRow& row) {
    writer.member("strategy", row.strategy);
    writer.member("point", row.point);
    writer.key("parts");
    write_parts(writer, row.parts);
  });
  write_objects(writer, "ranks", time.ranks, [&](const RankTimes& ranks) {
    writer.member("strategy", ranks.strategy);
    writer.member("point", ranks.point);
    writer.member("names", ranks.names);
    writer.key("parts");
    writer.begin_array();
    for (const Parts& parts : ranks.parts) write_parts(writer, parts);
    writer.end_array();
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
