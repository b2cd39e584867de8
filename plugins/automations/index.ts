import {
  definePlugin,
  type DeviceListener,
  handle,
  MantelError,
  type PluginContext,
  Type,
} from "@mantel/plugin-sdk";
import { Automations, type CodeView, type DocumentView } from "./automations.ts";
import { channels } from "./channels.ts";
import { CodeAutomations } from "./code/code-automations.ts";
import { CrashWatch } from "./code/crash-watch.ts";
import { concernsNames, describeHome, thingsOf } from "./code/describe-home.ts";
import { startWorker } from "./code/start-worker.ts";
import { etagOf } from "./document-store.ts";
import type { Engine } from "./engine/engine.ts";
import { FOREVER } from "./engine/switches.ts";
import { importRoutes } from "./import/route.ts";
import { followCalendars, Messages, openHome } from "./live-home.ts";
import { parseDocument } from "./parse-document.ts";
import * as routes from "./routes.ts";
import { openEngine } from "./running-engine.ts";
import { simulateDocument } from "./simulation.ts";
import { parseWebhookBody } from "./webhook-body.ts";

/** The longest wait for files of code in a reload, whose start has to end within 1.5 s. */
const RELOADING_MS = 800;

/** Everything else is in the journal, which the next generation opens. */
const HandedOver = Type.Object({ isReload: Type.Literal(true) });

type Context = PluginContext<undefined, { isReload: true }, typeof channels>;

/** The automations of the home. */
export default definePlugin({
  state: HandedOver,
  channels,

  async start(ctx) {
    const { sources, storage, log } = ctx;
    const home = await openHome(ctx);
    const follower = await followDevices(ctx);
    const { engine, close } = await openEngine(ctx, home);
    let code: CodeAutomations | undefined;
    const end = async (): Promise<void> => {
      await code?.hold();
      await close();
    };
    ctx.onDispose(async () => {
      await end();
      await code?.stop();
    });

    const messages = new Messages(ctx, engine);
    const changed = (): void => {
      messages.update();
      calendars.update();
    };
    const automations = await Automations.open(engine, {
      storage,
      log,
      changed,
      code: () => code,
    });
    const calendars = followCalendars(ctx, engine, home);
    const loadingMs = ctx.handedOver ? RELOADING_MS : undefined;
    const crashes = new CrashWatch(storage.journal("code"));
    const given = { engine, sources, storage, log, changed, loadingMs, crashes };
    code = await CodeAutomations.open({ ...given, startThread: startWorker }, await thingsOf(ctx));
    const describing = describeHome(ctx, code);
    messages.update();
    void code.followed.then((isComplete) => isComplete && automations.forgetOthers());
    await engine.settled(); // runs from before are where they were, so that no change passes them
    follower.begin(engine, () => describing.changed());
    if (!ctx.handedOver) engine.started();

    return {
      async handOver() {
        await end();
        return { isReload: true } as const;
      },
      routes: routesOf({ ctx, engine, automations, home }),
    };
  },
});

/** Follows the devices. Changes and events wait until the engine takes them. */
async function followDevices({
  home,
}: Pick<Context, "home">): Promise<{ begin(engine: Engine, namesChanged: () => void): void }> {
  let waiting: ((engine: Engine) => void)[] = [];
  let take = (work: (engine: Engine) => void): void => void waiting.push(work);
  let concernNames = (): void => undefined;
  const listener: DeviceListener = (device, old, cause) => {
    const id = device?.id ?? old?.id;
    if (concernsNames(device, old)) concernNames();
    if (id !== undefined) take((engine) => engine.deviceChanged({ id, device, old, cause }));
  };
  // A door that opens and closes while this process is busy must start its automations too.
  await home.devices.on("*", listener, { each: true });
  await home.events.on("*", ({ deviceId, event, data }) =>
    take((engine) => engine.deviceEvent(deviceId, event, data)),
  );
  return {
    begin(engine, namesChanged) {
      concernNames = namesChanged;
      take = (work) => work(engine);
      for (const work of waiting) work(engine);
      waiting = [];
    },
  };
}

interface Dependencies {
  readonly ctx: Context;
  readonly engine: Engine;
  readonly automations: Automations;
  readonly home: Awaited<ReturnType<typeof openHome>>;
}

function routesOf(parts: Dependencies) {
  // The first that fits answers, so fixed words come before ids.
  const { ctx, automations } = parts;
  const fixed = [...switchRoutes(parts), ...importRoutes(ctx, automations)];
  return [...fixed, ...runRoutes(parts), ...documentRoutes(parts)];
}

function documentRoutes({ ctx, engine, automations }: Dependencies) {
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

function runRoutes({ ctx, engine, automations, home }: Dependencies) {
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
    handle(routes.called, ({ params, bytes, contentType }) => {
      const body = parseWebhookBody(bytes, contentType);
      if (engine.webhook(params.name, body)) return { status: 204 };
      throw new MantelError("not_found", `no automation waits for the webhook ${params.name}`);
    }),
  ];
}

function switchRoutes({ engine }: Dependencies) {
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
