import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { type FakeCamera, RED_JPEG, startCamera } from "../fakes/camera.ts";
import { assertAccessible } from "../helpers/accessibility.ts";
import { connectBrowser, hasBrowser } from "../helpers/browser.ts";
import { type Go2rtc, startGo2rtc, withoutGo2rtc } from "../helpers/go2rtc.ts";
import { openStage, picture, type Stage, tileOf } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

const skip =
  withoutGo2rtc ||
  (!hasBrowser() && "there is no Chromium") ||
  (!hasAddress() && "WebRTC needs an address besides loopback");

function hasAddress(): boolean {
  return Object.values(networkInterfaces()).some((each) =>
    each?.some(({ family, internal }) => family === "IPv4" && !internal),
  );
}

test("cameras are seen live", { skip }, async (t) => {
  const yard = await startCamera(t);
  const front = await startVideoCamera(t);
  const server = await startGo2rtc(t, { streams: { front: `webrtc:${front}`, yard: yard.url } });
  const tile = { module: "device-widget", at: [0, 0, 4, 10] } as const;
  const stage = await openStage(t, {
    plugins: ["go2rtc"],
    config: { go2rtc: { url: server.url } },
    tiles: [
      { ...tile, id: "front", config: { device: "go2rtc:camera:1", live: true } },
      { ...tile, id: "yard", config: { device: "go2rtc:camera:2", live: true }, at: [4, 0, 4, 10] },
      { ...tile, id: "still", config: { device: "go2rtc:camera:2" }, at: [8, 0, 4, 10] },
    ],
  });
  const { page } = await stage.visit(t, "read");

  await t.test("by WebRTC where the camera has a video", () => video(page));
  await t.test("as motion JPEG where it has none", () => frames(page, yard));
  await t.test("a tile without the setting shows pictures", () => still(page));
  await t.test("in the details", () => details(page));
  await t.test("nobody watches a hidden page", () => hidden(page, yard, stage));
  await t.test("the last picture stays while the server is away", () => away(page, server));
});

async function video(page: Page): Promise<void> {
  const tile = tileOf(page, "device-widget", 0);
  const shown = tile.locator("mantel-live[playing] video");
  await shown.waitFor({ timeout: 30_000 });

  const size = await shown.evaluate(
    ({ videoWidth, videoHeight }: { videoWidth: number; videoHeight: number }) =>
      `${videoWidth} x ${videoHeight}`,
  );
  assert.equal(size, "320 x 180");
  await tile.getByText("Live", { exact: true }).first().waitFor();
  await picture(page, "cameras-live");
}

async function frames(page: Page, yard: FakeCamera): Promise<void> {
  const shown = tileOf(page, "device-widget", 1).locator("mantel-live[playing] canvas");
  await shown.waitFor({ timeout: 30_000 });
  assert.equal(await colourOf(shown), "green");

  yard.picture = RED_JPEG;
  await until(async () => (await colourOf(shown)) === "red");
}

async function still(page: Page): Promise<void> {
  const tile = tileOf(page, "device-widget", 2);
  await tile.locator("canvas").waitFor();

  assert.equal(await tile.locator("mantel-live").count(), 0);
}

async function details(page: Page): Promise<void> {
  await tileOf(page, "device-widget", 2).getByRole("button").first().click();
  const sheet = page.getByRole("dialog");
  await sheet.locator("mantel-live[playing] canvas").waitFor({ timeout: 30_000 });

  await assertAccessible(page);
  await picture(page, "camera-details-live");
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "hidden" });
}

async function hidden(page: Page, yard: FakeCamera, stage: Stage): Promise<void> {
  assert.equal(yard.viewers, 1, "all viewers share one connection");
  const playing = page.locator("mantel-live[playing]");

  await show(page, false);
  await until(async () => (await playing.count()) === 0);
  await until(() => yard.viewers === 0, { withinMs: 20_000 });
  await show(page, true);
  await until(async () => (await playing.count()) === 2, { withinMs: 30_000 });
  const answer = await stage.host.api("/smart-home/devices/go2rtc:camera:2");
  assert.equal(((await answer.json()) as { available: boolean }).available, true);
}

async function away(page: Page, server: Go2rtc): Promise<void> {
  const tile = tileOf(page, "device-widget", 1);
  await server.stop();

  await until(async () => (await page.locator("mantel-live[playing]").count()) === 0, {
    withinMs: 30_000,
  });
  assert.equal(await tile.locator(".camera > canvas").isVisible(), true);

  await server.start();
  await tile.locator("mantel-live[playing] canvas").waitFor({ timeout: 60_000 });
}

/** Hides the page, or shows it again, as a browser does with a tab. */
async function show(page: Page, isShown: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "hidden", { value: ${!isShown}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}

interface Canvas {
  readonly width: number;
  readonly height: number;
  getContext(kind: "2d"): {
    getImageData(x: number, y: number, width: number, height: number): { data: number[] };
  };
}

/** The colour in the middle of a canvas. */
function colourOf(canvas: Locator): Promise<string> {
  return canvas.evaluate((element: Canvas) => {
    const { data } = element
      .getContext("2d")
      .getImageData(element.width / 2, element.height / 2, 1, 1);
    return (data[0] ?? 0) > (data[1] ?? 0) ? "red" : "green";
  });
}

/** A camera with a video by WebRTC (WHEP): the address at which it answers offers. */
async function startVideoCamera(t: TestContext): Promise<string> {
  const browser = await connectBrowser();
  const context = await browser.newContext();
  const page = await context.newPage();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const offer = await text(request);
    const sdp = await page.evaluate<string>(`(${ANSWER})(${JSON.stringify(offer)})`);
    response.writeHead(201, { "Content-Type": "application/sdp" }).end(sdp);
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy()); // the page closes when the test ends
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await context.close();
    await browser.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/whep`;
}

/** Sends a canvas whose colour changes. */
const ANSWER = `async (offer) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [320, 180];
  const pen = canvas.getContext("2d");
  let angle = 0;
  setInterval(() => {
    pen.fillStyle = "hsl(" + (angle += 7) + " 60% 50%)";
    pen.fillRect(0, 0, canvas.width, canvas.height);
  }, 100);
  const connection = new RTCPeerConnection();
  (globalThis.connections ??= []).push(connection); // else it may be collected
  await connection.setRemoteDescription({ type: "offer", sdp: offer });
  for (const track of canvas.captureStream(10).getTracks()) connection.addTrack(track);
  await connection.setLocalDescription();
  while (connection.iceGatheringState !== "complete") {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return connection.localDescription.sdp;
}`;
