#include "cli/emit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/errors.h"
#include "base/text.h"
#include "base/version.h"
#include "experiment/run/shards.h"
#include "outputs/text/number_text.h"

namespace simgrad::cli {

namespace {

/// "simgrad-x", of lower-case letters, digits and "-" alone, as schedulers want names.
std::string job_name(const std::string& scenario) {
  constexpr std::size_t most = 40;
  std::string name = "simgrad-";
  for (const char c : scenario.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte < 128 && std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

/// The words after "simgrad" of a shard's command, without --shard.
std::vector<std::string> words_of_shard(const Sharded& command) {
  std::vector<std::string> words(command.words.begin() + 1, command.words.end());
  for (const std::string& word :
       {std::string("--out"), command.out, std::string("--jobs"), fmt::to_string(command.jobs),
        std::string("--threads"), fmt::to_string(command.threads)})
    words.push_back(word);
  return words;
}

int cores_of(const Sharded& command) { return command.jobs * std::max(1, command.threads); }

/// The limits that a scheduler is asked for: more than the trials of a dry run took.
struct Limits {
  static constexpr double time_factor = 3.0, memory_factor = 2.0;

  double shard_s, merge_s, bytes;
};

/// Nothing where the trials do not tell.
std::optional<Limits> guessed(const Emission& emission, const Sharded& command) {
  const experiment::Estimate& all = command.estimate;
  if (!all.unknown.empty() || all.at_least) return {};
  struct rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  constexpr double bytes_of_unit = 1024.0;  // as Linux counts
  const double bytes = bytes_of_unit * static_cast<double>(used.ru_maxrss) + command.jobs * all.run_bytes;
  // No shard has more than its part and one run besides. The merge tries which cause binds, for a seventh of the
  // effort.
  constexpr double part_of_merge = 1.0 / 7.0, merge_least_s = 20.0;
  return Limits{.shard_s = Limits::time_factor * (all.wall_s / emission.shards + all.longest_s),
                .merge_s = Limits::time_factor * (part_of_merge * command.jobs * all.wall_s + merge_least_s),
                .bytes = Limits::memory_factor * bytes};
}

/// "1:05:00", in whole steps of 5 minutes.
std::string time_limit(double seconds) {
  constexpr double step_s = 300.0;
  constexpr long minutes_of_step = 5, minutes_of_hour = 60;
  const long minutes = minutes_of_step * static_cast<long>(std::max(1.0, std::ceil(seconds / step_s)));
  return fmt::format("{}:{:02}:00", minutes / minutes_of_hour, minutes % minutes_of_hour);
}

/// In MiB, in whole steps of 512.
long mebibytes(double bytes) {
  constexpr double step_bytes = 512.0 * 1024.0 * 1024.0;
  return 512 * static_cast<long>(std::max(1.0, std::ceil(bytes / step_bytes)));
}

/// A comment that says where the limits come from.  guess: the sentence's begin.  factors: the trials', as words.
std::string origin_of_limits(const Sharded& command, std::string_view guess, const std::string& factors) {
  const experiment::Estimate& all = command.estimate;
  if (!all.unknown.empty()) return fmt::format("# No limits are guessed: {}.\n", all.unknown);
  if (all.at_least)
    return fmt::format(
        "# No limits are guessed: all runs take at least {}, and short trials do not tell how much "
        "longer.\n",
        outputs::duration(all.wall_s));
  return fmt::format(
      "# {}, from short trials on the machine that printed this (as `simgrad run --dry-run`\n# makes them): {}. All "
      "runs would take about {} there.\n",
      guess, factors, outputs::duration(all.wall_s));
}

/// The script of the job that merges. Slurm knows the folder from which it was submitted.
std::string merge_script(const Sharded& command, int shards) {
  const std::string out = base::shell_word(command.out);
  std::string line = fmt::format("exec \"${{SIMGRAD:-simgrad}}\" merge {}/shard-*-of-{} --out {}", out, shards, out);
  for (const std::string& word : command.merge) line += " " + base::shell_word(word);
  return fmt::format("#!/usr/bin/env bash\nset -euo pipefail\ncd -- \"${{SLURM_SUBMIT_DIR:-.}}\"\n{}\n", line);
}

/// A script for bash, which is also that of the array's tasks.
constexpr std::string_view job_script =
    R"(#!/usr/bin/env bash
# {runs} runs to simulate in {shards} shards, each a task of a Slurm array job, and the merge of the shards.
# Save this as a file, job.sh for example, in the directory in which simgrad was called: paths are relative to
# the script's own. Written by simgrad {version}.
#   bash job.sh                     submits the array, and the merge that waits for it
#   bash job.sh --partition=short   the same with options of sbatch, which override those below
#   SIMGRAD=FILE bash job.sh        the same with a program that is not in PATH
# After a failure, the same again does only what is missing. `sbatch job.sh`, called in this directory, submits the
# array alone.
{origin}#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task={cores}
{limits}#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

simgrad=${{SIMGRAD:-simgrad}}

if [[ -n ${{SLURM_ARRAY_TASK_ID:-}} ]]; then
  cd -- "${{SLURM_SUBMIT_DIR:-.}}"
  code=0
  "$simgrad" {words} --shard "$SLURM_ARRAY_TASK_ID/{shards}" || code=$?
  # Runs that failed are results, which the merge tells. Anything else keeps the merge from starting.
  [[ $code -ne 4 ]] || code=0
  exit "$code"
fi

fail() {{
  printf '%s\n' "$*" >&2
  exit 2
}}
script=${{BASH_SOURCE[0]:-}}
[[ $script == /* ]] || script=$PWD/$script
[[ -f $script ]] || fail "Save this script as a file, and run that: it submits itself."
[[ $simgrad != */* || $simgrad == /* ]] || simgrad=$PWD/$simgrad
command -v "$simgrad" >/dev/null || fail "$simgrad: not found; set SIMGRAD to the file of the program."
export SIMGRAD=$simgrad
cd -- "${{script%/*}}/"
options=() array_options=()  # the merge is no array
memory=({merge_memory})
while (($# > 0)); do
  case $1 in
    --array=*) array_options+=("$1") ;;
    --array | -a) array_options+=("$1" "${{2:?the array of $1}}"); shift ;;
    --mem*) options+=("$1"); memory=() ;;
    *) options+=("$1") ;;
  esac
  shift
done

array=$(sbatch --parsable ${{options[@]+"${{options[@]}}"}} ${{array_options[@]+"${{array_options[@]}}"}} "$script")
merge=$(
  sbatch --parsable --job-name={name}-merge{merge_limits} ${{memory[@]+"${{memory[@]}}"}} \
    --dependency="afterok:${{array%%;*}}" --kill-on-invalid-dep=yes ${{options[@]+"${{options[@]}}"}} <<'{end}'
{merge}{end}
)
printf 'Array job %s: {shards} shards. Job %s: the merge, when all have ended well.\n' "${{array%%;*}}" "${{merge%%;*}}"
)";

std::string slurm_script(const Emission& emission, const Sharded& command) {
  const std::string merge = merge_script(command, emission.shards);
  std::string end = "END_OF_MERGE";
  while (merge.find(end) != std::string::npos) end += '_';
  const std::optional<Limits> limits = guessed(emission, command);
  const std::string memory = limits ? fmt::format("--mem={}M", mebibytes(limits->bytes)) : "";
  return fmt::format(
      job_script, fmt::arg("runs", command.runs), fmt::arg("shards", emission.shards), fmt::arg("version", version),
      fmt::arg("name", job_name(command.name)), fmt::arg("cores", cores_of(command)),
      fmt::arg("origin", origin_of_limits(command, "--time and --mem are guesses",
                                          fmt::format("{} times the time of a shard, and {} times the memory",
                                                      Limits::time_factor, Limits::memory_factor))),
      fmt::arg("limits",
               limits ? fmt::format("#SBATCH --time={}\n#SBATCH {}\n", time_limit(limits->shard_s), memory) : ""),
      fmt::arg("merge_limits", limits ? fmt::format(" --time={}", time_limit(limits->merge_s)) : ""),
      fmt::arg("merge_memory", memory), fmt::arg("words", base::shell_line(words_of_shard(command))),
      fmt::arg("merge", merge), fmt::arg("end", end));
}

/// A text as YAML has it, for a container's command, in which Kubernetes replaces $(NAME).  Errors: ScenarioError.
std::string yaml(std::string text) {
  for (std::size_t at = 0; (at = text.find("$(", at)) != std::string::npos; at += 3) text.insert(at, "$");
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw base::ScenarioError(fmt::format("--emit kubernetes: \"{}\" is not UTF-8, which YAML cannot hold", text));
  }
}

std::string yaml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& each : texts) all.push_back(yaml(each));
  return "[" + base::joined(all) + "]";
}

/// A Job's pod.
constexpr std::string_view pod =
    R"(  template:
    spec:
      restartPolicy: Never
      containers:
        - name: simgrad
          image: {image}
          workingDir: /data
          command: {words}{environment}
          resources:
            requests:
              cpu: "{cores}"{memory}
          volumeMounts:
            - name: data
              mountPath: /data
      volumes:
        - name: data
          persistentVolumeClaim:
            claimName: simgrad
)";

std::string kubernetes_manifest(const Emission& emission, const Sharded& command) {
  // The words follow as "$@", so that no shell reads them.
  const std::string shard = R"(simgrad "$@" || { code=$?; [ $code -eq 4 ] || exit $code; })";
  const std::string merge = fmt::format(R"(exec simgrad merge "$0"/shard-*-of-{} --out "$0" "$@")", emission.shards);
  std::vector<std::string> merge_words{"sh", "-c", merge, command.out};
  merge_words.insert(merge_words.end(), command.merge.begin(), command.merge.end());
  std::vector<std::string> shard_words{"sh", "-c", shard, "simgrad"};
  for (const std::string& word : words_of_shard(command)) shard_words.push_back(word);
  constexpr std::string_view manifest =
      R"(# {runs} runs to simulate in {shards} shards, an indexed Job, and the Job that merges the shards.
# The claim "simgrad" of a volume that all nodes can write to has the scenario, and takes the results; in the containers
# it is /data, where the command's paths hold. Written by simgrad {version}.
{origin}#   kubectl apply -f job.yaml
#   kubectl wait --for=condition=complete --timeout=-1s job/{name}-shards
#   kubectl patch job/{name}-merge --type=merge --patch='{{"spec":{{"suspend":false}}}}'
# After a failure, `kubectl delete -f job.yaml` and the same again do only what is missing.
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}-shards
spec:
  completionMode: Indexed
  completions: {shards}
  parallelism: {shards}
  backoffLimit: {failures}
{shard}---
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}-merge
spec:
  suspend: true  # until the shards are complete
  backoffLimit: 0
{merge})";
  const std::optional<Limits> limits = guessed(emission, command);
  const std::string memory = limits ? fmt::format("\n              memory: \"{}Mi\"", mebibytes(limits->bytes)) : "";
  const auto pod_of = [&](const std::vector<std::string>& words, const std::string& environment) {
    return fmt::format(pod, fmt::arg("image", yaml(emission.image)), fmt::arg("words", yaml_list(words)),
                       fmt::arg("environment", environment), fmt::arg("cores", cores_of(command)),
                       fmt::arg("memory", memory));
  };
  const std::string count =
      fmt::format("\n          env:\n            - name: SIMGRAD_SHARDS\n              value: \"{}\"", emission.shards);
  constexpr int failures_a_shard = 2;
  return fmt::format(manifest, fmt::arg("runs", command.runs), fmt::arg("shards", emission.shards),
                     fmt::arg("version", version), fmt::arg("name", job_name(command.name)),
                     fmt::arg("origin", origin_of_limits(command, "The memory that is requested is a guess",
                                                         fmt::format("{} times theirs", Limits::memory_factor))),
                     fmt::arg("failures", failures_a_shard * emission.shards),
                     fmt::arg("shard", pod_of(shard_words, count)), fmt::arg("merge", pod_of(merge_words, "")));
}

}  // namespace

CLI::Option* add_emission(CLI::App& command, Emission& emission) {
  auto* emit = command
                   .add_option("--emit", emission.engine,
                               "Prints what makes a scheduler run the experiment in shards and merge them, with limits "
                               "guessed by short trials: a script for bash (slurm), or a manifest (kubernetes)")
                   ->check(CLI::IsMember({"slurm", "kubernetes"}))
                   ->type_name("slurm|kubernetes");
  command.add_option("--shards", emission.shards, "The number of shards, for --emit")
      ->check(CLI::Range(1, experiment::shards_most))
      ->needs(emit)
      ->type_name("N");
  command.add_option("--image", emission.image, "The container's image, for --emit kubernetes")
      ->needs(emit)
      ->type_name("IMAGE");
  return emit;
}

void check_emission(const Emission& emission) {
  if (emission.shards == 0)
    throw base::ScenarioError(fmt::format("--emit {} needs --shards N, the number of shards", emission.engine));
  if (emission.engine == "slurm" && !emission.image.empty())
    throw base::ScenarioError("--image is about --emit kubernetes; leave it out");
}

std::string emitted(const Emission& emission, const Sharded& command) {
  if (emission.engine == "slurm") return slurm_script(emission, command);
  Emission with_image = emission;
  if (with_image.image.empty()) with_image.image = fmt::format("simgrad:{}", version);
  return kubernetes_manifest(with_image, command);
}

}  // namespace simgrad::cli
