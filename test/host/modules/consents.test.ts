import assert from "node:assert/strict";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { Permissions } from "@mantel/plugin-sdk/permissions";
import { Consents } from "../../../host/modules/consent/consents.ts";
import {
  requestedPermissions,
  describePermission,
  missingPermissions,
} from "../../../host/modules/consent/requested-permissions.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const manifest = (asked: Partial<Manifest>): Manifest => ({
  id: "lamp",
  kinds: ["service"],
  server: "index.ts",
  ...asked,
});
const plugin = (permissions: Permissions) => ({
  id: "lamp",
  folder: "/lamp",
  version: "1.0.0",
  manifest: manifest({ permissions }),
});

/** The permissions that a change of the manifest adds. */
function needed(had: Partial<Manifest>, wanted: Partial<Manifest>): string[] {
  return missingPermissions(
    requestedPermissions(manifest(had)),
    requestedPermissions(manifest(wanted)),
  ).map(describePermission);
}

const hosts = (...names: string[]) => ({ permissions: { hosts: names } });
const folders = (...names: string[]) => ({ permissions: { folders: names } });

interface Change {
  readonly had: Partial<Manifest>;
  readonly wanted: Partial<Manifest>;
  readonly needs: readonly string[];
}

const NO_CONSENT: Readonly<
  Record<string, readonly [had: Partial<Manifest>, wanted: Partial<Manifest>]>
> = {
  "one host instead of all": [hosts("*"), hosts("a.test", "config:url", "/run/x")],
  "a name below a name": [hosts("*.a.test"), hosts("x.a.test", "*.x.a.test")],
  "fewer hosts": [hosts("a.test", "b.test"), hosts("b.test")],
  "a path in a folder": [folders("/srv/a"), folders("/srv/a/b")],
  "a flag that is off": [{}, { permissions: { listen: false } }],
  "memory as usual, and more patience": [{}, { limits: { memoryMiB: 64, callMs: 60_000 } }],
  "less room on the disk": [{ limits: { storageMiB: 512 } }, { limits: { storageMiB: 300 } }],
  "a widget that sees devices of one kind instead of all": [
    { needs: { devices: ["read"] } },
    { needs: { devices: ["read"], kinds: ["light"], rooms: ["Hall"] } },
  ],
  "a widget that commands a kind in one room only": [
    { needs: { devices: ["command"], kinds: ["light", "lock"] } },
    { needs: { devices: ["command"], kinds: ["light"], rooms: ["Hall"] } },
  ],
  "the lights of a home that was read as a whole, and one of them": [
    { permissions: { home: { read: ["*", "calendar"], control: ["light:*"] } } },
    { permissions: { home: { read: ["light:*", "calendar"], control: ["hue:light:3"] } } },
  ],
  "less memory": [{ limits: { memoryMiB: 512 } }, { limits: { memoryMiB: 256 } }],
  "a smaller share of a processor": [
    { limits: { cpuPercent: 400 } },
    { limits: { cpuPercent: 90 } },
  ],
  "an open network for the setup instead of always": [
    { permissions: { openNetwork: "always" } },
    { permissions: { openNetwork: "setup" } },
  ],
};

for (const [what, [had, wanted]] of Object.entries(NO_CONSENT)) {
  test(`${what} needs no consent`, () => assert.deepEqual(needed(had, wanted), []));
}

const MORE: readonly Change[] = [
  { had: hosts("a.test"), wanted: hosts("a.test", "b.test"), needs: ["connect to b.test"] },
  {
    had: { needs: { devices: ["read"], kinds: ["light"], channels: ["calendar"] } },
    wanted: {
      needs: {
        devices: ["read", "command"],
        kinds: ["light", "lock"],
        scenes: true,
        channels: ["calendar", "weather/forecast"],
        reads: ["/photos"],
      },
    },
    needs: [
      "show its widget lock devices",
      "show its widget the channel weather/forecast",
      "let its widget command light devices",
      "let its widget command lock devices",
      "let its widget command scenes",
      "let its widget read this: /photos",
    ],
  },
  {
    had: { needs: { devices: ["read"], rooms: ["Hall"] } },
    wanted: { needs: { devices: ["read"] } },
    needs: ["show its widget devices"],
  },
  {
    had: { permissions: { home: { read: ["*"], control: ["hue:light:3"] } } },
    wanted: {
      permissions: {
        home: { read: ["*", "calendar", "location"], control: ["light:*", "host:scene:evening"] },
      },
    },
    needs: [
      "read the calendars",
      "know where the home is",
      "control every device of the kind light",
      "activate the scene host:scene:evening",
    ],
  },
  { had: hosts("a.test"), wanted: hosts("*"), needs: ["connect to every host"] },
  { had: hosts("*.a.test"), wanted: hosts("a.test"), needs: ["connect to a.test"] },
  { had: hosts("*.a.test"), wanted: hosts("ba.test"), needs: ["connect to ba.test"] },
  {
    had: hosts("x.a.test"),
    wanted: hosts("*.a.test"),
    needs: ["connect to every host below a.test"],
  },
  { had: folders("/srv/a"), wanted: folders("/srv/a/../b"), needs: ["read /srv/b"] },
  { had: folders("/srv/a"), wanted: folders("/srv/ab"), needs: ["read /srv/ab"] },
  {
    had: {},
    wanted: { permissions: { childProcesses: true } },
    needs: ["start programs, which may do all that the user may who runs Mantel"],
  },
  { had: {}, wanted: { uses: ["mqtt.broker"] }, needs: ["use the service mqtt.broker"] },
  {
    had: { uses: ["mqtt.broker"] },
    wanted: { uses: ["mqtt.broker", "mqtt.publish"] },
    needs: ["use the service mqtt.publish"],
  },
  {
    had: { permissions: { openNetwork: "setup" } },
    wanted: { permissions: { openNetwork: "always" } },
    needs: [describePermission({ name: "openNetwork", value: "always" })],
  },
  {
    had: { limits: { memoryMiB: 256 } },
    wanted: { limits: { memoryMiB: 257 } },
    needs: ["use up to 257 MiB of memory"],
  },
  {
    had: { limits: { storageMiB: 512 } },
    wanted: { limits: { storageMiB: 513 } },
    needs: ["keep up to 513 MiB on the disk"],
  },
  { had: {}, wanted: { provides: ["mqtt.publish"] }, needs: ["provide mqtt.publish to the home"] },
  { had: {}, wanted: { limits: { memoryMiB: 256 } }, needs: ["use up to 256 MiB of memory"] },
  { had: {}, wanted: { limits: { storageMiB: 512 } }, needs: ["keep up to 512 MiB on the disk"] },
  {
    had: { limits: { cpuPercent: 90 } },
    wanted: { limits: { cpuPercent: 400 } },
    needs: ["use up to 400 % of a processor"],
  },
];

for (const { had, wanted, needs } of MORE) {
  const from = JSON.stringify(had);
  test(`from ${from} to ${JSON.stringify(wanted)} needs consent to ${needs.join()}`, () =>
    assert.deepEqual(needed(had, wanted), needs));
}

test("server code needs consent if the plugin had only a widget", () => {
  const { server: _, ...widget } = manifest({ kinds: ["widget"], widget: "w.ts" });

  assert.deepEqual(
    missingPermissions(requestedPermissions(widget), requestedPermissions(manifest({}))).map(
      describePermission,
    ),
    ["run code of its own on this machine"],
  );
});

test("a plain plugin asks for nothing but to run its code", () =>
  assert.deepEqual(requestedPermissions(manifest({})), [{ name: "server" }]));

test("a widget that only shows devices asks for nothing else", () => {
  const { server: _, ...widget } = manifest({ kinds: ["widget"], widget: "w.ts" });

  assert.deepEqual(requestedPermissions({ ...widget, needs: { devices: ["read"] } }), [
    { name: "widgetSees", value: "devices" },
  ]);
  assert.deepEqual(requestedPermissions({ ...widget, needs: { devices: ["command"] } }), [
    { name: "widgetCommands", value: "devices" },
  ]);
});

test("paths of folders are shown without detours; names of folders and hosts as they are", () => {
  const permissions = { folders: ["/srv/./a//b", "photos"], hosts: ["/run/../x"] };

  assert.deepEqual(requestedPermissions(manifest({ permissions })).slice(1), [
    { name: "folders", value: "/srv/a/b" },
    { name: "folders", value: "photos" },
    { name: "hosts", value: "/run/../x" },
  ]);
});

test("a new plugin has its requested permissions, also after a restart of the host", async (t) => {
  const { consents, reopen, data } = await openConsents(t);

  await consents.grantPlugins([plugin({ hosts: ["a.test"] })]);

  assert.deepEqual(consents.neededBy(plugin({ hosts: ["a.test"] })), []);
  const next = await reopen();
  await next.grantPlugins([plugin({ listen: true })]);
  assert.deepEqual(next.neededBy(plugin({ listen: true })), [{ name: "listen" }]);
  assert.equal((await stat(join(data, "consents.json"))).mode & 0o777, 0o600);
});

test("in development new permissions are granted immediately, and the log names the plugin and the additions", async (t) => {
  const { consents, log } = await openConsents(t, true);
  await consents.grantPlugins([plugin({})]);

  await consents.grantPlugins([plugin({ hosts: ["b.test"] })]);

  assert.deepEqual(consents.neededBy(plugin({ hosts: ["b.test"] })), []);
  const line = JSON.stringify(log.records);
  assert.match(line, /permissions granted on save.*lamp.*connect to b\.test/);
});

test("only the running version's permissions are granted, also after consent to more", async (t) => {
  const { consents, reopen } = await openConsents(t);
  await consents.grantPlugins([plugin({ hosts: ["a.test"] })]);
  await consents.allow(plugin({ listen: true }));
  assert.deepEqual(consents.neededBy(plugin({ hosts: ["a.test"], listen: true })), []);

  consents.settle(plugin({ listen: true }));

  assert.equal(consents.neededBy(plugin({ hosts: ["a.test"] })).length, 1);
  await consents.close();
  assert.equal((await reopen()).neededBy(plugin({ hosts: ["a.test"] })).length, 1);
});

test("consent that cannot be saved is not granted", async (t) => {
  const { consents, data } = await openConsents(t);
  await consents.grantPlugins([plugin({})]);
  const kept = await readFile(join(data, "consents.json"), "utf8");
  assert.doesNotMatch(kept, /listen/);
  await rm(data, { recursive: true });

  await assert.rejects(consents.allow(plugin({ listen: true })));

  assert.equal(consents.neededBy(plugin({ listen: true })).length, 1);
});

test("a new plugin needs no consent: installing it grants its permissions", async (t) => {
  const { consents } = await openConsents(t);

  assert.deepEqual(consents.neededBy(plugin({ listen: true })), []);
});

test("the file is written only when the grants change", async (t) => {
  const { consents, data } = await openConsents(t, true);
  const file = join(data, "consents.json");
  const isWritten = async () => {
    await consents.close();
    return (await readFile(file, "utf8").catch(() => "")) !== "";
  };

  await consents.grantPlugins([]);
  assert.equal(await isWritten(), false);
  await consents.grantPlugins([plugin({ listen: true })]);
  assert.equal(await isWritten(), true);
  await rm(file);
  await consents.grantPlugins([plugin({ listen: true })]);
  consents.settle(plugin({ listen: true }));
  consents.keep(plugin({}));
  assert.equal(await isWritten(), false);
  consents.settle(plugin({ sqlite: true }));
  assert.equal(await isWritten(), true);
});

test("in development only additions of known plugins are logged", async (t) => {
  const { consents, log } = await openConsents(t, true);

  await consents.grantPlugins([plugin({ listen: true })]);
  await consents.grantPlugins([plugin({ listen: true })]);

  assert.deepEqual(log.records, []);
});

test("a permission granted twice is stored once", async (t) => {
  const { consents, data } = await openConsents(t);

  await consents.grantPlugins([plugin({ hosts: ["a.test"], folders: ["a.test"] })]);
  await consents.allow(plugin({ hosts: ["a.test", "b.test"] }));

  const { granted } = JSON.parse(await readFile(join(data, "consents.json"), "utf8")) as {
    granted: object;
  };
  assert.deepEqual(granted, {
    lamp: [
      { name: "folders", value: "a.test" },
      { name: "server" },
      { name: "hosts", value: "a.test" },
      { name: "hosts", value: "b.test" },
    ],
  });
});

test("the grants follow the running version when it asks for another value or another flag", async (t) => {
  const { consents } = await openConsents(t);
  await consents.grantPlugins([plugin({ hosts: ["a.test"], listen: true })]);

  consents.settle(plugin({ hosts: ["b.test"], sqlite: true }));

  assert.deepEqual(consents.neededBy(plugin({ hosts: ["b.test"], sqlite: true })), []);
  assert.deepEqual(consents.neededBy(plugin({ hosts: ["a.test"], listen: true })), [
    { name: "hosts", value: "a.test" },
    { name: "listen" },
  ]);
  consents.settle(plugin({ hosts: ["c.test"], sqlite: true }));
  assert.deepEqual(consents.neededBy(plugin({ hosts: ["c.test"] })), []);
});

test("the previous version keeps its permissions when it runs again after a crash, beside the new ones", async (t) => {
  const { consents, reopen } = await openConsents(t);
  await consents.grantPlugins([plugin({ listen: true })]);

  consents.keep(plugin({ hosts: ["a.test"] }));
  await consents.close();

  const next = await reopen();
  assert.deepEqual(next.neededBy(plugin({ hosts: ["a.test"], listen: true })), []);
});

test("grants that cannot be stored hold, and the log says so", async (t) => {
  const { consents, data, log } = await openConsents(t);
  await rm(data, { recursive: true });

  await consents.grantPlugins([plugin({})]);

  assert.equal(consents.neededBy(plugin({ listen: true })).length, 1);
  const [{ level, sentence, fields } = assert.fail()] = log.records;
  assert.deepEqual([level, sentence], ["error", "could not store the plugins' permissions"]);
  assert.equal(fields["file"], "consents.json");
  assert.ok(fields["error"] instanceof Error);
});

async function openConsents(t: TestContext, onSave = false) {
  const data = join(await emptyFolder(t), "data");
  await mkdir(data);
  const log = collectedLog();
  const reopen = () => Consents.open({ dataFolder: data, log, onSave });
  return { data, log, reopen, consents: await reopen() };
}
