import assert from "node:assert/strict";
import { test } from "node:test";
import { inCurrentNames } from "../../../host/backup/current-names.ts";
import { openRestore } from "../../../host/backup/restore.ts";
import { forgedBackup } from "../../helpers/forged-backup.ts";

const file = (value: unknown) => Buffer.from(JSON.stringify(value));
const SCENES = {
  version: 1,
  scenes: { evening: { name: "Evening", targets: { "hue:cover:1": { moving: "closing" } } } },
};

test("scenes of a backup have the present names of commands when they are restored", async () => {
  const packed = forgedBackup([["scenes.json", file(SCENES)]]);

  const opened = await openRestore({ packed, name: "a file", credentials: false });
  const { files } = await opened.replacementIn("/nothing");

  const { scenes } = JSON.parse(files.get("scenes.json")?.toString() ?? "") as typeof SCENES;
  assert.deepEqual(scenes.evening.targets["hue:cover:1"], { close: true });
});

test("tiles of a layout show the present names of readings, and the rest of it stays", () => {
  const tile = {
    id: "a",
    module: "device-widget",
    config: { device: "hue:cover:1", field: "moving" },
  };
  const layout = {
    version: 1,
    revision: 7,
    pages: [{ id: "home", title: "Home", widgets: [tile] }],
  };

  const [path, bytes] = inCurrentNames(["layout.json", file(layout)]);

  const restored = JSON.parse(bytes.toString()) as typeof layout;
  assert.equal(path, "layout.json");
  assert.equal(restored.pages[0]?.widgets[0]?.config.field, "action");
  assert.equal(restored.revision, 7);
});

test("documents without former names, and other files, stay byte for byte", () => {
  for (const path of ["layout.json", "scenes.json", "calendars/home.ics"]) {
    const bytes = path.endsWith(".ics") ? Buffer.from("no JSON") : file({ pages: [], scenes: {} });
    assert.equal(inCurrentNames([path, bytes])[1], bytes);
  }
});
