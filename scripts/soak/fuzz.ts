import * as fc from "fast-check";
import { Tokens } from "../../host/auth/tokens.ts";
import { openLog } from "../../host/log.ts";
import { openHome, readMemory, serveHost } from "../bench/bench-home.ts";
import { openHttpFuzz } from "../fuzz/http.ts";
import type { FuzzedRequest } from "../fuzz/requests.ts";
import type { SoakRun } from "./run.ts";

const AT_ONCE = 10;
const SAMPLED = 1_000;
const PLUGINS = ["system", "demo-home", "mqtt-broker", "mqtt", "calendar", "room-widget"];

/**
 * Sends ten random requests per round to a real host with real plugins. Each answer must match the OpenAPI document.
 * Modules are reloaded, disabled and enabled during the run. The environment variable `FUZZ_SEED` repeats the requests
 * of an earlier run.
 */
export async function openFuzz(): Promise<SoakRun> {
  const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
  console.log(JSON.stringify({ soak: "fuzz", FUZZ_SEED: seed }));
  const home = await openHome(PLUGINS);
  const host = await serveHost(home);
  const tokens = await Tokens.open({ dataFolder: home.data, log: openLog("error", false) });
  const fuzz = await openHttpFuzz({
    url: host.url,
    token: (scope) => tokens.issue({ name: `fuzz ${scope}`, scope: [scope], ttlSeconds: 86_400 }),
  });
  let sampled: FuzzedRequest[] = [];
  let samples = 0;
  const next = (): FuzzedRequest[] => {
    if (sampled.length === 0) {
      sampled = fc.sample(fuzz.requests, { numRuns: SAMPLED, seed: seed + samples++ });
    }
    return sampled.splice(0, AT_ONCE);
  };
  return {
    async round() {
      await Promise.all(next().map((asked) => fuzz.judge(asked)));
    },
    async read() {
      const { rss } = await readMemory(host.pid);
      const statuses = [...fuzz.statuses].map(([status, count]) => [`control ${status}`, count]);
      return { "control rssMiB": rss, ...(Object.fromEntries(statuses) as Record<string, number>) };
    },
    async end() {
      fuzz.close();
      await host.stop();
      await home.remove();
      return {
        asked: [...fuzz.statuses.values()].reduce((all, count) => all + count, 0),
        failed: 0,
      };
    },
  };
}
