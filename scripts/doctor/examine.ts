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
  const { config, findings } = await readConfig(options.dataFolder, environment);
  const others = await Promise.all([
    examineData(options.dataFolder),
    examinePlugins(options.pluginFolders, config),
    examineNetwork(options, config),
    examineBroker(config),
    examineClock(options.dataFolder),
    examineMachine(),
    examineConfinement(),
  ]);
  return [...findings, ...others.flat()];
}
