// Presets against the published numbers of parameters; Hugging Face's config.json read and refused.
#include "models/transformer_options.h"

#include "base/errors.h"
#include "catch.h"
#include "models/transformer_config.h"
#include "scratch.h"

namespace transformer_options_test {

using namespace simgrad;
using namespace simgrad::models;

namespace {

const TransformerShape& preset(std::string_view name) {
  for (const PresetEntry& entry : transformer_presets())
    if (entry.name.name == name) return entry.shape;
  throw std::runtime_error("no such preset");
}

double billions(std::string_view name) { return static_cast<double>(parameters(preset(name))) / 1e9; }

/// The shape in a file of this text.
TransformerShape read(const std::string& text) {
  const tests::Scratch scratch;
  return shape_in_config(scratch.write("config.json", text));
}

/// The refusal of a file of this text, from the file's name on.
std::string refused(const std::string& text) {
  try {
    read(text);
  } catch (const base::ScenarioError& error) {
    const std::string message = error.what();
    return message.substr(message.find("config.json"));
  }
  return "no refusal";
}

}  // namespace

TEST_CASE("presets have the published numbers of parameters") {
  // As Hugging Face counts the published weights, to the last one.
  CHECK(parameters(preset("gpt2")) == 124'439'808);
  CHECK(parameters(preset("gpt2_medium")) == 354'823'168);
  CHECK(parameters(preset("gpt2_large")) == 774'030'080);
  CHECK(parameters(preset("gpt2_xl")) == 1'557'611'200);
  CHECK(parameters(preset("bloom_176b")) == 176'247'271'424);
  CHECK(parameters(preset("gpt_neox_20b")) == 20'554'567'680);
  CHECK(parameters(preset("llama2_7b")) == 6'738'415'616);
  CHECK(parameters(preset("llama2_13b")) == 13'015'864'320);
  CHECK(parameters(preset("llama2_70b")) == 68'976'648'192);
  CHECK(parameters(preset("llama3_8b")) == 8'030'261'248);
  CHECK(parameters(preset("llama3_70b")) == 70'553'706'496);
  CHECK(parameters(preset("llama3_405b")) == 405'853'388'800);
  CHECK(parameters(preset("mistral_7b")) == 7'241'732'096);
  // As the papers print them: 175 B, and 22, 175, 530 and 1000 B.
  CHECK(billions("gpt3_175b") == Approx(174.6).epsilon(1e-3));
  CHECK(billions("megatron_22b") == Approx(22).epsilon(0.02));
  CHECK(billions("megatron_175b") == Approx(174.6).epsilon(1e-3));
  CHECK(billions("megatron_530b") == Approx(530).epsilon(1e-3));
  CHECK(billions("megatron_1t") == Approx(1008).epsilon(1e-3));
  for (const PresetEntry& entry : transformer_presets()) CHECK(refusal(entry.shape).empty());
}

TEST_CASE("a preset's shape survives the options") {
  TransformerOptions options;
  options.take(preset("llama2_70b"));
  CHECK(parameters(options.shape()) == 68'976'648'192);
  CHECK(options.shape().fused_attention);
  options.layers = 40;  // V h 2 + h, and 40 instead of 80 layers
  CHECK(parameters(options.shape()) == (68'976'648'192 - 2 * 32000 * 8192 - 8192) / 2 + 2 * 32000 * 8192 + 8192);
}

TEST_CASE("options that are left out follow the others") {
  TransformerOptions options;
  options.hidden = 96;
  options.heads = 6;
  CHECK(options.shape(50).kv_heads == 6);
  CHECK(options.shape(50).feed_forward == 4 * 96);
  CHECK(options.shape(50).vocabulary == 50);
  options.vocabulary = 70;
  CHECK(options.shape(50).vocabulary == 70);
}

TEST_CASE("config.json of GPT-2, as Hugging Face publishes it") {
  const TransformerShape shape = read(R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256,
  "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
  "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
  "resid_pdrop": 0.1, "vocab_size": 50257})");
  CHECK(parameters(shape) == 124'439'808);
  CHECK((shape.dropout && shape.fused_attention && shape.tied));
}

TEST_CASE("config.json of a LLaMA with grouped keys") {
  const TransformerShape shape = read(R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "hidden_act": "silu", "hidden_size": 4096,
  "intermediate_size": 14336, "max_position_embeddings": 8192, "model_type": "llama", "num_attention_heads": 32,
  "num_hidden_layers": 32, "num_key_value_heads": 8, "rope_scaling": null, "tie_word_embeddings": false,
  "vocab_size": 128256})");
  CHECK(parameters(shape) == 8'030'261'248);
  CHECK(
      (shape.gated && shape.norm == Norm::rms_norm && shape.positions == Positions::rotary && shape.sequence == 8192));
}

TEST_CASE("config.json of Qwen2, whose q, k and v alone have biases") {
  const TransformerShape shape = read(R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
  "max_position_embeddings": 131072, "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
  "tie_word_embeddings": false, "vocab_size": 152064})");
  CHECK(parameters(shape) == 7'615'616'512);  // Qwen2-7B
}

TEST_CASE("config.json of GPT-NeoX, BLOOM, Mistral and OPT") {
  CHECK(parameters(read(R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
  "max_position_embeddings": 2048, "num_attention_heads": 64, "num_hidden_layers": 44, "vocab_size": 50432})")) ==
        20'554'567'680);
  CHECK(parameters(read(R"({"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112,
  "vocab_size": 250880})")) == 176'247'271'424);
  CHECK(parameters(read(R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
  "max_position_embeddings": 32768, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
  "vocab_size": 32000})")) == 7'241'732'096);
  // OPT-125M has 125,239,296; two rows of positions that no token uses are not counted.
  CHECK(parameters(read(R"({"model_type": "opt", "hidden_size": 768, "ffn_dim": 3072, "max_position_embeddings": 2048,
  "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 50272, "do_layer_norm_before": true,
  "word_embed_proj_dim": 768})")) == 125'239'296 - 2 * 768);
}

TEST_CASE("a config.json without what is needed is refused with the key") {
  CHECK(refused("[]") == "config.json:1:1: expected a JSON object of keys");
  CHECK(refused("{\n  \"model_type\": gpt2}") ==
        "config.json:2:17: this is no JSON; expected the config.json of a Hugging Face model");
  CHECK(refused("") == "config.json:1:1: this is no JSON; expected the config.json of a Hugging Face model");
  CHECK(refused("{}") ==
        "config.json:1:1: no \"model_type\"; expected one of bloom, gpt2, gpt_neox, llama, mistral, opt, qwen2");
  CHECK(refused("{\"model_type\": \"t5\"}") ==
        "config.json:1:2: model_type = \"t5\"; expected one of bloom, gpt2, gpt_neox, llama, mistral, opt, qwen2; give "
        "the numbers of another model one by one");
  CHECK(refused("{\"model_type\": \"gpt2\", \"n_layer\": 12}") ==
        "config.json:1:1: no \"n_embd\" and no \"hidden_size\"; expected a whole number above 0");
  CHECK(refused("{\"model_type\": \"gpt2\",\n\"n_layer\": -12}") ==
        "config.json:2:1: n_layer = -12; expected a whole number above 0");
  CHECK(refused("{\"model_type\": \"gpt2\",\n \"n_layer\": \"12\"}") ==
        "config.json:2:2: n_layer = \"12\"; expected a whole number above 0");
  CHECK(refused(R"({"model_type": "mistral", "hidden_size": 5120, "intermediate_size": 14336, "head_dim": 128,
  "max_position_embeddings": 1024, "num_attention_heads": 32, "num_hidden_layers": 40, "vocab_size": 131072})") ==
        "config.json:1:76: head_dim = 128; expected 160: hidden_size / num_attention_heads is every head's width here");
  CHECK(refused("\n {\"model_type\": \"gpt2\", \"n_embd\": 100,\n\"n_head\": 8}") ==
        "config.json:3:1: n_head = 8; expected a divisor of n_embd = 100");
  CHECK(refused("{\"model_type\": \"llama\", \"num_attention_heads\": 8, \"num_key_value_heads\": 3}") ==
        "config.json:1:51: num_key_value_heads = 3; expected a divisor of num_attention_heads = 8");
  CHECK(refused("\n {\"model_type\": \"gpt2\"}").starts_with("config.json:2:2: no \"n_layer\""));
  CHECK_THROWS_AS(shape_in_config("no/such/config.json"), base::EnvironmentError);
  CHECK_THROWS_AS(shape_in_config("."), base::EnvironmentError);  // a folder opens, but has no bytes
}

TEST_CASE(
    "a config.json that would run over the stack, beyond all bounds, or that has no end is refused in a sentence") {
  for (const std::string level : {"[", "{\"a\":"}) {
    std::string deep;
    for (int k = 0; k < 100'000; ++k) deep += level;
    CHECK(refused(deep) == "config.json:1:" + std::to_string(256 * level.size() + 1) +
                               ": nested more than 256 deep; expected the config.json of a Hugging Face model");
  }
  CHECK(refused("{\"a\": 1e999}") == "config.json: a number beyond the range of doubles; expected at most 1.8e308");
  CHECK(refused("{\"model_type\": \"" + std::string(1000, 'x') + "\"}")
            .starts_with("config.json:1:2: model_type = \"" + std::string(79, 'x') + "...; expected one of bloom"));
  CHECK_THROWS_WITH(shape_in_config("/dev/zero"), "/dev/zero: is a device; expected a regular file");
}

}  // namespace transformer_options_test
