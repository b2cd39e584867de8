import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, Type } from "@mantel/plugin-sdk";
import { Counters, machineMs, Sampler } from "./sampler.ts";

/** By then the slow facts of a start are known, and a load can be told. */
const SETTLED_MS = 1_000;

/** Figures of the machine, one sample for everybody. */
export default definePlugin({
  options: Type.Object({
    sampleSeconds: Type.Integer({
      title: "Seconds between samples",
      minimum: 1,
      maximum: 3_600,
      default: 5,
    }),
  }),
  state: Counters,

  async start({ config, handedOver, publish, log, signal, onDispose }) {
    const everyMs = config.sampleSeconds * 1_000;
    const sampler = new Sampler(log, handedOver);
    const publishSample = async () => publish("system.sample", await sampler.sample());

    // The host has kept the last sample of a generation before; only a fresh start has none.
    if (!handedOver) await publishSample();
    const dueInMs = handedOver ? handedOver.readAtMs + everyMs - machineMs() : 0;

    const run = async () => {
      for (let waitMs = Math.max(dueInMs, SETTLED_MS); !signal.aborted; waitMs = everyMs) {
        await delay(waitMs, undefined, { signal }).catch(() => undefined); // aborted: it ends
        if (signal.aborted) return;
        await publishSample().catch((error: unknown) => log.error("a sample failed", { error }));
      }
    };
    const running = run();
    onDispose(() => running);
    return { handOver: () => sampler.counters };
  },
});
