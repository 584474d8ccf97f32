/// The option --emit of `run`: files that make a scheduler run an experiment in shards, and merge them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/run/estimate.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace simgrad::cli {

/// The options that belong to --emit.
struct Emission {
  std::string engine;  ///< "slurm", "kubernetes"; empty: nothing is emitted
  int shards = 0;
  std::string image;
};

/// The command whose shards are to run.
struct Sharded {
  std::string name;                ///< of the scenario
  std::vector<std::string> words;  ///< "simgrad", "run", ...: the command, without --out
  std::string out;
  std::vector<std::string> merge;  ///< options of `merge`, besides --out
  int jobs = 1;
  int threads = 0;
  std::size_t runs = 0;                ///< to simulate
  experiment::Estimate estimate = {};  ///< of all runs, with these jobs and threads
};

/// Adds --emit, --shards and --image. Returns --emit, which other options exclude.
CLI::Option* add_emission(CLI::App& command, Emission& emission);

/// Refuses options that are missing or too many.  Errors: ScenarioError.
void check_emission(const Emission& emission);

/// A script for bash that submits itself as an array job, and the merge that depends on it; or the manifest of an
/// indexed Job and of the Job that merges. The paths of the command hold in the folder of the script, and in the
/// volume. Time and memory are guessed from the estimate.
/// Errors: ScenarioError for words that YAML cannot hold.
std::string emitted(const Emission& emission, const Sharded& command);

}  // namespace simgrad::cli
