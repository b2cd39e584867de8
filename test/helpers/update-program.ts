// Updates the plugin `lamp` in a data folder, as the plugin command does without a running host. A test kills it.
import { join } from "node:path";
import { ConfigStore } from "../../host/config/store.ts";
import { openLog } from "../../host/log.ts";
import { Consents } from "../../host/modules/consent/consents.ts";
import { VersionStore } from "../../host/modules/versions/version-store.ts";
import { PackageLock } from "../../host/packages/lock.ts";
import { openPackagesOffline } from "../../host/packages/open-packages.ts";

const [, , dataFolder = "", source = ""] = process.argv;
const log = openLog("error", false);
const lock = await PackageLock.open(dataFolder, log);
const config = await ConfigStore.open({ dataFolder, environment: {}, log });
const consents = await Consents.open({ dataFolder, log, asksFirst: () => true });
const { packages } = await openPackagesOffline({
  dataFolder,
  lock,
  config,
  consents,
  log,
  versionStore: new VersionStore(join(dataFolder, "cache")),
  version: "0.1.0",
  isShippedId: () => false,
  roots: [],
  progress: () => undefined,
});
process.stdout.write("begin\n");
const isInstalled = lock.find("lamp") !== undefined;
await (isInstalled ? packages.update("lamp") : packages.install({ source })).done;
process.stdout.write("done\n");
await config.close();
