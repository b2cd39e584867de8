import {
  definePlugin,
  type Device,
  handle,
  MantelError,
  type PluginContext,
} from "@mantel/plugin-sdk";
import { Automations, type CodeView, type DocumentView } from "./automations.ts";
import { channels } from "./channels.ts";
import { CodeAutomations } from "./code/code-automations.ts";
import { concernsNames, describeHome, thingsOf } from "./code/describe-home.ts";
import { startWorker } from "./code/start-worker.ts";
import { etagOf } from "./document-store.ts";
import { EngineStore, HandedOver } from "./engine-store.ts";
import { Engine, FOREVER } from "./engine/engine.ts";
import { importRoute } from "./import/route.ts";
import { followCalendars, Messages, openHome, recordRun } from "./live-home.ts";
import { parseDocument } from "./parse-document.ts";
import * as routes from "./routes.ts";
import { RunPublisher } from "./run-publisher.ts";
import { simulateDocument } from "./simulation.ts";
import { systemClock } from "./system-clock.ts";

/** The longest wait for files of code in a reload, whose start has to end within 1.5 s. */
const RELOADING_MS = 800;

type Context = PluginContext<undefined, HandedOver, typeof channels>;

/** The automations of the home. */
export default definePlugin({
  state: HandedOver,
  channels,

  async start(ctx) {
    const home = await openHome(ctx);
    const store = new EngineStore(ctx.storage, ctx.log);
    const publisher = new RunPublisher(ctx.channels.run, ctx.log);
    const engine = new Engine({
      clock: systemClock,
      home,
      warn: (sentence, fields) => ctx.log.warn(sentence, fields),
      traced(run, trace) {
        publisher.publish(run, trace);
        store.traced();
      },
      ended: (trace) => recordRun(ctx.call, ctx.log, trace),
      changed: () => store.changed(),
    });
    let code: CodeAutomations | undefined;
    let describing: ReturnType<typeof describeHome> | undefined;
    ctx.onDispose(async () => {
      await code?.hold();
      await store.handOver();
      engine.stop();
      await code?.stop();
    });

    const follower = await followDevices(ctx, engine, () => describing?.changed());
    engine.initialize(await ctx.home.devices.list(), await store.load(ctx.handedOver));
    const messages = new Messages(ctx, engine);
    const changed = (): void => {
      messages.update();
      calendars.update();
    };
    const automations = await Automations.open(engine, {
      storage: ctx.storage,
      log: ctx.log,
      changed,
      code: () => code,
    });
    const calendars = followCalendars(ctx, engine, home);
    const { sources, storage, log } = ctx;
    const loadingMs = ctx.handedOver ? RELOADING_MS : undefined;
    const given = { engine, sources, storage, log, changed, loadingMs };
    code = await CodeAutomations.open({ ...given, startThread: startWorker }, await thingsOf(ctx));
    describing = describeHome(ctx, code);
    messages.update();
    await engine.settled(); // runs from before are where they were, so that no change passes them
    store.attach(engine);
    follower.begin();
    if (!ctx.handedOver) engine.started();

    return {
      async handOver() {
        await code?.hold();
        const state = await store.handOver();
        if (state) return state;
        throw new Error("the automations were handed over before");
      },
      routes: routesOf({ ctx, engine, automations, home }),
    };
  },
});

/** Passes changes and events to the engine. Those that come before it has begun wait. */
async function followDevices(
  { home }: Pick<Context, "home">,
  engine: Engine,
  namesChanged: () => void,
): Promise<{ begin(): void }> {
  let waiting: (() => void)[] | undefined = [];
  const pass = (work: () => void): void => {
    if (waiting) waiting.push(work);
    else work();
  };
  await home.devices.on("*", (device: Device | undefined, old, cause) => {
    const id = device?.id ?? old?.id;
    if (concernsNames(device, old)) namesChanged();
    if (id !== undefined) pass(() => engine.deviceChanged({ id, device, old, cause }));
  });
  await home.events.on("*", ({ deviceId, event, data }) =>
    pass(() => engine.deviceEvent(deviceId, event, data)),
  );
  return {
    begin() {
      const work = waiting ?? [];
      waiting = undefined;
      for (const each of work) each();
    },
  };
}

interface Parts {
  readonly ctx: Context;
  readonly engine: Engine;
  readonly automations: Automations;
  readonly home: Awaited<ReturnType<typeof openHome>>;
}

function routesOf(parts: Parts) {
  // The first that fits answers, so fixed words come before ids.
  const { ctx, automations } = parts;
  const fixed = [...switchRoutes(parts), importRoute(ctx, automations)];
  return [...fixed, ...runRoutes(parts), ...documentRoutes(parts)];
}

function documentRoutes({ ctx, engine, automations }: Parts) {
  const answer = (json: DocumentView | CodeView) => ({
    json: json as never,
    ...("revision" in json && { headers: { etag: etagOf(json) } }),
  });
  return [
    handle(routes.list, () => ({
      json: { automations: automations.list(), paused: pausedIn(engine) },
    })),
    handle(routes.create, async ({ body }) => {
      const json = await automations.create(body);
      const location = `${await prefixOf(ctx)}/automations/${json.id}`;
      return {
        status: 201,
        json: json as never,
        headers: { location, etag: etagOf(json) },
      };
    }),
    handle(routes.read, ({ params }) => {
      return answer(automations.get(params.id));
    }),
    handle(routes.replace, async ({ params, body, headers }) => {
      return answer(await automations.replace(params.id, body, headers["if-match"]));
    }),
    handle(routes.remove, async ({ params, headers }) => {
      await automations.remove(params.id, headers["if-match"]);
      return { status: 204 };
    }),
    handle(routes.enable, async ({ params, headers }) => {
      return answer(await automations.setEnabled(params.id, true, headers["if-match"]));
    }),
    handle(routes.disable, async ({ params, body: { forMs }, headers }) => {
      const { id } = params;
      if (forMs !== undefined) return answer(automations.snooze(id, Date.now() + forMs));
      return answer(await automations.setEnabled(id, false, headers["if-match"]));
    }),
    handle(routes.history, async ({ params }) => ({
      json: { revisions: [...(await automations.history(params.id))] },
    })),
    handle(routes.restore, async ({ params, headers }) => {
      const revision = Number(params.revision);
      return answer(await automations.restore(params.id, revision, headers["if-match"]));
    }),
  ];
}

function runRoutes({ ctx, engine, automations, home }: Parts) {
  return [
    handle(routes.shownAsCode, ({ params }) => ({
      json: { code: automations.asCode(params.id) },
    })),
    handle(routes.run, ({ params, cause }) => ({
      status: 202,
      json: { run: automations.run(params.id, cause) },
    })),
    handle(routes.traces, ({ params }) => ({
      json: { traces: automations.traces(params.id) as never },
    })),
    handle(routes.simulated, async ({ body }) => {
      const { id, document, ...span } = body;
      if ((id === undefined) === (document === undefined)) {
        throw new MantelError("invalid", "a simulation needs either id or document", {
          errors: [{ pointer: "/id", detail: "is needed, or document" }],
        });
      }
      const simulated =
        id === undefined
          ? { document: parseDocument(document), id: "simulated" }
          : automations.simulated(id);
      const request = { ...simulated, ...span };
      const devices = engine.devices();
      const { timeZone, coordinates } = home;
      const json = await simulateDocument(request, { timeZone, coordinates, devices }, ctx.call);
      return { json: json as never };
    }),
    handle(routes.webhooks, async () => {
      const path = await ctx.routes.url(routes.called);
      return { json: { path: path.slice(0, -"/:name".length) } };
    }),
    handle(routes.called, ({ params }) => {
      if (engine.webhook(params.name)) return { status: 204 };
      throw new MantelError("not_found", `no automation waits for the webhook ${params.name}`);
    }),
  ];
}

function switchRoutes({ engine }: Parts) {
  return [
    handle(routes.pause, ({ body }) => {
      engine.pause(body.forMs === undefined ? FOREVER : Date.now() + body.forMs);
      return { json: { paused: pausedIn(engine) } };
    }),
    handle(routes.resume, () => {
      engine.resume();
      return { json: { paused: pausedIn(engine) } };
    }),
  ];
}

function pausedIn({ pausedUntil }: Engine): { until: string | null } | null {
  if (pausedUntil === undefined) return null;
  return { until: pausedUntil === FOREVER ? null : new Date(pausedUntil).toISOString() };
}

/** The prefix of the API, such as `/api/v1`. */
async function prefixOf(ctx: Pick<Context, "routes">): Promise<string> {
  const path = await ctx.routes.url(routes.called);
  return path.slice(0, path.indexOf("/plugins/"));
}
