// SPDX-License-Identifier: Apache-2.0
#include "plumbline/model/layer.h"

#include <gmock/gmock.h>

namespace plumbline {
namespace {

using testing::HasSubstr;

Layer llama() { return {"llama", 4096, 32, 8, 128, 14336, 2048, 1}; }

TEST(Layer, AValidLayerHasNoDiagnostics) { EXPECT_TRUE(validate(llama()).empty()); }

TEST(Layer, EveryFieldIsHeldToItsRangeAndNamed) {
  for (const LayerField& field : layer_fields()) {
    Layer layer = llama();
    layer.*field.member = field.max + 1;
    Diagnostics found = validate(layer, {"f.csv", 3, 4});
    ASSERT_EQ(found.size(), 1u) << field.name;
    EXPECT_EQ(found[0].code, "layer-field-out-of-range");
    EXPECT_THAT(found[0].message, HasSubstr(std::string(field.name)));
    EXPECT_EQ(found[0].line, 3);
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{INT64_MIN}}) {
      layer.*field.member = bad;
      found = validate(layer);
      if (field.name == "window_size") {
        EXPECT_TRUE(found.empty());
        continue;
      }
      ASSERT_EQ(found.size(), 1u) << field.name;
      EXPECT_EQ(found[0].code, "layer-field-not-positive");
      EXPECT_THAT(found[0].message, HasSubstr(std::string(field.name)));
    }
  }
}

TEST(Layer, HeadsMustBeSharedEvenly) {
  Layer layer = llama();
  layer.num_kv_heads = 5;
  const Diagnostics found = validate(layer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "layer-heads-not-divisible");
}

TEST(Layer, FieldsAreFoundByName) {
  EXPECT_EQ(find_layer_field("ffn_dim")->member, &Layer::ffn_dim);
  EXPECT_EQ(find_layer_field("ffn"), nullptr);
}

}  // namespace
}  // namespace plumbline
