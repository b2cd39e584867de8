import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import type { ModuleView } from "../../host/api/module.ts";
import { assertAccessible } from "../helpers/accessibility.ts";
import { beginDrag, openBrowser, openPage } from "../helpers/browser.ts";
import {
  frameOf,
  type GuestWidget,
  installGuest,
  layoutOf,
  saveGuest,
} from "../helpers/guest-widget.ts";
import { startHost } from "../helpers/host.ts";
import { LOAD, loadNow, until } from "../helpers/until.ts";

const LAMP = "demo:light:2";
const SEES_LIGHTS = { devices: ["read", "command"], kinds: ["light"] };
const YEAR_MS = 365 * 24 * 3_600_000;
const TELLS_TIME = `    const pre = document.createElement("pre");
    root.append(pre);
    ctx.effect(() => {
      const [screen, home] = [Date.now(), ctx.now()];
      const said = ctx.fmt.relative(home - 5 * 60_000);
      pre.textContent = JSON.stringify({ screen, home, said });
    });`;
const PATIENT = { withinMs: 20_000 };

test("the widget of an installed plugin, in its frame", async (t) => {
  const plugins = ["demo-home", "clock-widget", "device-widget"].map((id) => `plugins/${id}`);
  const host = await startHost(t, { plugins, trusted: ["clock-widget"] });
  const browser = await openBrowser(t);

  await until(async () => (await host.api("/health/ready")).ok, PATIENT);
  /** A wall with the clock, in the page, and these modules. */
  const visit = async (each: typeof t, modules: readonly string[], config: object = {}) => {
    const json = layoutOf(["clock-widget", ...modules], config);
    await host.api("/layout", { method: "PUT", json });
    const visited = await openPage(each, browser, await host.link("admin"));
    visited.page.setDefaultTimeout(20_000 * LOAD); // frames start one after the other, also on a busy machine
    await visited.page.getByRole("timer").waitFor();
    return visited;
  };

  await t.test("reaches nothing of the dashboard, the host or the network", async (each) => {
    await installGuest(host, ATTACKER);
    const { page } = await visit(each, ["attacker-widget"]);
    const answered: string[] = [];
    page.on("response", (response) => answered.push(response.url()));
    const frame = frameOf(page, "attacker-widget");

    await frame.getByRole("button", { name: "attack" }).click();
    await frame.getByText("done").waitFor();

    const outcomes = JSON.parse(await frame.locator("pre").innerText()) as Record<string, string>;
    assert.deepEqual(
      Object.entries(outcomes).filter(([, outcome]) => !outcome.startsWith("refused")),
      [],
    );
    assert.deepEqual(Object.keys(outcomes).length, Object.keys(ATTACKS).length);
    assert.equal(page.context().pages().length, 1, "no window was opened");
    assert.equal(new URL(page.url()).origin, host.url, "the page is where it was");
    assert.deepEqual(
      answered.filter((url) => url.includes("stolen")),
      [],
    );
    await assertWell(page);
  });

  await t.test("is refused undeclared access, with the line to add", async (each) => {
    await installGuest(host, asker("undeclared-widget", undefined));
    await installGuest(host, asker("lights-widget", SEES_LIGHTS));
    const { page } = await visit(each, ["undeclared-widget", "lights-widget"]);
    const answers = async (module: string) => {
      const frame = frameOf(page, module);
      await frame.getByText("answered").waitFor();
      return JSON.parse(await frame.locator("pre").innerText()) as Record<string, string>;
    };

    const [none, lights] = [await answers("undeclared-widget"), await answers("lights-widget")];

    assert.equal(none["devices"], "0");
    assert.match(
      none["lamp"] ?? "",
      /^forbidden this widget may not command devices: add "needs": /,
    );
    assert.match(none["lamp"] ?? "", /\{"devices":\["read","command"\]\} to "mantel"/);
    assert.match(none["scene"] ?? "", /forbidden .*"needs": \{"scenes":true\}/);
    assert.match(none["photos"] ?? "", /"needs": \{"reads":\["\/photos"\]\}/);
    assert.equal(lights["lamp"], "ok");
    assert.match(lights["cover"] ?? "", /^forbidden .* has only light/);
    assert.ok(Number(lights["devices"]) > 0);
    assert.equal(lights["kinds"], "light", "it sees lights alone");
    for (const given of [none, lights]) {
      assert.match(given["tokens"] ?? "", /may not read \/api|may not read \/tokens/);
      assert.match(given["sideways"] ?? "", /may not read/);
    }
  });

  await t.test("becomes the only error tile when it floods the dashboard", async (each) => {
    await installGuest(host, FLOODER);
    const { page } = await visit(each, ["flooder-widget", "lights-widget"]);
    const tile = page.locator("[data-module=flooder-widget]");
    for (const [name, reason] of Object.entries(FLOODS)) {
      await frameOf(page, "flooder-widget").getByRole("button", { name }).click();
      await tile.getByRole("alert").getByText(reason).waitFor();
      await assertWell(page);
      await tile.getByRole("button", { name: "Restart" }).click();
    }
    await frameOf(page, "lights-widget").getByText("answered").waitFor();
    assert.equal(await page.evaluate("({}).polluted"), undefined);
  });

  await t.test("reports errors that it does not catch, with file and line", async (each) => {
    const mount =
      "    setTimeout(() => { root.gone.more(); });\n    root.append(Object.assign(document.createElement('p'), { textContent: 'continues' }));";
    await installGuest(host, { id: "thrower-widget", mount });
    const { page } = await visit(each, ["thrower-widget"]);
    await frameOf(page, "thrower-widget").getByText("continues").waitFor();
    const module = async () =>
      (await (await host.api("/modules/thrower-widget")).json()) as Pick<ModuleView, "error">;
    await until(async () => (await module()).error !== null);
    const { file, line, message } = (await module()).error ?? assert.fail();
    assert.deepEqual([file, line], ["widget.ts", 10]);
    assert.match(message, /^the widget failed in a browser: Cannot read properties of undefined/);
    await frameOf(page, "thrower-widget").getByText("continues").waitFor();
  });

  await t.test("becomes an error tile when it does not mount in time", async (each) => {
    await installGuest(host, UNMOUNTED);
    const { page } = await visit(each, ["unmounted-widget"]);
    const tile = page.locator("[data-module=unmounted-widget]");
    await tile.getByText("it did not start in time").waitFor({ timeout: 20_000 * loadNow() });
  });

  await t.test("has the time of the home on a screen whose clock is wrong", async (each) => {
    await installGuest(host, { id: "time-widget", mount: TELLS_TIME });
    const { page } = await visit(each, ["time-widget"]);
    await page.clock.install({ time: Date.now() + YEAR_MS });
    await page.reload();
    const frame = frameOf(page, "time-widget");
    const text = await frame.locator("pre").innerText();
    const shown = JSON.parse(text) as { screen: number; home: number; said: string };
    assert.ok(Math.abs(shown.screen - YEAR_MS - Date.now()) < 600_000, text);
    assert.ok(Math.abs(shown.home - Date.now()) < 600_000, text);
    assert.equal(shown.said, "5 min ago");
  });

  await t.test("commands a lamp by a slider, and follows it", async (each) => {
    const { page } = await visit(each, ["device-widget"], { device: LAMP });
    const slider = frameOf(page, "device-widget").getByRole("slider", { name: "TV backlight" });
    await slider.waitFor();
    const box = await slider.boundingBox();
    assert.ok(box);
    const brightness = async () => {
      const response = await host.api(`/smart-home/devices/${encodeURIComponent(LAMP)}`);
      return ((await response.json()) as { state: { brightness: number } }).state.brightness;
    };
    const before = await brightness();
    const way = before > 50 ? -1 : 1;

    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await beginDrag(page, middle, { ...middle, x: middle.x + (way * box.width) / 4 });
    await page.mouse.up();

    await until(async () => Math.abs((await brightness()) - before) > 15, PATIENT);
    const drawn = async () => Number(await slider.getAttribute("aria-valuenow"));
    await until(async () => (await drawn()) === (await brightness()), PATIENT);
    await page.keyboard.press("Escape");
  });

  await t.test(
    "is reached and left with the keyboard, has a name and no accessibility violations",
    async (each) => {
      const { page, faults } = await visit(each, ["lights-widget"]);
      const frame = frameOf(page, "lights-widget");
      const shown = page.locator("[data-module=lights-widget] iframe");
      await frame.getByText("answered").waitFor();

      await frame.getByRole("button", { name: "ask" }).focus();
      await until(() => page.evaluate("document.activeElement.localName === 'iframe'"));
      await page.keyboard.press("Escape");
      await until(() => page.evaluate("document.activeElement.dataset.module === 'lights-widget'"));

      assert.equal(await shown.getAttribute("title"), "Guest");
      await assertAccessible(page);
      assert.deepEqual(faults, []);
    },
  );

  await t.test("lets the page scroll under a finger and a wheel", async (each) => {
    const { page } = await visit(
      each,
      Array.from({ length: 9 }, () => "lights-widget"),
    );
    const shown = page.locator("mantel-frame:not(.waiting) iframe");
    await until(async () => (await shown.count()) === 9, PATIENT);
    const box = await shown.first().boundingBox();
    assert.ok(box);
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const scrolled = async () => (await page.evaluate<number>("scrollY")) > 50;
    const client = await page.context().newCDPSession(page);

    await client.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 1 });
    const at = { id: 1, x };
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: object[]) =>
      client.send("Input.dispatchTouchEvent", { type, touchPoints: touchPoints as [] });
    // A page that is still laid out may not be ready for the first finger.
    await until(async () => {
      await touch("touchStart", [{ ...at, y }]);
      for (let by = 20; by <= 200; by += 20) await touch("touchMove", [{ ...at, y: y - by }]);
      await touch("touchEnd", []);
      await delay(100);
      return scrolled();
    }, PATIENT);
    await client.send("Emulation.setTouchEmulationEnabled", { enabled: false });

    await page.evaluate("scrollTo(0, 0)");
    await page.mouse.move(x, y);
    await until(async () => {
      await page.mouse.wheel(0, 200);
      await delay(100);
      return scrolled();
    }, PATIENT);
  });

  await t.test("is swapped in place, with its state handed over between frames", async (each) => {
    await installGuest(host, counter("first"));
    const { page } = await visit(each, ["counter-widget"]);
    const frame = frameOf(page, "counter-widget");
    const tile = page.locator("[data-module=counter-widget]");
    await frame.getByRole("button", { name: "first 0" }).click();
    await frame.getByRole("button", { name: "first 1" }).click();
    const blank = await watchForBlank(page);

    for (const name of ["second", "third"]) {
      await saveGuest(host, counter(name));
      await frame.getByRole("button", { name: `${name} 2 Map` }).waitFor();
    }
    await saveGuest(host, counter("broken", "throw new Error('does not mount');"));
    await tile.getByText("New code failed: does not mount").waitFor();
    await frame.getByRole("button", { name: "third 2 Map" }).click();
    await frame.getByRole("button", { name: "third 3 Map" }).waitFor();

    assert.equal(await blank(), 0, "frames in which the tile showed no widget");
    await until(async () => (await tile.locator("iframe").count()) <= 2); // its own, and a spare
  });

  await t.test(
    "with an infinite loop does not block the page, and other frames restart",
    async (each) => {
      await installGuest(host, endless());
      await saveGuest(host, counter("first"));
      const { page } = await visit(each, ["endless-widget", "counter-widget"]);
      const tile = page.locator("[data-module=endless-widget]");
      await frameOf(page, "counter-widget").getByRole("button").waitFor();
      for (const [kind, reason] of Object.entries(ENDLESS)) {
        await frameOf(page, "endless-widget").getByRole("button", { name: kind }).click();
        await tile
          .getByText(reason)
          .first()
          .waitFor({ timeout: 20_000 * loadNow() });
        await assertWell(page);
        await frameOf(page, "counter-widget")
          .getByRole("button")
          .waitFor({ timeout: 20_000 * loadNow() });
        await tile.getByRole("button", { name: "Restart" }).click();
      }
    },
  );

  await t.test("runs in the page only while a user trusts it", async (each) => {
    const { page } = await visit(each, ["counter-widget"]);
    const tile = page.locator("[data-module=counter-widget]");
    await frameOf(page, "counter-widget").getByRole("button").waitFor();
    const settings = await openPage(each, browser, await host.link("admin"));
    await settings.page.getByRole("timer").waitFor();
    await settings.page.evaluate("location.hash = '#/settings/modules/lights-widget'");
    await settings.page.getByText("devices of type light").first().waitFor();
    await settings.page.getByText("in a sandboxed frame").waitFor();
    await settings.page.evaluate("location.hash = '#/settings/modules/counter-widget'");
    await settings.page.getByText("nothing", { exact: true }).first().waitFor();

    await settings.page.getByRole("button", { name: "Trust this widget" }).click();
    await settings.page.getByRole("button", { name: /Trust this widget/ }).click();

    await tile.locator(":scope > .widget:not(.framed)").getByRole("button").waitFor();
    assert.equal(await tile.locator("iframe").count(), 0);
    await settings.page.getByRole("button", { name: "Stop trusting this widget" }).click();
    await frameOf(page, "counter-widget").getByRole("button").waitFor();
  });

  await t.test("cannot be trusted by users with the edit scope", async () => {
    const json = { modules: { "counter-widget": { trusted: true } } };
    const refused = await host.api("/config", { method: "PATCH", scope: "edit", json });
    assert.equal(refused.status, 403);
  });

  await t.test("is shown in the editor, and its settings are read in a frame", async (each) => {
    await installGuest(host, SETTABLE);
    const { page, faults } = await visit(each, ["settable-widget"]);
    await frameOf(page, "settable-widget").getByText("word: none!").waitFor();

    await page.getByRole("button", { name: "Edit the layout" }).click();
    await page.getByRole("button", { name: /^Guest, column/ }).click();
    await page.getByLabel("Your word").fill("green");
    await page.getByLabel("How often").fill("2");
    await page.keyboard.press("Tab");
    await page.getByLabel("Ends with").selectOption("?");

    const edited = page.locator(".editor [data-module=settable-widget] iframe").contentFrame();
    await edited.getByText("word: greengreen?").waitFor();
    assert.deepEqual(faults, []);
  });
});

/** The page draws, its clock ticks, and its storage has what it had. */
async function assertWell(page: Page): Promise<void> {
  await page.getByRole("timer").waitFor();
  await until(async () => (await page.evaluate<number>(COUNT_FRAMES)) > 10, PATIENT);
}

/** Counts the pictures in which the tile of the counter shows no widget, until it is asked. */
async function watchForBlank(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    globalThis.blank = 0;
    requestAnimationFrame(function look() {
      const shown = document.querySelectorAll("[data-module=counter-widget] > .widget:not(.waiting)");
      if (shown.length !== 1) blank++;
      requestAnimationFrame(look);
    });`);
  return () => page.evaluate("blank");
}

/** The frames of half a second. */
const COUNT_FRAMES = `new Promise((resolve) => {
  let frames = 0;
  const endsAt = performance.now() + 500;
  requestAnimationFrame(function next(now) {
    if (now >= endsAt) return resolve(frames);
    frames++;
    requestAnimationFrame(next);
  });
})`;

/** Ways out of a frame. Each has to throw or give nothing; `own` is the address of the host. */
const ATTACKS: Readonly<Record<string, string>> = {
  localStorage: "return localStorage.length",
  sessionStorage: "return sessionStorage.length",
  indexedDB:
    "return await new Promise((ok, no) => { const r = indexedDB.open('x'); r.onsuccess = ok; r.onerror = no; })",
  cookie:
    "const had = document.cookie; document.cookie = 'stolen=1'; return had + document.cookie || undefined",
  parentDocument: "return parent.document.title",
  parentStorage: "return parent.localStorage.length",
  topAddress: "return top.location.href",
  topNavigation: "top.location.href = own + '/?stolen'; return undefined",
  tokens:
    "return (await window.fetch(own + '/api/v1/tokens?stolen', { credentials: 'include' })).status",
  request: `return await new Promise((ok, no) => {
      const request = new XMLHttpRequest();
      request.open('GET', own + '/api/v1/devices?stolen'); request.onload = ok; request.onerror = no; request.send();
    })`,
  beacon: "return navigator.sendBeacon(own + '/stolen', 'x') ? undefined : undefined",
  socket:
    "return await new Promise((ok, no) => { const s = new WebSocket(own.replace('http', 'ws') + '/stolen'); s.onopen = ok; s.onerror = no; })",
  picture:
    "return await new Promise((ok, no) => { const i = new Image(); i.onload = ok; i.onerror = no; i.src = own + '/assets/stolen.svg'; })",
  script:
    "return await new Promise((ok, no) => { const s = document.createElement('script'); s.onload = ok; s.onerror = no; s.src = own + '/stolen.js'; document.head.append(s); })",
  worker:
    "return await new Promise((ok, no) => { const w = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); w.onmessage = ok; w.onerror = no; })",
  eval: "return (0, eval)('1')",
  window: "return window.open(own + '/?stolen') ?? undefined",
  form: "const f = document.createElement('form'); f.action = own + '/stolen'; f.target = '_blank'; document.body.append(f); f.submit(); return undefined",
  peers: "return typeof RTCPeerConnection === 'undefined' ? undefined : 'there'",
  peersOfAChild:
    "const f = document.createElement('iframe'); document.body.append(f); return typeof f.contentWindow.RTCPeerConnection",
  pageWithinAFrame: `const f = document.createElement('iframe'); f.src = own + '/?stolen'; document.body.append(f);
    return await new Promise((ok) => setTimeout(() => ok(f.contentDocument?.title || undefined), 300))`,
  sibling: "return parent.frames[0] === window ? undefined : parent.frames[0].document.title",
  prototype: "return Object.prototype.polluted",
};

const ATTACKER: GuestWidget = {
  id: "attacker-widget",
  mount: `
    const own = new URL(document.URL).origin;
    const button = document.createElement("button");
    button.textContent = "attack";
    const pre = document.createElement("pre");
    root.append(button, pre);
    const outcomes: Record<string, string> = {};
    const attempt = async (name: string, run: () => Promise<unknown>) => {
      try {
        const got = await run();
        outcomes[name] = got === undefined ? "refused: nothing" : "got " + String(got);
      } catch (error) { outcomes[name] = "refused: " + String(error); }
    };
    button.addEventListener("click", async () => {
      ${Object.entries(ATTACKS)
        .map(
          ([name, code]) =>
            `await attempt(${JSON.stringify(name)}, async (): Promise<any> => { ${code} });`,
        )
        .join("\n      ")}
      pre.textContent = JSON.stringify(outcomes);
      button.textContent = "done";
    });
`,
};

/** A widget that asks for all kinds of things, and shows the answers. */
function asker(id: string, needs: object | undefined): GuestWidget {
  return {
    id,
    ...(needs ? { needs } : {}),
    mount: `
    const button = document.createElement("button");
    button.textContent = "ask";
    const pre = document.createElement("pre");
    const p = document.createElement("p");
    root.append(button, p, pre);
    const said = ({ ok, error }: any) => ok ? "ok" : error.code + " " + error.message;
    const read = (path: string) => ctx.read(path).then((r: Response) => "got " + r.status, (e: Error) => e.message);
    (async () => {
      const devices = ctx.devices().value;
      const answers = {
        devices: String(devices.length),
        kinds: [...new Set(devices.map((d: any) => d.kind))].join(),
        lamp: said(await ctx.command("${LAMP}", { on: true })),
        cover: said(await ctx.command("demo:cover:3", { position: 0 })),
        scene: said(await ctx.scene("nothing")),
        photos: await read("/photos"),
        tokens: await read("/tokens"),
        sideways: await read("/calendar/events/../../tokens"),
      };
      pre.textContent = JSON.stringify(answers);
      p.textContent = "answered";
    })();
`,
  };
}

const FLOODS = {
  port: "it sent too many messages",
  window: "it sent a message to the window of the dashboard",
  huge: "it sent an invalid message",
  deep: "it sent an invalid message",
  elsewhere: "it left its page",
};

/** A widget that stops the timers with which its frame waits for the first picture. */
const UNMOUNTED: GuestWidget = {
  id: "unmounted-widget",
  before:
    "globalThis.setTimeout = (() => 0) as any; globalThis.requestAnimationFrame = (() => 0) as any;",
  mount: "",
};

const FLOODER: GuestWidget = {
  id: "flooder-widget",
  mount: `
    const add = (name: string, run: () => void) => {
      const button = document.createElement("button");
      button.textContent = name;
      button.onclick = () => setTimeout(run, 50);
      root.append(button);
    };
    const polluting = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    add("port", () => { for (let i = 0; i < 5_000; i++) void ctx.command("x", polluting); });
    add("window", () => parent.postMessage("mantel", "*"));
    add("huge", () => void ctx.command("x", { text: "x".repeat(8_000_000) }));
    add("deep", () => {
      const command: any = {};
      let at = command;
      for (let i = 0; i < 1_000; i++) at = at.in = {};
      void ctx.command("x", command);
    });
    add("elsewhere", () => { location.href = new URL(document.URL).origin + "/"; });
`,
};

/** A widget that counts clicks, and keeps the count in something that is not JSON. */
function counter(name: string, first = ""): GuestWidget {
  return {
    id: "counter-widget",
    mount: `
    ${first}
    let clicks = ctx.handedOver?.get("clicks") ?? 0;
    const button = document.createElement("button");
    const draw = () => (button.textContent = "${name} " + clicks + (ctx.handedOver instanceof Map ? " Map" : ""));
    ctx.on(button, "click", () => { clicks++; draw(); });
    root.append(button);
    draw();
    return { handOver: () => new Map([["clicks", clicks]]) };
`,
  };
}

const ENDLESS = {
  loop: "Stopped: infinite loop",
  recursion: "it did not answer for two seconds",
};

/** A widget with a loop, which ends itself, and one that nothing within its frame ends. */
function endless(): GuestWidget {
  return {
    id: "endless-widget",
    mount: `
    const add = (name: string, run: () => void) => {
      const button = document.createElement("button");
      button.textContent = name;
      ctx.on(button, "click", () => setTimeout(run, 50));
      root.append(button);
    };
    add("loop", () => { for (;;); });
    add("recursion", () => { const grow = (): any => [1, 2, 3, 4].forEach(() => { try { grow(); } catch {} }); grow(); });
`,
  };
}

const SETTABLE: GuestWidget = {
  id: "settable-widget",
  before: 'import { Type } from "typebox";',
  more: `settings: {
    word: s.text({ title: "Your word", default: "none" }),
    times: Type.Integer({ title: "How often", minimum: 1, maximum: 3 }),
    end: Type.Union([Type.Literal("!"), Type.Literal("?")], { title: "Ends with" }),
  },`,
  mount: `
    const p = document.createElement("p");
    root.append(p);
    ctx.effect(() => {
      const { word, times, end } = ctx.settings.value;
      p.textContent = "word: " + word.repeat(times) + end;
    });
`,
};
