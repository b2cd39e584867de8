import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost } from "../helpers/host.ts";
import { copyOfHost } from "../helpers/repository.ts";
import { picture } from "../helpers/stage.ts";
import { assertFits } from "../helpers/text-boxes.ts";
import { until } from "../helpers/until.ts";

const STORED = `(async () => {
  const home = await caches.open("mantel-home");
  const files = await (await caches.open("mantel-files")).keys();
  const saved = (await home.keys()).length === 1;
  return saved && files.some(({ url }) => url.includes("/assets/widgets/room-widget."));
})()`;

const RECORD = `ServiceWorkerRegistration.prototype.showNotification = async (...message) => {
  globalThis.shown = message;
}`;

test("a message that a push service delivers is shown by the browser", async (t) => {
  const host = await startHost(t, { plugins: [] });
  const { page } = await openPage(t, await openBrowser(t), await host.link("control"), {
    serviceWorker: true,
  });
  const context = page.context();
  await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
  const [worker] = context.serviceWorkers();
  await worker?.evaluate(RECORD); // this Chromium has no notifications
  const devtools = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [registration] = registrations;
      if (registration) resolve(registration.registrationId);
    });
  });
  await devtools.send("ServiceWorker.enable");

  await devtools.send("ServiceWorker.deliverPushMessage", {
    origin: host.url,
    registrationId: await registered,
    data: JSON.stringify({ title: "Home", body: "The door is open" }),
  });

  const shown = () => worker?.evaluate<unknown>("globalThis.shown");
  await until(async () => (await shown()) !== undefined);
  assert.deepEqual(await shown(), ["Home", { body: "The door is open" }]);
});

test("a wall tablet that starts before the host shows the home as it was, and then the present one", async (t) => {
  const folder = await emptyFolder(t);
  const options = {
    plugins: ["plugins/demo-home", "plugins/room-widget"],
    trusted: "all",
    data: join(folder, "data"),
  } as const;
  const first = await startHost(t, options);
  const { page } = await openPage(t, await openBrowser(t), await first.link("control"), {
    serviceWorker: true,
  });
  const lamp = page.getByRole("slider", { name: "Sofa lamp" });
  await lamp.waitFor();
  await until(() => page.evaluate<boolean>(STORED));

  await first.stop();
  await page.reload();

  await lamp.waitFor();
  await page.getByRole("alert").getByText("the home as of").waitFor();
  assert.equal(
    await page.evaluate("getComputedStyle(document.querySelector('.tile')).pointerEvents"),
    "none",
  );
  await picture(page, "saved-home");

  await startHost(t, { ...options, args: ["--port", new URL(first.url).port] });

  await page.locator(":root:not([data-saved])").waitFor();
  await lamp.waitFor();
  await page.getByRole("alert").waitFor({ state: "detached" });

  await page.evaluate("fetch('/api/v1/session', { method: 'DELETE' })");
  await page.reload();
  await page.getByRole("heading", { name: "Mantel" }).first().waitFor();
  assert.equal(await page.evaluate("caches.has('mantel-home')"), false);
});

test("a page whose service worker is of a newer host works with an older one, whose worker replaces it", async (t) => {
  const folder = await emptyFolder(t);
  const options = {
    plugins: ["plugins/demo-home", "plugins/room-widget"],
    trusted: "all",
    data: join(folder, "data"),
  } as const;
  const repository = await copyOfHost(t);
  await appendFile(join(repository, "host/dashboard/main.ts"), NEWER);
  const newer = await startHost(t, { ...options, repository });
  const { page, faults } = await openPage(t, await openBrowser(t), await newer.link("control"), {
    serviceWorker: true,
  });
  const lamp = page.getByRole("slider", { name: "Sofa lamp" });
  const isNewer = () => page.evaluate<boolean>("document.documentElement.dataset.newer === 'yes'");
  const builds = () => page.evaluate<string[]>(BUILDS);
  await lamp.waitFor();
  await until(() => page.evaluate<boolean>(STORED));
  assert.equal(await isNewer(), true);
  const [ofNewer] = await builds();

  await newer.stop();
  const older = await startHost(t, { ...options, args: ["--port", new URL(newer.url).port] });
  await page.reload();

  await lamp.waitFor();
  await page.locator(":root:not([data-saved])").waitFor();
  await until(async () => !(await isNewer()));
  await until(async () => (await builds()).some((name) => name !== ofNewer));
  await lamp.press("Home");
  await until(async () => (await lamp.getAttribute("aria-valuetext")) === "Off");
  for (const [width, height] of [
    [1280, 800],
    [320, 700],
  ] as const) {
    await page.setViewportSize({ width, height });
    await picture(page, `older-host-${width}`);
    await assertFits(page);
  }
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith("Failed to load resource")),
    [],
  );
  assert.equal((await older.api("/health/ready")).status, 200);
});

const NEWER = `\ndocument.documentElement.dataset["newer"] = "yes";\n`;
/** The builds whose files the browser keeps. */
const BUILDS = `caches.keys().then((names) => names.filter((name) => name.startsWith("mantel-shell-")))`;
