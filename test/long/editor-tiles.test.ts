import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { boxOf } from "../helpers/browser.ts";
import {
  at,
  drag,
  geometryOf,
  createFinger,
  type Fixture,
  LAYOUT,
  openEditor,
  save,
  saveElsewhere,
  waitForAnnouncement,
  stored,
  testEditor,
  tile,
  visit,
} from "../helpers/editor.ts";
import { picture } from "../helpers/stage.ts";

testEditor("tiles in the layout editor", {
  "moves, resizes and removes by keyboard, and takes it back": worksByKeyboard,
  "drags a tile, resizes it, and drops it on another page": drags,
  "is dragged by a finger after a moment": dragsByTouch,
  "is resized by a finger, and dropped on another page": resizesByTouch,
  "are kept to the sizes that their widgets ask for": keepsToSizes,
  "are shown as the layout says where that is too small, and can only grow": showsTooSmall,
  "share a phone in halves, and cannot be made narrower there": keepsToSizesOnPhones,
});

async function worksByKeyboard(t: TestContext, fixture: Fixture): Promise<void> {
  const { page, faults } = await visit(t, fixture);
  await openEditor(page);
  const clock = tile(page, "Clock");

  await clock.focus();
  await page.keyboard.press("ArrowDown");
  await waitForAnnouncement(page, "Clock moved: column 1, row 2, 4 wide, 8 high");
  await page.keyboard.press("Shift+ArrowLeft");
  await waitForAnnouncement(page, "Clock resized: column 1, row 2, 3 wide, 8 high");
  await page.keyboard.press("ArrowLeft");
  await waitForAnnouncement(page, "Clock cannot move further");
  await page.keyboard.press("PageDown");
  await waitForAnnouncement(page, "Clock moved to Lights");
  await page.locator("[data-tile=clock] :focus").waitFor();
  await page.keyboard.press("Delete");
  await waitForAnnouncement(page, "Clock removed");
  for (const undone of ["Clock removed", "Clock moved to Lights"]) {
    await page.keyboard.press("Control+z");
    await waitForAnnouncement(page, `Undone: ${undone}`);
  }
  await page.keyboard.press("Control+Shift+z");
  await waitForAnnouncement(page, "Redone: Clock moved to Lights");
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+s");
  await waitForAnnouncement(page, "Saved");

  assert.deepEqual(geometryOf(await stored(fixture), "clock"), at(0, 1, 3, 8));
  assert.deepEqual(faults, []);
}

async function drags(t: TestContext, fixture: Fixture): Promise<void> {
  const { page, faults } = await visit(t, fixture);
  await openEditor(page);

  await drag(page, tile(page, "Room Living room"), { by: [0, 96] });
  await page.getByRole("button", { name: /^Room Living room, column 5, row 6/ }).waitFor();
  await drag(page, page.locator("[data-tile=living] .ui-resizable-se"), { by: [-205, 64] });
  await page.getByRole("button", { name: /^Room Living room.*6 wide, 7 high/ }).waitFor();
  await picture(page, "editor-dragged");
  await drag(page, tile(page, "Clock"), {
    onto: page.getByRole("navigation").getByRole("button", { name: "Lights" }),
  });
  await waitForAnnouncement(page, "Clock moved to Lights");
  await save(page);

  const document = await stored(fixture);
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

async function dragsByTouch(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  const finger = await createFinger(page);
  await openEditor(page);

  await finger.press(tile(page, "Clock"), page.locator("[data-tile=clock].ui-draggable-armed"));
  await finger.dragBy(0, 96);

  await page.getByRole("button", { name: /^Clock, column 1, row [34]/ }).waitFor();
}

async function resizesByTouch(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  const finger = await createFinger(page);
  await openEditor(page);
  const living = page.locator("[data-tile=living]");
  const handle = living.locator(".ui-resizable-se");

  await finger.press(handle, living.locator(".ui-resizable-armed"));
  await finger.dragBy(-205, 64);
  await page.getByRole("button", { name: /^Room Living room.*6 wide, 7 high/ }).waitFor();
  const grip = await boxOf(living.locator(".grip"));
  const tab = await boxOf(page.getByRole("button", { name: "Lights" }));
  const from = { x: grip.x + grip.width / 2, y: grip.y + Math.min(grip.height / 2, 60) };
  await finger.press(
    living.locator(".grip"),
    page.locator("[data-tile=living].ui-draggable-armed"),
  );
  await finger.dragBy(tab.x + tab.width / 2 - from.x, tab.y + tab.height / 2 - from.y);
  await waitForAnnouncement(page, "Room Living room moved to Lights");
  await save(page);

  const { pages } = await stored(fixture);
  assert.deepEqual(
    pages[1]?.widgets.map(({ id, geometry: { lg } }) => [id, lg.w, lg.h]),
    [["living", 6, 7]],
  );
}

async function keepsToSizes(t: TestContext, fixture: Fixture): Promise<void> {
  await saveElsewhere(fixture, ({ pages: [home] }) => {
    assert(home?.widgets[0]);
    home.widgets[0].geometry = at(0, 0, 3, 5);
  });
  const { page } = await visit(t, fixture);
  await openEditor(page);

  const clock = tile(page, "Clock");
  await clock.click();
  const sizes = page.getByText("At least 2 wide and 4 high, at most 12 and 14");
  await sizes.waitFor();
  await page.keyboard.press("Escape");
  await sizes.waitFor({ state: "hidden" }); // the grid moves when the panel closes
  await drag(page, page.locator("[data-tile=clock] .ui-resizable-se"), { by: [-260, -120] });
  await page.getByRole("button", { name: /^Clock, .* 2 wide, 4 high$/ }).waitFor();
  await clock.focus();
  await page.keyboard.press("Shift+ArrowLeft");
  await waitForAnnouncement(page, "Clock cannot be smaller");
  await page.keyboard.press("Shift+ArrowUp");
  for (let rows = 5; rows <= 14; rows++) await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await waitForAnnouncement(page, "Clock cannot be larger");
  await save(page);

  assert.deepEqual(geometryOf(await stored(fixture), "clock"), at(0, 0, 2, 14));
}

async function showsTooSmall(t: TestContext, fixture: Fixture): Promise<void> {
  await saveElsewhere(fixture, ({ pages: [home] }) => {
    assert(home?.widgets[0]);
    home.widgets[0].geometry = at(0, 0, 1, 2);
  });
  const { page } = await visit(t, fixture);
  await openEditor(page);

  const clock = page.getByRole("button", {
    name: "Clock, column 1, row 1, 1 wide, 2 high, not in its recommended size",
  });
  await clock.press("Enter");
  await page.getByText("The tile is smaller than recommended.").waitFor();
  await picture(page, "editor-too-small");
  await page.getByRole("button", { name: "Narrower" }).click();
  await waitForAnnouncement(page, "Clock cannot be smaller");
  await page.getByRole("button", { name: "Wider" }).click();
  await waitForAnnouncement(page, "Clock resized: column 1, row 1, 2 wide, 2 high");
  await page.getByRole("button", { name: "Narrower" }).click();
  await waitForAnnouncement(page, "Clock cannot be smaller");
  await save(page);

  assert.deepEqual(geometryOf(await stored(fixture), "clock"), at(0, 0, 2, 2));
}

async function keepsToSizesOnPhones(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);

  await page.getByRole("button", { name: "Phone" }).click();
  await tile(page, "Clock").focus();
  for (let columns = 12; columns > 6; columns--) await page.keyboard.press("Shift+ArrowLeft");
  await waitForAnnouncement(page, "6 wide");
  await page.keyboard.press("Shift+ArrowLeft");
  await waitForAnnouncement(page, "Clock cannot be smaller");
  await page.keyboard.press("Shift+ArrowDown");
  await waitForAnnouncement(page, "Clock cannot be larger");
  await save(page);

  assert.equal(geometryOf(await stored(fixture), "clock").sm?.w, 6);
}
