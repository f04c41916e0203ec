#include "grader/vgpu/exec/select.hpp"
namespace membound::vgpu::exec {
Handler select_async(const program::Instruction&) { return nullptr; }
Handler select_texture(const program::Instruction&) { return nullptr; }
namespace generic {
Handler select_half(const program::Instruction&) { return nullptr; }
Handler select_packed(const program::Instruction&) { return nullptr; }
Handler select_carry(const program::Instruction&) { return nullptr; }
Handler select_rounded(const program::Instruction&) { return nullptr; }
}  // namespace generic
namespace avx2 {
Handler select_half(const program::Instruction&) { return nullptr; }
Handler select_packed(const program::Instruction&) { return nullptr; }
Handler select_carry(const program::Instruction&) { return nullptr; }
Handler select_rounded(const program::Instruction&) { return nullptr; }
}  // namespace avx2
}  // namespace membound::vgpu::exec
