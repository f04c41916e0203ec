// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/machine.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"

namespace membound::vgpu::timing {
namespace {

using testing::HasSubstr;

/// The H200's file under another id.
std::string copied_as(const std::string& id) {
  std::string json(find_machine_file("h200", {})->json);
  const std::string old = "\"id\": \"h200\"";
  return json.replace(json.find(old), old.size(), "\"id\": \"" + id + "\"");
}

class OwnMachines : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::write_file(folder_.path() / name, text));
  }
  [[nodiscard]] base::Result<Machine> read(const std::string& id) const {
    const auto file = find_machine_file(id, folder_.path());
    if (!file) return file.error();
    return machine_of(*file);
  }
  base::ScratchFolder folder_{"machines"};
};

TEST_F(OwnMachines, AreFoundBesideThoseBuiltIn) {
  write("mine.json", copied_as("mine"));
  const auto machine = read("mine");
  ASSERT_TRUE(machine) << base::to_string(machine.error());
  EXPECT_EQ(machine->sm_count, 132u);
  EXPECT_TRUE(read("k80"));
}

TEST_F(OwnMachines, ABrokenOneIsNamedWithItsPath) {
  write("mine.json", "{\"id\": \"mine\"");
  const auto machine = read("mine");
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().where, (folder_.path() / "mine.json").string());
  EXPECT_THAT(machine.error().found, HasSubstr("not a JSON object"));
}

TEST_F(OwnMachines, AnIdThatIsNotTheFilesNameIsRefused) {
  write("mine.json", copied_as("other"));
  const auto machine = read("mine");
  ASSERT_FALSE(machine);
  EXPECT_THAT(machine.error().found, HasSubstr("other"));
}

TEST_F(OwnMachines, NeverReplaceOneThatIsBuiltIn) {
  write("k80.json", copied_as("k80"));
  EXPECT_EQ(read("k80")->name, "Tesla K80");
}

TEST_F(OwnMachines, AnUnknownNameListsThemToo) {
  write("mine.json", copied_as("mine"));
  const auto machine = read("mina");
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(machine.error().expected, HasSubstr("vgpu:mine"));
  EXPECT_THAT(machine.error().advice, HasSubstr("vgpu:mine"));
}

TEST_F(OwnMachines, AreLookedForInTheConfigurationFolder) {
  setenv("XDG_CONFIG_HOME", "/somewhere", 1);
  EXPECT_EQ(own_machines_folder(), "/somewhere/membound/machines");
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", "/ada", 1);
  EXPECT_EQ(own_machines_folder(), "/ada/.config/membound/machines");
}

}  // namespace
}  // namespace membound::vgpu::timing
