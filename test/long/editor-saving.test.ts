import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { LayoutDocument } from "../../host/dashboard/editor/document.ts";
import {
  at,
  geometryOf,
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
import { emptyFolder } from "../helpers/folder.ts";
import { picture } from "../helpers/stage.ts";

testEditor("how the layout editor saves", {
  "merges what somebody else saved, and asks about the rest": merges,
  "keeps the changes of two people who edit at once": editsTogether,
  "shows at once what changes elsewhere while nothing is changed here": follows,
  "restores an earlier version, exports and imports": restores,
  "shows every fault of a file, and changes nothing": refusesFiles,
  "asks before changes are lost": asksToLeave,
});

async function merges(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);
  await tile(page, "Clock").focus();
  await page.keyboard.press("ArrowDown");
  await saveElsewhere(fixture, (document) => {
    const [home, lights] = document.pages;
    assert(home?.widgets[0] && lights);
    home.widgets[0].geometry = at(0, 4, 4, 4);
    lights.title = "Lamps";
  });

  await page.getByRole("button", { name: "Review" }).click();
  await page.getByText("Page Lights: changed").waitFor();
  await picture(page, "editor-merge");
  assert.equal((await stored(fixture)).pages[1]?.title, "Lamps", "nothing is overwritten");
  await page.getByRole("radio", { name: "Mine: moved" }).check();
  await page.getByRole("button", { name: "Merge" }).click();
  await save(page);

  const document = await stored(fixture);
  assert.deepEqual(geometryOf(document, "clock"), at(0, 1, 4, 8));
  assert.equal(document.pages[1]?.title, "Lamps");
}

async function editsTogether(t: TestContext, fixture: Fixture): Promise<void> {
  const [{ page: one }, { page: other }] = [await visit(t, fixture), await visit(t, fixture)];
  await openEditor(one);
  await openEditor(other);
  await tile(one, "Clock").press("ArrowDown");
  await tile(other, "Room Living room").press("ArrowDown");
  await waitForAnnouncement(other, "Room Living room moved");

  await save(one);
  await other.getByRole("button", { name: "Review" }).click();
  for (const [width, height] of [
    [1280, 800],
    [320, 700],
  ] as const) {
    await other.setViewportSize({ width, height });
    await picture(other, `editor-together-${width}`);
    assert.equal(await other.evaluate("document.documentElement.scrollWidth > innerWidth"), false);
  }
  await other.getByRole("button", { name: "Merge" }).click();
  await save(other);

  const document = await stored(fixture);
  assert.deepEqual(geometryOf(document, "clock"), at(0, 1, 4, 8));
  assert.deepEqual(geometryOf(document, "living"), at(4, 3, 8, 5));
  await tile(one, "Room Living room").and(one.getByLabel(/row 4/)).waitFor();
}

async function follows(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);

  await saveElsewhere(fixture, ({ pages: [home] }) => {
    assert(home);
    home.title = "Hallway";
  });

  await page.getByRole("navigation").getByRole("button", { name: "Hallway" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true);
}

async function restores(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);
  const { revision } = await stored(fixture);
  await tile(page, "Clock").focus();
  await page.keyboard.press("Delete");
  await save(page);

  await page.getByRole("button", { name: "Versions" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export as a file" }).click();
  const saved = await (await download).createReadStream();
  const file = (await json(saved)) as LayoutDocument;
  await picture(page, "editor-versions");
  await page.getByRole("button", { name: `Restore version ${revision}`, exact: true }).click();
  await tile(page, "Clock").waitFor();
  const restored = await stored(fixture);
  await importFile(t, page, JSON.stringify(file));
  await waitForAnnouncement(page, "layout.json imported");

  assert.equal(restored.pages[0]?.widgets.length, 3);
  assert.equal((await stored(fixture)).pages[0]?.widgets.length, 2);
  await page.getByRole("button", { name: "Undo: layout.json imported" }).click();
  await tile(page, "Clock").waitFor();
}

async function refusesFiles(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);
  const before = await stored(fixture);
  await page.getByRole("button", { name: "Versions" }).click();

  await importFile(t, page, "{ not JSON");
  await page.getByRole("alert").getByText("it is not valid JSON").waitFor();
  await importFile(t, page, JSON.stringify({ ...LAYOUT, pages: [{ id: "a b", widgets: [{}] }] }));
  await page.getByRole("alert").getByText("/pages/0/title", { exact: true }).waitFor();
  await page.getByRole("alert").getByText("/pages/0/widgets/0/module", { exact: true }).waitFor();

  assert.deepEqual(await stored(fixture), before);
  await tile(page, "Clock").waitFor();
}

async function asksToLeave(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);
  await tile(page, "Clock").focus();
  await page.keyboard.press("Delete");

  const close = page.getByRole("button", { name: "Close the editor" });
  await close.click();
  await page.getByRole("button", { name: "Keep editing" }).click();
  await close.click();
  await page.getByRole("button", { name: "Discard" }).click();

  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  await page.locator(".edit-layout:focus").waitFor();
  assert.equal((await stored(fixture)).pages[0]?.widgets.length, 3);
}

async function importFile(t: TestContext, page: Page, text: string): Promise<void> {
  const path = join(await emptyFolder(t), "layout.json");
  await writeFile(path, text);
  await page.getByLabel("Import a file").setInputFiles(path);
}
