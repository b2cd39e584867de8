import type { PluginContext } from "@mantel/plugin-sdk";
import type { channels } from "./channels.ts";
import type { EngineHome } from "./engine/automation.ts";
import { Engine } from "./engine/engine.ts";
import { recordRun } from "./live-home.ts";
import { RunPublisher } from "./run-publisher.ts";
import { onClockSet, systemClock } from "./system-clock.ts";
import { TraceStore } from "./trace-store.ts";

type Context = Pick<
  PluginContext<undefined, unknown, typeof channels>,
  "storage" | "log" | "channels" | "call" | "onDispose" | "home"
>;

/** The engine of the home, with its stored state. Call `close` at a handover; what it has is stored then. */
export async function openEngine(
  { storage, log, channels: { run: channel }, call, onDispose, home: { devices } }: Context,
  home: EngineHome,
): Promise<{ readonly engine: Engine; readonly close: () => Promise<void> }> {
  const journal = storage.journal("state");
  const traces = new TraceStore(storage, log, () => engine.traces());
  const publisher = new RunPublisher(channel, log);
  const engine = new Engine({
    clock: systemClock,
    home,
    store: journal,
    warn: (sentence, fields) => log.warn(sentence, fields),
    traced(run, trace) {
      publisher.publish(run, trace);
      traces.changed();
    },
    ended: (trace) => recordRun(call, log, trace),
  });
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    engine.storeTimes();
    engine.stop(); // from now on the next generation acts
    await traces.close();
    await journal.close();
  };
  const close = (): Promise<void> => (closing ??= closeAll());
  onDispose(close);
  onDispose(onClockSet(() => engine.storeTimes()));
  engine.initialize(await devices.list(), await TraceStore.load(storage));
  return { engine, close };
}
