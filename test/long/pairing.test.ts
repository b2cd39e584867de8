import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { picture } from "../helpers/stage.ts";
import { loadNow, until } from "../helpers/until.ts";

const PLUGINS = ["plugins/demo-home", "plugins/room-widget"];
const CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/;
/** The display asks every five seconds, on a machine that other tests share. */
const COLLECTED = { timeout: 20_000 * loadNow() };

interface Fixture {
  readonly host: TestHost;
  readonly browser: Browser;
}

test("pairing a display", async (t) => {
  const browser = await openBrowser(t);
  const host = await startHost(t, { plugins: PLUGINS, trusted: "all" });
  const fixture = { host, browser };

  await t.test("shows a code until a user approves the display", (each) => pairs(each, fixture));
  await t.test("tells a revoked display that it was revoked and can be paired again", (each) =>
    revokes(each, fixture),
  );
  await t.test("rejects a display, which may ask again", (each) => turnsAway(each, fixture));
  await t.test("reports an invalid code or name", (each) => saysFaults(each, fixture));
  await t.test("has German texts if the browser's language is German", (each) =>
    speaksGerman(each, fixture),
  );
  await t.test("has no accessibility violations, in both themes, wide and narrow", (each) =>
    isAccessible(each, fixture),
  );
});

async function pairs(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page: screen } = await openPage(t, browser, host.url);
  const link = await linkOn(screen);
  await picture(screen, "new-screen");

  const person = await approve(t, { host, browser }, { link, name: "Kitchen" });

  await person.getByText("“Kitchen” is approved").waitFor();
  await screen.getByRole("slider", { name: "Sofa lamp" }).waitFor(COLLECTED);
  const { tokens } = (await (await host.api("/tokens")).json()) as {
    tokens: { name: string; display: boolean; scope: string[] }[];
  };
  const kitchen = tokens.find(({ name }) => name === "Kitchen");
  assert.deepEqual([kitchen?.display, kitchen?.scope], [true, ["control"]]);
}

async function revokes(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page: screen } = await openPage(t, browser, host.url);
  await approve(t, { host, browser }, { link: await linkOn(screen), name: "Hall" });
  await screen.getByRole("slider", { name: "Sofa lamp" }).waitFor(COLLECTED);

  await host.api("/tokens/Hall", { method: "DELETE" });

  await screen.getByRole("alert").getByText("The display “Hall” was revoked.").waitFor();
  await approve(t, { host, browser }, { link: await linkOn(screen), name: "Hall" });
  await screen.getByRole("slider", { name: "Sofa lamp" }).waitFor(COLLECTED);
}

async function turnsAway(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page: screen } = await openPage(t, browser, host.url);
  const person = await visitAsPerson(t, { host, browser }, await linkOn(screen));

  await person.getByRole("button", { name: "Deny" }).click();

  await person.getByText("The display was denied access.").waitFor();
  await screen.getByText("This screen was denied access.").waitFor(COLLECTED);
  await screen.getByRole("button", { name: "Show a new code" }).click();
  assert.match(await codeOn(screen), CODE);
}

async function saysFaults(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page: screen } = await openPage(t, browser, host.url);
  const link = await linkOn(screen);
  const person = await visitAsPerson(t, { host, browser }, `${host.url}/#pair`);
  const field = person.getByLabel("Code on the display");

  await field.fill("BBBB-BBBB");
  await person.getByRole("button", { name: "Continue" }).click();
  await person.getByRole("alert").getByText("No display is waiting with this code").waitFor();
  await field.fill(link.slice(-9).toLowerCase());
  await person.getByRole("button", { name: "Continue" }).click();
  await person.getByLabel("Name of the display").fill("..");
  await person.getByRole("button", { name: "Approve" }).click();

  await person.getByRole("alert").getByText("A name has at most 64 printable characters").waitFor();
  assert.equal(await person.getByRole("radio", { name: "do everything" }).count(), 0);
}

async function speaksGerman(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const context = await browser.newContext({ locale: "de-DE" });
  t.after(() => context.close());
  const page = await context.newPage();

  await page.goto(host.url);

  await page.getByRole("heading", { name: "Diesen Bildschirm koppeln" }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "de-DE");
}

async function isAccessible(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page: screen } = await openPage(t, browser, host.url);
  const person = await visitAsPerson(t, { host, browser }, await linkOn(screen));
  for (const colorScheme of ["dark", "light"] as const) {
    for (const size of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      for (const [name, page] of Object.entries({ screen, person })) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme });
        await page.evaluate(
          `document.documentElement.dataset.theme = ${JSON.stringify(colorScheme)}`,
        );
        await assertAccessible(page);
        const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        assert.equal(wide, false, `${name} is not wider than ${size.width} pixels`);
        await picture(page, `pairing-${name}-${colorScheme}-${size.width}`);
      }
    }
  }
}

async function linkOn(screen: Page): Promise<string> {
  const code = await codeOn(screen);
  return `${new URL(screen.url()).origin}/#pair=${code}`;
}

async function codeOn(screen: Page): Promise<string> {
  await screen.locator(".code").waitFor();
  const code = await screen.locator(".code").textContent();
  assert.match(code ?? "", CODE);
  return code ?? "";
}

/** The page of somebody with the scope `edit`, on a browser of their own, at `url`. */
async function visitAsPerson(
  t: TestContext,
  { host, browser }: Fixture,
  url: string,
): Promise<Page> {
  const { page } = await openPage(t, browser, await host.link("edit"));
  await until(async () => page.url() === `${host.url}/`);
  await page.goto(url);
  return page;
}

async function approve(
  t: TestContext,
  fixture: Fixture,
  { link, name }: { link: string; name: string },
): Promise<Page> {
  const person = await visitAsPerson(t, fixture, link);
  await person.getByLabel("Name of the display").fill(name);
  await picture(person, "approval");
  await person.getByRole("button", { name: "Approve" }).click();
  await person.getByText("is approved").waitFor();
  return person;
}
