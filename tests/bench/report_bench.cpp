// How long the report of 8 strategies x 5 sizes x 5 seeds takes: its data from results in memory, the page, the file.
// With a directory of results it measures these instead: reading them, their report, all their files, the database.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>

#include "measure.h"
#include "outputs/files/sqlite.h"
#include "outputs/report/files.h"
#include "outputs/report/report.h"

using namespace simgrad;

namespace {

constexpr int strategies = 8;
constexpr int seeds = 5;
constexpr std::int64_t sizes[] = {1, 2, 4, 8, 16};

outputs::Run run_of(int strategy, std::int64_t workers, int seed, int evaluations) {
  outputs::Run run;
  run.id = fmt::format("{}-{}-{}", strategy, workers, seed);
  run.strategy = "kind";
  run.label = fmt::format("strategy {}", strategy);
  run.parameters["cluster.workers"] = workers;
  run.seed = static_cast<std::uint64_t>(seed);
  run.workers = workers;
  run.record.simulated_s = 10.0 / static_cast<double>(workers) + strategy + 0.1 * seed;
  run.record.steps = evaluations - 1;
  run.record.samples = 1000 * run.record.steps;
  run.record.epochs = 100.0;
  run.record.messages = 10 * run.record.steps;
  run.speedup_throughput = static_cast<double>(workers) / (1.0 + 0.1 * strategy);
  run.efficiency = 1.0 / (1.0 + 0.1 * strategy);
  run.bill.cost_usd = run.record.simulated_s;
  for (int k = 0; k < evaluations; ++k) {
    record::Evaluation& each = run.record.curve.emplace_back();
    each.step = k;
    each.simulated_s = run.record.simulated_s * k / (evaluations - 1);
    each.samples = 1000 * k;
    each.loss = std::exp(-0.001 * k) + 0.01 * std::sin(k + seed);
    each.metric = 1.0 - *each.loss;
    each.consensus_distance = 0.1 * *each.loss;
  }
  run.record.final_loss = run.record.curve.back().loss;
  for (std::int64_t rank = 0; rank <= workers; ++rank)
    run.record.ranks.push_back(
        {.role = rank < workers ? "worker" : "server", .compute_s = 1.0 + 0.1 * strategy, .communicate_s = 1.0});
  for (std::int64_t link = 0; link < 2 * workers + 2; ++link)
    run.record.links.push_back(
        {.link = fmt::format("link-{}", link), .bytes = 1'000'000 + link, .utilisation = 0.1 * strategy});
  return run;
}

record::Timeline timeline() {
  record::Timeline timeline;
  timeline.names = {"gradient", "push"};
  for (int rank = 0; rank < 10; ++rank) {
    timeline.ranks.push_back(rank);
    timeline.rank_names.push_back(fmt::format("rank {} (host-{})", rank, rank));
  }
  for (int k = 0; k < 1500; ++k) {
    record::Span& span = timeline.spans.emplace_back();
    span.rank = k % 10;
    span.kind = k % 20 < 10 ? record::Activity::compute : record::Activity::communicate;
    span.from_s = 0.001 * (k / 10);
    span.to_s = span.from_s + 0.001;
  }
  timeline.to_s = 0.15;
  return timeline;
}

/// The largest memory that the process has had.
double peak_megabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

/// Prints the time of a step and the peak of memory until its end.
template <class Step>
auto told(const char* name, Step step) {
  const auto start = std::chrono::steady_clock::now();
  auto result = step();
  const double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}: {:.2f} s, peak {:.0f} MB\n", name, elapsed_s, peak_megabytes());
  return result;
}

/// Measures real results.
void measure(const std::string& directory) {
  const std::string scratch = bench::scratch();
  const auto results = told("read", [&] { return outputs::report::read_results(directory); });
  const std::string data =
      told("report", [&] { return outputs::report::data(results, outputs::report::timelines_in(directory), {}); });
  fmt::print("{} runs, {:.2f} MB of data\n", results.runs.size(), static_cast<double>(data.size()) / 1e6);
  told("files", [&] { return outputs::write_all(results, scratch), 0; });
  told("database", [&] { return outputs::write_sqlite(results, scratch + "/results.sqlite"), 0; });
  std::filesystem::remove_all(scratch);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    measure(argv[1]);
    return 0;
  }
  const record::Timeline one = timeline();
  const auto timeline_of = [&](const std::string&) { return std::optional(one); };
  const std::string directory = bench::scratch();
  const std::string page = std::string(600'000, ' ') + "@simgrad-data@";
  for (const int evaluations : {100, 1000, 5000}) {
    outputs::Results results;
    results.title = "bench";
    for (int strategy = 0; strategy < strategies; ++strategy)
      for (const std::int64_t workers : sizes)
        for (int seed = 1; seed <= seeds; ++seed) results.runs.push_back(run_of(strategy, workers, seed, evaluations));
    std::vector<double> times;
    std::size_t size = 0;
    for (int round = 0; round < 5; ++round) {
      const auto start = std::chrono::steady_clock::now();
      const std::string html = outputs::report::filled(page, outputs::report::data(results, timeline_of, {}));
      outputs::write_file(directory + "/report.html", html);
      times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      size = html.size();
    }
    fmt::print("{} runs of {} evaluations: {:.3f} s, {:.1f} MB\n", results.runs.size(), evaluations,
               bench::median(times), static_cast<double>(size) / 1e6);
  }
  std::filesystem::remove_all(directory);
}
