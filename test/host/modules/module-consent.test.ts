import assert from "node:assert/strict";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Permissions } from "@mantel/plugin-sdk/permissions";
import { Consents } from "../../../host/modules/consent/consents.ts";
import { describePermission } from "../../../host/modules/consent/requested-permissions.ts";
import { ModuleConsent } from "../../../host/modules/lifecycle/module-consent.ts";
import { ModuleLog } from "../../../host/modules/state/logs.ts";
import type { ModuleStatus } from "../../../host/modules/state/status.ts";
import type { ModuleVersions } from "../../../host/modules/versions/module-versions.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

const plugin = (permissions: Permissions = {}) => ({
  id: "lamp",
  folder: "/lamp",
  version: "1.0.0",
  manifest: { id: "lamp", kinds: ["service" as const], server: "index.ts", permissions },
});
const LISTEN = describePermission({ name: "listen" });

/** The consent of a plugin that runs without any permission. */
async function openConsent(t: TestContext) {
  const dataFolder = join(await emptyFolder(t), "data");
  await mkdir(dataFolder);
  const host = collectedLog();
  const consents = await Consents.open({ dataFolder, log: host });
  const first = plugin();
  await consents.grantPlugins([first]);
  const shown: (readonly object[])[] = [];
  const status = {
    needsConsent: (needed: readonly object[]) => shown.push(needed),
  } as unknown as ModuleStatus;
  const versions = { onDisk: first, plugin: first } as ModuleVersions;
  const log = new ModuleLog(host);
  const consent = new ModuleConsent({ id: "lamp", consents, versions, status, log });
  const told = () => host.records.map(({ level, sentence, fields }) => [level, sentence, fields]);
  return { consent, consents, versions, shown, told, dataFolder };
}

const WAITS = "the plugin asks for more permissions and waits for consent";

test("a plugin on disk that asks for more waits, is shown and is logged", async (t) => {
  const { consent, versions, shown, told } = await openConsent(t);
  const next = plugin({ listen: true });

  consent.setOnDisk(next);

  assert.equal(versions.onDisk, next);
  assert.equal(consent.isNeeded, true);
  assert.deepEqual(consent.error.extras.needed, [LISTEN]);
  assert.deepEqual(shown, [[{ name: "listen" }]]);
  assert.deepEqual(told(), [["warn", WAITS, { needed: [LISTEN] }]]);
});

test("a plugin that waits for the same permissions is logged once, and again for others", async (t) => {
  const { consent, told } = await openConsent(t);

  consent.setOnDisk(plugin({ listen: true }));
  consent.setOnDisk(plugin({ listen: true }));
  consent.setOnDisk(plugin({ hosts: ["a.test"] }));

  assert.deepEqual(
    told().map(([, , fields]) => fields),
    [{ needed: [LISTEN] }, { needed: ["connect to a.test"] }],
  );
});

test("a plugin that asks for nothing new does not wait, and ends an earlier wait", async (t) => {
  const { consent, shown, told } = await openConsent(t);
  consent.setOnDisk(plugin({ listen: true }));

  consent.setOnDisk(plugin());

  assert.equal(consent.isNeeded, false);
  assert.deepEqual(shown.at(-1), []);
  assert.equal(told().length, 1);
});

test("given consent is returned, shown and logged", async (t) => {
  const { consent, shown, told } = await openConsent(t);
  consent.setOnDisk(plugin({ listen: true }));

  const added = await consent.give([LISTEN, "something else"]);

  assert.deepEqual(added, [LISTEN]);
  assert.equal(consent.isNeeded, false);
  assert.deepEqual(shown.at(-1), []);
  assert.deepEqual(told().at(-1), [
    "info",
    "consent given; permissions added",
    { added: [LISTEN] },
  ]);
});

test("consent without a list accepts everything that the plugin asks for", async (t) => {
  const { consent } = await openConsent(t);
  consent.setOnDisk(plugin({ listen: true, hosts: ["a.test"] }));

  assert.equal((await consent.give()).length, 2);
});

test("consent to less than the plugin asks for is refused, and grants nothing", async (t) => {
  const { consent } = await openConsent(t);
  consent.setOnDisk(plugin({ listen: true, hosts: ["a.test"] }));

  await assert.rejects(consent.give([LISTEN]), { code: "consent_needed" });

  assert.equal(consent.isNeeded, true);
});

test("consent that is not needed changes nothing", async (t) => {
  const { consent, told, dataFolder } = await openConsent(t);
  await rm(dataFolder, { recursive: true }); // a write would fail

  assert.deepEqual(await consent.give(), []);

  assert.deepEqual(told(), []);
});

test("settling reduces the grants to those of the running plugin, and shows what is missing", async (t) => {
  const { consent, consents, versions, shown } = await openConsent(t);
  versions.onDisk = plugin({ listen: true });
  await consent.give();

  consent.settle();
  await consents.close();

  assert.equal(consent.isNeeded, true);
  assert.deepEqual(shown.at(-1), [{ name: "listen" }]);
});

test("consent given while the previous version reloads is kept until a plugin runs that does not ask for it", async (t) => {
  const { consent, versions } = await openConsent(t);
  consent.setOnDisk(plugin({ listen: true }));
  await consent.give();

  consent.dropUnused(); // at the end of that reload
  assert.equal(consent.isNeeded, false);

  const without = plugin();
  consent.setOnDisk(without);
  Object.assign(versions, { plugin: without });
  consent.dropUnused();
  consent.setOnDisk(plugin({ listen: true }));
  assert.equal(consent.isNeeded, true);
});
