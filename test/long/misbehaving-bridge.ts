import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { packageJson, startModules } from "../helpers/module.ts";
import { LOAD, until } from "../helpers/until.ts";

/** A bridge with one lamp, whose start runs `code` at the end; it also provides a service. */
export function bridge(
  code: string,
  services = "[provide(answer, () => 'odd')]",
): Record<string, string> {
  const manifest = packageJson("odd", {
    bridge: { kind: "odd", commandsPerSecond: 1_000 },
    provides: ["odd.answer", "calendar.window"],
    limits: { quiesceMs: Math.min(30_000, Math.round(2_000 * LOAD)) },
  });
  const source = `
import { definePlugin, defineService, provide, Type } from "@mantel/plugin-sdk";
const answer = defineService("odd.answer", { input: Type.Object({}), output: Type.String() });
export default definePlugin({
  async start(ctx: any): Promise<any> {
    await ctx.devices.publish([{
      nativeId: "lamp", kind: "light", name: "Lamp", state: { on: false },
      capabilities: { on: { type: "boolean" } },
    }]);
    ${code}
    return {
      command: async (nativeId: string, command: any) => ctx.devices.update({ nativeId, state: command }),
      services: ${services},
    };
  },
});
`;
  return { "package.json": manifest, "index.ts": source };
}

const LAMP = "odd:light:1";

/** Starts the bridge `odd`, which runs `code` and must keep working afterwards. */
export async function startMisbehavingBridge(t: TestContext, code: string, services?: string) {
  const modules = await startModules(t, { odd: bridge(code, services) });
  const { registry, commands, devices } = modules;
  return {
    ...modules,
    sentences: () => registry.logs("odd").map(({ sentence }) => sentence),
    logDrops: () => registry.work().find(({ id }) => id === "odd")?.logDrops ?? 0,
    assertStillWorks: async () => {
      await commands.send(LAMP, { on: true }).done;
      const { state, restarts } = registry.get("odd");
      assert.deepEqual([state, restarts], ["active", 0]);
      await until(() => devices.get(LAMP).state.on === true);
    },
  };
}
