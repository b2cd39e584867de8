// Run by Stryker in its copy of the repository: bundles the tests together with the changed code.

import { mkdirSync, symlinkSync } from "node:fs";
import { resolve } from "node:path";
import { bundleInto } from "../test/bundle.ts";

const [folder = "", ...files] = process.argv.slice(2);
// Otherwise the SDK would be found in the repository, without the changes.
mkdirSync("node_modules/@mantel", { recursive: true });
symlinkSync(resolve("plugin-sdk"), "node_modules/@mantel/plugin-sdk");
await bundleInto(folder, files);
