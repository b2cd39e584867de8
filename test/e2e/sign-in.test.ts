import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage } from "../helpers/browser.ts";
import { startHost, type TestHost } from "../helpers/host.ts";
import { picture } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

const PLUGINS = ["plugins/demo-home", "plugins/room-widget"];

interface Fixture {
  readonly host: TestHost;
  readonly browser: Browser;
}

test("signing in", async (t) => {
  const browser = await openBrowser(t);
  const host = await startHost(t, { plugins: PLUGINS, trusted: "all" });
  const fixture = { host, browser };

  await t.test("stores no credential that a script could read", (each) =>
    keepsNothing(each, fixture),
  );
  await t.test("works once for each link", (each) => worksOnce(each, fixture));
  await t.test("is not undone by an invalid link", (each) => survivesJunk(each, fixture));
  await t.test("asks before a link replaces the signed-in user", (each) =>
    asksFirst(each, fixture),
  );
  await t.test("migrates a token that an earlier version stored", (each) =>
    movesOver(each, fixture),
  );
  await t.test("reports an invalid stored token", (each) => movesNothing(each, fixture));
  await t.test("ends on every tab when the person signs out", (each) => signsOut(each, fixture));
  await t.test("ends when the token is revoked", (each) => endsRevoked(each, fixture));
  await t.test("continues after the browser has cleared its storage", (each) =>
    needsNoNote(each, fixture),
  );
  await t.test("has no accessibility violations", (each) => isAccessible(each, fixture));
});

async function keepsNothing(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page, faults } = await openPage(t, browser, await host.link("admin"));
  await showsHome(page);

  const kept = await page.evaluate<string>(
    "JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, history.state, globalThis.mantelLink])",
  );
  const [cookie, ...more] = await page.context().cookies();

  assert.doesNotMatch(kept, /eyJ/, "a token begins with this");
  assert.match(kept, /^\["",/);
  assert.deepEqual(
    [cookie?.httpOnly, cookie?.sameSite, cookie?.path, cookie?.secure, more.length],
    [true, "Strict", "/", false, 0],
  );
  assert.match(cookie?.value ?? "", /^eyJ/);
  assert.equal(page.url(), `${host.url}/`);
  assert.deepEqual(faults, []);
}

async function worksOnce(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const link = await host.link("read");
  const { page: first } = await openPage(t, browser, link);
  await showsHome(first);

  const { page: second } = await openPage(t, browser, link);

  await second.getByRole("alert").getByText("This link was already used").waitFor();
  await second.getByText("Phones cannot open this address").waitFor();
  await first.reload();
  await showsHome(first);
}

async function survivesJunk(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const used = await host.link("read");
  await openPage(t, browser, used).then(({ page }) => showsHome(page));
  const { page } = await openPage(t, browser, await host.link("admin"));
  await showsHome(page);

  for (const link of [`${host.url}/#token=junk`, used]) {
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByRole("alert").getByText("“browser admin” is still signed in here.").waitFor();
    await showsHome(page);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByText("is still signed in here.").waitFor({ state: "detached" });
  }
  await page.evaluate("location.hash = '#token=junk'");
  await page.getByRole("alert").getByText("still signed in").waitFor();
  await page.reload();

  await showsHome(page);
  assert.equal(await page.getByText("is still signed in here.").count(), 0);
}

async function asksFirst(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, await host.link("control"));
  await showsHome(page);
  const link = await host.link("read");

  await page.goto("about:blank");
  await page.goto(link);
  await page.getByText("“browser control” is signed in here (control).").waitFor();
  await page.getByText("The link belongs to “browser read” (read).").waitFor();
  await picture(page, "replace");
  await page.getByRole("button", { name: "Stay signed in as “browser control”" }).click();
  await showsHome(page);
  const stayed = await signedInOn(page);
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in as “browser read”" }).click();
  await showsHome(page);

  assert.deepEqual([stayed, await signedInOn(page)], ["browser control", "browser read"]);
}

async function movesOver(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const token = (await host.link("control")).split("=")[1] ?? "";
  const { page } = await openPage(t, browser, `${host.url}/icon.svg`);
  await page.evaluate(`localStorage.setItem("mantel.token", ${JSON.stringify(token)})`);

  await page.goto(host.url);
  await showsHome(page);

  assert.equal(await page.evaluate(`localStorage.getItem("mantel.token")`), null);
  assert.equal(await signedInOn(page), "browser control");
  await page.reload();
  await showsHome(page);
}

async function movesNothing(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, `${host.url}/icon.svg`);
  await page.evaluate(`localStorage.setItem("mantel.token", "gone")`);

  await page.goto(host.url);

  await page.getByRole("alert").getByText("no longer valid").waitFor();
  assert.equal(await page.evaluate(`localStorage.getItem("mantel.token")`), null);
}

async function signsOut(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, await host.link("admin"));
  await showsHome(page);
  const other = await page.context().newPage();
  await other.goto(host.url);
  await showsHome(other);
  const [cookie] = await page.context().cookies();

  await page.goto(`${host.url}/#/settings/access`);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("button", { name: "Confirm: Sign out" }).click();

  for (const each of [page, other]) {
    await each.getByRole("heading", { name: "Pair this screen" }).waitFor();
    assert.equal(await each.getByRole("alert").count(), 0);
  }
  assert.deepEqual(await page.context().cookies(), []);
  const headers = { cookie: `${cookie?.name}=${cookie?.value}` };
  assert.equal((await fetch(`${host.url}/api/v1/config`, { headers })).status, 401);
}

async function endsRevoked(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const json = { name: "guest", scope: ["read"] };
  const made = await host.api("/tokens", { method: "POST", json });
  const { token } = (await made.json()) as { token: string };
  const { page } = await openPage(t, browser, `${host.url}/#token=${token}`);
  await showsHome(page);

  await host.api("/tokens/guest", { method: "DELETE" });

  await page.getByRole("alert").getByText("no longer valid").waitFor();
  await page.getByRole("heading", { name: "Pair this screen" }).waitFor();
}

async function needsNoNote(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, await host.link("control"));
  await showsHome(page);

  await page.evaluate("localStorage.clear()");
  await page.reload();

  await showsHome(page);
  assert.match(await page.evaluate<string>(`localStorage.getItem("mantel.signed-in")`), /control/);
}

async function isAccessible(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, await host.link("control"));
  await showsHome(page);
  await page.goto("about:blank");
  await page.goto(await host.link("read"));
  await page.getByRole("heading", { name: "Sign in as someone else?" }).waitFor();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.evaluate(`document.documentElement.dataset.theme = ${JSON.stringify(colorScheme)}`);
    await assertAccessible(page);
  }
  await page.goto("about:blank");
  await page.goto(`${host.url}/#token=junk`);
  await page.getByRole("alert").waitFor();
  await assertAccessible(page);
  await picture(page, "link-notice");
}

async function showsHome(page: Page): Promise<void> {
  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
}

/** Whom the host knows the browser as. */
async function signedInOn(page: Page): Promise<string> {
  return until(() =>
    page.evaluate<string>("fetch('/api/v1/session').then((it) => it.json()).then((it) => it.name)"),
  );
}
