#include "experiment/plan/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "experiment/plan/algorithm_options.h"
#include "experiment/plan/job_training.h"
#include "experiment/plan/later_options.h"
#include "experiment/plan/places.h"
#include "experiment/plan/points.h"
#include "experiment/plan/serving_section.h"
#include "outputs/results.h"
#include "strategies/single.h"

namespace simgrad::experiment {

using nlohmann::ordered_json;
using scenario::Document;

namespace {

std::string object_text(const Members& members) {
  std::string text = "{";
  for (const auto& [key, value] : members)
    text.append(text.size() == 1 ? "\"" : ",\"").append(key).append("\":").append(value);
  return text + "}";
}

/// Half of the hash is plenty for the runs of one experiment, and short enough for file names.
std::string name_of(const std::string& identity) { return base::hash(identity).substr(0, 16); }

/// The identity without prices, which do not change the simulation.
Members without_prices(Members members) {
  std::erase_if(members, [](const auto& member) { return member.first == option_key("prices"); });
  return members;
}

/// The data as the run sees them: a file counts by its contents, wherever it is.
void identify_data(ordered_json& data, const Settings& settings) {
  for (const char* key : {"path", "labels_path"}) data.erase(option_key(std::string("data.") + key).substr(5));
  data["contents"] = settings.data_contents;
  data["task"] = data::name(settings.task());
  data["bias"] = settings.model.model->constant_feature();
  if (settings.model.model->takes_sparse_rows()) data["sparse"] = true;
  data["shuffled"] = shuffles_rows(settings);
  data["seed"] = nullptr;
}

/// A file of layers counts by its contents, wherever it is. A shape that a file gave is written out beside its name.
void identify_file(ordered_json& model, const models::Model& of) {
  if (!model.is_object()) return;
  for (const char* key : {"path", "config"}) model.erase(key);
  if (const std::vector<std::string> files = of.files(); !files.empty()) model["contents"] = contents_of(files);
}

/// The trace and the model count by their contents, wherever they are.
void identify_requests(ordered_json& serving, const Settings& settings) {
  if (!settings.serving.trace.empty()) serving["trace"] = settings.requests_contents;
  serving.erase("model");
  if (!settings.serving.model.empty()) serving["model"] = settings.served_contents;
}

void identify_model(ordered_json& model, const Settings& settings) {
  identify_file(model, *settings.model.model);
  identify_file(model["timed_as"], *settings.model.timed_as);
}

void identify_cluster(ordered_json& cluster, const Settings& settings) {
  cluster["platform"] = settings.platform_contents;
  if (!settings.cluster.stragglers->files().empty()) cluster["stragglers"]["file"] = settings.trace_contents;
  if (!settings.measured_contents.empty()) cluster["collectives"]["measured"] = settings.measured_contents;
  if (!settings.failure_contents.empty()) cluster["failures"]["hosts"]["path"] = settings.failure_contents;
}

/// The devices of the cluster and of its classes of hosts.
void leave_out_later_options_of_devices(ordered_json& cluster) {
  if (!cluster.is_object()) return;
  if (cluster.contains("device")) leave_out_later_options(cluster["device"], "device");
  if (!cluster.contains("hosts")) return;
  for (ordered_json& hosts : cluster["hosts"])
    if (hosts.contains("device")) leave_out_later_options(hosts["device"], "device");
}

/// The sections as an identity has them. `known` are null.
Members sections_of(const Settings& settings, std::vector<std::string> known) {
  for (const char* key : {"strategy", "expect", "plan", "capacity"})
    known.push_back(option_key(key));  // no part of the identity
  ordered_json all = scenario::echo(settings, {}, known);
  for (const char* key : {"title", "strategy", "seed", "save_model", "expect", "plan", "capacity"}) leave_out(all, key);
  for (ordered_json& job : all["job"])  // the settings of each job have them resolved
    for (const std::string& table : own_tables()) job.erase(table);
  if (!all["cluster"].is_null()) identify_cluster(all["cluster"], settings);
  if (!all["data"].is_null()) identify_data(all["data"], settings);
  if (!all["model"].is_null()) identify_model(all["model"], settings);
  if (settings.serving.any())
    identify_requests(all["serving"], settings);
  else
    leave_out(all, "serving");
  if (all.contains("serving")) leave_out_later_options_of_algorithms(all["serving"]);
  if (!settings.parallel.cuts()) all.erase("parallel");
  if (all["training"].is_object()) all["training"].erase("memory");  // decides whether there is a run, not what it is
  // The layout that was found is there.
  if (all.contains("parallel") && !all["parallel"].is_null()) all["parallel"].erase("automatic");
  leave_out_later_options_of_devices(all["cluster"]);
  if (all["cluster"].is_object()) leave_out_later_options(all["cluster"]["failures"], "failures");
  for (const char* table : {"cluster", "parallel", "model", "training", "serving"})
    if (all.contains(table)) leave_out_later_options(all[table], table);
  Members members;
  for (const auto& [key, value] : all.items()) members.emplace_back(key, value.is_null() ? "" : value.dump());
  return members;
}

/// Fills the texts that are empty with those of others.
void fill_from(Members& members, const Members& others) {
  for (auto& [key, text] : members)
    if (text.empty()) text = std::ranges::find(others, key, &Members::value_type::first)->second;
}

const std::string& text_of(const Members& members, std::string_view key) {
  return std::ranges::find(members, key, &Members::value_type::first)->second;
}

/// The identity of a run: its settings' sections, its strategy, and a seed that is open.
Members identity_of(const RunPlan& run, Members sections) {
  ordered_json options = run.options;
  leave_out_later_options(options, "strategy");
  leave_out_later_options_of_algorithms(options);
  for (auto& option : options)  // a file counts by its contents
    if (option.is_object() && option.contains("path"))
      option["path"] = base::hash(outputs::read_file(option["path"].get<std::string>()));
  sections.emplace_back("kind", ordered_json(run.kind).dump());
  sections.emplace_back("options", options.dump());
  sections.emplace_back("seed", "null");
  sections.emplace_back("results", std::to_string(results_number));
  return sections;
}

/// The settings of one worker without network: only the worker's speed is kept of the cluster.
std::shared_ptr<const Settings> alone(const Settings& of_run) {
  auto settings = std::make_shared<Settings>(of_run);
  const cluster::Options& cluster = of_run.cluster;
  settings->strategies.clear();  // they are for more workers
  settings->jobs.clear();
  settings->cluster = {};
  settings->cluster.workers = 1;
  settings->cluster.host_spec.speed_flops_per_s = settings->nominal_flops_per_s;
  if (cluster.device_of(0) == &*cluster.device) settings->cluster.device = cluster.device;
  for (std::string* const contents : {&settings->platform_contents, &settings->failure_contents,
                                      &settings->trace_contents, &settings->measured_contents})
    contents->clear();
  // The price is that of the first worker's host.
  if (const cluster::HostClass* first = cluster::class_of(cluster.host_classes, cluster.workers, 0)) {
    settings->cluster.host_classes = {*first};
    settings->cluster.host_classes.front().count = 1;
  }
  settings->cluster.charge_reductions = cluster.charge_reductions;
  settings->cluster.watchdog = cluster.watchdog;
  if (settings->training.batch_size_per_worker) {
    settings->training.learning_rate = settings->training.scaled_learning_rate(of_run.batch(0));
    settings->training.learning_rate_scaling = training::RateScaling::none;
    settings->training.batch_size = of_run.batch(0);  // the sum of the workers' shares
    settings->training.batch_size_per_worker.reset();
  }
  settings->training.checkpoint_every_steps = 0;
  settings->training.checkpoint_every.reset();
  return settings;
}

/// A run of the strategy with all but its seed and its names.
RunPlan unseeded(const std::shared_ptr<const Settings>& settings, std::size_t index, const ordered_json& parameters) {
  const StrategyEntry& entry = settings->strategies.at(index);
  RunPlan run;
  run.settings = settings;
  run.label = entry.name();
  run.kind = settings->serving.any() ? serving_kind : entry.strategy.kind();
  run.strategy = entry.as_run();
  run.options = scenario::echo(*entry.strategy);
  if (entry.recovery) run.options["recovery"] = name(*entry.recovery);
  run.recovery = entry.effective(settings->cluster);
  run.parameters = parameters;
  run.workers = run.strategy->workers(settings->cluster.workers);
  return run;
}

std::shared_ptr<const SeededText> data_text(const Members& sections) {
  return std::make_shared<const SeededText>(Members{{"data", text_of(sections, "data")}});
}

}  // namespace

SeededText::SeededText(const Members& members) {
  // No quote stands within a JSON string without a backslash before it, so that this is a member wherever it is found.
  constexpr std::string_view name = "\"seed\":", open = "\"seed\":null";
  std::string piece = "{";
  const auto end_piece = [&] { pieces_.push_back(std::exchange(piece, {})); };
  for (const auto& [key, value] : members) {
    piece.append(&key == &members.front().first ? "\"" : ",\"").append(key).append("\":");
    if (key == "seed") {
      end_piece();
      continue;
    }
    std::size_t from = 0;
    const bool has_seeds = key == "data" || key == "beside";
    for (auto at = has_seeds ? value.find(open) : std::string::npos; at != std::string::npos;
         at = value.find(open, from)) {
      piece.append(value, from, at + name.size() - from);
      end_piece();
      from = at + open.size();
    }
    piece.append(value, from);
  }
  piece += '}';
  end_piece();
}

std::string SeededText::with(std::uint64_t seed) const {
  const std::string number = std::to_string(seed);
  std::string text = pieces_.front();
  for (std::size_t i = 1; i < pieces_.size(); ++i) text.append(number).append(pieces_[i]);
  return text;
}

Members SectionTexts::of(const Settings& settings, const Document* document) {
  const auto shared = [&](const char* key) { return document && document_ && document->shares(*document_, key); };
  std::vector<std::string> known;
  for (const char* key : {"cluster", "model", "training", "stop", "evaluate", "prices", "job"})
    if (shared(key)) known.push_back(option_key(key));
  if (!settings.serving.any()) known.push_back(option_key("serving"));
  // A layout that is searched for may be another one on another cluster.
  if (shared("parallel") && !settings.parallel.is_searched()) known.push_back(option_key("parallel"));
  // The identity of the data tells facts about the model and the partition, too.
  if (shared("data") && shared("model") && shared("training")) known.push_back(option_key("data"));
  Members members = sections_of(settings, known);
  fill_from(members, last_);
  document_.reset();
  if (document) document_ = *document;
  last_ = members;
  return members;
}

Members SectionTexts::of_baseline(const Settings& baseline, const Settings& run, const Members& of_run) {
  const cluster::Options& cluster = baseline.cluster;
  std::string key = fmt::format("{} {} {} {} {}", cluster.host_spec.speed_flops_per_s, cluster.charge_reductions,
                                cluster.watchdog.simulated_s, cluster.watchdog.real_s, cluster.watchdog.events);
  key += fmt::format(" {} {}", cluster.device.kind(), scenario::echo(*cluster.device).dump());
  for (const cluster::HostClass& host : cluster.host_classes) key += scenario::echo(host).dump();
  std::vector<std::string> known{"data", "model", "parallel", "stop", "evaluate", "prices"};
  if (!run.serving.any()) known.emplace_back("serving");
  std::string& text = clusters_[key];
  if (!text.empty()) known.emplace_back("cluster");
  const training::Options& training = run.training;
  if (!training.batch_size_per_worker && training.checkpoint_every_steps == 0 && !training.checkpoint_every)
    known.emplace_back("training");
  Members members = sections_of(baseline, known);
  for (auto& [section, written] : members)
    if (section == "cluster") (written.empty() ? written : text) = written.empty() ? text : written;
  fill_from(members, of_run);
  return members;
}

std::string RunPlan::data_key() const { return data_key(seed); }

std::string RunPlan::data_key(std::uint64_t of_seed) const {
  return (data ? data : data_text(sections_of(*settings, {})))->with(of_seed);
}

PointPlanner::PointPlanner(std::shared_ptr<const Settings> settings, ordered_json parameters, SectionTexts* texts,
                           const Document* document)
    : settings_(std::move(settings)),
      parameters_(std::move(parameters)),
      texts_(texts ? *texts : own_texts_),
      sections_(texts_.of(*settings_, document)) {}

const PointPlanner::Pattern& PointPlanner::pattern(std::size_t index) {
  if (const auto known = patterns_.find(index); known != patterns_.end()) return known->second;
  RunPlan run = unseeded(settings_, index, parameters_);
  run.data = data_text(sections_);
  Members identity = identity_of(run, sections_);
  SeededText work(without_prices(identity));
  identity.emplace_back("label", ordered_json(run.label).dump());  // two rows are two runs, even of equal work
  // The strategy `single` does the baseline's work, unless the cluster disturbs it or the model is cut.
  const bool single =
      run.kind == strategies::Single::about.kind && settings_->cluster.undisturbed() && !settings_->parallel.cuts();
  return patterns_.emplace(index, Pattern{std::move(run), SeededText(identity), std::move(work), single}).first->second;
}

const PointPlanner::Pattern& PointPlanner::baseline_pattern(std::size_t index) {
  Pattern*& known = baseline_of_[index];
  if (known) return *known;
  RunPlan baseline;
  baseline.strategy = settings_->strategies.at(index).strategy->alone();
  baseline.options = ordered_json::object();
  if (!baseline.strategy->traits(1).optimizes) baseline.options["job"] = "k_means";
  const auto [at, end] = baselines_.equal_range(baseline.options.dump());
  if (at != end) return *(known = &at->second);
  baseline.settings = alone(*settings_);
  baseline.label = "baseline";
  baseline.kind = strategies::Single::about.kind;
  baseline.workers = 1;
  Members sections = texts_.of_baseline(*baseline.settings, *settings_, sections_);
  baseline.data = data_text(sections);
  const Members identity = identity_of(baseline, std::move(sections));
  std::string options = baseline.options.dump();
  Pattern pattern{std::move(baseline), SeededText(identity), SeededText(without_prices(identity)), false};
  return *(known = &baselines_.emplace(std::move(options), std::move(pattern)).first->second);
}

RunPlan PointPlanner::seeded(const Pattern& pattern, std::uint64_t seed) {
  RunPlan run = pattern.run;
  run.seed = seed;
  run.id = name_of(pattern.id.with(seed));
  run.work = name_of(pattern.work.with(seed));
  return run;
}

RunPlan PointPlanner::run(std::size_t index, std::uint64_t seed) {
  const Pattern& of_strategy = pattern(index);
  RunPlan run = seeded(of_strategy, seed);
  if (of_strategy.works_as_baseline) run.work = name_of(baseline_pattern(index).work.with(seed));
  return run;
}

RunPlan PointPlanner::baseline(std::size_t index, std::uint64_t seed) { return seeded(baseline_pattern(index), seed); }

RunPlan plan_run(const std::shared_ptr<const Settings>& settings, std::size_t index, const ordered_json& parameters,
                 std::uint64_t seed) {
  return PointPlanner(settings, parameters).run(index, seed);
}

namespace {

/// The training of a job, with its identity.
std::pair<RunPlan, Members> training_of(const std::shared_ptr<const Settings>& settings, const JobPlan& placed,
                                        const ordered_json& parameters) {
  const JobEntry& entry = settings->jobs.at(placed.job);
  RunPlan run = unseeded(settings, placed.strategy, parameters);
  run.fabric = settings;
  run.settings = std::make_shared<const Settings>(settings->trainings.at(placed.job));
  run.label = entry.name;
  run.workers = entry.workers;
  run.job = placed.job;
  const Members sections = sections_of(*run.settings, {});
  run.data = data_text(sections);
  Members identity = identity_of(run, sections);
  return {std::move(run), std::move(identity)};
}

}  // namespace

RunPlan plan_job(const std::shared_ptr<const Settings>& settings, const std::vector<JobPlan>& together, std::size_t job,
                 bool by_itself, const ordered_json& parameters, std::uint64_t seed) {
  auto [run, named] = training_of(settings, together.at(job), parameters);
  run.jobs = by_itself ? std::vector{together.at(job)} : together;
  run.seed = seed;
  named.emplace_back("label", ordered_json(run.label).dump());
  named.emplace_back("fabric", std::to_string(settings->cluster.workers));
  named.emplace_back("by_itself", by_itself ? "true" : "false");
  std::string beside;
  for (const JobPlan& other : run.jobs)
    if (other.job != run.job)
      beside += (beside.empty() ? "" : ",") + object_text(training_of(settings, other, parameters).second);
  if (!beside.empty()) named.emplace_back("beside", "[" + beside + "]");
  run.id = run.work = name_of(SeededText(named).with(seed));
  return run;
}

}  // namespace simgrad::experiment
