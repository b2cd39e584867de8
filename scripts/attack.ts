// npm run attack [-- all [words]] [--node <program>]: every proof of concept, or those with the words in their
// names, on a compiled host of Node 20 and of Node 24, with bubblewrap and without it. Prints a table, and ends
// with 1 if something is broken that its level promises to hold.
// npm run attack -- forged: every kind of forged token on every operation in every spelling.
// npm run attack -- slow [seconds]: a thousand stalled event streams and five hundred slow senders.
// npm run attack -- openapi [requests]: a generator of requests and a judge of answers that know the OpenAPI
// document alone, up to so many requests for each way to ask. Both are others' (npx fetches them), and one
// needs Java 17.
// Each of these prints its count, against a host of its own.
import { parseArgs } from "node:util";
import { Tokens } from "../host/auth/tokens.ts";
import { openLog } from "../host/log.ts";
import { findNodes, readVersion } from "./attack/node-programs.ts";
import { runOpenApiJudge } from "./attack/openapi.ts";
import { tryAllForgeries } from "./attack/requests.ts";
import { runAllProofs } from "./attack/run-all-proofs.ts";
import { PROOFS } from "./attack/run-proofs.ts";
import { holdSlowly } from "./attack/slow-clients.ts";
import type { Target } from "./attack/target.ts";
import { openHome, serveHost } from "./bench/bench-home.ts";

const MAX_GROWN_MIB = 64;
const MAX_P99_MS = 100;

/** The default of a number that an attack takes. */
const USUAL: Readonly<Record<string, number>> = { forged: 0, slow: 60, openapi: 50 };
const USAGE =
  "usage: npm run attack -- <all [words] [--node <program>] | forged | slow [seconds] | openapi [requests]>";
const attacks: Readonly<Record<string, (on: Target, amount: number) => Promise<boolean>>> = {
  forged,
  slow,
  openapi,
};
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true } },
});
const [name = "all", argument = ""] = positionals;
process.exitCode = (await (name === "all" ? tryProofs(argument) : tryOne())) ? 0 : 1;

async function tryProofs(words: string): Promise<boolean> {
  const proofs = Object.values(PROOFS)
    .flat()
    .filter((proof) => proof.name.includes(words));
  if (proofs.length === 0) fail(`no attack has "${words}" in its name`);
  return runAllProofs(
    proofs,
    await (values.node ? Promise.all(values.node.map(readVersion)) : findNodes()),
  );
}

async function tryOne(): Promise<boolean> {
  const attack = attacks[name];
  const amount = Number(argument || USUAL[name]);
  if (!attack || !(amount >= 0)) fail(USAGE);
  const home = await openHome(["system", "demo-home", "mqtt-broker", "mqtt", "calendar"]);
  const mantel = await serveHost(home);
  try {
    return await attack({ ...mantel, data: home.data }, amount);
  } finally {
    await mantel.stop();
    await home.remove();
  }
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

async function forged(target: Target): Promise<boolean> {
  const count = await tryAllForgeries(target);
  console.log(JSON.stringify({ attack: "forged", ...count }));
  return count.accepted.length === 0;
}

async function slow(target: Target, amount: number): Promise<boolean> {
  const count = await holdSlowly(target, { streams: 1_000, senders: 500, seconds: amount });
  console.log(JSON.stringify({ attack: "slow", seconds: amount, ...count }));
  return count.failed === 0 && count.grownMiB <= MAX_GROWN_MIB && count.p99Ms <= MAX_P99_MS;
}

async function openapi({ url, data }: Target, amount: number): Promise<boolean> {
  const tokens = await Tokens.open({ dataFolder: data, log: openLog("error", false) });
  const token = () => tokens.issue({ name: "judge", scope: ["admin"], ttlSeconds: 86_400 });
  const count = await runOpenApiJudge({ url, token }, amount);
  console.log(JSON.stringify({ attack: "openapi", ...count }));
  return count.faulty === 0;
}
