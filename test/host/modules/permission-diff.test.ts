import assert from "node:assert/strict";
import { test } from "node:test";
import { MantelError } from "@mantel/plugin-sdk/errors";
import type { Manifest } from "@mantel/plugin-sdk/manifest";
import {
  consentNeededError,
  isConsentNeeded,
} from "../../../host/modules/consent/consent-needed-error.ts";
import { permissionsOf } from "../../../host/modules/consent/declared-permissions.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import { logAddedPermissions } from "../../../host/modules/state/permission-diff.ts";
import type { ModuleStatus } from "../../../host/modules/state/status.ts";
import { collectedLog } from "../../helpers/collected-log.ts";

const plugin = (manifest: Partial<Manifest> = {}, version = "1.0.0") => ({
  id: "lamp",
  folder: "/lamp",
  version,
  manifest: { id: "lamp", kinds: ["service" as const], server: "index.ts", ...manifest },
});

/** The permissions that are shown as added, and the records of the log. */
function added(
  before: ReturnType<typeof plugin> | undefined,
  now: ReturnType<typeof plugin>,
  generation = 0,
) {
  const shown: (readonly string[])[] = [];
  const status = {
    view: { generation },
    addedPermissions: (names: string[]) => shown.push(names),
  } as unknown as ModuleStatus;
  const host = collectedLog();
  logAddedPermissions(before, now, { status, log: new ModuleLog(host) });
  return { shown, records: host.records };
}

test("flags, values and entries of lists that a plugin added are shown and logged", () => {
  const before = plugin({ permissions: { hosts: ["a.test"], listen: true } });
  const now = plugin({
    permissions: { hosts: ["a.test", "b.test"], listen: true, sqlite: true, openNetwork: "setup" },
    uses: ["mqtt.broker"],
    provides: ["mqtt.publish"],
  });
  now.manifest.permissions = { ...now.manifest.permissions, home: { control: ["light:*"] } };

  const { shown, records } = added(before, now);

  const names = [
    "hosts: b.test",
    "openNetwork: setup",
    "home.control: light:*",
    "sqlite",
    "provides: mqtt.publish",
    "uses: mqtt.broker",
  ];
  assert.deepEqual(
    shown.map((each) => each.toSorted()),
    [names.toSorted()],
  );
  const [{ level, sentence, fields } = assert.fail()] = records;
  assert.deepEqual([level, sentence], ["warn", "the plugin asks for more permissions than before"]);
  assert.deepEqual(fields["added"], shown[0]);
});

test("removed permissions are not reported, and end an earlier report", () => {
  const { shown, records } = added(plugin({ permissions: { listen: true } }), plugin(), 1);

  assert.deepEqual(shown, [[]]);
  assert.deepEqual(records, []);
});

test("a plugin without a version before it added nothing", () => {
  const { shown, records } = added(undefined, plugin({ permissions: { listen: true } }), 1);

  assert.deepEqual(shown, [[]]);
  assert.deepEqual(records, []);
});

test("the report stays while the manifest is the same", () => {
  const same = { permissions: { listen: true } };

  assert.deepEqual(added(plugin(same), plugin(same, "1.0.1"), 1).shown, []);
  assert.deepEqual(added(plugin(same), plugin(same, "1.0.1"), 0).shown, [[]], "at the first start");
});

test("a manifest without permissions has none of them", () => {
  assert.deepEqual(permissionsOf(plugin().manifest), {
    hosts: [],
    openNetwork: null,
    listen: false,
    folders: [],
    childProcesses: false,
    workerThreads: false,
    nativeAddons: false,
    sqlite: false,
    home: { read: [], control: [] },
    provides: [],
    uses: [],
    paths: [],
  });
  const { manifest } = plugin({ provides: ["mqtt.publish"], uses: ["mqtt.broker"] });
  const { provides, uses } = permissionsOf(manifest);
  assert.deepEqual([provides, uses], [["mqtt.publish"], ["mqtt.broker"]]);
});

test("the error for missing consent names each permission and both ways to give it", () => {
  const error = consentNeededError("lamp", [
    { name: "hosts", value: "a.test" },
    { name: "listen" },
  ]);

  const [host = "", listen = ""] = error.extras.needed ?? [];
  assert.equal(host, "connect to a.test");
  assert.equal(
    error.message,
    `lamp needs consent for more permissions: it wants to ${host}; ${listen}. Give consent in the settings, or by POST /modules/lamp/consent`,
  );
  assert.equal(isConsentNeeded(error), true);
  assert.equal(isConsentNeeded(new Error(error.message)), false);
  assert.equal(isConsentNeeded(new MantelError("invalid", error.message)), false);
});
