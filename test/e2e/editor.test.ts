import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import type { LayoutDocument } from "../../host/dashboard/editor/document.ts";
import { assertAccessible } from "../helpers/accessibility.ts";
import { openBrowser, openPage, type TestPage } from "../helpers/browser.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { startHost, type TestHost } from "../helpers/host.ts";

/** Where pictures go for people to look at; without it none are taken. */
const PICTURES = process.env.MANTEL_SCREENSHOTS;
const PLUGINS = ["plugins/demo-home", "plugins/room-widget", "plugins/clock-widget"];

const LAYOUT = {
  version: 1,
  grid: { columns: 12, rowHeight: 20, gap: 12 },
  pages: [
    {
      id: "home",
      title: "Home",
      widgets: [
        { id: "clock", module: "clock-widget", config: {}, geometry: at(0, 0, 4, 8) },
        {
          id: "living",
          module: "room-widget",
          config: { room: "Living room" },
          geometry: at(4, 2, 8, 5),
        },
        {
          id: "departures",
          module: "departures-widget",
          config: { stop: "Town pool" },
          geometry: at(0, 10, 4, 4),
        },
      ],
    },
    { id: "lights", title: "Lights", widgets: [] },
  ],
  displays: [],
};

interface House {
  readonly host: TestHost;
  readonly browser: Browser;
}

test("the layout editor", async (t) => {
  const browser = await openBrowser(t);
  const host = await startHost(t, { plugins: PLUGINS });
  const house = { host, browser };
  const step = (name: string, run: (each: TestContext, house: House) => Promise<void>) =>
    t.test(name, async (each) => {
      await host.api("/layout", { method: "PUT", json: LAYOUT });
      await run(each, house);
    });

  await step("is loaded when it is opened, by those who may edit", isLoadedLate);
  await step("moves, resizes and removes by keyboard, and takes it back", worksByKeyboard);
  await step("drags a tile, resizes it, and drops it on another page", drags);
  await step("is dragged by a finger after a moment", dragsByTouch);
  await step("adds from a gallery with live previews, and configures", adds);
  await step("shows settings that no longer fit, and keeps what it does not know", showsUnfit);
  await step("adds, names, moves and removes pages", editsPages);
  await step("arranges a phone apart from the wall, until told to follow", arrangesPhones);
  await step("merges what somebody else saved, and asks about the rest", merges);
  await step("shows at once what changes elsewhere while nothing is changed here", follows);
  await step("restores an earlier version, exports and imports", restores);
  await step("shows every fault of a file, and changes nothing", refusesFiles);
  await step("asks before changes are lost", asksToLeave);
  await step("can be used by everyone: both themes, screen and phone", isAccessible);
});

async function isLoadedLate(t: TestContext, { host, browser }: House): Promise<void> {
  const { page } = await openPage(t, browser, `${host.url}/#token=${await host.token("control")}`);
  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Edit the layout" }).count(), 0);

  const editor = await visit(t, { host, browser });
  const loaded: string[] = [];
  editor.page.on("request", (request) => loaded.push(request.url()));
  await open(editor.page);

  assert.ok(
    loaded.some((url) => /\/assets\/editor\.[^/]+\.js$/.test(url)),
    loaded.join(" "),
  );
  assert.deepEqual(editor.faults, []);
}

async function worksByKeyboard(t: TestContext, house: House): Promise<void> {
  const { page, faults } = await visit(t, house);
  await open(page);
  const clock = tile(page, "Clock");

  await clock.focus();
  await page.keyboard.press("ArrowDown");
  await says(page, "Clock moved: column 1, row 2, 4 wide, 8 high");
  await page.keyboard.press("Shift+ArrowLeft");
  await says(page, "Clock resized: column 1, row 2, 3 wide, 8 high");
  await page.keyboard.press("ArrowLeft");
  await says(page, "Clock cannot go further");
  await page.keyboard.press("PageDown");
  await says(page, "Clock moved to Lights");
  await page.locator("[data-tile=clock] :focus").waitFor();
  await page.keyboard.press("Delete");
  await says(page, "Clock removed");
  for (const undone of ["Clock removed", "Clock moved to Lights"]) {
    await page.keyboard.press("Control+z");
    await says(page, `Undone: ${undone}`);
  }
  await page.keyboard.press("Control+Shift+z");
  await says(page, "Done again: Clock moved to Lights");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+s");
  await says(page, "Saved");

  assert.deepEqual(geometryOf(await stored(house), "clock"), at(0, 1, 3, 8));
  assert.deepEqual(faults, []);
}

async function drags(t: TestContext, house: House): Promise<void> {
  const { page, faults } = await visit(t, house);
  await open(page);

  await drag(page, tile(page, "Room Living room"), { by: [0, 96] });
  await page.getByRole("button", { name: /^Room Living room, column 5, row 6/ }).waitFor();
  await drag(page, page.locator("[data-tile=living] .ui-resizable-se"), { by: [-205, 64] });
  await page.getByRole("button", { name: /^Room Living room.*6 wide, 7 high/ }).waitFor();
  await picture(page, "editor-dragged");
  await drag(page, tile(page, "Clock"), {
    onto: page.getByRole("navigation").getByRole("button", { name: "Lights" }),
  });
  await says(page, "Clock moved to Lights");
  await save(page);

  const document = await stored(house);
  assert.deepEqual(geometryOf(document, "living"), at(4, 5, 6, 7));
  assert.deepEqual(
    document.pages[1]?.widgets.map(({ id }) => id),
    ["clock"],
  );
  assert.deepEqual(
    document.pages[0]?.widgets.find(({ id }) => id === "departures"),
    LAYOUT.pages[0]?.widgets[2],
    "what no module stands for is kept as it was",
  );
  assert.deepEqual(faults, []);
}

async function dragsByTouch(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  const touch = await page.context().newCDPSession(page);
  await touch.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await page.reload();
  await open(page);
  const box = await tile(page, "Clock").boundingBox();
  assert(box);
  const [x, y] = [box.x + box.width / 2, box.y + 60];
  const send = (type: "touchStart" | "touchMove" | "touchEnd", dy: number) =>
    touch.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: type === "touchEnd" ? [] : [{ x, y: y + dy }],
    });

  await send("touchStart", 0);
  await page.locator("[data-tile=clock].ui-draggable-armed").waitFor();
  for (let dy = 16; dy <= 96; dy += 16) await send("touchMove", dy);
  await send("touchEnd", 96);

  await page.getByRole("button", { name: /^Clock, column 1, row [34]/ }).waitFor();
}

async function adds(t: TestContext, house: House): Promise<void> {
  const { page, faults } = await visit(t, house);
  await open(page);

  await page.getByRole("button", { name: "Add a tile" }).click();
  await page.locator(".card", { hasText: "Room" }).getByText("Sofa lamp").waitFor();
  await picture(page, "editor-gallery");
  await page.getByRole("button", { name: "Add Clock" }).click();
  const seconds = page.getByRole("switch", { name: "Show seconds" });
  await seconds.check();
  await page.keyboard.press("Escape");
  await save(page);

  const added = (await stored(house)).pages[0]?.widgets.find(({ id }) => id === "clock-2");
  assert.deepEqual(added?.config, { seconds: true });
  assert.equal(await page.locator("[data-tile=clock-2] time.seconds").count(), 1);
  assert.deepEqual(faults, []);
}

async function showsUnfit(t: TestContext, house: House): Promise<void> {
  await saveElsewhere(house, ({ pages: [home] }) => {
    assert(home?.widgets[0]);
    home.widgets[0].config = { seconds: "often", colour: "<i>red</i>" };
  });
  const { page } = await visit(t, house);
  await open(page);

  await tile(page, "Clock").click();
  await page.getByText("often is neither on nor off.").waitFor();
  await page.getByText('colour: "<i>red</i>"').waitFor();
  await page.getByRole("switch", { name: "Show seconds" }).check();
  await save(page);
  const kept = (await stored(house)).pages[0]?.widgets[0]?.config;
  await page.getByRole("button", { name: "Drop colour" }).click();
  await save(page);

  assert.deepEqual(kept, { seconds: true, colour: "<i>red</i>" });
  assert.deepEqual((await stored(house)).pages[0]?.widgets[0]?.config, { seconds: true });
}

async function editsPages(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  await open(page);

  await page.getByRole("button", { name: "Add a page" }).click();
  await page.getByLabel("Title").fill("<b>Garden</b>");
  await page.getByLabel("Icon").fill("mdi:tree");
  await page.getByRole("button", { name: "Move before" }).click();
  await page.getByRole("navigation").getByRole("button", { name: "Lights" }).click();
  await page.getByRole("button", { name: "Remove the page" }).click();
  await says(page, "Page Lights removed");
  await save(page);

  const { pages } = await stored(house);
  assert.deepEqual(
    pages.map(({ title, icon }) => [title, icon]),
    [
      ["Home", undefined],
      ["<b>Garden</b>", "mdi:tree"],
    ],
  );
}

async function arrangesPhones(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  await open(page);

  await page.getByRole("button", { name: "Phone" }).click();
  await picture(page, "editor-phone-arrangement");
  await tile(page, "Room Living room").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await save(page);
  const byHand = await stored(house);
  await page.getByRole("button", { name: "Page", exact: true }).click();
  await page.getByRole("button", { name: "Follow the wall again: Phone" }).click();
  await save(page);

  const order = byHand.pages[0]?.widgets.map(({ geometry: { sm } }) => sm?.y) ?? [];
  assert.ok((order[1] ?? 9) < (order[0] ?? 0), `rows on the phone: ${order.join(", ")}`);
  assert.deepEqual(geometryOf(byHand, "living").lg, at(4, 2, 8, 5).lg, "the wall stays");
  assert.deepEqual(geometryOf(await stored(house), "living"), at(4, 2, 8, 5));
}

async function merges(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  await open(page);
  await tile(page, "Clock").focus();
  await page.keyboard.press("ArrowDown");
  await saveElsewhere(house, (document) => {
    const [home, lights] = document.pages;
    assert(home?.widgets[0] && lights);
    home.widgets[0].geometry = at(0, 4, 4, 4);
    lights.title = "Lamps";
  });

  await page.getByRole("button", { name: "Look at it" }).click();
  await page.getByText("Page Lights: changed").waitFor();
  await picture(page, "editor-merge");
  assert.equal((await stored(house)).pages[1]?.title, "Lamps", "nothing is overwritten");
  await page.getByRole("radio", { name: "Mine: moved" }).check();
  await page.getByRole("button", { name: "Bring both together" }).click();
  await save(page);

  const document = await stored(house);
  assert.deepEqual(geometryOf(document, "clock"), at(0, 1, 4, 8));
  assert.equal(document.pages[1]?.title, "Lamps");
}

async function follows(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  await open(page);

  await saveElsewhere(house, ({ pages: [home] }) => {
    assert(home);
    home.title = "Hallway";
  });

  await page.getByRole("navigation").getByRole("button", { name: "Hallway" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
}

async function restores(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  await open(page);
  const { revision } = await stored(house);
  await tile(page, "Clock").focus();
  await page.keyboard.press("Delete");
  await save(page);

  await page.getByRole("button", { name: "Versions" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as a file" }).click();
  const file = JSON.parse(await readFile(await (await download).path(), "utf8")) as LayoutDocument;
  await picture(page, "editor-versions");
  await page.getByRole("button", { name: `Restore version ${revision}`, exact: true }).click();
  await tile(page, "Clock").waitFor();
  const restored = await stored(house);
  await importFile(t, page, JSON.stringify(file));
  await says(page, "layout.json imported");

  assert.equal(restored.pages[0]?.widgets.length, 3);
  assert.equal((await stored(house)).pages[0]?.widgets.length, 2);
  await page.getByRole("button", { name: "Undo: layout.json imported" }).click();
  await tile(page, "Clock").waitFor();
}

async function refusesFiles(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  await open(page);
  const before = await stored(house);
  await page.getByRole("button", { name: "Versions" }).click();

  await importFile(t, page, "{ not JSON");
  await page.getByRole("alert").getByText("it is not JSON").waitFor();
  await importFile(t, page, JSON.stringify({ ...LAYOUT, pages: [{ id: "a b", widgets: [{}] }] }));
  await page.getByRole("alert").getByText("/pages/0/title", { exact: true }).waitFor();
  await page.getByRole("alert").getByText("/pages/0/widgets/0/module", { exact: true }).waitFor();

  assert.deepEqual(await stored(house), before);
  await tile(page, "Clock").waitFor();
}

async function asksToLeave(t: TestContext, house: House): Promise<void> {
  const { page } = await visit(t, house);
  await open(page);
  await tile(page, "Clock").focus();
  await page.keyboard.press("Delete");

  const close = page.getByRole("button", { name: "Close the editor" });
  await close.click();
  await page.getByRole("button", { name: "Go on editing" }).click();
  await close.click();
  await page.getByRole("button", { name: "Discard them" }).click();

  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  await page.locator(".edit-layout:focus").waitFor();
  assert.equal((await stored(house)).pages[0]?.widgets.length, 3);
}

async function isAccessible(t: TestContext, house: House): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      const { page, faults } = await visit(t, house);
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await open(page);
      const name = `editor-${colorScheme}-${viewport.width}`;
      await assertAccessible(page);
      await picture(page, name);
      for (const panel of ["Add a tile", "Page", "Versions"]) {
        await page.getByRole("button", { name: panel, exact: true }).click();
        await page.getByRole("complementary").getByRole("heading", { name: panel }).waitFor();
        if (panel === "Versions") await page.getByText("In use").waitFor();
        await assertAccessible(page);
      }
      await tile(page, "Room Living room").press("Enter");
      await page.getByLabel("Title").waitFor();
      await assertAccessible(page);
      await picture(page, `${name}-settings`);
      assert.deepEqual(faults, []);
    }
  }
}

function at(...[x, y, w, h]: readonly [number, number, number, number]) {
  return { lg: { x, y, w, h } };
}

async function visit(t: TestContext, { host, browser }: House): Promise<TestPage> {
  const visited = await openPage(t, browser, `${host.url}/#token=${await host.token("admin")}`);
  await visited.page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  return visited;
}

async function open(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Edit the layout" }).click();
  await tile(page, "Clock").waitFor();
}

function tile(page: Page, name: string): Locator {
  return page.getByRole("button", { name: new RegExp(`^${name}, column`) });
}

/** What a screen reader was told last. */
async function says(page: Page, text: string): Promise<void> {
  await page.locator("[aria-live]", { hasText: text }).waitFor({ state: "attached" });
}

async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save" }).click();
  await says(page, "Saved");
}

async function drag(
  page: Page,
  from: Locator,
  { by, onto }: { by?: readonly [number, number]; onto?: Locator },
): Promise<void> {
  const box = await from.boundingBox();
  const target = await onto?.boundingBox();
  assert(box);
  const [x, y] = [box.x + box.width / 2, box.y + Math.min(box.height / 2, 60)];
  const end = target
    ? [target.x + target.width / 2, target.y + target.height / 2]
    : [x + (by?.[0] ?? 0), y + (by?.[1] ?? 0)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(end[0] ?? x, end[1] ?? y, { steps: 12 });
  await page.mouse.up();
}

async function stored({ host }: House): Promise<LayoutDocument> {
  return (await (await host.api("/layout")).json()) as LayoutDocument;
}

function geometryOf({ pages }: LayoutDocument, id: string) {
  const widget = pages.flatMap(({ widgets }) => widgets).find((each) => each.id === id);
  assert(widget, `there is a widget ${id}`);
  return widget.geometry;
}

async function saveElsewhere(
  house: House,
  change: (document: LayoutDocument) => void,
): Promise<void> {
  const document = await stored(house);
  change(document);
  const answer = await house.host.api("/layout", { method: "PUT", json: document });
  assert.equal(answer.status, 200);
}

async function importFile(t: TestContext, page: Page, text: string): Promise<void> {
  const path = join(await emptyFolder(t), "layout.json");
  await writeFile(path, text);
  await page.getByLabel("Import a file").setInputFiles(path);
}

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}
