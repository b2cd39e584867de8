import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { isPluginId, readManifest } from "../../../host/modules/code/manifest.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const GOOD = { id: "lamp", kinds: ["service"], server: "index.ts" };

test("a manifest is read with the version of its package", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "package.json"), JSON.stringify({ version: "1.2.3", mantel: GOOD }));

  const plugin = await readManifest(folder);

  assert.deepEqual(plugin, { id: "lamp", folder, version: "1.2.3", manifest: GOOD });
});

const BAD: readonly (readonly [what: string, mantel: object | undefined, message: RegExp])[] = [
  ["no manifest", undefined, /has no "mantel" key/],
  ["an id in capitals", { ...GOOD, id: "Lamp" }, /\/mantel\/id/],
  ["an unknown kind", { ...GOOD, kinds: ["robot"] }, /\/mantel\/kinds\/0/],
  ["an unknown key", { ...GOOD, colour: "red" }, /\/mantel\/colour/],
  ["the id of a section of the config", { ...GOOD, id: "ui" }, /section of the host's config/],
  ["no entry", { id: "lamp", kinds: ["service"] }, /needs a "server" or a "widget"/],
  ["a widget kind without an entry", { ...GOOD, kinds: ["widget"] }, /"widget" exactly when/],
  ["a bridge without its section", { ...GOOD, kinds: ["bridge"] }, /"bridge" exactly when/],
  [
    "a service with only a widget",
    { ...GOOD, kinds: ["service", "widget"], server: undefined, widget: "w.ts" },
    /needs a "server" entry/,
  ],
  [
    "an entry outside its folder",
    { ...GOOD, server: "../other/index.ts" },
    /outside the plugin's folder/,
  ],
  ...["https://a.example", "a.example:80", "A.example", "a b", "*.", "config:"].map(
    (host) =>
      [
        `the host "${host}"`,
        { ...GOOD, permissions: { hosts: [host] } },
        /\/mantel\/permissions\/hosts\/0/,
      ] as const,
  ),
  ...["../x", "/a/*", ""].map(
    (folder) =>
      [
        `the folder "${folder}"`,
        { ...GOOD, permissions: { folders: [folder] } },
        /\/mantel\/permissions\/folders\/0/,
      ] as const,
  ),
  [
    "a folder of the host",
    { ...GOOD, permissions: { folders: ["photos", "cache"] } },
    /"cache", which is a folder of the host's own/,
  ],
];

test("dependencies that npm could not read are refused with their place", async (t) => {
  const folder = await emptyFolder(t);
  const content = { mantel: GOOD, dependencies: { wordy: 1 } };
  await writeFile(join(folder, "package.json"), JSON.stringify(content));

  await assert.rejects(
    readManifest(folder),
    /\/dependencies\/wordy is 1; it must be of type string/,
  );
});

for (const [what, mantel, message] of BAD) {
  test(`a manifest with ${what} is refused with its file and fault`, async (t) => {
    const folder = await emptyFolder(t);
    const file = join(folder, "package.json");
    await writeFile(file, JSON.stringify({ mantel }));

    await assert.rejects(readManifest(folder), (error: MantelError) => {
      assert.equal(error.code, "invalid");
      assert.ok(error.message.includes(file), error.message);
      assert.match(error.message, message);
      return true;
    });
  });
}

test("ids are lower-case words joined by hyphens", () => {
  assert.deepEqual(["lamp", "garden-lamp2"].map(isPluginId), [true, true]);
  assert.deepEqual(
    ["", "Lamp", "a--b", "-a", "a_b", "a".repeat(65)].map(isPluginId),
    Array(6).fill(false),
  );
});
