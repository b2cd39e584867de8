import { setInterval } from "node:timers";
import type { Log, PluginContext } from "@mantel/plugin-sdk";
import { mqttBroker } from "@mantel/plugin-sdk";
import { historyRun } from "@mantel/plugin-sdk";
import { MqttClient } from "@mantel/plugin-sdk/mqtt";
import { toEngineEvent } from "./engine-event.ts";
import type { EngineHome, Stop, Trace } from "./engine/automation.ts";
import type { Engine } from "./engine/engine.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const CALENDAR_EVERY_MS = 5 * MINUTE_MS;
const PLACE_EVERY_MS = 10 * MINUTE_MS;
/** Offsets of calendar triggers are at most a week. */
const CALENDAR_DAYS = 8;
/** Reminders are seldom more than a month before their event. */
const REMINDER_DAYS = 32;

type Context = Pick<
  PluginContext<unknown, unknown>,
  "home" | "call" | "log" | "status" | "signal" | "onDispose"
>;

/** The home of a plugin's context, as the engine uses it. */
export async function openHome({
  home,
}: Context): Promise<EngineHome & { refresh(): Promise<boolean> }> {
  let coordinates = await home.coordinates();
  return {
    timeZone: home.timeZone,
    get coordinates() {
      return coordinates;
    },
    command: async (device, command, by) => void (await home.command(device, command, { by })),
    async activateScene(scene, by) {
      const { results } = await home.activateScene(scene, { by });
      const failed = results.filter(({ status }) => status === "failed");
      const [first] = failed;
      if (!first) return;
      const reason = first.error?.detail ?? "it did not answer";
      throw new Error(
        `${failed.length} of ${results.length} devices failed: ${first.deviceId}: ${reason}`,
      );
    },
    notify: (message, to, from) =>
      home.notify(message, { from: from.slice(0, 200), ...(to && { to }) }),
    async refresh() {
      const before = coordinates;
      coordinates = await home.coordinates();
      return (
        before?.latitude !== coordinates?.latitude || before?.longitude !== coordinates?.longitude
      );
    },
  };
}

/** Keeps the events of calendars in the engine, while an automation needs them, and the place of the home. */
export function followCalendars(
  { home, log, onDispose }: Context,
  engine: Engine,
  place: { refresh(): Promise<boolean> },
): { update(): void } {
  let isReading = false;
  const read = async (): Promise<void> => {
    if (isReading || !needsCalendar(engine)) return;
    isReading = true;
    try {
      const now = Date.now();
      const daysAhead = CALENDAR_DAYS + (needsReminders(engine) ? REMINDER_DAYS : 0);
      const start = new Date(now - CALENDAR_DAYS * DAY_MS);
      const end = new Date(now + daysAhead * DAY_MS);
      const { events } = await home.calendar.between(start, end);
      engine.setCalendarEvents(events.flatMap((event) => toEngineEvent(event, home.timeZone)));
    } catch (error) {
      log.debug("could not read the calendars", { error });
    } finally {
      isReading = false;
    }
  };
  const every = (ms: number, work: () => Promise<void>): void => {
    const timer = setInterval(() => void work(), ms);
    onDispose(() => clearInterval(timer));
  };
  every(CALENDAR_EVERY_MS, read);
  every(PLACE_EVERY_MS, async () => {
    const isNew = await place.refresh().catch(() => false);
    if (isNew) for (const automation of engine.automations()) engine.set(automation);
  });
  void read();
  return { update: () => void read() };
}

/** True if an automation has a trigger or condition of calendars, also in its actions. */
function needsCalendar(engine: Engine): boolean {
  return engine
    .automations()
    .some(({ triggers, conditions, kept }) =>
      JSON.stringify([triggers, conditions, kept]).includes('"type":"calendar"'),
    );
}

/** True if an automation has a trigger of reminders, also in its actions. */
function needsReminders(engine: Engine): boolean {
  return engine
    .automations()
    .some(({ triggers, kept }) => JSON.stringify([triggers, kept]).includes('"edge":"reminder"'));
}

/** Subscribes to the topics of triggers. The connection opens with the first of them. */
export class Messages {
  readonly #ctx: Context;
  readonly #engine: Engine;
  readonly #subscribed = new Map<string, Stop>();
  #client: MqttClient | undefined;

  constructor(ctx: Context, engine: Engine) {
    this.#ctx = ctx;
    this.#engine = engine;
  }

  /** Subscribes to the present topics, and to no others. */
  update(): void {
    const topics = new Set(this.#engine.topics);
    for (const [topic, stop] of this.#subscribed) {
      if (topics.has(topic)) continue;
      this.#subscribed.delete(topic);
      stop();
    }
    for (const topic of topics) {
      if (this.#subscribed.has(topic)) continue;
      // Each filter gets its own messages; the engine matches them again, so only one of several may pass them on.
      const stop = this.#connected().subscribe(topic, (received, payload, isRetained) => {
        if (!isRetained) this.#engine.message(received, payload.toString("utf8"), topic);
      });
      this.#subscribed.set(topic, stop);
    }
  }

  #connected(): MqttClient {
    if (this.#client) return this.#client;
    const { call, log, status, signal, onDispose } = this.#ctx;
    const client = new MqttClient({ broker: () => call(mqttBroker, {}), log, status });
    const running = client.run(signal);
    onDispose(() => running);
    this.#client = client;
    return client;
  }
}

/** Keeps a run that has ended in the history, if a plugin keeps one. */
export function recordRun(call: Context["call"], log: Log, trace: Trace): void {
  const { id, automation, name, trigger, startedAt, endedAt, result, error } = trace;
  if (endedAt === null || result === "running") return;
  const { cause: parent } = trigger.event;
  const cause = { kind: "automation" as const, id: automation, name, ...(parent && { parent }) };
  const run = { id, startedAt, endedAt, result, ...(error !== undefined && { error }), cause };
  call(historyRun, { ...run, trace }).catch((reason: unknown) =>
    log.debug("could not keep a run in the history", { error: reason }),
  );
}
