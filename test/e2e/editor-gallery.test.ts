import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type House, open, save, stored, testEditor, visit } from "../helpers/editor.ts";
import { picture } from "../helpers/stage.ts";

testEditor("the gallery of the layout editor", {
  "adds from a gallery with live previews, and configures": adds,
});

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
