// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/arrays_and_pools.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::runtime {
namespace {

constexpr cudaChannelFormatDesc kFloat{32, 0, 0, 0, cudaChannelFormatKindFloat};
constexpr cudaChannelFormatDesc kUchar4{8, 8, 8, 8, cudaChannelFormatKindUnsigned};

class Arrays : public testing::Test {
 protected:
  cudaResourceDesc resource(cudaArray_t array) {
    cudaResourceDesc description = {};
    description.resType = cudaResourceTypeArray;
    description.res.array.array = array;
    return description;
  }
  memory::AddressSpace memory_{64 << 20};
  ArrayTable table_;
};

TEST_F(Arrays, TexelsAreOneTwoOrFourEqualChannels) {
  EXPECT_EQ(texel_bytes(kFloat), 4u);
  EXPECT_EQ(texel_bytes(kUchar4), 4u);
  EXPECT_EQ(texel_bytes({16, 16, 0, 0, cudaChannelFormatKindSigned}), 4u);
  EXPECT_FALSE(texel_bytes({8, 8, 8, 0, cudaChannelFormatKindUnsigned}));
  EXPECT_FALSE(texel_bytes({8, 16, 0, 0, cudaChannelFormatKindUnsigned}));
  EXPECT_FALSE(texel_bytes({8, 0, 0, 0, cudaChannelFormatKindFloat}));
}

TEST_F(Arrays, RowsAreWholeSectors) {
  cudaArray_t array = nullptr;
  ASSERT_EQ(table_.create(memory_, &array, kFloat, {9, 3, 0}, 0), cudaSuccess);
  EXPECT_EQ(array->image.pitch_bytes, 64u);
  EXPECT_EQ(array->image.height, 3u);
  EXPECT_NE(array->image.texels, nullptr);
  EXPECT_TRUE(table_.destroy(memory_, array));
  EXPECT_FALSE(table_.destroy(memory_, array));
}

TEST_F(Arrays, MipmapLevelsHalve) {
  cudaMipmappedArray_t array = nullptr;
  ASSERT_EQ(table_.create_mipmapped(memory_, &array, kFloat, {16, 4, 0}, 4, 0), cudaSuccess);
  EXPECT_EQ(array->levels[3]->extent.width, 2u);
  EXPECT_EQ(array->levels[3]->extent.height, 1u);
}

TEST_F(Arrays, LinearFilteringNeedsFloats) {
  cudaArray_t array = nullptr;
  ASSERT_EQ(table_.create(memory_, &array, kUchar4, {8, 8, 0}, 0), cudaSuccess);
  cudaTextureDesc description = {};
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t object = 0;
  EXPECT_EQ(table_.create_texture(memory_, &object, resource(array), description, nullptr),
            cudaErrorInvalidFilterSetting);
  description.readMode = cudaReadModeNormalizedFloat;
  EXPECT_EQ(table_.create_texture(memory_, &object, resource(array), description, nullptr),
            cudaSuccess);
  EXPECT_TRUE(table_.texture(object)->read_normalized_float);
}

TEST_F(Arrays, WrapNeedsNormalisedCoordinates) {
  cudaArray_t array = nullptr;
  ASSERT_EQ(table_.create(memory_, &array, kFloat, {8, 8, 0}, 0), cudaSuccess);
  cudaTextureDesc description = {};  // wrap, not normalised
  cudaTextureObject_t object = 0;
  ASSERT_EQ(table_.create_texture(memory_, &object, resource(array), description, nullptr),
            cudaSuccess);
  EXPECT_EQ(table_.texture(object)->address[0], memory::AddressMode::kClamp);
}

TEST_F(Arrays, ADestroyedObjectIsNotFound) {
  cudaArray_t array = nullptr;
  ASSERT_EQ(table_.create(memory_, &array, kFloat, {8, 8, 0}, 0), cudaSuccess);
  cudaSurfaceObject_t surface = 0;
  ASSERT_EQ(table_.create_surface(&surface, resource(array)), cudaSuccess);
  EXPECT_NE(table_.surface(surface), nullptr);
  EXPECT_TRUE(table_.destroy_surface(surface));
  EXPECT_EQ(table_.surface(surface), nullptr);
}

}  // namespace
}  // namespace membound::vgpu::runtime
