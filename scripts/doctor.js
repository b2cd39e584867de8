// npm run doctor -- [flags]: what is wrong on this machine; the usage below says how to ask.
//
// Plain JavaScript, because it has to say so when there is nothing to load TypeScript with.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { missingPackages, nodeFault } from "./installed.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FLAGS = ["data", "port", "host", "plugins"];
const USAGE = `Says in plain words what is wrong on this machine and what to do about it. It changes nothing.

  npm run doctor -- [--json] [--data DIR] [--port N] [--host ADDRESS] [--plugins DIR[:DIR...]]

  --json  what was found, for programs

The other flags and the variables are those of npm start: give it what the host is given. The exit
code is 1 when something keeps Mantel from working.
`;
const MARKS = { ok: "ok  ", warn: "WARN", fail: "FAIL" };

process.stdout.on("error", () => undefined); // a reader such as head(1) may have seen enough
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

/** Without Node and its packages nothing else can be looked at. */
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
  if (!fault) return { check: "node", status: "ok", says: `Node ${version} will do` };
  return { check: "node", status: "fail", says: fault, todo: "install it from https://nodejs.org" };
}

function packages() {
  const check = "packages";
  const missing = missingPackages(ROOT, { dev: false });
  if (missing.length === 0) return { check, status: "ok", says: "the npm packages are installed" };
  const some = missing.slice(0, 5).join(", ");
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : "";
  const says = `not installed as package-lock.json has them: ${some}${more}`;
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
