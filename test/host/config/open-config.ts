import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { ConfigStore } from "../../../host/config/store.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";

export interface ConfigSetup {
  readonly environment?: NodeJS.ProcessEnv;
  /** Texts that are in the data folder before the config is opened, by file name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly dataFolder?: string;
}

export const admin = { admin: true };
export const editor = { admin: false };

/** A config over a data folder of its own, closed when the test ends. */
export async function openConfig(t: TestContext, setup: ConfigSetup = {}) {
  const dataFolder = setup.dataFolder ?? (await emptyFolder(t));
  for (const [name, text] of Object.entries(setup.files ?? {})) {
    await writeFile(join(dataFolder, name), text);
  }
  const log = collectedLog();
  const config = await ConfigStore.open({ dataFolder, environment: setup.environment ?? {}, log });
  t.after(() => config.close());
  const path = join(dataFolder, "config.json");
  const stored = async (): Promise<unknown> => JSON.parse(await readFile(path, "utf8"));
  return { config, dataFolder, path, log, stored };
}
