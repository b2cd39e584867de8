import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openPage } from "../helpers/browser.ts";
import {
  at,
  geometryOf,
  type Fixture,
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

testEditor("the layout editor", {
  "is loaded when it is opened, by those who may edit": isLoadedLate,
  "shows settings that no longer fit, and keeps what it does not know": showsUnfit,
  "adds, names, moves and removes pages": editsPages,
  "arranges a phone apart from the wall, until told to follow": arrangesPhones,
});

async function isLoadedLate(t: TestContext, { host, browser }: Fixture): Promise<void> {
  const { page } = await openPage(t, browser, await host.link("control"));
  await page.getByRole("slider", { name: "Sofa lamp" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Edit the layout" }).count(), 0);

  const editor = await visit(t, { host, browser });
  const loaded: string[] = [];
  editor.page.on("request", (request) => loaded.push(request.url()));
  await openEditor(editor.page);

  assert.ok(
    loaded.some((url) => /\/assets\/editor\.[^/]+\.js$/.test(url)),
    loaded.join(" "),
  );
  assert.deepEqual(editor.faults, []);
}

async function showsUnfit(t: TestContext, fixture: Fixture): Promise<void> {
  await saveElsewhere(fixture, ({ pages: [home] }) => {
    assert(home?.widgets[0]);
    home.widgets[0].config = { seconds: "often", colour: "<i>red</i>" };
  });
  const { page } = await visit(t, fixture);
  await openEditor(page);

  await tile(page, "Clock").click();
  await page.getByText("often is neither on nor off.").waitFor();
  await page.getByText('colour: "<i>red</i>"').waitFor();
  await page.getByRole("switch", { name: "Show seconds" }).check();
  await save(page);
  const kept = (await stored(fixture)).pages[0]?.widgets[0]?.config;
  await page.getByRole("button", { name: "Remove colour" }).click();
  await save(page);

  assert.deepEqual(kept, { seconds: true, colour: "<i>red</i>" });
  assert.deepEqual((await stored(fixture)).pages[0]?.widgets[0]?.config, { seconds: true });
}

async function editsPages(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);

  await page.getByRole("button", { name: "Add a page" }).click();
  await page.getByLabel("Title").fill("<b>Garden</b>");
  await page.getByLabel("Icon", { exact: true }).fill("tree");
  await page.getByRole("button", { name: "tree", exact: true }).click();
  await page.getByRole("button", { name: "Move earlier" }).click();
  await page.getByRole("navigation").getByRole("button", { name: "Lights" }).click();
  await page.getByRole("button", { name: "Remove the page" }).click();
  await waitForAnnouncement(page, "Page Lights removed");
  await save(page);

  const { pages } = await stored(fixture);
  assert.deepEqual(
    pages.map(({ title, icon }) => [title, icon]),
    [
      ["Home", undefined],
      ["<b>Garden</b>", "mdi:tree"],
    ],
  );
}

async function arrangesPhones(t: TestContext, fixture: Fixture): Promise<void> {
  const { page } = await visit(t, fixture);
  await openEditor(page);

  await page.getByRole("button", { name: "Phone" }).click();
  await picture(page, "editor-phone-arrangement");
  await tile(page, "Room Living room").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await save(page);
  const byHand = await stored(fixture);
  await page.getByRole("button", { name: "Page", exact: true }).click();
  await page.getByRole("button", { name: "Use the wall layout again: Phone" }).click();
  await save(page);

  const order = byHand.pages[0]?.widgets.map(({ geometry: { sm } }) => sm?.y) ?? [];
  assert.ok((order[1] ?? 9) < (order[0] ?? 0), `rows on the phone: ${order.join(", ")}`);
  assert.deepEqual(geometryOf(byHand, "living").lg, at(4, 2, 8, 5).lg, "the wall stays");
  assert.deepEqual(geometryOf(await stored(fixture), "living"), at(4, 2, 8, 5));
}
