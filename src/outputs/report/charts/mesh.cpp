#include "outputs/report/charts/mesh.h"

#include <algorithm>
#include <array>
#include <map>

#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "record/time_part.h"

namespace simgrad::outputs::report {
namespace {

using record::TimePart;

struct CauseStyle {
  std::string_view name;
  TimePart colour;  ///< the part of time whose colour the cause has
};

constexpr std::array<CauseStyle, mesh_causes> styles{
    CauseStyle{translatable("forward and backward passes"), TimePart::compute_gradient},
    CauseStyle{translatable("collectives of tensor ranks"), TimePart::communicate_input},
    CauseStyle{translatable("collectives of context ranks"), TimePart::communicate_storage},
    CauseStyle{translatable("exchanges of expert ranks"), TimePart::communicate_checkpoint},
    CauseStyle{translatable("transfers between stages"), TimePart::communicate_transfer},
    CauseStyle{translatable("waiting for another stage (the bubble)"), TimePart::wait_gradient},
    CauseStyle{translatable("communication among replicas that no pass hides"), TimePart::wait_server},
    CauseStyle{translatable("updates"), TimePart::compute_update},
    CauseStyle{translatable("idle at the end, and other"), TimePart::wait_other}};

const CauseStyle& style_of(MeshCause cause) { return styles[static_cast<std::size_t>(cause)]; }

/// The time of a rank by cause.
std::vector<double> seconds(const record::RankUse& rank) {
  std::vector<double> by(mesh_causes);
  const auto set = [&](MeshCause cause, double s) { by[static_cast<std::size_t>(cause)] = s; };
  const double all = rank.compute_s + rank.communicate_s + rank.wait_s + rank.down_s;
  set(MeshCause::passes, rank.parts[TimePart::compute_gradient]);
  set(MeshCause::tensor, rank.mesh.tensor_s.value_or(0.0));
  set(MeshCause::context, rank.mesh.context_s.value_or(0.0));
  set(MeshCause::expert, rank.mesh.expert_s.value_or(0.0));
  set(MeshCause::hops, rank.mesh.hop_s.value_or(0.0));
  set(MeshCause::bubble, rank.mesh.bubble_s.value_or(0.0));
  set(MeshCause::data, rank.mesh.data_s.value_or(0.0));
  set(MeshCause::update, rank.parts[TimePart::compute_update]);
  double rest = all;
  for (const double known : by) rest -= known;
  set(MeshCause::rest, rest > 1e-9 * all ? rest : 0.0);
  return by;
}

/// The runs of a case that have a cut model, and have made a step.
std::vector<const Run*> cut_runs(const Case& one) {
  std::vector<const Run*> runs = one.runs;
  std::erase_if(runs, [](const Run* run) {
    return run->record.steps < 1 || run->record.ranks.empty() || !run->record.ranks.front().mesh.pipeline;
  });
  return runs;
}

std::vector<StageTimes> stages_of(const std::vector<const Run*>& runs) {
  std::map<std::int64_t, StageTimes> stages;
  std::map<std::int64_t, double> ranks;
  for (const Run* run : runs)
    for (const record::RankUse& rank : run->record.ranks) {
      StageTimes& stage = stages[rank.mesh.pipeline.value_or(0)];
      stage.stage = rank.mesh.pipeline.value_or(0);
      stage.step_s.resize(mesh_causes);
      const std::vector<double> rank_seconds = seconds(rank);
      for (std::size_t k = 0; k < mesh_causes; ++k)
        stage.step_s[k] += rank_seconds[k] / static_cast<double>(run->record.steps);
      if (rank.memory_bytes) stage.memory_bytes = std::max(stage.memory_bytes.value_or(0.0), *rank.memory_bytes);
      ranks[stage.stage] += 1.0;
    }
  std::vector<StageTimes> all;
  for (auto& [number, stage] : stages) {
    for (double& s : stage.step_s) s /= ranks[number];
    all.push_back(std::move(stage));
  }
  return all;
}

std::vector<record::DimensionUse> links_of(const record::Record& record) {
  std::vector<record::DimensionUse> links = record.dimensions;
  for (record::DimensionUse& use : links) use.bytes /= record.steps;
  return links;
}

/// A case with a cut model, and its shares of the time.
struct Cut {
  const Case* one = nullptr;
  std::optional<double> bubble, tensor, data;
};

/// The mean share of a rank's time; nothing where some rank has none.
std::optional<double> share_of(const Run& run, std::optional<double> record::MeshUse::*seconds) {
  double sum = 0.0;
  for (const record::RankUse& rank : run.record.ranks) {
    if (!(rank.mesh.*seconds)) return {};
    sum += *(rank.mesh.*seconds);
  }
  return sum / (static_cast<double>(run.record.ranks.size()) * run.record.simulated_s);
}

Cut cut_of(const Case& one, const std::vector<const Run*>& runs) {
  return {.one = &one,
          .bubble = mean_of(runs, [](const Run& run) { return run.record.bubble_share; }),
          .tensor = mean_of(runs, [](const Run& run) { return share_of(run, &record::MeshUse::tensor_s); }),
          .data = mean_of(runs, [](const Run& run) { return share_of(run, &record::MeshUse::data_s); })};
}

std::string sentence(const ReportModel& model, const std::vector<Cut>& cuts, const Cut& first) {
  const std::string name = model.named(*first.one);
  if (!first.bubble)
    return first.tensor ? tr("{} is in collectives of tensor ranks for {} of its time.", name, percent(*first.tensor))
                        : "";
  std::string text =
      tr("{} waits for other stages, which is the bubble, for {} of its time", name, percent(*first.bubble));
  if (first.tensor) text += tr(", and is in collectives of tensor ranks for {}", percent(*first.tensor));
  if (first.data) text += tr(", and in communication among replicas that no pass hides for {}", percent(*first.data));
  const auto least = std::ranges::min_element(cuts, {}, [](const Cut& cut) { return cut.bubble.value_or(1.0); });
  if (least->one == first.one || percent(*least->bubble) == percent(*first.bubble)) return text + tr(".");
  return text + tr("; {} waits the least, for {}.", model.named(*least->one), percent(*least->bubble));
}

Table table(const ReportModel& model, const Mesh& chart, const std::vector<Cut>& cuts) {
  Table table;
  table.columns = {{"strategy"}, {"parameters"}, {"stage"}};
  for (const MeshCause cause : chart.causes) table.columns.push_back({std::string(style_of(cause).name), "s"});
  table.columns.push_back({"peak", "B"});
  for (std::size_t i = 0; i < chart.rows.size(); ++i)
    for (const StageTimes& stage : chart.rows[i].stages) {
      table.rows.push_back({model.label(*cuts[i].one), model.text(*cuts[i].one), stage.stage});
      for (const double s : stage.step_s) table.rows.back().emplace_back(s);
      table.rows.back().emplace_back(stage.memory_bytes);
    }
  return table;
}

/// The number of the picture among the chart's, where it is added if it is new.
std::size_t place_of(Mesh& chart, MeshPicture picture) {
  const auto at = std::ranges::find(chart.pictures, picture);
  const auto place = static_cast<std::size_t>(at - chart.pictures.begin());
  if (at == chart.pictures.end()) chart.pictures.push_back(std::move(picture));
  return place;
}

/// Leaves out context and expert ranks and replicas where no mesh has any.
void leave_out_unused(Mesh& chart) {
  for (std::size_t k = mesh_causes; k-- > 0;) {
    const auto cause = static_cast<MeshCause>(k);
    const bool used = std::ranges::any_of(chart.rows, [&](const MeshRow& row) {
      return std::ranges::any_of(row.stages, [&](const StageTimes& stage) { return stage.step_s[k] > 0.0; });
    });
    if (used || (cause != MeshCause::context && cause != MeshCause::expert && cause != MeshCause::data)) {
      chart.causes.insert(chart.causes.begin(), cause);
      continue;
    }
    for (MeshRow& row : chart.rows)
      for (StageTimes& stage : row.stages) stage.step_s.erase(stage.step_s.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

}  // namespace

std::optional<Mesh> mesh(const ReportModel& model) {
  Mesh chart;
  std::vector<Cut> cuts;
  for (const Case* one : model.ran()) {
    const std::vector<const Run*> runs = cut_runs(*one);
    if (runs.empty()) continue;
    cuts.push_back(cut_of(*one, runs));
    chart.rows.push_back({one->strategy, one->point, stages_of(runs), links_of(runs.front()->record),
                          place_of(chart, mesh_picture(runs.front()->record))});
  }
  if (cuts.empty()) return std::nullopt;
  leave_out_unused(chart);
  const Cut& most = *std::ranges::max_element(cuts, {}, [](const Cut& cut) { return cut.bubble.value_or(-1.0); });
  chart.sentence = sentence(model, cuts, most);
  chart.about = subject_of(*most.one);
  chart.table = table(model, chart, cuts);
  return chart;
}

void write(Writer& writer, const Mesh& mesh) {
  writer.begin_object();
  write_chart(writer, mesh);
  write_objects(writer, "causes", mesh.causes, [&](MeshCause cause) {
    const CauseStyle& style = style_of(cause);
    writer.member("name", tr(style.name));
    writer.member("part", static_cast<std::size_t>(style.colour));
    writer.member("of", static_cast<std::size_t>(record::activity_of(style.colour)));
  });
  writer.member("pictures", mesh.pictures);
  write_objects(writer, "rows", mesh.rows, [&](const MeshRow& row) {
    writer.member("strategy", row.strategy);
    writer.member("point", row.point);
    writer.member("picture", row.picture);
    write_objects(writer, "stages", row.stages, [&](const StageTimes& stage) {
      writer.member("name", tr("stage {}", stage.stage));
      writer.member("step_s", stage.step_s);
      writer.member("memory", stage.memory_bytes);
    });
    write_objects(writer, "links", row.links, [&](const record::DimensionUse& use) {
      writer.member("dimension", use.dimension);
      writer.member("link_class", use.link_class);
      writer.member("links", use.links);
      writer.member("bytes", use.bytes);
      writer.member("utilisation", use.utilisation);
      writer.member("utilisation_max", use.utilisation_max);
    });
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
