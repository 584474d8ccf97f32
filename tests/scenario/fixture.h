/// A small made-up scenario: a cluster with a topology, a model, training options and a list of strategies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/registry.h"
#include "catch.h"
#include "scenario/document.h"

namespace fixture {

using namespace simgrad;
using base::Bounds;
using base::Describer;
using base::Unit;

struct Topology : base::Described {};

struct Star final : Topology {
  static constexpr base::About about{.kind = "star", .summary = "One switch.", .cost = "", .source = ""};
  void describe(Describer&) override {}
};

struct FatTree final : Topology {
  static constexpr base::About about{.kind = "fat_tree", .summary = "Levels of switches.", .cost = "", .source = ""};
  std::int64_t arity = 4;
  std::int64_t levels = 2;
  void describe(Describer& d) override {
    d.integer("arity", arity, "ports down", Bounds::at_least(2));
    d.integer("levels", levels, "of switches", Bounds::between(1, 4));
  }
};

inline const base::Registry<Topology>& topologies() {
  static const base::Registry<Topology> registry({base::entry<Topology, Star>(), base::entry<Topology, FatTree>()});
  return registry;
}

struct Model : base::Described {};

struct LeastSquares final : Model {
  static constexpr base::About about{.kind = "least_squares", .summary = "Linear.", .cost = "", .source = ""};
  bool bias = true;
  void describe(Describer& d) override { d.flag("bias", bias, "adds the constant feature"); }
};

struct Perceptron final : Model {
  static constexpr base::About about{.kind = "perceptron", .summary = "Layers.", .cost = "", .source = ""};
  std::vector<double> hidden{32.0};
  void describe(Describer& d) override { d.numbers("hidden", hidden, "units a layer", Bounds::at_least(1)); }
};

inline const base::Registry<Model>& models() {
  static const base::Registry<Model> registry({base::entry<Model, LeastSquares>(), base::entry<Model, Perceptron>()});
  return registry;
}

struct Program : base::Described {};

struct Allreduce final : Program {
  static constexpr base::About about{.kind = "allreduce", .summary = "Sums.", .cost = "", .source = ""};
  std::string algorithm = "ring";
  base::Slot<Topology> tree{topologies(), "star"};
  void describe(Describer& d) override {
    d.text("algorithm", algorithm, "how");
    d.component("tree", tree, "along which");
  }
};

enum class Consistency { bsp, ssp, asp };

struct ParameterServer final : Program {
  static constexpr base::About about{.kind = "parameter_server", .summary = "Servers.", .cost = "", .source = ""};
  static constexpr std::array<base::Choice, 3> consistencies{
      {{"bsp", "in step"}, {"ssp", "nearly"}, {"asp", "as it comes"}}};
  Consistency consistency = Consistency::bsp;
  std::int64_t servers = 1;
  std::optional<std::int64_t> staleness;
  double momentum = 0.0;
  void describe(Describer& d) override {
    d.choice("consistency", consistency, consistencies, "when a push is answered");
    d.integer("servers", servers, "that share the parameters", Bounds::at_least(1));
    d.integer("staleness", staleness, "steps a rank may run ahead", Bounds::at_least(0));
    d.number("momentum", momentum, "of the update", Bounds::between(0, 1));
    if (d.given("staleness") && consistency != Consistency::ssp)
      d.refuse("staleness", "staleness is for consistency = \"ssp\" only");
  }
};

inline const base::Registry<Program>& programs() {
  static const base::Registry<Program> registry(
      {base::entry<Program, Allreduce>(), base::entry<Program, ParameterServer>()});
  return registry;
}

struct Cluster final : base::Described {
  std::int64_t workers = 4;
  double bandwidth_bytes_per_s = 1.25e8;
  double latency_s = 5e-5;
  std::optional<double> memory_bytes;
  base::Slot<Topology> topology{topologies(), "star"};
  void describe(Describer& d) override {
    d.integer("workers", workers, "ranks that compute", Bounds::at_least(1));
    d.quantity("bandwidth", bandwidth_bytes_per_s, Unit::bytes_per_second, "of each NIC", Bounds::above_zero());
    d.quantity("latency", latency_s, Unit::seconds, "one way", Bounds::at_least(0));
    d.quantity("memory", memory_bytes, Unit::bytes, "of a host", Bounds::at_least(1024));
    d.component("topology", topology, "how hosts are cabled");
  }
};

struct ModelOptions final : base::Described {
  base::Slot<Model> model{models()};
  void describe(Describer& d) override { d.inline_component("kind", model, "the hypothesis"); }
};

struct Training final : base::Described {
  std::optional<std::int64_t> batch_size;
  double learning_rate = 0.1;
  std::optional<double> clip;
  std::string data;
  void describe(Describer& d) override {
    d.integer_or("batch_size", batch_size, "full", "rows a step", Bounds::at_least(1));
    d.number("learning_rate", learning_rate, "of the optimizer", Bounds::above_zero());
    d.number("clip", clip, "the longest gradient", Bounds::above_zero());
    d.path("data", data, "a file");
  }
};

struct Strategy final : base::Described {
  std::optional<std::string> label;
  base::Slot<Program> program{programs()};
  void describe(Describer& d) override {
    d.text("label", label, "its name in the results");
    d.inline_component("kind", program, "the program of every rank");
  }
};

struct Expectation final : base::Described {
  std::string metric = "final_loss";
  std::vector<std::pair<std::string, std::string>> where;
  void describe(Describer& d) override {
    d.text("metric", metric, "a field of a run");
    d.pairs("where", where, "the grid points it holds for");
  }
};

struct Settings final : base::Described {
  std::string title;
  Cluster cluster;
  ModelOptions model;
  Training training;
  std::vector<Strategy> strategies;
  std::vector<Expectation> expectations;
  void describe(Describer& d) override {
    d.text("title", title, "what the experiment asks");
    d.section("cluster", cluster, "the machines");
    d.section("model", model, "the hypothesis");
    d.section("training", training, "how it is fitted");
    d.list("strategy", strategies, "what is compared");
    d.list("expect", expectations, "what must hold");
  }
};

inline Settings settings(const scenario::Document& document) {
  Settings read;
  scenario::Faults faults;
  document.read_into(read, faults);
  faults.raise_if_any();
  return read;
}

inline Settings settings(std::string_view text) { return settings(scenario::Document::parse(text, "dir/a.toml")); }

/// The faults that `action` raises, one line each; "accepted" if there are none.
template <class Action>
std::vector<std::string> refusal(Action action) {
  try {
    action();
  } catch (const base::ScenarioError& error) {
    return error.faults();
  }
  return {"accepted"};
}

using Lines = std::vector<std::string>;

/// The faults of a scenario that has the one thing that is required, so that the others stand alone.
inline Lines faults(const std::string& text) {
  return refusal([&] { settings(text + "\n[model]\nkind = \"least_squares\"\n"); });
}

}  // namespace fixture
