/// Scenarios whose model is cut. Sizes that suit one another are too rare among sizes that are drawn one by one.
#include <array>
#include <numeric>
#include <vector>

#include "fuzz/draw.h"

namespace simgrad::fuzz {

namespace {

using Json = Draw::Json;

struct Sizes {
  std::int64_t tensor, pipeline, context, expert, data, chunks, micro_batches;
};

Sizes drawn_sizes(Dice& dice, std::string_view schedule) {
  const bool interleaved = schedule == "interleaved_1f1b", one = schedule == "pipedream";
  const std::int64_t pipeline = interleaved || one ? dice.between(2, 3) : dice.between(1, 3);
  const std::int64_t times = interleaved || schedule == "pipedream_2bw" ? pipeline : 1;
  return {.tensor = dice.between(1, 2),
          .pipeline = pipeline,
          .context = dice.between(1, 2),
          .expert = dice.between(1, 2),
          .data = dice.between(1, 3),
          .chunks = interleaved ? 2 : 1,
          .micro_batches = one ? 1 : times * dice.between(1, 2)};
}

Json transformer(Dice& dice, const Sizes& sizes) {
  Json model{{"kind", "transformer"}, {"layers", sizes.pipeline * sizes.chunks + dice.between(0, 2)},
             {"hidden", 8},           {"heads", 2},
             {"feed_forward", 8},     {"sequence", 4},
             {"tied", dice.hits(0.3)}};
  if (sizes.expert == 1 && dice.hits(0.7)) return model;
  model["experts"] = 4;
  model["top_k"] = dice.between(1, 2);
  model["capacity_factor"] = dice.hits(0.5) ? 0.5 : 2.0;
  model["expert_every"] = dice.between(1, 2);
  return model;
}

/// Stages with ranks of their own, which sum their gradients and share nothing else.
void make_stages_unlike(Json& tree, Dice& dice) {
  std::vector<std::int64_t> replicas;
  std::int64_t micro_batches = 1;
  for (std::int64_t stage = tree["parallel"]["pipeline"].get<std::int64_t>(); stage > 0; --stage) {
    replicas.push_back(dice.between(1, 3));
    micro_batches = std::lcm(micro_batches, replicas.back());
  }
  tree["parallel"]["stage_replicas"] = replicas;
  tree["parallel"].erase("order");
  tree["cluster"]["workers"] = std::accumulate(replicas.begin(), replicas.end(), std::int64_t{0});
  tree["training"]["batch_size"] = micro_batches * dice.between(1, 2);
  tree["strategy"] = Json::array({Json{{"kind", "allreduce"}}});
  if (tree["model"]["kind"] == "transformer") tree["model"]["tied"] = false;
}

/// Tensor ranks on unlike hosts, whose shares may go by speed.
void make_unlike(Json& tree, Dice& dice) {
  std::vector<double> speeds;
  for (std::int64_t rank = tree["cluster"]["workers"].get<std::int64_t>(); rank > 0; --rank)
    speeds.push_back(static_cast<double>(dice.between(1, 4)));
  tree["cluster"]["relative_speeds"] = speeds;
  tree["parallel"]["tensor_shares"] = dice.hits(0.8) ? "speed" : "equal";
  if (tree["parallel"]["balance"] == "memory") tree["parallel"]["balance"] = "flops";
  if (tree["model"]["kind"] == "perceptron") return;
  tree["model"]["heads"] = 4;
  if (tree["parallel"]["pipeline"] != 1) tree["model"]["tied"] = false;
}

}  // namespace

Json cut(Dice& dice) {
  Json tree = Json::object();
  constexpr std::array schedules{"naive", "gpipe", "1f1b",      "interleaved_1f1b",
                                 "zb_h1", "zb_h2", "pipedream", "pipedream_2bw"};
  const std::string schedule = schedules[dice.one_of(schedules.size())];
  const bool dense = dice.hits(0.3);  // a perceptron, whose tensor ranks share layers in pairs
  Sizes sizes = drawn_sizes(dice, schedule);
  if (dense) sizes.context = sizes.expert = 1;
  const bool stages_unlike = schedule == "pipedream" && dice.hits(0.5);
  if (stages_unlike) sizes.tensor = sizes.context = sizes.expert = 1;
  Json parallel{{"tensor", sizes.tensor},
                {"pipeline", sizes.pipeline},
                {"context", sizes.context},
                {"expert", sizes.expert},
                {"schedule", schedule},
                {"chunks", sizes.chunks},
                {"micro_batches", sizes.micro_batches},
                {"balance", std::array{"flops", "memory", "blocks"}[dice.one_of(3)]}};
  if (sizes.tensor > 1 && !dense) parallel["sequence_parallel"] = dice.hits(0.5);
  if (dice.hits(0.3)) parallel["order"] = {"data", "tensor", "pipeline", "expert", "context"};
  if (dice.hits(0.3)) parallel["simulate"] = "all";
  tree["parallel"] = std::move(parallel);
  const std::int64_t layers = sizes.pipeline * sizes.chunks + 1;
  tree["cluster"]["workers"] = sizes.tensor * sizes.pipeline * sizes.context * sizes.expert * sizes.data;
  tree["data"] = dense ? Json{{"source", "house_prices"}, {"features", 6}, {"samples", 40}}
                       : Json{{"source", "markov"}, {"vocabulary", 6}, {"samples", 40}};
  tree["model"] = dense ? Json{{"kind", "perceptron"}, {"hidden", std::vector(static_cast<std::size_t>(layers - 1), 8)}}
                        : transformer(dice, sizes);
  tree["training"]["batch_size"] = sizes.data * sizes.micro_batches * sizes.expert;
  if (stages_unlike) make_stages_unlike(tree, dice);
  if (sizes.tensor > 1 && dice.hits(0.4)) make_unlike(tree, dice);
  constexpr std::array recompute{"none", "selective", "full"};
  tree["training"]["recompute"] = recompute[dice.one_of(recompute.size())];
  if (dice.hits(0.3)) tree["training"]["numbers"] = false;
  return tree;
}

}  // namespace simgrad::fuzz
