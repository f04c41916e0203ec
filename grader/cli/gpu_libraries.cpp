// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/gpu_libraries.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "grader/base/processor.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"

namespace membound::cli {
namespace {

constexpr std::uint64_t kPageBytes = base::kLargestPageBytes;
constexpr const char* kStop = "membound_vgpu_stop";
constexpr const char* kRuntime = "libcudart.so.13";
constexpr std::size_t kStubBytes = sizeof(base::MachineStub);
constexpr Elf64_Half kVersionOfLibrary = 2;  // 1 is the file's own name

/// Bytes that grow, and where what was added begins.
class Image {
 public:
  std::uint64_t align(std::uint64_t multiple) {
    bytes_.resize((bytes_.size() + multiple - 1) / multiple * multiple);
    return bytes_.size();
  }
  std::uint64_t add(const void* data, std::size_t size) {
    const std::uint64_t at = bytes_.size();
    bytes_.resize(at + size);
    if (size != 0) std::memcpy(&bytes_[at], data, size);
    return at;
  }
  template <typename T>
  std::uint64_t add(const std::vector<T>& all) {
    align(8);
    return add(all.data(), all.size() * sizeof(T));
  }
  /// Room of so many bytes.
  std::uint64_t leave(std::size_t size) {
    const std::uint64_t at = align(8);
    bytes_.resize(at + size);
    return at;
  }
  template <typename T>
  void put(std::uint64_t at, const T& value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
  }
  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Names with zero bytes between; 0 is the empty one.
class Names {
 public:
  std::uint32_t add(const std::string& name) {
    const auto at = static_cast<std::uint32_t>(text_.size());
    text_.insert(text_.end(), name.begin(), name.end());
    text_.push_back('\0');
    return at;
  }
  [[nodiscard]] const std::vector<char>& text() const { return text_; }

 private:
  std::vector<char> text_{'\0'};
};

/// The System V ABI's hash of a symbol's name, which versions have too.
std::uint32_t elf_hash(const std::string& name) {
  std::uint32_t hash = 0;
  for (const char letter : name) {
    hash = (hash << 4) + static_cast<unsigned char>(letter);
    const std::uint32_t high = hash & 0xf0000000u;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

/// DT_HASH: as many buckets as symbols.
std::vector<std::uint32_t> hash_table(const std::vector<std::string>& symbols) {
  const auto count = static_cast<std::uint32_t>(symbols.size());
  std::vector<std::uint32_t> table(2 + 2 * symbols.size());
  table[0] = table[1] = count;
  for (std::uint32_t i = 1; i < count; ++i) {
    std::uint32_t& first = table[2 + elf_hash(symbols[i]) % count];
    table[2 + count + i] = first;
    first = i;
  }
  return table;
}

/// The file's own name, and the version that is called like it.
std::vector<std::byte> version_definitions(const std::string& library, std::uint32_t name) {
  struct Definition {
    Elf64_Verdef head;
    Elf64_Verdaux name;
  };
  std::array<Definition, 2> both{};
  for (std::size_t i = 0; i < both.size(); ++i) {
    both[i].head = {VER_DEF_CURRENT,
                    static_cast<Elf64_Half>(i == 0 ? VER_FLG_BASE : 0),
                    static_cast<Elf64_Half>(i + 1),
                    1,
                    elf_hash(library),
                    sizeof(Elf64_Verdef),
                    i == 0 ? static_cast<Elf64_Word>(sizeof(Definition)) : 0};
    both[i].name = {name, 0};
  }
  std::vector<std::byte> bytes(sizeof both);
  std::memcpy(bytes.data(), both.data(), sizeof both);
  return bytes;
}

void put_stub(Image& image, StandIn does, std::uint64_t at, std::uint64_t message,
              std::uint64_t slot) {
  const auto to_message = static_cast<std::int64_t>(message - at);
  switch (does) {
    case StandIn::kEnds:
      return image.put(at, base::stub_calls(to_message, static_cast<std::int64_t>(slot - at)));
    case StandIn::kSucceeds:
      return image.put(at, base::stub_returns());
    case StandIn::kMakesHandle:
      return image.put(at, base::stub_stores(to_message));
  }
}

}  // namespace

// Addresses are offsets in the file: a page for reading and code, and one for writing after it.
std::vector<std::byte> make_stand_in(const StandInLibrary& library) {
  Names names;
  const std::uint32_t own_name = names.add(library.name), runtime = names.add(kRuntime);
  std::vector<Elf64_Sym> symbols(2);  // the first is none, the second what we ask for
  symbols[1].st_name = names.add(kStop);
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
  std::vector<std::string> spelled{"", kStop};
  std::vector<Elf64_Half> versions{0, 1};
  for (const StandInFunction& function : library.functions) {
    Elf64_Sym& symbol = symbols.emplace_back();
    symbol.st_name = names.add(function.name);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 1;  // any but SHN_UNDEF: the file has no sections
    symbol.st_size = kStubBytes;
    spelled.push_back(function.name);
    versions.push_back(function.is_versioned ? kVersionOfLibrary : 1);
  }
  Image image;
  image.leave(sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr));
  const std::uint64_t hash = image.add(hash_table(spelled));
  const std::uint64_t name_table = image.add(names.text());
  const std::uint64_t version_table = image.add(versions);
  const std::uint64_t definitions = image.add(version_definitions(library.name, own_name));
  const std::uint64_t relocation = image.leave(sizeof(Elf64_Rela));
  const std::uint64_t symbol_table = image.leave(symbols.size() * sizeof(Elf64_Sym));
  image.align(kStubBytes);
  const std::uint64_t stubs = image.leave(library.functions.size() * kStubBytes);
  std::vector<std::uint64_t> messages;
  for (const StandInFunction& function : library.functions)
    messages.push_back(image.add(function.message.c_str(), function.message.size() + 1));
  const std::uint64_t code_end = image.size(), writable = image.align(kPageBytes);
  const std::vector<Elf64_Dyn> dynamic = {{DT_SONAME, {own_name}},
                                          {DT_NEEDED, {runtime}},
                                          {DT_HASH, {hash}},
                                          {DT_STRTAB, {name_table}},
                                          {DT_STRSZ, {names.text().size()}},
                                          {DT_SYMTAB, {symbol_table}},
                                          {DT_SYMENT, {sizeof(Elf64_Sym)}},
                                          {DT_RELA, {relocation}},
                                          {DT_RELASZ, {sizeof(Elf64_Rela)}},
                                          {DT_RELAENT, {sizeof(Elf64_Rela)}},
                                          {DT_VERSYM, {version_table}},
                                          {DT_VERDEF, {definitions}},
                                          {DT_VERDEFNUM, {2}},
                                          {DT_NULL, {0}}};
  image.add(dynamic);
  const std::uint64_t slot = image.leave(8);
  for (std::size_t i = 0; i < library.functions.size(); ++i) {
    symbols[2 + i].st_value = stubs + i * kStubBytes;
    put_stub(image, library.functions[i].does, symbols[2 + i].st_value, messages[i], slot);
  }
  for (std::size_t i = 0; i < symbols.size(); ++i)
    image.put(symbol_table + i * sizeof(Elf64_Sym), symbols[i]);
  image.put(relocation, Elf64_Rela{slot, ELF64_R_INFO(1, base::kAddressRelocation), 0});
  const std::uint64_t writable_bytes = image.size() - writable;
  const std::uint64_t dynamic_bytes = dynamic.size() * sizeof(Elf64_Dyn);
  const Elf64_Phdr segments[] = {
      {PT_LOAD, PF_R | PF_X, 0, 0, 0, code_end, code_end, kPageBytes},
      {PT_LOAD, PF_R | PF_W, writable, writable, writable, writable_bytes, writable_bytes,
       kPageBytes},
      {PT_DYNAMIC, PF_R | PF_W, writable, writable, writable, dynamic_bytes, dynamic_bytes, 8},
      {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16}};
  Elf64_Ehdr head{};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = ET_DYN;
  head.e_machine = base::kElfMachine;
  head.e_version = EV_CURRENT;
  head.e_phoff = head.e_ehsize = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = std::size(segments);
  head.e_shentsize = sizeof(Elf64_Shdr);
  image.put(0, head);
  for (std::size_t i = 0; i < std::size(segments); ++i)
    image.put(sizeof head + i * sizeof(Elf64_Phdr), segments[i]);
  return image.take();
}

namespace {

struct Library {
  std::string_view name;      ///< what the file's name begins with
  std::string_view function;  ///< what its functions' names begin with, before a capital letter
  const char* what;
  const char* instead;
};

constexpr const char* kOwnKernels =
    "a kernel of your own, CUB or Thrust; or start the program by itself on a machine with a GPU";
constexpr Library kLibraries[] = {
    {"libcuda.so", "cu", "the driver library, whose calls begin with cu",
     "the runtime's calls, which begin with cuda; or start the program by itself on a machine with "
     "a GPU"},
    {"libcublas", "cublas", "cuBLAS, which is machine code for GPUs", kOwnKernels},
    {"libnvblas", "", "NVBLAS, which is machine code for GPUs", kOwnKernels},
    {"libcurand", "curand", "cuRAND's host interface, which is machine code for GPUs",
     "its device functions (curand_kernel.h) in a kernel of your own"},
    {"libcufft", "cufft", "cuFFT, which is machine code for GPUs", kOwnKernels},
    {"libcusparse", "cusparse", "cuSPARSE, which is machine code for GPUs", kOwnKernels},
    {"libcusolver", "cusolver", "cuSOLVER, which is machine code for GPUs", kOwnKernels},
    {"libcudnn", "cudnn", "cuDNN, which is machine code for GPUs", kOwnKernels},
    {"libcutensor", "cutensor", "cuTENSOR, which is machine code for GPUs", kOwnKernels},
    {"libnccl", "nccl", "NCCL, which is machine code for GPUs", kOwnKernels},
    {"libnpp", "npp", "NPP, which is machine code for GPUs", kOwnKernels},
    {"libnvjpeg", "nvjpeg", "nvJPEG, which is machine code for GPUs", kOwnKernels},
};

// What prepares work and does none; the older of two versions of a call has no suffix.
constexpr std::string_view kHandleMakers[] = {
    "cublasCreate",     "cublasLtCreate",   "cudnnCreate",   "curandCreateGenerator",
    "cusolverDnCreate", "cusolverSpCreate", "cusparseCreate"};
constexpr std::string_view kPreparations[] = {"cublasDestroy",
                                              "cublasLtDestroy",
                                              "cublasSetAtomicsMode",
                                              "cublasSetMathMode",
                                              "cublasSetPointerMode",
                                              "cublasSetStream",
                                              "cublasSetWorkspace",
                                              "cudnnDestroy",
                                              "cudnnSetStream",
                                              "curandDestroyGenerator",
                                              "curandSetStream",
                                              "curandSetGeneratorOffset",
                                              "curandSetPseudoRandomGeneratorSeed",
                                              "curandSetGeneratorOrdering",
                                              "cusolverDnDestroy",
                                              "cusolverDnSetStream",
                                              "cusolverSpDestroy",
                                              "cusolverSpSetStream",
                                              "cusparseDestroy",
                                              "cusparseSetPointerMode",
                                              "cusparseSetStream"};

StandIn what_it_does(std::string_view function) {
  constexpr std::string_view kSuffix = "_v2";
  if (function.ends_with(kSuffix)) function.remove_suffix(kSuffix.size());
  if (std::ranges::find(kHandleMakers, function) != std::end(kHandleMakers))
    return StandIn::kMakesHandle;
  return std::ranges::find(kPreparations, function) != std::end(kPreparations) ? StandIn::kSucceeds
                                                                               : StandIn::kEnds;
}

/// "cublasCreate_v2" begins with "cublas", "cudaMalloc" not with "cu".
bool is_named_for(const Library& library, const std::string& function) {
  if (library.function.empty() || !function.starts_with(library.function)) return false;
  const std::string_view rest = std::string_view(function).substr(library.function.size());
  return !rest.empty() && (library.name != "libcuda.so" ||
                           std::isupper(static_cast<unsigned char>(rest.front())) != 0);
}

std::string message_of(const std::string& function, const std::string& needed,
                       const Library& library) {
  return base::to_string({base::ErrorKind::kInput, function,
                          "is a function of " + needed + ", " + library.what,
                          "a program of kernels and the CUDA runtime", library.instead});
}

}  // namespace

std::vector<StandInLibrary> stand_ins_for(std::span<const std::byte> program) {
  std::vector<StandInLibrary> all;
  std::vector<fatbin::WantedFunction> wanted = fatbin::wanted_functions(program);
  for (const std::string& needed : fatbin::needed_libraries(program)) {
    const auto* const library =
        std::find_if(std::begin(kLibraries), std::end(kLibraries),
                     [&](const Library& each) { return needed.starts_with(each.name); });
    if (library == std::end(kLibraries)) continue;
    StandInLibrary& made = all.emplace_back();
    made.name = needed;
    // What names no library goes to the first that it may be of.
    std::erase_if(wanted, [&](const fatbin::WantedFunction& function) {
      const bool is_versioned = function.library == needed;
      if (!is_versioned && !(function.library.empty() && is_named_for(*library, function.name)))
        return false;
      made.functions.push_back({function.name, what_it_does(function.name),
                                message_of(function.name, needed, *library), is_versioned});
      return true;
    });
  }
  return all;
}

base::Status preload(const std::vector<StandInLibrary>& libraries) {
  if (libraries.empty()) return base::Done{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* const before = std::getenv("LD_PRELOAD");
  std::string list = before == nullptr ? "" : before;
  for (const StandInLibrary& library : libraries) {
    const std::vector<std::byte> bytes = make_stand_in(library);
    const int file = memfd_create(library.name.c_str(), 0);  // stays open in the program
    if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      return base::Error{base::ErrorKind::kMachine, library.name,
                         "a stand-in for it cannot be made: " + base::reason_text(errno),
                         "a file in memory (memfd_create)",
                         "link the program without it, if it calls none of its functions"};
    base::add_word(list, "/proc/self/fd/" + std::to_string(file), ":");
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  setenv("LD_PRELOAD", list.c_str(), 1);
  return base::Done{};
}

}  // namespace membound::cli
