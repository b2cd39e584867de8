import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Locator, Page } from "playwright-core";
import { boxOf } from "../helpers/browser.ts";
import {
  at,
  geometryOf,
  createFinger,
  type Fixture,
  openEditor,
  save,
  waitForAnnouncement,
  stored,
  testEditor,
  tile,
  visit,
} from "../helpers/editor.ts";
import { picture } from "../helpers/stage.ts";

testEditor("the gallery of the layout editor", {
  "adds what it shows live, and configures it": adds,
  "adds by keyboard": addsByKeyboard,
  "lets a preview be dragged onto the page, where others make way": dragsIn,
  "takes back what is dragged by Escape, or let go of elsewhere": takesBack,
  "lets a preview be dragged by a finger, onto a page as a phone has it": dragsInByTouch,
});

async function adds(t: TestContext, fixture: Fixture): Promise<void> {
  const { page, faults } = await visit(t, fixture);
  await openEditor(page);

  await page.getByRole("button", { name: "Add a tile" }).click();
  await card(page, "Room").getByText("Sofa lamp").waitFor();
  await picture(page, "editor-gallery");
  await page.getByRole("button", { name: "Add Clock" }).click();
  const seconds = page.getByRole("switch", { name: "Show seconds" });
  await seconds.check();
  await page.keyboard.press("Escape");
  await save(page);

  const added = (await stored(fixture)).pages[0]?.widgets.find(({ id }) => id === "clock-2");
  assert.deepEqual(added?.config, { seconds: true });
  assert.equal(await page.locator("[data-tile=clock-2] time.seconds").count(), 1);
  assert.deepEqual(faults, []);
}

async function addsByKeyboard(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);

  await page.getByRole("button", { name: "Add a tile" }).press("Enter");
  await page.getByRole("button", { name: "Add Clock" }).press("Enter");
  await waitForAnnouncement(page, "Clock added");
  await page.locator("h2:focus", { hasText: "Clock" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[data-tile=clock-2] :focus").waitFor();
  await save(page);

  assert.deepEqual(geometryOf(await stored(fixture), "clock-2"), at(4, 7, 4, 8));
}

async function dragsIn(t: TestContext, fixture: Fixture): Promise<void> {
  const { page, faults } = await visit(t, fixture);
  await openEditor(page);
  await page.getByRole("button", { name: "Add a tile" }).click();

  await grab(page, card(page, "Clock"));
  await moveTo(page, { column: 4, row: 0 });
  await page.locator(".ghost time").waitFor();
  await picture(page, "editor-dragged-in");
  await page.mouse.up();
  await waitForAnnouncement(page, "Clock added: column 5, row 1, 4 wide, 8 high");
  await page.locator("h2:focus", { hasText: "Clock" }).waitFor();
  await save(page);
  const document = await stored(fixture);
  await page.keyboard.press("Control+z");
  await waitForAnnouncement(page, "Undone: Clock added");
  await page.locator("[data-tile=clock-2]").waitFor({ state: "detached" });

  assert.deepEqual(geometryOf(document, "clock-2"), at(4, 0, 4, 8));
  assert.deepEqual(geometryOf(document, "living"), at(4, 8, 8, 5), "it has made way");
  assert.equal(await page.getByRole("button", { name: /^Room .* row 3/ }).count(), 1);
  assert.equal(await page.locator(".grid-stack-item").count(), 3, "nothing is left on the page");
  assert.deepEqual(faults, []);
}

async function takesBack(t: TestContext, fixture: Fixture): Promise<void> {
  const { page, faults } = await visit(t, fixture);
  await openEditor(page);
  await page.getByRole("button", { name: "Add a tile" }).click();
  const clock = card(page, "Clock");

  await grab(page, clock);
  await moveTo(page, { column: 4, row: 0 });
  await page.locator(".grid-stack-placeholder").waitFor();
  await page.keyboard.press("Escape");
  await page.mouse.up();
  await clock.getByText(/\d/).first().waitFor();
  await grab(page, clock);
  await page.mouse.up();

  await page.locator(".ghost").waitFor({ state: "detached" });
  assert.equal(await page.locator(".grid-stack-item").count(), 3);
  assert.equal(await page.locator(".grid-stack-placeholder").count(), 0);
  assert.equal(await page.getByRole("button", { name: /^Room .* row 3/ }).count(), 1);
  assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
  assert.deepEqual(faults, []);
}

async function dragsInByTouch(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await page.setViewportSize({ width: 390, height: 844 });
  const finger = await createFinger(page);
  await openEditor(page);
  await page.getByRole("button", { name: "Phone" }).click();
  await page.getByRole("button", { name: "Add a tile" }).click();
  const clock = card(page, "Clock");
  await clock.getByText(/\d/).first().waitFor();

  const [from, page1] = await Promise.all([boxOf(clock), boxOf(page.locator(".grid-stack"))]);
  await finger.press(clock, page.locator(".card.ui-draggable-armed"));
  await finger.dragBy(page1.x - from.x, page1.y - from.y);
  await waitForAnnouncement(page, /Clock added: column 1, row [12], 12 wide, 1 high/);
  await page.keyboard.press("Escape");
  await save(page);

  const document = await stored(fixture);
  const order = document.pages[0]?.widgets
    .toSorted((a, b) => (a.geometry.sm?.y ?? 0) - (b.geometry.sm?.y ?? 0))
    .map(({ id }) => id);
  assert.ok([0, 1].includes(order?.indexOf("clock-2") ?? -1), order?.join());
  assert.deepEqual(geometryOf(document, "clock").lg, at(0, 0, 4, 8).lg, "the wall stays");
  assert.equal(await tile(page, "Clock").count(), 2);
}

function card(page: Page, name: string): Locator {
  return page.locator(".card", { has: page.getByRole("button", { name: `Add ${name}` }) });
}

/** Takes hold of a card near its corner, and moves it a little. */
async function grab(page: Page, from: Locator): Promise<void> {
  const { x, y } = await boxOf(from);
  await page.mouse.move(x + 10, y + 10);
  await page.mouse.down();
  await page.mouse.move(x + 16, y + 16, { steps: 3 });
}

/** Moves what is held to a cell of the wall, which is drawn smaller beside the gallery. */
async function moveTo(page: Page, { column, row }: { column: number; row: number }): Promise<void> {
  const grid = await boxOf(page.locator(".grid-stack"));
  const cell = grid.width / 12;
  const rowHeight = (cell / (1236 / 12)) * 32;
  await page.mouse.move(grid.x + column * cell + 14, grid.y + row * rowHeight + 14, { steps: 20 });
}
