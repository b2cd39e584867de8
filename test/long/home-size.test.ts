import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { startHost } from "../helpers/host.ts";
import { lamp } from "../helpers/stage-devices.ts";
import { openStage, picture, type Placed, tileOf } from "../helpers/stage.ts";
import { assertFits } from "../helpers/text-boxes.ts";
import { loadNow, until } from "../helpers/until.ts";

const ROOM = "Hall";
const TILES: readonly Placed[] = [
  { id: "room", module: "room-widget", config: { room: ROOM }, at: [0, 2, 6, 8] },
  { id: "all", module: "room-widget", at: [6, 2, 6, 8] },
  { id: "status", module: "status-widget", at: [0, 10, 6, 3] },
  { id: "device", module: "device-widget", config: { device: "stage:light:1" }, at: [6, 10, 3, 5] },
  { id: "history", module: "history-widget", at: [9, 10, 3, 5] },
  { id: "energy", module: "energy-widget", at: [0, 13, 3, 5] },
  { id: "scenes", module: "scenes-widget", at: [3, 13, 3, 2] },
  { id: "clock", module: "clock-widget", at: [0, 18, 4, 6] },
];
const MANY = 2_000;
/** As many tiles as a room shows. */
const MOST_TILES = 60;
const SHELL = ".wall, header.top, section[data-module]";

test("a home without devices shows a message and no errors", async (t) => {
  const { host, visit } = await openStage(t, { tiles: TILES });
  const { page, faults } = await visit(t, "edit");

  await tileOf(page, "room-widget").getByText("No devices here yet.").waitFor();
  await tileOf(page, "device-widget").getByText("Device stage:light:1 not found.").waitFor();
  await tileOf(page, "history-widget").getByText("No device measures temperature.").waitFor();
  assert.equal(await page.locator(".notice").count(), 0);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await picture(page, `home-empty-${width}`);
    await assertFits(page);
  }
  await page.goto(`${host.url}/#/settings/devices`);
  await page.getByRole("heading", { name: "Devices" }).first().waitFor();
  assert.deepEqual(faults, []);
});

test("a home of 2,000 devices is shown, searched and updated", async (t) => {
  const devices = Array.from({ length: MANY }, (_, at) =>
    lamp(`lamp-${at}`, `Lamp ${at + 1}`, { room: at < MANY / 2 ? ROOM : `Room ${at % 100}` }),
  );
  const { host, visit } = await openStage(t, { tiles: TILES, devices });
  const { page, faults } = await visit(t, "edit");
  const hall = tileOf(page, "room-widget");
  const lit = hall.getByRole("slider", { name: "Lamp 7", exact: true });

  await hall.getByText(`and ${MANY / 2 - MOST_TILES} more`).waitFor();
  await tileOf(page, "room-widget", 1)
    .getByText(`and ${MANY - MOST_TILES} more`)
    .waitFor();
  assert.equal(await hall.getByRole("slider").count(), MOST_TILES);
  const command = { method: "POST", json: { on: true, brightness: 21 } };
  await host.api("/smart-home/devices/stage:light:7/command", command);
  await until(async () => (await lit.getAttribute("aria-valuenow")) === "21");
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await picture(page, `home-of-${MANY}-${width}`);
    assert.equal(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
  }
  await page.goto(`${host.url}/#/settings/devices`);
  await page.getByRole("status").getByText(`${MANY} devices`).waitFor();
  await page.getByLabel("Search").fill(`Lamp ${MANY}`);
  await page.getByRole("link", { name: `Lamp ${MANY}` }).waitFor();
  assert.deepEqual(faults, []);
});

test("a page keeps its tiles while the host restarts and then updates them", async (t) => {
  const stage = await openStage(t, {
    tiles: TILES,
    devices: [lamp("one", "Lamp", { room: ROOM }), lamp("two", "Gone later", { room: ROOM })],
  });
  const { page } = await stage.visit(t, "control");
  const shown = tileOf(page, "room-widget").getByRole("slider", { name: "Lamp" });
  const command = (brightness: number) => ({ method: "POST", json: { on: true, brightness } });
  const path = "/smart-home/devices/stage:light:1/command";
  for (const brightness of [33, 34, 35]) await stage.host.api(path, command(brightness));
  await until(async () => (await shown.getAttribute("aria-valuenow")) === "35");
  const tiles = await page.locator(SHELL).elementHandles();
  const opened: string[] = [];
  page.on("framenavigated", (frame) => opened.push(frame.url()));
  await page.clock.install();

  await stage.host.stop();
  // The clock of the screen goes back: the word about the line does not wait for it to catch up.
  await page.clock.setSystemTime(Date.now() - 3 * 3_600_000);
  await page.getByText(/Offline for \d+ s · showing the last known state/).waitFor();
  assert.equal(await shown.getAttribute("aria-valuenow"), "35");
  const again = await startHost(t, {
    data: stage.host.data,
    trusted: "all",
    plugins: (await readdir(stage.host.plugins)).map((id) =>
      id === "stage" ? "test/fixtures/plugins/stage" : `plugins/${id}`,
    ),
    config: { stage: { devices: [lamp("one", "Lamp", { room: ROOM })] } },
    args: ["--port", new URL(stage.host.url).port],
  });

  await page.getByText(/Offline for/).waitFor({ state: "detached", timeout: 35_000 * loadNow() });
  await until(async () => (await shown.getAttribute("aria-valuenow")) === "60");
  await page.getByRole("slider", { name: "Gone later" }).first().waitFor({ state: "detached" });
  await again.api(path, command(12));
  await until(async () => (await shown.getAttribute("aria-valuenow")) === "12");
  const stay = await Promise.all(
    tiles.map((each) => each.evaluate(({ isConnected }) => isConnected)),
  );
  assert.ok(stay.length > TILES.length && stay.every(Boolean), stay.join());
  assert.deepEqual(opened, [], "the page was loaded once");
});
