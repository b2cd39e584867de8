import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { hasBrowser, openBrowser, openPage } from "../helpers/browser.ts";
import { onTestEnd } from "../helpers/on-test-end.ts";
import { until } from "../helpers/until.ts";
import { type ServedApp, serveApp } from "../host/http/serve-app.ts";

const ROOT = resolve(import.meta.dirname, "../..");

const EXAMPLES = [
  [process.execPath, "--import", "tsx", "docs/examples/client.ts"],
  ["python3", "docs/examples/client.py"],
  ["sh", "docs/examples/client.sh", "demo:light:1"],
] as const;

test("the examples in each language turn a lamp on", async (t) => {
  const { url, token, commands } = await serveApp(t);
  const env = { ...process.env, MANTEL_URL: url, MANTEL_TOKEN: await token("control") };

  for (const [program, ...args] of EXAMPLES) {
    const { stdout } = await promisify(execFile)(program, args, { cwd: ROOT, env });

    assert.match(stdout, /demo:light:1.*applied|"status":"applied"/, args.join(" "));
  }
  assert.deepEqual(
    commands,
    EXAMPLES.map(() => ({ on: true })),
  );
});

test("the examples send a command again after the time that a busy bridge names", async (t) => {
  const { url, token, parts, commands } = await serveApp(t);
  const env = { ...process.env, MANTEL_URL: url, MANTEL_TOKEN: await token("control") };
  const send = parts.commands.send.bind(parts.commands);
  let refusals = EXAMPLES.length;
  t.mock.method(parts.commands, "send", (...args: Parameters<typeof send>) => {
    if (refusals-- <= 0) return send(...args);
    throw new MantelError("bridge_rate_limited", "the bridge is busy", { retryAfterMs: 1_000 });
  });

  const answers = await Promise.all(
    EXAMPLES.map(([program, ...args]) => promisify(execFile)(program, args, { cwd: ROOT, env })),
  );

  for (const { stdout } of answers) assert.match(stdout, /demo:light:1.*applied|"applied"/);
  assert.equal(commands.length, EXAMPLES.length);
});

const EVENT_EXAMPLES = [
  [process.execPath, "--import", "tsx", "docs/examples/events.ts"],
  ["python3", "docs/examples/events.py"],
  ["sh", "docs/examples/events.sh", "device.state"],
] as const;

const EVENTS_EVERY_LOOKS = 20;

test("the examples that follow events show what happened while the connection was broken", async (t) => {
  const app = await serveApp(t);
  const line = await breakableLine(t, app.url);
  const shown = await Promise.all(
    [...EVENT_EXAMPLES, await loopOfGuide(app.data)].map((command) =>
      started(t, command, { MANTEL_URL: line.url, MANTEL_TOKEN: app.token("read") }),
    ),
  );
  const show = (value: number) => (output: () => string) =>
    new RegExp(`"?brightness"?: ?${value}\\b`).test(output());
  let looks = 0;
  await until(async () => {
    // Few, because a program that reads slowly must find the next one among the thousand events that the host keeps.
    if (looks++ % EVENTS_EVERY_LOOKS === 0) await dim(app, 20).then(() => dim(app, 21));
    return shown.every(show(21));
  });
  // All follow events by now. What they have shown may be a state that they read; this one is an event.
  await dim(app, 25);
  await until(() => shown.every(show(25)));

  line.break();
  await dim(app, 33);
  await dim(app, 34);
  line.mend();

  await until(() => shown.every(show(33)) && shown.every(show(34)));
});

test("the examples that follow events end if the token is refused", async (t) => {
  const { url } = await serveApp(t);
  const env = { ...process.env, MANTEL_URL: url, MANTEL_TOKEN: "wrong" };

  await Promise.all(
    EVENT_EXAMPLES.map(([program, ...args]) =>
      assert.rejects(promisify(execFile)(program, args, { cwd: ROOT, env }), /401|token/),
    ),
  );
});

/** The loop in the guide to the client as a program. */
async function loopOfGuide(folder: string): Promise<readonly string[]> {
  const guide = await readFile(join(ROOT, "docs/client.md"), "utf8");
  const loop = /```ts\n(for await .*?)```/s.exec(guide)?.[1];
  const client = join(ROOT, "plugin-sdk/client/index.ts");
  const program = join(folder, "loop.mts");
  await writeFile(
    program,
    `import { createClient } from ${JSON.stringify(client)};
    const { MANTEL_URL: url, MANTEL_TOKEN: token } = process.env;
    const home = createClient({ url, token });
    const readAgain = async () => {};
    ${loop}`,
  );
  return [process.execPath, "--import", "tsx", program];
}

/** Starts a program, and returns what gives its output so far. */
async function started(
  t: TestContext,
  [program = "", ...args]: readonly string[],
  { MANTEL_URL, MANTEL_TOKEN }: { MANTEL_URL: string; MANTEL_TOKEN: Promise<string> },
): Promise<() => string> {
  const env = { ...process.env, MANTEL_URL, MANTEL_TOKEN: await MANTEL_TOKEN };
  const child = spawn(program, args, { cwd: ROOT, env, detached: true });
  const exited = once(child, "exit");
  onTestEnd(t, async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    await exited;
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return () => output;
}

function dim({ parts }: Pick<ServedApp, "parts">, brightness: number): Promise<void> {
  return parts.devices.update("demo", [{ nativeId: "lamp", state: { brightness } }]);
}

/** A line to the host that can break. */
async function breakableLine(t: TestContext, target: string) {
  const sockets = new Set<Socket>();
  let isBroken = false;
  const server = createServer((near) => {
    if (isBroken) return void near.destroy();
    const far = connect(Number(new URL(target).port), "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on("error", () => undefined);
      socket.once("close", () => (other.destroy(), sockets.delete(socket)));
    }
  });
  const cut = (): void => sockets.forEach((socket) => void socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestEnd(t, async () => {
    cut();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    break: () => {
      isBroken = true;
      cut();
    },
    mend: () => (isBroken = false),
  };
}

const inBrowser = { skip: hasBrowser() ? false : "Chromium is not installed" };
test(
  "the example for a page turns a lamp on, once the browser is signed in",
  inBrowser,
  async (t) => {
    const { url, token, commands } = await serveApp(t);
    const page = await examplePage(t, url, "client-browser.ts");
    await page.getByText("Open the dashboard and sign in first.").waitFor();

    const status = await signIn(page, await token("control"));
    await page.getByText("demo:light:1 applied").waitFor();

    assert.equal(status, 201);
    assert.deepEqual(commands, [{ on: true }]);
  },
);

test(
  "the example for a page follows events, also over a broken connection",
  inBrowser,
  async (t) => {
    const app = await serveApp(t);
    const line = await breakableLine(t, app.url);
    const page = await examplePage(t, line.url, "events-browser.ts");
    await signIn(page, await app.token("read"));
    await page.getByText('Lamp {"on":false,"brightness":50}').waitFor();
    await until(
      async () => (
        await dim(app, 20),
        await dim(app, 21),
        (await page.getByText('"brightness":21').count()) === 1
      ),
    );

    line.break();
    await dim(app, 34);
    line.mend();

    await page.getByText('"brightness":34').waitFor();
  },
);

/** A page at the home's address with an example. */
async function examplePage(t: TestContext, url: string, example: string): Promise<Page> {
  const built = await build({
    entryPoints: [resolve(ROOT, "docs/examples", example)],
    bundle: true,
    write: false,
    format: "esm",
  });
  const script = `<script type="module">${built.outputFiles[0]?.text}</script>`;
  const html = `<!doctype html><html lang="en"><title>Lamp</title><body></body>${script}</html>`;
  const { page } = await openPage(t, await openBrowser(t), `${url}/api`);
  await page.route(`${url}/example`, (route) =>
    route.fulfill({ contentType: "text/html", body: html }),
  );
  await page.goto(`${url}/example`);
  return page;
}

/** Signs the page in, and loads it again. */
async function signIn(page: Page, token: string): Promise<number> {
  const status = await page.evaluate(async (body) => {
    const headers = { "Content-Type": "application/json" };
    return (await fetch("/api/v1/session", { method: "POST", headers, body })).status;
  }, JSON.stringify({ token }));
  await page.reload();
  return status;
}
