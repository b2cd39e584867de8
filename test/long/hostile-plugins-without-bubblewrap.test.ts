import { OF_PLUGINS, testAttacks } from "./attacks.ts";

for (const aim of OF_PLUGINS) testAttacks(aim, { withoutKernel: true });
