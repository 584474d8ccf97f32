#include "experiment/run/run_store.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/memory.h"
#include "experiment/run/shards.h"
#include "outputs/files/run_stem.h"
#include "outputs/files/temporary_file.h"
#include "outputs/run_text.h"
#include "outputs/sealed_text.h"
#include "outputs/summary.h"
#include "record/invariants.h"

namespace simgrad::experiment {

namespace {

/// A run that took this long to simulate is on the disk before it counts as finished. A shorter one is simulated again
/// sooner than a thousand of them are waited for, should the machine die in the seconds until the system writes.
constexpr double waits_for_disk_s = 1.0;

/// Whether the record is of that run by what it says itself: any id can be written into one. The grid point may differ:
/// --set cluster.workers=8 and --grid cluster.workers=8 ask for one run.
bool is_of(const RunPlan& plan, const outputs::Run& run) {
  return run.strategy == plan.kind && run.seed == plan.seed && run.workers == plan.workers;
}

void write_record(const std::string& path, const outputs::Run& run) {
  const std::string text = outputs::sealed(outputs::text_of(run));
  if (run.wall_s < waits_for_disk_s) return outputs::write_file(path, text);
  outputs::TemporaryFile file(path);
  file.write(text);
  file.keep_on_disk();
}

}  // namespace

std::string stem_of(const RunPlan& run) { return outputs::run_stem(run.label, run.workers, run.seed, run.id); }

std::string record_file(const std::string& out, const std::string& stem) {
  return fmt::format("{}/runs/{}.json", out, stem);
}

std::int64_t records_beside(const std::string& out, const Plan& plan) {
  std::set<std::string> known;
  for (const auto* list : {&plan.runs, &plan.baselines})
    for (const RunPlan& run : *list) known.insert(run.id);
  for (const RunPlan* piece : pieces_of_work(plan)) known.insert(piece->id);
  std::int64_t others = 0;
  std::error_code unknown;
  for (std::filesystem::directory_iterator at(out + "/runs", unknown), end; !unknown && at != end;
       at.increment(unknown)) {
    const std::string stem = at->path().stem().string();
    const bool record = at->path().extension() == ".json" && outputs::is_run_stem(stem);
    if (record && !stem.starts_with("baseline-") && !known.contains(outputs::id_in_stem(stem))) ++others;
  }
  return others;
}

RecordedRun stored_run(const std::string& out, const std::string& stem) {
  const std::string file = record_file(out, stem);
  std::error_code unknown;
  const auto status = std::filesystem::symlink_status(file, unknown);
  if (!std::filesystem::exists(status)) return {};
  if (!std::filesystem::is_regular_file(status)) return {.fault = "is no regular file"};
  constexpr const char* other_contents = "does not have the contents of its checksum";
  try {
    const std::string text = outputs::read_file(file);
    const outputs::Unsealed contents = outputs::unsealed(text);
    if (contents.has_checksum && !contents.object) return {.fault = other_contents};
    if (!contents.has_checksum) {
      outputs::parse_json(text, file);
      return {.fault = "has no checksum"};
    }
    std::optional<outputs::Run> run = outputs::run_from_text(*contents.object);
    if (!run) run = outputs::run_from_json(outputs::parse_json(*contents.object, file));
    if (run->id != outputs::id_in_stem(stem)) return {.fault = other_contents};
    if (const std::string violated = record::violated_invariant(run->record); !violated.empty())
      return {.fault = fmt::format("is the record of no run: {}", violated)};
    return {.run = std::move(run)};
  } catch (const base::TooMuchMemory&) {
    throw;  // which says nothing about the record
  } catch (const std::runtime_error&) {
    return {.fault = "is no whole record"};
  }
}

RunStore::Frame::Frame(const outputs::Run& run)
    : label(run.label),
      options(run.options),
      parameters(run.parameters),
      speedup_throughput(run.speedup_throughput),
      speedup_time_to_target(run.speedup_time_to_target),
      efficiency(run.efficiency),
      interference(run.interference),
      bill(run.bill),
      wall_s(run.wall_s),
      notes(run.record.notes) {}

RunStore::RunStore(std::string out, std::function<void(const std::string& text)> tell)
    : out_(std::move(out)), tell_(std::move(tell)) {}

void RunStore::set_aside(const std::string& stem, const std::string& fault) {
  const std::string file = record_file(out_, stem);
  std::error_code stays;
  std::filesystem::rename(file, file + ".damaged", stays);
  if (!tell_) return;
  const std::string place = stays ? std::string() : fmt::format("it is now {}.json.damaged, and ", stem);
  tell_(fmt::format("{} {}; {}the run is done again", file, fault, place));
}

std::optional<outputs::Run> RunStore::take(const RunPlan& plan) {
  const std::string stem = stem_of(plan);
  RecordedRun stored = stored_run(out_, stem);
  if (stored.run && !is_of(plan, *stored.run)) stored = {.fault = "is the record of another run"};
  if (!stored.fault.empty()) set_aside(stem, stored.fault);
  if (!stored.run || stored.run->record.status == record::Status::failed) return {};
  known_.insert_or_assign(plan.id, Frame(*stored.run));
  return std::move(stored.run);
}

void RunStore::offer(std::string file, const outputs::Run& run) {
  offered_.insert_or_assign(run.id, std::pair(std::move(file), Frame(run)));
}

void RunStore::put(const outputs::Run& run) {
  Frame frame(run);
  if (const auto there = known_.find(run.id); there != known_.end() && there->second == frame) return;
  const std::string file = record_file(out_, outputs::run_stem(run));
  if (const auto other = offered_.find(run.id); other != offered_.end() && other->second.second == frame)
    outputs::link_or_copy(other->second.first, file);
  else
    write_record(file, run);
  known_.insert_or_assign(run.id, std::move(frame));
}

}  // namespace simgrad::experiment
