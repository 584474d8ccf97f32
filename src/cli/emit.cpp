#include "cli/emit.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/text.h"
#include "base/version.h"
#include "experiment/run/shards.h"

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

/// The script of the job that merges.
std::string merge_script(const Sharded& command, int shards) {
  const std::string out = base::shell_word(command.out);
  std::string line = fmt::format("exec \"${{SIMGRAD:-simgrad}}\" merge {}/shard-*-of-{} --out {}", out, shards, out);
  for (const std::string& word : command.merge) line += " " + base::shell_word(word);
  return fmt::format("#!/usr/bin/env bash\nset -euo pipefail\ncd -- {}\n{}\n", base::shell_word(command.directory),
                     line);
}

std::string slurm_script(const Emission& emission, const Sharded& command) {
  const std::string merge = merge_script(command, emission.shards);
  std::string end = "END_OF_MERGE";
  while (merge.find(end) != std::string::npos) end += '_';
  constexpr std::string_view script =
      R"(#!/usr/bin/env bash
# {runs} runs to simulate in {shards} shards, each a task of a Slurm array job, and the merge of the shards.
# Save this as a file, job.sh for example. Written by simgrad {version}.
#   bash job.sh                     submits the array, and the merge that waits for it
#   bash job.sh --partition=short   the same with options of sbatch
#   SIMGRAD=FILE bash job.sh        the same with a program that is not in PATH
# After a failure, the same again does only what is missing. `sbatch job.sh` submits the array alone.
#SBATCH --job-name={name}
#SBATCH --array=1-{shards}
#SBATCH --cpus-per-task={cores}
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

cd -- {directory}
simgrad=${{SIMGRAD:-simgrad}}

if [[ -n ${{SLURM_ARRAY_TASK_ID:-}} ]]; then
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
[[ $script == /* ]] || script=$OLDPWD/$script
[[ -f $script ]] || fail "Save this script as a file, and run that: it submits itself."
command -v "$simgrad" >/dev/null || fail "$simgrad: not found; set SIMGRAD to the file of the program."
options=()  # of the merge, which is no array
for option in "$@"; do
  [[ $option == --array=* ]] || options+=("$option")
done

array=$(sbatch --parsable "$@" "$script")
merge=$(
  sbatch --parsable --job-name={name}-merge --dependency="afterok:${{array%%;*}}" --kill-on-invalid-dep=yes \
    ${{options[@]+"${{options[@]}}"}} <<'{end}'
{merge}{end}
)
printf 'Array job %s: {shards} shards. Job %s: the merge, when all have ended well.\n' "${{array%%;*}}" "${{merge%%;*}}"
)";
  return fmt::format(script, fmt::arg("runs", command.runs), fmt::arg("shards", emission.shards),
                     fmt::arg("version", version), fmt::arg("name", job_name(command.name)),
                     fmt::arg("cores", cores_of(command)), fmt::arg("directory", base::shell_word(command.directory)),
                     fmt::arg("words", base::shell_line(words_of_shard(command))), fmt::arg("merge", merge),
                     fmt::arg("end", end));
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
              cpu: "{cores}"
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
#   kubectl apply -f job.yaml
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
  const auto pod_of = [&](const std::vector<std::string>& words, const std::string& environment) {
    return fmt::format(pod, fmt::arg("image", yaml(emission.image)), fmt::arg("words", yaml_list(words)),
                       fmt::arg("environment", environment), fmt::arg("cores", cores_of(command)));
  };
  const std::string count =
      fmt::format("\n          env:\n            - name: SIMGRAD_SHARDS\n              value: \"{}\"", emission.shards);
  constexpr int failures_a_shard = 2;
  return fmt::format(manifest, fmt::arg("runs", command.runs), fmt::arg("shards", emission.shards),
                     fmt::arg("version", version), fmt::arg("name", job_name(command.name)),
                     fmt::arg("failures", failures_a_shard * emission.shards),
                     fmt::arg("shard", pod_of(shard_words, count)), fmt::arg("merge", pod_of(merge_words, "")));
}

}  // namespace

CLI::Option* add_emission(CLI::App& command, Emission& emission) {
  auto* emit = command
                   .add_option("--emit", emission.engine,
                               "Runs nothing, and prints what makes a scheduler run the experiment in shards and merge "
                               "them: a script for bash (slurm), or a manifest (kubernetes)")
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

std::string emitted(const Emission& emission, const Sharded& command) {
  if (emission.shards == 0)
    throw base::ScenarioError(fmt::format("--emit {} needs --shards N, the number of shards", emission.engine));
  if (emission.engine == "slurm" && !emission.image.empty())
    throw base::ScenarioError("--image is about --emit kubernetes; leave it out");
  if (emission.engine == "slurm") return slurm_script(emission, command);
  Emission with_image = emission;
  if (with_image.image.empty()) with_image.image = fmt::format("simgrad:{}", version);
  return kubernetes_manifest(with_image, command);
}

}  // namespace simgrad::cli
