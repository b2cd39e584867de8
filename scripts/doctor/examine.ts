import { join } from "node:path";
import { readOptions } from "../../host/options.ts";
import { examineBroker } from "./broker.ts";
import { examineClock } from "./clock.ts";
import { readConfig } from "./config.ts";
import { examineConfinement } from "./confinement.ts";
import { examineData } from "./data.ts";
import type { Finding } from "./finding.ts";
import { examineMachine } from "./machine.ts";
import { examineNetwork } from "./network.ts";
import { examinePlugins } from "./plugins.ts";

/**
 * Runs all checks with the host's flags and environment variables. Changes nothing.
 * @throws MantelError `bad_request` for an invalid flag
 */
export async function examine(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  root: string,
): Promise<Finding[]> {
  const options = readOptions(args, environment, root);
  const { dataFolder } = options;
  const shipped = join(root, "plugins");
  const { config, findings } = await readConfig(dataFolder, environment);
  const others = await Promise.all([
    examineData(dataFolder),
    examinePlugins({ folders: options.pluginFolders, dataFolder, shipped }, config),
    examineNetwork(options, config),
    examineBroker(config),
    examineClock(dataFolder),
    examineMachine(),
    examineConfinement(),
  ]);
  return [...findings, ...others.flat()];
}
