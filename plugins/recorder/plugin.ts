import { join } from "node:path";
import {
  defineChannels,
  definePlugin,
  handle,
  historyLogbook,
  historyReadings,
  historyRecord,
  historyRun,
  historyRuns,
  historyStatistics,
  LONGEST_TRACE,
  MantelError,
  type PluginContext,
  provide,
  type ServiceInput,
  Type,
} from "@mantel/plugin-sdk";
import { Answers, wrong } from "./answers.ts";
import type { History, Notices, Retention } from "./history.ts";
import { Observer } from "./observer.ts";
import { Options } from "./options.ts";
import { exportRoute, logbookRoute, readingsRoute, statisticsRoute } from "./routes.ts";
import { StorageUnusable } from "./storage.ts";

const channels = defineChannels({
  size: {
    title: "The size of the history",
    schema: Type.Object({
      bytes: Type.Number(),
      /** Fields of devices that are recorded. */
      fields: Type.Integer(),
      store: Type.Enum(["sqlite", "postgres"]),
    }),
  },
});

type Context = PluginContext<Options, undefined, typeof channels>;

/** Opens the history that the options name. */
export type OpenHistory = (
  options: Options & { readonly file: string; readonly retention: Retention },
  notices: Notices,
) => History;

/** From the first change to the disk; with the time of a write, at most two seconds are lost at a power cut. */
const BATCH_MS = 1_500;
/** Each time some pages of 4 KiB are written, also in a home where nothing happens; this spares memory cards. */
const MAINTAIN_MS = 3 * 60_000;
const RETRY_MS = 30_000;
/** A longer interruption is a gap in the curves. */
const GAP_MS = 5 * 60_000;
const MIB = 2 ** 20;
const USUAL_FILE_MIB = 2_048;

/** The plugin, with the database that `open` gives. */
export function recorderWith(open: OpenHistory) {
  return definePlugin({
    options: Options,
    channels,

    async start(ctx) {
      const recording = new Recording(ctx, open);
      await recording.start();
      ctx.onDispose(() => recording.stop());
      const ask: Recording["ask"] = (question) => recording.ask(question);
      return {
        services: [
          provide(historyReadings, (query) => ask((answers) => answers.readings(query))),
          provide(historyStatistics, (query) => ask((answers) => answers.statistics(query))),
          provide(historyLogbook, (query) => ask((answers) => answers.logbook(query))),
          provide(historyRuns, (query) => ask((answers) => answers.runs(query))),
          provide(historyRecord, (entry) => recording.wrote(entry)),
          provide(historyRun, (run) => recording.ran(run)),
        ],
        routes: [
          handle(readingsRoute, async ({ query: { points, ...query } }) => ({
            json: await ask((answers) => answers.readings({ ...query, ...numbers({ points }) })),
          })),
          handle(statisticsRoute, async ({ query }) => ({
            json: await ask((answers) => answers.statistics(query)),
          })),
          handle(logbookRoute, async ({ query: { limit, ...query } }) => ({
            json: await ask((answers) => answers.logbook({ ...query, ...numbers({ limit }) })),
          })),
          handle(exportRoute, async ({ query }) => {
            const { content, type } = await ask((answers) => answers.export(query));
            const end = type === "text/csv" ? "csv" : "jsonl";
            const disposition = `attachment; filename="history.${end}"`;
            return { content, type, headers: { "content-disposition": disposition } };
          }),
        ],
      };
    },
  });
}

/** Follows the home and writes what happens, from the start to the end of a generation. */
class Recording {
  readonly #ctx: Context;
  readonly #history: History;
  #observer: Observer | undefined;
  #answers: Answers | undefined;
  #timer: NodeJS.Timeout | undefined;
  #maintenance: NodeJS.Timeout | undefined;
  #isMaintaining = false;
  #isStopped = false;
  #turn: Promise<void> = Promise.resolve();
  #reason = "the history is being opened";

  constructor(ctx: Context, open: OpenHistory) {
    this.#ctx = ctx;
    const { config, log, status } = ctx;
    const notices: Notices = {
      warn: (sentence, fields) => log.warn(sentence, fields),
      degraded: (reason) => {
        if (reason === undefined) status.ok();
        else status.degraded(reason);
        // only the regular work finds that a disk has room again
        this.#maintainEvery(reason === undefined ? MAINTAIN_MS : RETRY_MS);
      },
    };
    const file = join(ctx.folder("history"), "history.sqlite");
    this.#history = open({ ...config, file, retention: retentionOf(config) }, notices);
  }

  /** Opens the history; if that is impossible now, tries again until it works or the plugin ends. */
  async start(): Promise<void> {
    try {
      await this.#begin();
    } catch (error) {
      if (!(error instanceof StorageUnusable)) throw error;
      this.#reason = error.message;
      this.#ctx.log.warn("the history cannot be opened", { reason: error.message });
      this.#ctx.status.degraded(error.message);
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        void this.start().catch((failure: unknown) => {
          this.#ctx.log.error("the history cannot be opened", { error: failure });
        });
      }, RETRY_MS);
    }
  }

  async #begin(): Promise<void> {
    const { home, config, status } = this.#ctx;
    const known = await this.#history.open();
    const observer = new Observer(known, (id) => config.devices?.[id]?.record !== false);
    const now = Date.now();
    if (known.lastAt >= 0 && now - known.lastAt > GAP_MS) observer.interrupted(known.lastAt + 1);
    this.#observer = observer;
    this.#answers = new Answers(this.#history, observer, home.timeZone);
    await home.devices.on("*", (device, old, cause) => {
      observer.changed(device, old, cause, Date.now());
      this.#schedule();
    });
    await home.events.on("*", (event) => {
      observer.happened(event, Date.now());
      this.#schedule();
    });
    await home.failures.on("*", (failure) => {
      observer.failed(failure, Date.now());
      this.#schedule();
    });
    await home.scenes.on((scene) => {
      observer.activated(scene, Date.now());
      this.#schedule();
    });
    for (const device of await home.devices.list()) observer.found(device, Date.now());
    status.ok();
    this.#schedule();
    this.#maintenance = setInterval(() => void this.#maintain(), MAINTAIN_MS);
    void this.#maintain();
  }

  /** Changes the time between two turns of the regular work, if it has begun. */
  #maintainEvery(ms: number): void {
    if (!this.#maintenance || this.#isStopped) return;
    clearInterval(this.#maintenance);
    this.#maintenance = setInterval(() => void this.#maintain(), ms);
  }

  /**
   * Answers a question with everything that happened until now.
   * @throws MantelError `service_unavailable` while the history cannot be read; and those of the question
   */
  async ask<T>(question: (answers: Answers) => Promise<T>): Promise<T> {
    const retryAfterMs = RETRY_MS;
    if (!this.#answers)
      throw new MantelError("service_unavailable", this.#reason, { retryAfterMs });
    await this.#inTurn(async () => {
      if (this.#observer?.isEmpty !== false) return;
      this.#schedule();
      await this.#history.hold(this.#observer.take());
    });
    try {
      return await question(this.#answers);
    } catch (cause) {
      if (!(cause instanceof StorageUnusable)) throw cause;
      throw new MantelError("service_unavailable", cause.message, { cause, retryAfterMs });
    }
  }

  wrote({ at, ...entry }: ServiceInput<typeof historyRecord>): void {
    const now = Date.now();
    this.#observer?.wrote({ ...entry, at: at === undefined ? now : Math.min(Date.parse(at), now) });
    this.#schedule();
  }

  /** @throws MantelError `invalid` with a pointer */
  ran({ trace, startedAt, endedAt, error, cause, ...run }: ServiceInput<typeof historyRun>): void {
    const json = JSON.stringify(trace);
    if (json.length > LONGEST_TRACE)
      throw wrong("/trace", `is longer than ${LONGEST_TRACE} characters`, "the run");
    if (cause.kind !== "automation") throw wrong("/cause/kind", "must be automation", "the run");
    const now = Date.now();
    this.#observer?.ran({
      ...run,
      automation: cause.id,
      name: cause.name,
      at: Math.min(Date.parse(startedAt), now),
      endedAt: Math.min(Date.parse(endedAt), now),
      error: error ?? null,
      cause,
      trace: json,
    });
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearInterval(this.#maintenance);
    await this.#write();
    await this.#inTurn(async () => void (await this.#history.maintain(Date.now())));
    await this.#history.close();
  }

  /** Writes what has happened, also what an answer has taken meanwhile, a short time after the first change. */
  #schedule(): void {
    if (this.#observer?.isEmpty !== false) return;
    this.#timer ??= setTimeout(() => void this.#write(), BATCH_MS);
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#inTurn(async () => {
      if (this.#observer) await this.#history.record(this.#observer.take());
    });
  }

  /** Does the regular work. Batches have their turns between its slices. */
  async #maintain(): Promise<void> {
    if (this.#isMaintaining) return;
    this.#isMaintaining = true;
    for (let isMore = true; isMore && !this.#isStopped;) {
      isMore = false;
      await this.#inTurn(async () => {
        isMore = await this.#history.maintain(Date.now());
      });
    }
    this.#isMaintaining = false;
    if (this.#isStopped) return;
    await this.#inTurn(async () => {
      const bytes = await this.#history.bytes();
      const fields = this.#observer?.fields ?? 0;
      const store = this.#ctx.config.url === undefined ? "sqlite" : "postgres";
      await this.#ctx.channels.size.publish({ bytes, fields, store });
    });
  }

  /** Does one thing at a time. A failure is logged, and the next work continues. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work).catch((error: unknown) => {
      if (error instanceof StorageUnusable) return; // the history has warned, and tries again
      const { message } = error as Error;
      this.#ctx.log.error("the history could not be written", { error });
      this.#ctx.status.degraded(`the history could not be written: ${message}`);
    });
    return this.#turn;
  }
}

function retentionOf({ url, rawDays, logbookDays, maxMiB, devices = {} }: Options): Retention {
  const usualMiB = url === undefined ? USUAL_FILE_MIB : Infinity;
  const exceptions = Object.entries(devices).flatMap(([id, { rawDays: days }]) =>
    days === undefined ? [] : [[id, days] as const],
  );
  return {
    rawDays,
    logbookDays,
    maxBytes: (maxMiB ?? usualMiB) * MIB,
    exceptions: Object.fromEntries(exceptions),
  };
}

/** The given texts as numbers; absent ones stay absent. */
function numbers<N extends string>(texts: Readonly<Record<N, string | undefined>>) {
  const given = Object.entries(texts).filter(([, text]) => text !== undefined);
  return Object.fromEntries(given.map(([name, text]) => [name, Number(text)])) as {
    [K in N]?: number;
  };
}
