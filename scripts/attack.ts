// npm run attack -- forged: every kind of forged token on every operation in every spelling.
// npm run attack -- slow [seconds]: a thousand stalled event streams and five hundred slow senders.
// npm run attack -- openapi [requests]: a generator of requests and a judge of answers that know the OpenAPI
// document alone, up to so many requests for each way to ask. Both are others' (npx fetches them), and one
// needs Java 17.
// Each prints its count, against a host of its own.
import { Tokens } from "../host/auth/tokens.ts";
import { openLog } from "../host/log.ts";
import { forgeries, readSigningKey } from "../test/helpers/forgeries.ts";
import { tryForgeries } from "./attack/forged-tokens.ts";
import { haveJudged } from "./attack/openapi.ts";
import { holdSlowly } from "./attack/slow-clients.ts";
import { openHome, serveHost } from "./bench/house.ts";

const MAX_GROWN_MIB = 64;
const MAX_P99_MS = 100;

/** What an attack is told by a number, when it is not given. */
const USUAL: Readonly<Record<string, number>> = { forged: 0, slow: 60, openapi: 50 };
const attacks: Readonly<Record<string, (on: Attacked) => Promise<boolean>>> = {
  forged,
  slow,
  openapi,
};
const [name = "", argument = String(USUAL[name])] = process.argv.slice(2);
const attack = attacks[name];
const amount = Number(argument);
if (!attack || !(amount >= 0)) {
  process.stderr.write("usage: npm run attack -- <forged | slow [seconds] | openapi [requests]>\n");
  process.exit(2);
}
const home = await openHome(["system", "demo-home", "mqtt-broker", "mqtt", "calendar"]);
const mantel = await serveHost(home);
try {
  process.exitCode = (await attack({ ...mantel, data: home.data })) ? 0 : 1;
} finally {
  await mantel.stop();
  await home.remove();
}

interface Attacked {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly data: string;
}

async function forged({ url, token, data }: Attacked): Promise<boolean> {
  const count = await tryForgeries(url, token, forgeries(await readSigningKey(data), token));
  console.log(JSON.stringify({ attack: "forged", ...count }));
  return count.accepted.length === 0;
}

async function slow(target: Attacked): Promise<boolean> {
  const count = await holdSlowly(target, { streams: 1_000, senders: 500, seconds: amount });
  console.log(JSON.stringify({ attack: "slow", seconds: amount, ...count }));
  return count.failed === 0 && count.grownMiB <= MAX_GROWN_MIB && count.p99Ms <= MAX_P99_MS;
}

async function openapi({ url, data }: Attacked): Promise<boolean> {
  const tokens = await Tokens.open({ dataFolder: data, log: openLog("error", false) });
  const token = () => tokens.issue({ name: "judge", scope: ["admin"], ttlSeconds: 86_400 });
  const count = await haveJudged({ url, token }, amount);
  console.log(JSON.stringify({ attack: "openapi", ...count }));
  return count.faulty === 0;
}
