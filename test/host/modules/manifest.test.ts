import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk/errors";
import { isPluginId, readManifest } from "../../../host/modules/manifest/manifest.ts";
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
  [
    "a shared service that it does not provide",
    { ...GOOD, provides: ["acme.a.b"], shares: ["acme.a.c"] },
    /"acme\.a\.c" in mantel\.shares must also be in mantel\.provides/,
  ],
  ["an unknown key", { ...GOOD, colour: "red" }, /\/mantel\/colour/],
  ["the id of a section of the config", { ...GOOD, id: "ui" }, /section of the host's config/],
  ["no entry", { id: "lamp", kinds: ["service"] }, /needs a "server" or a "widget"/],
  ["things to add in no option", { ...GOOD, adds: { calendar: "" } }, /\/mantel\/adds\/calendar/],
  [
    "needs without a widget",
    { ...GOOD, needs: { devices: ["read"] } },
    /mantel\.needs is for a widget/,
  ],
  [
    "a channel of the host that has another name now",
    {
      ...GOOD,
      kinds: ["widget"],
      widget: "widget.ts",
      needs: { channels: ["calendar", "weather"] },
    },
    /"weather" in mantel\.needs\.channels is now "weather\/forecast"/,
  ],
  ["a channel to use that is not one", { ...GOOD, uses: ["news/Head lines"] }, /\/mantel\/uses\/0/],
  [
    "a path of the host",
    { ...GOOD, paths: { "/config": { channel: "all" } } },
    /mantel\.paths must not hold "\/config", which the host serves itself/,
  ],
  [
    "a path of the host that its widget reads",
    { ...GOOD, kinds: ["widget"], widget: "widget.ts", needs: { reads: ["/tokens"] } },
    /mantel\.needs\.reads must not hold "\/tokens", which the host serves itself/,
  ],
  [
    "every plugin's routes for its widget",
    { ...GOOD, kinds: ["widget"], widget: "widget.ts", needs: { reads: ["/plugins"] } },
    /mantel\.needs\.reads must not hold "\/plugins"/,
  ],
  [
    "routes of the host below a plugin for its widget",
    { ...GOOD, kinds: ["widget"], widget: "widget.ts", needs: { reads: ["/plugins/a/config"] } },
    /\/mantel\/needs\/reads\/0/,
  ],
  [
    "routes at a path of the host",
    { ...GOOD, paths: { "/devices": { routes: true } } },
    /serves itself/,
  ],
  [
    "a path with a channel and routes",
    { ...GOOD, paths: { "/tides": { channel: "tides", routes: true } } },
    /\/mantel\/paths/,
  ],
  ["a path of more than one part", { ...GOOD, paths: { "/a/b": { channel: "all" } } }, /paths/],
  [
    "an event of the host",
    { ...GOOD, paths: { "/tides": { channel: "tides", event: { topic: "device.state" } } } },
    /"device\.state" in mantel\.paths is a topic of the host's own events/,
  ],
  ["needs beyond those there are", { ...GOOD, needs: { tokens: true } }, /needs/],
  [
    "a widget kind without an entry",
    { ...GOOD, kinds: ["widget"] },
    /must hold "widget" if and only if/,
  ],
  [
    "a bridge without its section",
    { ...GOOD, kinds: ["bridge"] },
    /must hold "bridge" if and only if/,
  ],
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
  [
    "a widget outside its folder",
    { ...GOOD, kinds: ["service", "widget"], widget: "parts/../../widget.ts" },
    /outside the plugin's folder/,
  ],
  [
    "a widget entry without its kind",
    { ...GOOD, widget: "w.ts" },
    /must hold "widget" if and only/,
  ],
  [
    "a section of a bridge without its kind",
    { ...GOOD, bridge: { kind: "lamp", commandsPerSecond: 1 } },
    /mantel\.kinds must hold "bridge" if and only if there is a "bridge" section/,
  ],
  [
    "a bridge with only a widget",
    {
      id: "lamp",
      kinds: ["bridge", "widget"],
      widget: "w.ts",
      bridge: { kind: "lamp", commandsPerSecond: 1 },
    },
    /a bridge, service or automation needs a "server" entry/,
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
    /"cache", which is one of the host's own folders/,
  ],
];

const ALLOWED: readonly (readonly [what: string, mantel: object])[] = [
  ["only a widget and its needs", { id: "lamp", kinds: ["widget"], widget: "w.ts", needs: {} }],
  ["a server and a widget", { ...GOOD, kinds: ["service", "widget"], widget: "w.ts" }],
  ["a bridge", { ...GOOD, kinds: ["bridge"], bridge: { kind: "lamp", commandsPerSecond: 1 } }],
  ["permissions without folders", { ...GOOD, permissions: { hosts: ["a.test"] } }],
  ["folders of its own", { ...GOOD, permissions: { folders: ["photos", "/srv/photos"] } }],
  ["entries in folders, also with dots in their names", { ...GOOD, server: "src/..parts/a..ts" }],
];

for (const [what, mantel] of ALLOWED) {
  test(`a manifest with ${what} is valid`, async (t) => {
    const folder = await emptyFolder(t);
    await writeFile(join(folder, "package.json"), JSON.stringify({ mantel }));

    const plugin = await readManifest(folder);

    assert.deepEqual(plugin, { id: "lamp", folder, version: "0.0.0", manifest: mantel });
  });
}

test("a manifest that is not JSON is refused with the place of the fault", async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, "package.json");
  await writeFile(file, '{\n  "mantel": {,\n}');

  await assert.rejects(readManifest(folder), ({ code, message, extras, cause }: MantelError) => {
    assert.equal(code, "invalid");
    assert.ok(message.startsWith(`${file} is not JSON: `), message);
    const { frame, ...place } = extras.location ?? assert.fail();
    assert.deepEqual(place, { file: "package.json", line: 2, column: 14 });
    assert.match(frame, /"mantel": \{,/);
    assert.ok(cause instanceof SyntaxError);
    return true;
  });
});

for (const [what, text] of [
  ["null", "null"],
  ["a text", '"mantel"'],
  ["a list", "[]"],
] as const) {
  test(`a package.json that is ${what} has no manifest`, async (t) => {
    const folder = await emptyFolder(t);
    await writeFile(join(folder, "package.json"), text);

    await assert.rejects(readManifest(folder), {
      code: "invalid",
      message: `${join(folder, "package.json")} has no "mantel" key, which every plugin needs`,
    });
  });
}

for (const [what, mantel] of [
  ["null", null],
  ["a text", "optIn"],
] as const) {
  test(`a manifest that is ${what} is refused by its type`, async (t) => {
    const folder = await emptyFolder(t);
    await writeFile(join(folder, "package.json"), JSON.stringify({ mantel }));

    await assert.rejects(readManifest(folder), { code: "invalid", message: /\/mantel is / });
  });
}

test("a package.json may have 256 KiB and no more", async (t) => {
  const folder = await emptyFolder(t);
  const file = join(folder, "package.json");
  const text = JSON.stringify({ mantel: GOOD });

  await writeFile(file, text.padEnd(256 * 1_024));
  assert.equal((await readManifest(folder)).id, "lamp");
  await writeFile(file, text.padEnd(256 * 1_024 + 1));

  await assert.rejects(readManifest(folder), {
    code: "invalid",
    message: `${file} is a link or larger than 262144 bytes`,
  });
});

test("a version has at most 100 characters", async (t) => {
  const folder = await emptyFolder(t);
  const write = (version: string) =>
    writeFile(join(folder, "package.json"), JSON.stringify({ version, mantel: GOOD }));

  await write("1".repeat(100));
  assert.equal((await readManifest(folder)).version.length, 100);
  await write("1".repeat(101));

  await assert.rejects(readManifest(folder), /\/version/);
});

test("dependencies that npm cannot read are refused with their location", async (t) => {
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

for (const [old, replacement, value] of [
  ["optIn", "requiresConfig", true],
  ["yieldsTo", "fallbackFor", { bridges: true }],
] as const) {
  test(`a manifest with the old key ${old} is refused with the new key and the line`, async (t) => {
    const folder = await emptyFolder(t);
    const content = { name: "lamp", mantel: { id: "lamp", kinds: ["service"], [old]: value } };
    await writeFile(join(folder, "package.json"), JSON.stringify(content, undefined, 2));

    const refused = readManifest(folder);

    await assert.rejects(refused, ({ message, extras }: MantelError) => {
      assert.equal(
        message,
        `${join(folder, "package.json")}: mantel.${old} is now mantel.${replacement}`,
      );
      assert.equal(extras.location?.file, "package.json");
      assert.equal(extras.location?.line, 8);
      return true;
    });
  });
}

test("a linked package.json is refused without showing the target's content", async (t) => {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "secret"), "root:hash:1");
  await mkdir(join(folder, "plugin"));
  await symlink(join(folder, "secret"), join(folder, "plugin/package.json"));

  await assert.rejects(readManifest(join(folder, "plugin")), (error: MantelError) => {
    assert.match(error.message, /package\.json is a link/);
    assert.doesNotMatch(JSON.stringify(error.extras), /hash/);
    return true;
  });
});

test("ids are lower-case words joined by hyphens", () => {
  assert.deepEqual(["lamp", "garden-lamp2", "a".repeat(64)].map(isPluginId), [true, true, true]);
  assert.deepEqual(
    ["", "Lamp", "a--b", "-a", "a_b", "a".repeat(65)].map(isPluginId),
    Array(6).fill(false),
  );
});
