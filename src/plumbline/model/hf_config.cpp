// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/hf_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "plumbline/base/numbers.h"
#include "plumbline/base/text.h"
#include "plumbline/model/hf_parts.h"

namespace plumbline {
namespace {

using namespace detail;

constexpr std::int64_t kMaxHeadsWidth = 1LL << 20;  // heads · head_dim

constexpr std::int64_t kMaxLayerCount = 1LL << 48;  // parameters or bytes of state of one layer

struct Marker {
  std::string_view key;
  std::string_view what;
  bool HfFamily::*expected;  ///< families that read the key; null: those with an extra of their own
};

// Keys that only such models set; a value of null, false, 0, 1 or [] means that the feature is off.
constexpr auto kMarkers = std::to_array<Marker>({
    {"num_local_experts", "mixture-of-experts layers", &HfFamily::experts},
    {"num_experts", "mixture-of-experts layers", &HfFamily::experts},
    {"n_routed_experts", "mixture-of-experts layers", &HfFamily::experts},
    {"moe_intermediate_size", "mixture-of-experts layers", &HfFamily::experts},
    {"moe_num_experts", "mixture-of-experts layers", &HfFamily::experts},
    {"enable_moe_block", "mixture-of-experts layers", &HfFamily::experts},
    {"kv_lora_rank", "multi-head latent attention (MLA)", &HfFamily::latent},
    {"q_lora_rank", "multi-head latent attention (MLA)", &HfFamily::latent},
    {"attn_layer_period", "hybrid layers", nullptr},
    {"hybrid_override_pattern", "hybrid layers", nullptr},
    {"layers_block_type", "hybrid layers", nullptr},
    {"block_types", "hybrid layers", nullptr},
    {"mamba_d_state", "hybrid layers (Mamba)", nullptr},
    {"mamba_d_ssm", "hybrid layers (Mamba)", nullptr},
    {"ssm_state_size", "hybrid layers (state space)", nullptr},
    {"state_size", "state-space layers", nullptr},
    {"linear_num_value_heads", "hybrid layers (linear attention)", nullptr},
    {"linear_attn_config", "hybrid layers (linear attention)", nullptr},
    {"conv_L_cache", "hybrid layers (convolution)", nullptr},
    {"num_kv_shared_layers", "layers that share a KV cache", nullptr},
});

bool is_off(const Json& value) {
  return value.is_null() || value == false || value == 0 || value == 1 || (value.is_array() && value.empty());
}

/// Refuses what this family's formulas would count as something else. Says so by name, at the key that tells.
bool refuse_uncounted(HfReader& in, const HfFamily* f, std::string_view model_type) {
  std::string_view kind = uncounted_kind(model_type);
  std::string_view key = "model_type";
  for (const Marker& marker : kMarkers) {
    const auto it = in.config.find(marker.key);
    if (!kind.empty() || it == in.config.end() || is_off(*it)) continue;
    if (f == nullptr || (marker.expected != nullptr ? f->*marker.expected : f->extra != HfExtra::none))
      continue;
    kind = marker.what;
    key = marker.key;
  }
  if (kind.empty()) return false;
  in.wrong("hf-not-dense",
           fmt::format("{} has {} ({}): costing them as dense layers would be wrong", model_type, kind, key),
           key);
  return true;
}

void build_layers(HfReader& in, const HfFamily& f, const std::vector<LayerFacts>& facts, Transformer& model) {
  for (const LayerFacts& each : facts) {
    TransformerLayer layer = count_layer(in, f, model.hidden_dim, each);
    if (!in.found.empty()) return;
    if (layer.shape.num_heads * layer.shape.head_dim > kMaxHeadsWidth) {
      in.wrong("hf-field-invalid",
               fmt::format("num_attention_heads ({}) times head_dim ({}) is more than {}",
                           layer.shape.num_heads, layer.shape.head_dim, format_grouped(kMaxHeadsWidth)),
               *kHfHeads.begin());
      return;
    }
    if (layer.parameters > kMaxLayerCount || layer.state_bytes > kMaxLayerCount ||
        layer.shape.num_heads * layer.value_dim > kMaxHeadsWidth) {
      in.wrong("hf-field-invalid", "a layer of these sizes has more parameters than any model can have",
               *kHfHidden.begin());
      return;
    }
    if (const Diagnostics wrong = validate(layer.shape, in.at(*kHfHeads.begin())); !wrong.empty()) {
      in.found.insert(in.found.end(), wrong.begin(), wrong.end());
      return;
    }
    model.layers.push_back(std::move(layer));
  }
}

void add_notes(const HfFamily& f, const Role& role, Transformer& model) {
  if (role.head == HeadKind::none)
    model.notes.push_back(fmt::format("{} has no LM head", model.architecture));
  if (role.head == HeadKind::classifier) {
    model.notes.push_back(fmt::format("{} has a head of {} parameters in place of an LM head",
                                      model.architecture, format_grouped(model.lm_head_parameters)));
  }
  if (role.bidirectional) model.notes.push_back("attention is bidirectional");
  if (is(f, "llama4"))
    model.notes.push_back("chunked attention is counted as a sliding window of the chunk's size");
  if (f.extra == HfExtra::mamba2 || f.extra == HfExtra::gated_delta) {
    model.notes.push_back("recurrent layers keep a state of fixed size in place of a KV cache");
  }
}

Parsed<Transformer> build(HfReader& in, const HfFamily& base, const std::string& model_type,
                          const HfQuantFile* beside) {
  Transformer model;
  model.model_type = model_type;
  HfFamily f = adjusted(in, base);
  // Only a wrapper leaves its text part's fields to the class (and Gemma 3's small configurations did).
  if (&in.config == &in.root && !is(f, "gemma3")) f.defaults = {};
  const Role role = read_role(in, model);
  if (role.bidirectional) f.causal = false;
  model.head = role.head;
  model.tied_embeddings = f.tied;
  const auto hidden = in.need_count(kHfHidden, kMaxHfDim, f.defaults.hidden);
  const Json* blocks = f.extra == HfExtra::mamba2 ? in.get({"layers_block_type"}) : nullptr;
  const bool listed = blocks != nullptr && blocks->is_array() && blocks->size() <= kMaxHfLayers;
  const auto layers = in.need_count(kHfLayers, kMaxHfLayers,
                                    listed ? static_cast<std::int64_t>(blocks->size()) : f.defaults.layers);
  const auto vocab = in.need_count({"vocab_size", "padded_vocab_size"}, kMaxHfDim, f.defaults.vocab);
  std::vector<LayerFacts> facts;
  if (hidden && layers) {
    model.hidden_dim = *hidden;
    facts.resize(static_cast<std::size_t>(*layers));
    read_attention(in, f, *hidden, facts);
    if (in.found.empty()) read_mlp(in, f, *hidden, facts);
    if (in.found.empty()) build_layers(in, f, facts, model);
  }
  if (in.found.empty()) {
    model.vocab_size = *vocab;
    count_ends(in, f, role, model);
    count_mtp(in, model);
    read_quantization(in, beside, model);
  }
  if (!in.found.empty()) return {std::nullopt, std::move(in.found)};
  for (std::size_t i = 0; i < facts.size(); ++i) {
    model.layers[i].unlisted = unlisted_reason(f, facts[i], model.layers[i]);
    model.layers[i].untimed = untimed_reason(model.layers[i]);
  }
  count_draft(in, role, model);
  add_notes(f, role, model);
  return {std::move(model), {}};
}

/// Python writes Infinity, -Infinity and NaN, which JSON has not: they become null (or 0) of the same width.
std::string without_infinities(std::string_view text) {
  std::string out(text);
  bool in_string = false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\\' && in_string) {
      ++i;
    } else if (out[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && out.compare(i, 9, "-Infinity") == 0) {
      out.replace(i, 9, "null     ");
    } else if (!in_string && out.compare(i, 8, "Infinity") == 0) {
      out.replace(i, 8, "null    ");
    } else if (!in_string && out.compare(i, 3, "NaN") == 0) {
      out.replace(i, 3, "0.0");
    }
  }
  return out;
}

/// The object that describes the decoder: the document, or a member of it, with its JSON pointer.
const Json* decoder_of(const Json& root, std::string& pointer) {
  const Json* at = &root;
  for (int depth = 0; depth < 3; ++depth) {
    const Json* next = nullptr;
    for (const std::string_view name : {"text_config", "llm_config", "language_config", "thinker_config"}) {
      const auto it = at->find(name);
      if (it == at->end() || !it->is_object() || it->empty()) continue;
      next = &*it;
      pointer += fmt::format("/{}", name);
      break;
    }
    if (next == nullptr) break;
    at = next;
  }
  return at;
}

}  // namespace

Parsed<Transformer> parse_hf_config(std::string_view document_text, const std::string& file,
                                    const std::optional<HfQuantFile>& quantization) {
  if (document_text.starts_with("\xEF\xBB\xBF")) document_text.remove_prefix(3);
  const std::string text = without_infinities(document_text);
  auto document = parse_json(text, file);
  if (!document.ok()) return {std::nullopt, std::move(document.diagnostics)};
  const Json& root = *document.value;
  if (!root.is_object()) {
    return failed<Transformer>(diagnose("hf-no-model", "the document is not an object", {file, 1, 1}));
  }
  std::string nested_at;
  const Json& config = *decoder_of(root, nested_at);
  const bool nested = &config != &root;
  HfReader in{config, root, text, std::move(nested_at), file};
  const auto top = root.find("model_type");
  const Json* type = in.get({"model_type"});
  if (type == nullptr && top != root.end()) type = &*top;
  if (type == nullptr || !type->is_string()) {
    return failed<Transformer>(
        diagnose("hf-no-model", "model_type is missing or no text", in.at("model_type")));
  }
  std::string model_type = type->get<std::string>();
  // A wrapper whose text part names no type is built around Llama's class.
  if (nested && in.get({"model_type"}) == nullptr && find_hf_family(model_type) == nullptr &&
      uncounted_kind(model_type).empty())
    model_type = "llama";
  const HfFamily* family = find_hf_family(model_type);
  if (refuse_uncounted(in, family, printable(model_type))) return {std::nullopt, std::move(in.found)};
  if (family == nullptr) {
    return failed<Transformer>(
        diagnose("hf-model-type-unknown",
                 fmt::format("model_type '{}' is not known; known: {}", printable(cut_middle(model_type, 40)),
                             fmt::join(hf_model_types(), ", ")),
                 in.at("model_type")));
  }
  Parsed<Transformer> model = build(in, *family, model_type, quantization ? &*quantization : nullptr);
  if (model.ok() && nested) {
    model.value->notes.insert(model.value->notes.begin(),
                              fmt::format("only {} is counted; other parts of the model are left out",
                                          in.nested.substr(in.nested.rfind('/') + 1)));
  }
  return model;
}

}  // namespace plumbline
