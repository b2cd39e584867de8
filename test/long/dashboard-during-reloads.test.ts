import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { until } from "../helpers/until.ts";
import { kill, readModule, saveEquivalentCode } from "../helpers/upheaval.ts";

const PROCESSES = ["demo-home", "calendar", "system"];
const WIDGET = "room-widget/widget.ts";
const BACK = { withinMs: 15_000 };
const LAMP = "Ceiling";
/** The elements that a page keeps: its frame, and the frame of each tile. */
const SHELL = ".wall, header.top, section[data-module]";

test("an open dashboard keeps its page and sends commands while modules reload and crash", async (t) => {
  const host = await startHost(t, {
    trusted: "all",
    plugins: [...PROCESSES, "room-widget", "clock-widget"].map((id) => `plugins/${id}`),
  });
  await noteCommands(host);
  const browser = await openBrowser(t);
  const { page, faults } = await openPage(t, browser, await host.link("admin"));
  await lampOf(page).waitFor();
  const opened: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/events")) opened.push(request.url());
  });
  page.on("framenavigated", (frame) => opened.push(frame.url()));
  const shell = await page.locator(SHELL).elementHandles();
  const lamp = await lampOf(page).elementHandle();
  const tapped: string[] = [];
  const tapDuring = async (work: () => Promise<unknown>): Promise<void> => {
    const done = work();
    tapped.push(await tap(page));
    await done;
    tapped.push(await tap(page));
  };

  for (const id of PROCESSES) await tapDuring(() => saveEquivalentCode(host, id));
  await tapDuring(() => rollBack(host));
  await tapDuring(() => restartAll(host));
  for (const id of PROCESSES) {
    const isBack = await kill(host, id); // nobody could know the outcome of a tap that came before
    await tapDuring(isBack);
  }
  assert.equal(await lamp?.evaluate((element) => element.isConnected), true, "the lamp's own tile");
  await tapDuring(() => swapWidget(page, host));

  const stays = await Promise.all(
    shell.map((each) => each.evaluate((element) => element.isConnected)),
  );
  assert.ok(stays.length > 5 && stays.every(Boolean), stays.join());
  assert.deepEqual(await askedIds(host), tapped, "each tap is one command at the bridge");
  assert.deepEqual(opened, [], "the page was loaded once, and its stream opened once");
  assert.deepEqual(faults, []);
});

function lampOf(page: Page) {
  return page.getByRole("slider", { name: LAMP });
}

/** Taps the lamp once; gives the id of the command, which the bridge has confirmed. */
async function tap(page: Page): Promise<string> {
  const [response] = await Promise.all([
    page.waitForResponse((each) => each.url().endsWith("/command")),
    lampOf(page).click(),
  ]);
  const body = (await response.json()) as { commandId: string; status: string };
  assert.deepEqual([response.status(), body.status], [200, "applied"]);
  return body.commandId;
}

/** Has the bridge write the id of each command to a file in its own folder, which outlasts its process. */
async function noteCommands(host: TestHost): Promise<void> {
  const { generation } = await readModule(host, "demo-home");
  const file = join(host.plugins, "demo-home/home.ts");
  const source = await readFile(file, "utf8");
  const noting = source.replace(
    "async command(nativeId, command, _commandId, beyond) {",
    'async command(nativeId, command, commandId, beyond) { appendFileSync("asked.txt", commandId + "\\n");',
  );
  await writeFile(file, `import { appendFileSync } from "node:fs";\n${noting}`);
  await until(async () => (await readModule(host, "demo-home")).generation > generation, BACK);
}

async function askedIds(host: TestHost): Promise<string[]> {
  const text = await readFile(join(host.data, "plugins/demo-home/asked.txt"), "utf8");
  return text.trim().split("\n");
}

async function rollBack(host: TestHost): Promise<void> {
  const file = join(host.plugins, "demo-home/home.ts");
  const source = await readFile(file, "utf8");
  await writeFile(file, source.replace("const radio", "throw new Error('boom'); const radio"));
  const refused = await host.api("/modules/demo-home/reload", { method: "POST" });
  assert.equal(refused.status, 422);
  await writeFile(file, source);
}

/** Changes a setting of each of them. */
async function restartAll(host: TestHost): Promise<void> {
  const generations = () =>
    Promise.all(PROCESSES.map(async (id) => (await readModule(host, id)).generation));
  const before = await generations();
  const limits = { limits: { callMs: 9_000 } };
  const modules = Object.fromEntries(PROCESSES.map((id) => [id, limits]));
  await host.api("/config", { method: "PATCH", json: { modules } });
  await until(async () => (await generations()).every((now, at) => now > (before[at] ?? 0)), BACK);
}

/** New code for every tile that shows a room; it says so in the headings. */
async function swapWidget(page: Page, host: TestHost): Promise<void> {
  const file = join(host.plugins, WIDGET);
  const source = await readFile(file, "utf8");
  await writeFile(
    file,
    source.replace("title || group || room;", "title || group || `${room} again`;"),
  );
  await page.getByText("Upstairs again").waitFor();
}
