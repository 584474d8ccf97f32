#include "models/transformer_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/errors.h"
#include "base/files.h"
#include "base/json_depth.h"
#include "base/place.h"
#include "base/text.h"

namespace simgrad::models {

namespace {

using nlohmann::json;
using Keys = std::initializer_list<std::string_view>;

/// The value as faults show it: one short line.
std::string shown(const json& value) {
  constexpr std::size_t longest = 80;
  std::string text = value.dump(-1, ' ', true);  // in ASCII, which may be cut anywhere
  if (text.size() > longest) text.replace(longest, std::string::npos, "...");
  return text;
}

/// The numbers of keys that no number of the shape is taken from.
constexpr base::Bounds any_count = base::Bounds::between(1, 1e15);

/// The file's keys, read with the faults that a user can mend.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& path) : path_(path), text_(base::read_file(path)) {
    parse();
    if (!json_.is_object()) throw base::ScenarioError(fmt::format("{}:1:1: expected a JSON object of keys", path));
  }

  /// The whole number at the first of the keys that the file has. Errors: there is none, or none within the bounds.
  std::int64_t number(Keys keys, const base::Bounds& bounds = any_count) const {
    if (const auto found = number_if_any(keys, bounds)) return *found;
    std::vector<std::string> quoted;
    for (const std::string_view key : keys) quoted.push_back(fmt::format("\"{}\"", key));
    throw base::ScenarioError(
        fmt::format("{}{}: no {}; expected a whole number above 0", path_, begin(), base::joined(quoted, " and no ")));
  }
  std::optional<std::int64_t> number_if_any(Keys keys, const base::Bounds& bounds = any_count) const {
    for (const std::string_view key : keys) {
      const json* value = find(key);
      if (!value) continue;
      const double number = value->is_number() ? value->get<double>() : 0.0;
      if (!any_count.contains(number) || number != std::floor(number)) refuse(key, "expected a whole number above 0");
      if (!bounds.contains(number))
        refuse(key, fmt::format("expected a whole number from {:.0f} to {:.0f}", bounds.least, bounds.most));
      return static_cast<std::int64_t>(number);
    }
    return {};
  }
  bool flag(std::string_view key, bool fallback) const {
    const json* value = find(key);
    if (!value) return fallback;
    if (!value->is_boolean()) refuse(key, "expected true or false");
    return value->get<bool>();
  }
  /// Whether one of these probabilities is above 0.
  bool any_positive(Keys keys, double fallback) const {
    bool any = false, found = false;
    for (const std::string_view key : keys) {
      const json* value = find(key);
      if (!value) continue;
      if (!value->is_number()) refuse(key, "expected a probability");
      found = true;
      any = any || value->get<double>() > 0.0;
    }
    return found ? any : fallback > 0.0;
  }
  std::string text(std::string_view key, std::string_view expected) const {
    const json* value = find(key);
    if (!value) throw base::ScenarioError(fmt::format("{}{}: no \"{}\"; expected {}", path_, begin(), key, expected));
    if (!value->is_string()) refuse(key, expected);
    return value->get<std::string>();
  }
  /// Refuses another value than the one that TransformerShape describes.
  void require(std::string_view key, std::int64_t expected, std::string_view why) const {
    if (const auto found = number_if_any({key}); found && *found != expected)
      refuse(key, fmt::format("expected {}: {}", expected, why));
  }
  void require(std::string_view key, bool expected, std::string_view why) const {
    if (flag(key, expected) != expected) refuse(key, fmt::format("expected {}: {}", expected, why));
  }
  /// Refuses a number that does not divide the other one.
  void require_divisor(Keys keys, Keys of) const {
    const std::string_view key = known(keys), whole = known(of);
    if (!key.empty() && !whole.empty() && number({whole}) % number({key}) != 0)
      refuse(key, fmt::format("expected a divisor of {} = {}", whole, number({whole})));
  }
  [[noreturn]] void refuse(std::string_view key, std::string_view expected) const {
    const json* value = find(key);
    throw base::ScenarioError(fmt::format("{}{}: {} = {}; {}", path_, place(text_.find(fmt::format("\"{}\"", key))),
                                          key, value ? shown(*value) : "nothing", expected));
  }

 private:
  /// The key's value; a null is none.
  const json* find(std::string_view key) const {
    const auto found = json_.find(std::string(key));
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  /// The first of the keys that the file has; empty: none.
  std::string_view known(Keys keys) const {
    const auto* const found = std::ranges::find_if(keys, [this](std::string_view key) { return find(key) != nullptr; });
    return found == keys.end() ? std::string_view() : *found;
  }
  /// The place of the object, which a key that is missing should be in.
  std::string begin() const { return place(text_.find('{')); }
  /// ":line:column" of a byte.
  std::string place(std::size_t at) const {
    if (at > text_.size()) return {};
    return base::place_in(text_, at, "");
  }
  void parse() {
    if (const std::size_t deep = base::too_deep_json(text_); deep != std::string::npos)
      throw base::ScenarioError(
          fmt::format("{}{}: nested more than {} deep; expected the config.json of a Hugging Face "
                      "model",
                      path_, place(deep), base::json_depth_most));
    try {
      json_ = json::parse(text_);
    } catch (const json::parse_error& error) {
      const std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text_.size());
      throw base::ScenarioError(
          fmt::format("{}{}: this is no JSON; expected the config.json of a Hugging Face model", path_, place(at)));
    } catch (const json::exception&) {  // the only other fault of a text
      throw base::ScenarioError(
          fmt::format("{}: a number beyond the range of doubles; expected at most 1.8e308", path_));
    }
  }

  const std::string& path_;
  std::string text_;
  json json_;
};

TransformerShape gpt2(const ConfigFile& file) {
  TransformerShape shape;
  shape.layers = file.number({"n_layer", "num_hidden_layers"}, shape_bounds.layers);
  shape.hidden = file.number({"n_embd", "hidden_size"}, shape_bounds.hidden);
  shape.heads = shape.kv_heads = file.number({"n_head", "num_attention_heads"}, shape_bounds.heads);
  shape.feed_forward = file.number_if_any({"n_inner"}, shape_bounds.feed_forward).value_or(4 * shape.hidden);
  shape.sequence = file.number({"n_positions", "max_position_embeddings", "n_ctx"}, shape_bounds.sequence);
  shape.tied = file.flag("tie_word_embeddings", true);
  shape.dropout = file.any_positive({"attn_pdrop", "embd_pdrop", "resid_pdrop"}, 0.1);
  return shape;
}

/// The keys that the newer kinds share.
TransformerShape common(const ConfigFile& file) {
  TransformerShape shape;
  shape.layers = file.number({"num_hidden_layers"}, shape_bounds.layers);
  shape.hidden = file.number({"hidden_size"}, shape_bounds.hidden);
  shape.heads = shape.kv_heads = file.number({"num_attention_heads"}, shape_bounds.heads);
  shape.sequence = file.number({"max_position_embeddings"}, shape_bounds.sequence);
  return shape;
}

/// llama, mistral and qwen2, which differ by the biases of q, k and v.
TransformerShape llama(const ConfigFile& file, bool qkv_biases) {
  TransformerShape shape = common(file);
  shape.kv_heads = file.number_if_any({"num_key_value_heads"}, shape_bounds.heads).value_or(shape.heads);
  shape.feed_forward = file.number({"intermediate_size"}, shape_bounds.feed_forward);
  shape.gated = true;
  shape.tied = file.flag("tie_word_embeddings", false);
  shape.biases = false;
  shape.qkv_biases = qkv_biases;
  shape.norm = Norm::rms_norm;
  shape.positions = Positions::rotary;
  shape.dropout = file.any_positive({"attention_dropout"}, 0.0);
  file.require("attention_bias", false, "biases of these products are not described");
  file.require("mlp_bias", false, "biases of these products are not described");
  file.require("head_dim", shape.hidden / shape.heads, "hidden_size / num_attention_heads is every head's width here");
  return shape;
}

TransformerShape gpt_neox(const ConfigFile& file) {
  TransformerShape shape = common(file);
  shape.feed_forward = file.number({"intermediate_size"}, shape_bounds.feed_forward);
  shape.tied = file.flag("tie_word_embeddings", false);
  shape.positions = Positions::rotary;
  shape.dropout = file.any_positive({"attention_dropout", "hidden_dropout"}, 0.0);
  file.require("attention_bias", true, "a transformer with biases in one part alone is not described");
  return shape;
}

TransformerShape bloom(const ConfigFile& file) {
  TransformerShape shape;
  shape.layers = file.number({"n_layer", "num_hidden_layers"}, shape_bounds.layers);
  shape.hidden = file.number({"hidden_size", "n_embed"}, shape_bounds.hidden);
  shape.heads = shape.kv_heads = file.number({"n_head", "num_attention_heads"}, shape_bounds.heads);
  shape.feed_forward = 4 * shape.hidden;
  shape.sequence = file.number_if_any({"seq_length"}, shape_bounds.sequence).value_or(2048);  // BLOOM's own training
  shape.tied = file.flag("tie_word_embeddings", true);
  shape.positions = Positions::none;
  shape.embedding_norm = true;
  shape.dropout = file.any_positive({"attention_dropout", "hidden_dropout"}, 0.0);
  return shape;
}

TransformerShape opt(const ConfigFile& file) {
  TransformerShape shape = common(file);
  shape.feed_forward = file.number({"ffn_dim"}, shape_bounds.feed_forward);
  shape.tied = file.flag("tie_word_embeddings", true);
  shape.biases = file.flag("enable_bias", true);
  shape.dropout = file.any_positive({"dropout", "attention_dropout"}, 0.1);
  file.require("do_layer_norm_before", true, "norms stand before each part here");
  file.require("word_embed_proj_dim", shape.hidden, "the embedding is as wide as the blocks here");
  return shape;
}

}  // namespace

TransformerShape shape_in_config(const std::string& path) {
  static const std::vector<std::string> known{"bloom", "gpt2", "gpt_neox", "llama", "mistral", "opt", "qwen2"};
  const ConfigFile file(path);
  const std::string kind = file.text("model_type", fmt::format("one of {}", base::joined(known)));
  if (!std::ranges::binary_search(known, kind))
    file.refuse("model_type",
                fmt::format("expected one of {}; give the numbers of another model one by one", base::joined(known)));
  const Keys heads{"n_head", "num_attention_heads"};
  file.require_divisor(heads, {"n_embd", "n_embed", "hidden_size"});
  file.require_divisor({"num_key_value_heads"}, heads);
  TransformerShape shape = kind == "gpt2"       ? gpt2(file)
                           : kind == "gpt_neox" ? gpt_neox(file)
                           : kind == "bloom"    ? bloom(file)
                           : kind == "opt"      ? opt(file)
                                                : llama(file, kind == "qwen2");
  shape.vocabulary = file.number({"vocab_size"}, shape_bounds.vocabulary);
  shape.fused_attention = true;
  return shape;
}

}  // namespace simgrad::models
