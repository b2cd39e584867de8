import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";

/** Counts its calls, hands the count over, and says which code it is and what is set. */
export const COUNTER = `
import { definePlugin, Type, brokerAddress, provide } from "@mantel/plugin-sdk";
const CODE: string = "first";

export default definePlugin({
  options: Type.Object({ word: Type.String({ default: "none" }) }),
  state: Type.Object({ count: Type.Integer() }),
  start({ handedOver, config }) {
    let count = handedOver?.count ?? 0;
    return {
      services: [provide(brokerAddress, async () => ({ url: CODE + " " + ++count + " " + config.word }))],
      handOver: () => ({ count }),
    };
  },
});
`;
export const code = (name: string) => COUNTER.replace('"first"', `"${name}"`);
export const manifest = (permissions: object, more: object = {}) =>
  packageJson("counter", { provides: ["broker.address"], permissions, ...more });

export const LITTLE = { hosts: ["a.test"] };
export const MORE = { hosts: ["a.test", "b.test"], listen: true };
export const NEEDED = ["connect to b.test", "listen on the network"];

type Modules = Awaited<ReturnType<typeof startModules>>;

export const startCounter = (t: TestContext, permissions: object = LITTLE): Promise<Modules> =>
  startModules(t, {
    counter: { "package.json": manifest(permissions), "index.ts": COUNTER },
  });

/** Saves other code under a manifest with these permissions: both at once, for one reload on a busy machine, too. */
export function save({ home }: Modules, name: string, permissions: object): void {
  writeFileSync(join(home, "plugins/counter/index.ts"), code(name));
  writeFileSync(join(home, "plugins/counter/package.json"), manifest(permissions));
}

/** Saves an update that asks for more, and waits until it is known to. */
export async function saveMore(modules: Modules): Promise<void> {
  await modules.write("counter/package.json", manifest(MORE));
  await modules.once("counter", (view) => view.consent !== null);
  await modules.write("counter/index.ts", code("second"));
}

/** Gives consent as the route does. */
export async function consent({ registry }: Modules, seen?: readonly string[]) {
  const granted = await registry.allow("counter", seen);
  return { granted, ...(await registry.takeOver("counter")) };
}

export const call = ({ services }: Modules): Promise<string> =>
  services.call("broker.address", {}).then((answer) => (answer as { url: string }).url);
