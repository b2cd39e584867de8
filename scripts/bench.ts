// npm run bench <name> [-- arguments]: one bench of scripts/bench, alone.
import { readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "bench");
/** What benches share is not a bench. */
const SHARED = ["house.ts", "shared"];

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".ts") && !SHARED.includes(file))
  .map((file) => file.replace(/\.ts$/, ""));
const [name = ""] = process.argv.splice(2, 1);
if (names.includes(name)) {
  await import(`./bench/${name}.ts`);
} else {
  process.stderr.write(`usage: npm run bench <${names.join(" | ")}> [-- arguments]\n`);
  process.exitCode = 2;
}
