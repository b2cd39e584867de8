import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { GREEN } from "../helpers/full-home.ts";
import { servePage } from "../helpers/serve-page.ts";
import { DOOR, lamp, WINDOW } from "../helpers/stage-devices.ts";
import { openStage, patchUi, picture, type Stage, tileOf } from "../helpers/stage.ts";
import { until } from "../helpers/until.ts";

const HOSTILE = "<b>Bedtime</b> at eight.\nNo sweets.";

test("widgets of the home", async (t) => {
  const elsewhere = await servePage(t, PRYING_PAGE);
  const stage = await openStage(t, {
    plugins: ["calendar", "weather"],
    devices: [DOOR, WINDOW, lamp("away", "Garden", { available: false })],
    files: {
      "calendars/family.ics": CALENDAR,
      "photos/green.png": GREEN,
      "photos/no-picture.png": "nothing to see",
      "photos/script.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    },
    config: {
      server: { frames: [elsewhere] },
      ui: { timeZone: "UTC" },
      // Nothing listens there.
      weather: { latitude: 1, longitude: 1, url: "http://127.0.0.1:1/" },
    },
    tiles: [
      { id: "month", module: "month-widget", at: [0, 2, 6, 11] },
      { id: "status", module: "status-widget", at: [6, 2, 6, 3] },
      {
        id: "note",
        module: "note-widget",
        config: { title: "Sitter", text: HOSTILE },
        at: [6, 5, 3, 4],
      },
      { id: "blank", module: "note-widget", at: [9, 5, 3, 4] },
      { id: "modules", module: "modules-widget", at: [6, 9, 3, 6] },
      { id: "photo", module: "photo-widget", at: [9, 9, 3, 6] },
      { id: "page", module: "frame-widget", config: { url: `${elsewhere}/` }, at: [0, 13, 3, 5] },
      {
        id: "other",
        module: "frame-widget",
        config: { url: "https://example.org/" },
        at: [3, 13, 3, 5],
      },
      {
        id: "script",
        module: "frame-widget",
        config: { url: "javascript:alert(1)" },
        at: [6, 15, 3, 3],
      },
    ],
  });
  const { page } = await stage.visit(t);

  await t.test("the month shows its events, by mouse and by keyboard", () => month(page));
  await t.test("the status lists what needs attention", () => status(page));
  await t.test("a note is shown as plain text", () => note(page));
  await t.test("modules with problems come first, with the reason", () => modules(page));
  await t.test("the photo frame shows pictures and skips other files", () => photo(page));
  await t.test(
    "a web page stays in its sandbox, and addresses that are not allowed are refused",
    () => frames(page),
  );
  await t.test("all of them have German texts and a light theme", () => german(page, stage));
});

async function month(page: Page): Promise<void> {
  const grid = page.getByRole("grid");
  const day = (name: RegExp) => grid.getByRole("button", { name });
  await page.getByRole("heading", { name: title() }).waitFor();
  await grid.locator("[aria-current=date]").waitFor();

  await day(/^\D* 15 .*one event$/).click();
  await page.getByText("Choir rehearsal").waitFor();
  assert.equal(await grid.locator("[aria-pressed=true]").count(), 1);
  await page.keyboard.press("ArrowRight");
  await page.getByText("Nothing on this day").waitFor();
  assert.match((await page.evaluate(FOCUSED)) ?? "", /^\D* 16 /);
  await page.getByRole("button", { name: "Next month" }).click();
  await page.getByRole("button", { name: "Today" }).click();

  await page.getByRole("heading", { name: title() }).waitFor();
}

/** The name of what has the focus, inside of shadow roots. */
const FOCUSED = `(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.getAttribute("aria-label");
})()`;

function title(): string {
  const format = { month: "long", year: "numeric", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat("en-GB", format).format(Date.now());
}

async function status(page: Page): Promise<void> {
  const list = page.getByRole("list", { name: "Status" });

  for (const text of [
    "Bath window open",
    "Garden does not answer",
    "Front door: battery 8%",
    "Locked",
  ]) {
    await list.getByText(text).waitFor();
  }
}

async function note(page: Page): Promise<void> {
  const text = page.getByRole("region", { name: "Sitter" }).locator(".text");

  assert.equal(await text.textContent(), HOSTILE);
  assert.equal(await text.locator("b").count(), 0);
  await tileOf(page, "note-widget", 1).getByText("Enter a text").waitFor();
}

async function modules(page: Page): Promise<void> {
  const card = page.getByRole("region", { name: "Modules" });

  await card.getByText("1 problem").waitFor();
  assert.equal(await card.locator("li b").first().textContent(), "Weather service");
  await card.getByText("degraded").waitFor();
  await card.locator("small", { hasText: "the forecast cannot be read" }).waitFor();
}

async function photo(page: Page): Promise<void> {
  const canvas = tileOf(page, "photo-widget").locator("canvas");

  await until(async () => {
    const [red = 0, green = 0] = await canvas.evaluate(firstPixel);
    return green > 100 && red < 100;
  });
  await page.getByRole("button", { name: /Next picture/ }).click();
}

/** Runs in the page. */
function firstPixel(canvas: unknown): number[] {
  const { data } = (canvas as Canvas).getContext("2d").getImageData(0, 0, 1, 1);
  return [...data];
}

interface Canvas {
  getContext(kind: "2d"): {
    getImageData(x: number, y: number, w: number, h: number): { data: Iterable<number> };
  };
}

async function frames(page: Page): Promise<void> {
  const inside = tileOf(page, "frame-widget").frameLocator("iframe");

  await inside.getByText("storage: refused").waitFor();
  await inside.getByText("parent: refused").waitFor();
  await inside.getByText("window: refused").waitFor();
  assert.match(page.url(), /^http:\/\/127\.0\.0\.1:\d+\/$/);
  await page.getByText("https://example.org is not allowed yet").waitFor();
  await page.getByText("javascript:alert(1) does not start with").waitFor();
  await picture(page, "home-dark");
}

async function german(page: Page, { host }: Stage): Promise<void> {
  await patchUi(host, { theme: "light", locale: "de-DE" });

  await page.getByText("Garden antwortet nicht").waitFor();
  await page.getByRole("button", { name: "Nächster Monat" }).waitFor();
  await page.getByText("Gib in den Einstellungen").waitFor();
  await page.getByText("https://example.org ist noch nicht erlaubt").waitFor();
  await picture(page, "home-light-german");
}

const THIS_MONTH = new Date().toISOString().slice(0, 7).replace("-", "");
const CALENDAR = [
  "BEGIN:VCALENDAR",
  "VERSION:2.0",
  "PRODID:test",
  "BEGIN:VEVENT",
  "UID:choir",
  "DTSTAMP:20261101T000000Z",
  `DTSTART:${THIS_MONTH}15T190000Z`,
  `DTEND:${THIS_MONTH}15T200000Z`,
  "SUMMARY:Choir rehearsal",
  "END:VEVENT",
  "END:VCALENDAR",
  "",
].join("\r\n");

/** A page on another origin that tries what a sandbox is to keep it from. */
const PRYING_PAGE = `<!doctype html><body><script>
  const attempt = (name, run) => {
    let outcome = "refused";
    try { if (run()) outcome = "possible"; } catch {}
    document.body.append(document.createElement("p"));
    document.body.lastChild.textContent = name + ": " + outcome;
  };
  attempt("storage", () => localStorage.setItem("a", "b") === undefined);
  attempt("parent", () => parent.document.body);
  attempt("window", () => open("/"));
  try { top.location = "/gone"; } catch {}
</script>`;
