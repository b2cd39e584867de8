// npm run attack -- forged: every kind of forged token on every operation in every spelling.
// npm run attack -- slow [seconds]: a thousand stalled event streams and five hundred slow senders.
// Each prints its count, against a host of its own.
import { forgeries, readSigningKey } from "../test/helpers/forgeries.ts";
import { tryForgeries } from "./attack/forged-tokens.ts";
import { holdSlowly } from "./attack/slow-clients.ts";
import { openHome, serveHost } from "./bench/house.ts";

const MAX_GROWN_MIB = 64;
const MAX_P99_MS = 100;
const SECONDS = 60;

const attacks: Readonly<Record<string, (on: Attacked) => Promise<boolean>>> = { forged, slow };
const [name = "", argument = String(SECONDS)] = process.argv.slice(2);
const attack = attacks[name];
const seconds = Number(argument);
if (!attack || !(seconds > 0)) {
  process.stderr.write("usage: npm run attack -- <forged | slow [seconds]>\n");
  process.exit(2);
}
const home = await openHome(["system", "demo-home", "mqtt-broker"]);
const mantel = await serveHost(home);
const isHeld = await attack({ ...mantel, data: home.data });
await mantel.stop();
await home.remove();
process.exitCode = isHeld ? 0 : 1;

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
  const count = await holdSlowly(target, { streams: 1_000, senders: 500, seconds });
  console.log(JSON.stringify({ attack: "slow", seconds, ...count }));
  return count.failed === 0 && count.grownMiB <= MAX_GROWN_MIB && count.p99Ms <= MAX_P99_MS;
}
