// npm run doctor -- [flags]: finds problems on this machine. See the usage below.
//
// Plain JavaScript, because it must also run without the packages that load TypeScript.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { missingPackages, nodeFault } from "./installed.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FLAGS = ["data", "port", "host", "plugins"];
const USAGE = `Finds problems on this machine and suggests fixes. Changes nothing.

  npm run doctor -- [--json] [--data DIR] [--port N] [--host ADDRESS] [--plugins DIR[:DIR...]]

  --json  print the findings as JSON

Use the same flags and environment variables as for npm start. The exit code is 1 if a problem
keeps Mantel from working.
`;
const MARKS = { ok: "ok  ", warn: "WARN", fail: "FAIL" };

process.stdout.on("error", () => undefined); // a reader such as head(1) may close the pipe early
try {
  const { help, json, args } = readArguments();
  if (help) process.stdout.write(USAGE);
  else await examineAll(args, json);
} catch (error) {
  process.stderr.write(`doctor: ${error.message}\n`);
  process.exitCode = 2;
}

async function examineAll(args, json) {
  const findings = await findingsOf(args);
  report(findings, json);
  process.exitCode = findings.some(({ status }) => status === "fail") ? 1 : 0;
}

/** Checks Node and the npm packages first, because all other checks need them. */
async function findingsOf(args) {
  const first = [node(), packages()];
  if (first.some(({ status }) => status === "fail")) return first;
  const { register } = await import("tsx/esm/api");
  register();
  const { examine } = await import("./doctor/examine.ts");
  return [...first, ...(await examine(args, process.env, ROOT))];
}

function node() {
  const { version } = process;
  const fault = nodeFault(process.versions.node);
  if (!fault) return { check: "node", status: "ok", says: `Node ${version} is supported` };
  return { check: "node", status: "fail", says: fault, todo: "install it from https://nodejs.org" };
}

function packages() {
  const check = "packages";
  const missing = missingPackages(ROOT, { dev: false });
  if (missing.length === 0) return { check, status: "ok", says: "the npm packages are installed" };
  const some = missing.slice(0, 5).join(", ");
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
  const says = `npm packages are missing or differ from package-lock.json: ${some}${more}`;
  return { check, status: "fail", says, todo: `run npm ci --ignore-scripts in ${ROOT}` };
}

function report(findings, json) {
  if (json) {
    process.stdout.write(`${JSON.stringify({ findings }, undefined, 2)}\n`);
    return;
  }
  for (const { check, status, says, todo } of findings) {
    process.stdout.write(`${MARKS[status]}  ${check.padEnd(10)} ${says}\n`);
    if (todo) process.stdout.write(`${" ".repeat(17)}→ ${todo}\n`);
  }
}

function readArguments() {
  const text = { type: "string" };
  const flag = { type: "boolean", default: false };
  const options = Object.fromEntries(FLAGS.map((name) => [name, text]));
  const { values } = parseArgs({ options: { ...options, json: flag, help: flag } });
  const { help, json, ...flags } = values;
  return {
    help,
    json,
    args: Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
  };
}
