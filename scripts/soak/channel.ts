import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { openLog } from "../../host/log.ts";
import { channelLines, openChannelFuzz } from "../fuzz/channel.ts";
import type { SoakRun } from "./run.ts";

/** Messages per round. */
const MESSAGES = 100;

/**
 * Sends a hundred random messages per round to the host's end of a plugin's channel, with real registries behind it.
 * No message may throw, block for long or leak memory. The environment variable `FUZZ_SEED` repeats the messages of an
 * earlier run.
 */
export async function openChannelRun(): Promise<SoakRun> {
  const seed = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2 ** 31);
  console.log(JSON.stringify({ soak: "channel", FUZZ_SEED: seed }));
  let uncaught = 0;
  const count = (error: unknown): void => {
    uncaught++;
    console.error(error);
  };
  process.on("uncaughtException", count).on("unhandledRejection", count);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const log = openLog("error", false).with({}, () => "error");
  const fuzz = await openChannelFuzz({ ...log, error: () => undefined });
  return {
    async round(number) {
      const lines = fc.sample(channelLines, { numRuns: MESSAGES, seed: seed + number });
      for (const line of lines) await fuzz.send(line);
    },
    async read() {
      collect();
      const { messages, ends, longestTurnMs } = fuzz.counts;
      const figures = { messages, ends, longestTurnMs: Math.round(longestTurnMs) };
      const counted = Object.entries(figures).map(([name, value]) => [`control ${name}`, value]);
      const heapMiB = process.memoryUsage().heapUsed / 2 ** 20;
      return { heapMiB, uncaught, ...(Object.fromEntries(counted) as Record<string, number>) };
    },
    async end() {
      await fuzz.close();
      process.off("uncaughtException", count).off("unhandledRejection", count);
      return { asked: fuzz.counts.messages, failed: uncaught };
    },
  };
}
