import { readOptions } from "../../host/options.ts";
import { examineBroker } from "./broker.ts";
import { examineClock } from "./clock.ts";
import { readConfig } from "./config.ts";
import { examineData } from "./data.ts";
import type { Finding } from "./finding.ts";
import { examineMachine } from "./machine.ts";
import { examineNetwork } from "./network.ts";
import { examinePlugins } from "./plugins.ts";

/**
 * Looks at everything the host will need, with its own flags and variables, and changes nothing.
 * @throws MantelError `bad_request` when a flag is wrong
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
  ]);
  return [...findings, ...others.flat()];
}
