import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import {
  at,
  drag,
  geometryOf,
  type House,
  LAYOUT,
  open,
  save,
  says,
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
});

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
