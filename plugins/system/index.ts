import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, hostProcess, machineDisks, Type } from "@mantel/plugin-sdk";
import { channels } from "./channels.ts";
import { Counters, machineMs, Sampler } from "./sampler.ts";

/** Delay of the first slow readings: they start programs, and callers wait for a start at a reload. */
const SLOW_AFTER_MS = 250;
/** Delay after which slow values of a start are known and a load can be computed. */
const SETTLED_MS = 1_000;

/** System metrics of the machine, one sample for all users. */
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
  channels,

  async start({ config, handedOver, channels: { sample }, call, log, signal, onDispose }) {
    const everyMs = config.sampleSeconds * 1_000;
    const sampler = new Sampler(log, () => call(machineDisks, {}), handedOver);
    const publishSample = async () => {
      const sampled = await sampler.sample();
      const process = await call(hostProcess, {});
      const uptime = { ...sampled.uptime, processSeconds: process.uptimeSeconds };
      await sample.publish({ ...sampled, uptime, process });
    };

    // The host has kept the last sample of a previous generation; it is old if this process has rested.
    const dueInMs = handedOver ? handedOver.readAtMs + everyMs - machineMs() : 0;
    const isDue = !handedOver || dueInMs < 0;
    if (isDue) await publishSample();

    const wait = (ms: number) => delay(ms, undefined, { signal }).catch(() => undefined); // aborted: the plugin stops
    const run = async () => {
      await wait(SLOW_AFTER_MS);
      const firstMs = Math.max(isDue ? 0 : dueInMs, SETTLED_MS) - SLOW_AFTER_MS;
      for (let waitMs = firstMs; !signal.aborted; waitMs = everyMs) {
        sampler.refresh();
        await wait(waitMs);
        if (signal.aborted) return;
        await publishSample().catch((error: unknown) => log.error("a sample failed", { error }));
      }
    };
    const running = run();
    onDispose(() => running);
    return { handOver: () => sampler.counters, canRest: () => true };
  },
});
