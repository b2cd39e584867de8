import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { assertAccessible } from "../helpers/accessibility.ts";
import { type Fixture, openEditor, testEditor, tile, visit } from "../helpers/editor.ts";
import { picture } from "../helpers/stage.ts";

testEditor("the layout editor is accessible", {
  "in both themes, on a screen and a phone": isAccessible,
});

async function isAccessible(t: TestContext, fixture: Fixture): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      await t.test(`${colorScheme}, ${viewport.width} wide`, async (each) => {
        const { page, faults } = await visit(each, fixture);
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        await openEditor(page);
        const name = `editor-${colorScheme}-${viewport.width}`;
        await assertAccessible(page);
        await picture(page, name);
        for (const panel of ["Add a tile", "Page", "Versions"]) {
          await page.getByRole("button", { name: panel, exact: true }).click();
          await page.getByRole("complementary").getByRole("heading", { name: panel }).waitFor();
          if (panel === "Versions") await page.getByText("Current", { exact: true }).waitFor();
          await assertAccessible(page);
        }
        await tile(page, "Room Living room").press("Enter");
        await page.getByLabel("Title").waitFor();
        await assertAccessible(page);
        await picture(page, `${name}-settings`);
        assert.deepEqual(faults, []);
      });
    }
  }
}
