import { join } from "node:path";
import { readText } from "@mantel/plugin-sdk/document-file";
import { MantelError } from "@mantel/plugin-sdk/errors";
import { parseJsonText } from "@mantel/plugin-sdk/json-text";
import { type ConfigDocument, parseDocument } from "../../host/config/document.ts";
import {
  moveCredentialsFromUrl,
  readEnvironment,
  unknownVariables,
} from "../../host/config/environment.ts";
import { KeyTable } from "../../host/config/keys.ts";
import type { Config } from "../../host/config/schema.ts";
import { effectiveConfig } from "../../host/config/values.ts";
import { type Finding, findingsOf } from "./finding.ts";

/** Loads the config like the host, without the host's repair of damaged files. */
export async function readConfig(
  dataFolder: string,
  variables: NodeJS.ProcessEnv,
): Promise<{ config: Config; findings: Finding[] }> {
  const keys = new KeyTable();
  const { warn, fail, ok } = findingsOf("config");
  const findings: Finding[] = [];
  const attempt = async (read: () => Promise<ConfigDocument>, todo: string) => {
    try {
      return await read();
    } catch (error) {
      findings.push(fail((error as Error).message, todo));
      return {};
    }
  };
  const document = (name: string) =>
    attempt(
      () => readDocument(join(dataFolder, name), keys),
      `correct ${name}; otherwise the next start renames it and uses the last good one`,
    );
  const stored = { plain: await document("config.json"), secret: await document("secrets.json") };
  const environment = await attempt(
    async () => readEnvironment(variables, keys),
    "correct or remove the variable",
  );
  for (const name of unknownVariables(variables, keys)) {
    findings.push(warn(`unknown variable ${name}`, "correct its name, or remove it"));
  }
  const config = effectiveConfig({ keys, environment, stored });
  return { config, findings: findings.length > 0 ? findings : [ok("the config is valid")] };
}

async function readDocument(path: string, keys: KeyTable): Promise<ConfigDocument> {
  const text = await readText(path);
  if (text === undefined) return {};
  try {
    return parseDocument(moveCredentialsFromUrl(parseJsonText(text, path)), keys);
  } catch (error) {
    if (!(error instanceof MantelError)) throw error;
    throw new Error(`${path}: ${error.message}`, { cause: error });
  }
}
