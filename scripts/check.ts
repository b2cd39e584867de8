// npm run check: types, lint, boundaries, format, language packs and dead code. Prints only failures.

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

interface Step {
  readonly command: string;
  readonly args: readonly string[];
  readonly failure: string;
}

const CODE = ["host", "plugin-sdk", "plugins", "scripts", "test"];

const STEPS: readonly Step[] = [
  { command: "tsc", args: ["-p", "."], failure: "type errors in the server code" },
  { command: "tsc", args: ["-p", "host/dashboard"], failure: "type errors in the browser code" },
  {
    command: "tsc",
    args: ["-p", "test/host/dashboard"],
    failure: "type errors in the tests of the browser code",
  },
  // Explicit folders: with "." the type-aware rules take thirty times as long.
  { command: "oxlint", args: ["-c", ".ci/oxlint.json", ...CODE], failure: "lint" },
  {
    command: "oxfmt",
    args: ["-c", ".ci/oxfmt.json", "--list-different"],
    failure: "not formatted; run `npm run format`",
  },
  {
    command: "tsx",
    args: ["scripts/plugin-reference.ts", "--check"],
    failure: "the reference for plugins is not up to date; run `npm run plugin-reference`",
  },
  {
    command: "tsx",
    args: ["scripts/languages.ts", "--faults"],
    failure: "language packs with faults",
  },
  { command: "knip", args: ["--no-progress", "--no-config-hints"], failure: "dead code" },
];

const failures = await Promise.all(STEPS.map(carryOut));
const found = failures.filter((failure) => failure !== undefined);
if (found.length > 0) {
  console.error(found.join("\n\n"));
  process.exitCode = 1;
}

/** Runs a step. Returns its failure with the output, or `undefined`. */
async function carryOut({ command, args, failure }: Step): Promise<string | undefined> {
  const step = spawn(`node_modules/.bin/${command}`, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [code, output, errors] = await Promise.all([
    new Promise<number | null>((resolve, reject) => step.on("error", reject).on("close", resolve)),
    text(step.stdout),
    text(step.stderr),
  ]);
  return code === 0 ? undefined : `# ${failure}\n${output}${errors}`.trimEnd();
}
