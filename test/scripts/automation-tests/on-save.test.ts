import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { automationsFolder, testOf } from "../../../scripts/dev/automation-tests.ts";
import { emptyFolder } from "../../helpers/folder.ts";

test("a saved automation has the test beside it, and types and other files have none", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "hall.test.ts"), "");
  const found = ["hall.ts", "hall.test.ts", "porch.ts", "mantel.d.ts", "hall.json"].map((name) =>
    testOf(join(folder, name)),
  );

  assert.deepEqual(found, ["hall.test.ts", "hall.test.ts", undefined, undefined, undefined]);
});

test("the folder of automations follows the option for data, and wrong options have none", () => {
  assert.equal(automationsFolder(["--data", "/srv/home"]), "/srv/home/automations");
  assert.equal(automationsFolder(["--port", "x"]), undefined);
});
