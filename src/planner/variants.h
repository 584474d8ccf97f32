/// The simulations by which a candidate is judged: a short one of its times, a part of its training, all of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/candidate.h"

namespace simgrad::planner {

/// Steps of a run that times a candidate, at most; longer trainings go on from there.
inline constexpr double steps_most = 256.0;

/// Local steps between two synchronisations of the candidate's strategy; 1 where it synchronises in each.
std::int64_t period_of(const Candidate& candidate);

/// Times alone, of so many samples, evaluated after each step. Candidates that differ in the learning rate alone have
/// one such run. Nothing if the candidate's times depend on its numbers.
/// sets: further changes, as --set takes them.
std::optional<experiment::RunPlan> timing_run(const Candidate& candidate, double samples, std::uint64_t seed,
                                              const std::vector<std::string>& sets = {});

/// Two steps with a checkpoint between them, of a candidate whose runs have none else.
std::optional<experiment::RunPlan> checkpointed_run(const Candidate& candidate, std::uint64_t seed,
                                                    const std::vector<std::string>& sets = {});

/// The candidate's settings under other assumptions; its own if the scenario refuses these.
std::shared_ptr<const experiment::Settings> changed_settings(const Candidate& candidate,
                                                             const std::vector<std::string>& sets);

/// The training with its numbers, until the target or so many samples; 0: as long as the scenario says.
std::optional<experiment::RunPlan> learning_run(const Candidate& candidate, double samples, std::uint64_t seed,
                                                const std::vector<std::string>& sets = {});

/// The first few updates of the training, evaluated after each batch, whatever the loss.
std::optional<experiment::RunPlan> glimpse(const Candidate& candidate, std::uint64_t seed,
                                           const std::vector<std::string>& sets = {});

/// The run of an amount of training as it is confirmed: all of it, or as many steps as its times were simulated for.
std::optional<experiment::RunPlan> confirming_run(const Candidate& candidate);

/// Whether anything is random but the training's own draws: stragglers, jitter, failures that are simulated.
bool random_times(const Candidate& candidate);

}  // namespace simgrad::planner
