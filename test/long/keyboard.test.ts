import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { openFullHome, showsAll } from "../helpers/full-home.ts";
import type { Stage } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

test("the dashboard with a keyboard and a screen reader", async (t) => {
  const stage = await openFullHome(t);
  await addPage(stage);
  const { page } = await stage.visit(t, "edit");
  await showsAll(page);

  await t.test("Tab reaches each control once, in reading order and in view", () => walks(page));
  await t.test("Tab does the same on a phone, above the bottom bar", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await walks(page);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
  await t.test("arrow keys dim, and Enter asks before it unlocks", () => asks(page));
  await t.test("/ finds a device, a scene or a setting, and the focus returns", () => finds(page));
  await t.test("a failed command is announced", () => says(page));
  await t.test("nothing moves with reduced motion", () => rests(page));
  await t.test("the document has a title and a language", () => isNamed(page));
});

interface Stop {
  readonly place: string;
  readonly outline: number;
  readonly seen: boolean;
}

/** From the top by Tab until the focus leaves the page. */
async function walks(page: Page): Promise<void> {
  await page.evaluate(FROM_THE_TOP);
  let height = 0;
  // Tiles draw again once they have been measured, and what moves meanwhile could hide what has the focus.
  await until(async () => height === (height = await page.evaluate<number>(HEIGHT_SOON)));
  const stops: Stop[] = [];
  const all = await page.evaluate<readonly string[]>(CONTROLS);
  for (;;) {
    await page.keyboard.press("Tab");
    let stop: Stop | undefined;
    // On its way through the page of another process the focus is nowhere for a moment.
    await until(async () => {
      stop = await page.evaluate<Stop | undefined>(FOCUSED);
      return stop !== undefined || (await page.evaluate<boolean>("hasLeft"));
    });
    if (!stop || stops.length > 200) break;
    stops.push(stop);
  }

  assert.deepEqual(
    stops.map(({ place }) => place),
    all,
  );
  assert.deepEqual(
    stops.filter(({ outline }) => outline < 2),
    [],
  );
  assert.deepEqual(
    stops.filter(({ seen }) => !seen),
    [],
  );
}

async function asks(page: Page): Promise<void> {
  const lamp = page.getByRole("slider", { name: "Sofa lamp" });
  const door = page.getByRole("button", { name: /^Front door (Locked|Unlock)/ });

  await lamp.press("ArrowLeft");
  await until(async () => (await lamp.getAttribute("aria-valuetext")) === "55 %");
  await door.press("Enter");
  await page.getByRole("button", { name: /Front door Unlock\?/ }).waitFor();
  await door.press("Enter");

  await page.getByRole("button", { name: /Front door Unlocked/ }).waitFor();
}

async function finds(page: Page): Promise<void> {
  const lamp = page.getByRole("slider", { name: "Sofa lamp" });
  const field = page.getByRole("searchbox", { name: "Find" });
  const results = page.getByRole("list", { name: "Results" }).getByRole("button");
  await lamp.focus();

  await page.keyboard.press("/");
  await field.fill("sofa");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Sofa lamp" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await field.fill("zzz");
  await page.getByText("Nothing with this name was found.").waitFor();
  await field.fill("time zone");
  await results.filter({ hasText: "General" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".settings select:focus").waitFor();
  await page.goBack();
  await page.locator(".settings").waitFor({ state: "detached" });
  await lamp.focus();
  await page.keyboard.press("/");
  await field.waitFor();
  await page.keyboard.press("Escape");

  await until(async () => (await page.getByRole("dialog").count()) === 0);
  assert.equal(await lamp.evaluate((element) => element.matches(":focus")), true);
}

async function says(page: Page): Promise<void> {
  await page.getByRole("slider", { name: "Cellar" }).press("ArrowRight");

  await page.locator("body > [aria-live]", { hasText: "Cellar: No answer" }).waitFor();
}

async function rests(page: Page): Promise<void> {
  const moving = () => page.evaluate<number>(MOVING);
  const attic = page.getByRole("slider", { name: "Attic" });

  await attic.press("ArrowRight");
  await until(async () => (await moving()) > 0);
  await page.emulateMedia({ reducedMotion: "reduce" });

  await page.locator(".pending").first().waitFor();
  assert.equal(await moving(), 0);
}

async function isNamed(page: Page): Promise<void> {
  const title = async (name: string) => until(async () => (await page.title()) === name);
  await title("Home · Mantel");

  await page.getByRole("button", { name: "Cellar floor" }).click();
  await title("Cellar floor · Mantel");
  await page.getByRole("link", { name: "Settings" }).click();
  await title("General · Mantel");
  await page.getByRole("link", { name: "Back to the dashboard" }).click();

  await title("Home · Mantel");
  assert.equal(await page.evaluate("document.documentElement.lang"), "en-GB");
}

/** With two pages there is a bar of them, which on a phone lies over the bottom of the page. */
async function addPage({ host }: Stage): Promise<void> {
  const layout = (await (await host.api("/layout")).json()) as { pages: object[] };
  const pages = [...layout.pages, { id: "cellar", title: "Cellar floor", widgets: [] }];
  const put = await host.api("/layout", { method: "PUT", json: { ...layout, pages } });
  assert.equal(put.status, 200);
}

/** Helpers that run in the page. A place is where an element stands in the document. */
const IN_PAGE = `
  const placeOf = (element) => {
    const root = element.getRootNode();
    const own = [...root.querySelectorAll("*")].indexOf(element);
    return root.host ? placeOf(root.host) + "/" + own : String(own);
  };
`;

/** The places of all that Tab is to reach, in the order of the document. A page from elsewhere has its own. */
const CONTROLS = `(() => {
  ${IN_PAGE}
  const found = [];
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.tabIndex >= 0 && element.localName !== "iframe" && !element.disabled && element.checkVisibility()) {
        found.push(placeOf(element));
      }
      if (element.shadowRoot) visit(element.shadowRoot);
    }
  };
  visit(document);
  return found;
})()`;

/** The window has the event when the focus leaves the page, and not while the focus is in a page of another process. */
const FROM_THE_TOP = `
  globalThis.hasLeft = false;
  addEventListener("blur", () => (globalThis.hasLeft = true), { once: true });
  document.activeElement?.blur();
  scrollTo(0, 0);
`;

const HEIGHT_SOON = `new Promise((resolve) => {
  const measure = () => resolve(document.documentElement.scrollHeight);
  requestAnimationFrame(() => requestAnimationFrame(measure));
})`;

/** The number of running animations, also in shadow roots, which a root does not include. */
const MOVING = `(() => {
  const count = (root) =>
    [...root.querySelectorAll("*")].reduce(
      (sum, { shadowRoot }) => sum + (shadowRoot ? count(shadowRoot) : 0),
      root.getAnimations().length,
    );
  return count(document);
})()`;

const FOCUSED = `(() => {
  ${IN_PAGE}
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at || at === document.body) return undefined;
  const { left, top, width, height } = at.getBoundingClientRect();
  let hit = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 40));
  while (hit?.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(left + width / 2, top + Math.min(height / 2, 40));
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return {
    place: placeOf(at),
    outline: Number.parseFloat(getComputedStyle(at).outlineWidth),
    seen: at === hit || at.contains(hit),
  };
})()`;
