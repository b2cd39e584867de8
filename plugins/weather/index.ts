import { setTimeout as delay } from "node:timers/promises";
import { definePlugin, type PluginContext } from "@mantel/plugin-sdk";
import { channels } from "./channels.ts";
import { Fetcher, type FetchedForecast } from "./fetcher.ts";
import { Options } from "./options.ts";

type Context = PluginContext<Options, undefined, typeof channels>;

/** First retry delay after a failure; it doubles up to the usual interval. */
const FIRST_RETRY_MS = 60_000;
const MINUTE_MS = 60_000;

/** Publishes a forecast for one place, from the configured service. */
export default definePlugin({
  options: Options,
  channels,

  async start(ctx) {
    const fetcher = new Fetcher(ctx);
    const restored = await fetcher.restore();
    if (restored) await ctx.channels.forecast.publish(restored.forecast);
    const running = follow(ctx, fetcher, restored);
    ctx.onDispose(() => running);
  },
});

/** Downloads whenever it is due, until the generation ends. */
async function follow(
  ctx: Context,
  fetcher: Fetcher,
  kept: FetchedForecast | undefined,
): Promise<void> {
  const { config, signal } = ctx;
  const everyMs = config.refreshMinutes * MINUTE_MS;
  const dueAt = kept ? Math.max(Date.parse(kept.forecast.fetchedAt) + everyMs, kept.notBefore) : 0;
  let waitMs = Math.min(Math.max(0, dueAt - Date.now()), everyMs);
  let failures = 0;
  for (;;) {
    await delay(waitMs, undefined, { signal }).catch(() => undefined); // aborted: the plugin stops
    if (signal.aborted) return;
    const known = await refresh(ctx, fetcher);
    failures = known ? 0 : failures + 1;
    waitMs = known
      ? Math.max(everyMs, known.notBefore - Date.now())
      : Math.min(everyMs, FIRST_RETRY_MS * 2 ** (failures - 1));
  }
}

/** Downloads and publishes a forecast. After a failure the previous one stays. */
async function refresh(ctx: Context, fetcher: Fetcher): Promise<FetchedForecast | undefined> {
  const { channels: own, status, log, signal } = ctx;
  try {
    const known = await fetcher.fetch();
    await own.forecast.publish(known.forecast);
    status.ok();
    return known;
  } catch (error) {
    if (signal.aborted) return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    log.warn("could not read the forecast", { source: ctx.config.source, error });
    status.degraded(`the forecast cannot be read: ${reason}`);
    return undefined;
  }
}
