import { testHostilePlugins } from "../faults/hostile-plugins.ts";

const AIMS = [
  "files to read",
  "files to write",
  "the network",
  "the channel",
  "other processes",
  "the storage limit",
] as const;

for (const aim of AIMS) testHostilePlugins([aim], { withoutKernel: true });
