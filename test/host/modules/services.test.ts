import assert from "node:assert/strict";
import { test } from "node:test";
import { packageJson, startModules } from "../../helpers/module.ts";
import { until } from "../../helpers/until.ts";

const PROVIDER = `
import { definePlugin, brokerAddress, provide } from "@mantel/plugin-sdk";
export default definePlugin({
  start: () => ({ services: [provide(brokerAddress, async () => ({ url: "mqtt://one" }))] }),
});
`;
/** Asks at each command, and shows the answer. */
const CONSUMER = `
import { brokerAddress, definePlugin } from "@mantel/plugin-sdk";
const capabilities = { ask: { type: "boolean" }, heard: { type: "text", readOnly: true } };
export default definePlugin({
  async start({ call, devices }) {
    await devices.publish([
      { nativeId: "ear", kind: "switch", name: "Ear", capabilities, state: { heard: null } },
    ]);
    return {
      async command(nativeId) {
        const heard = await call(brokerAddress, {}).then(({ url }) => url, (error) => error.code + ": " + error.message);
        devices.update({ nativeId, state: { heard } });
      },
    };
  },
});
`;
const provider = {
  "package.json": packageJson("provider", { provides: ["broker.address"] }),
  "index.ts": PROVIDER,
};
const consumer = {
  "package.json": packageJson("consumer", {
    uses: ["broker.address"],
    bridge: { kind: "ear", commandsPerSecond: 100 },
  }),
  "index.ts": CONSUMER,
};

test("a caller of a failing service gets no details, which are only in the provider's log", async (t) => {
  const { commands, devices, edit, once, registry } = await startModules(t, { provider, consumer });
  const hear = async () => {
    await commands.send("ear:switch:1", { ask: true }).done;
    return devices.get("ear:switch:1").state["heard"];
  };
  assert.equal(await hear(), "mqtt://one");

  await edit("provider/index.ts", (source) =>
    source.replace('({ url: "mqtt://one" })', '{ throw new TypeError("the key is 1234"); }'),
  );
  await once("provider", ({ generation }) => generation === 2);

  assert.equal(
    await hear(),
    "service_unavailable: broker.address of provider failed; see the log of provider",
  );
  await until(() =>
    registry
      .logs("provider")
      .some(({ fields }) => String(fields?.["error"]).includes("the key is 1234")),
  );
});
