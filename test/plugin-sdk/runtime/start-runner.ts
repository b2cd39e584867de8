import type { TestContext } from "node:test";
import { definePlugin } from "@mantel/plugin-sdk";
import type { StartRequest } from "@mantel/plugin-sdk/protocol";
import type { PluginDefinition } from "../../../plugin-sdk/plugin.ts";
import type { HostLink } from "../../../plugin-sdk/runtime/host-link.ts";
import { Runner } from "../../../plugin-sdk/runtime/runner.ts";
import { emptyFolder } from "../../helpers/folder.ts";

type Start = PluginDefinition<undefined, undefined>["start"];

/** A command as the host hands it on. */
export const LAMP = { nativeId: "lamp-1", command: { on: true }, commandId: "c1" };

/** A generation of a plugin, and in `said` all that its host was told, in the order it was. */
export async function startRunner(
  t: TestContext,
  start: Start,
  request: Partial<StartRequest> = {},
) {
  const said: [method: string, input: unknown][] = [];
  const host = {
    async call(method: string, input: unknown) {
      said.push([method, input]);
    },
    notify: (method: string, input: unknown) => {
      JSON.stringify(input); // as a channel does, which throws for a value that is not JSON
      if (method !== "resumeSchedules") said.push([method, input]); // every start ends with it
    },
  } as HostLink;
  const runner = new Runner(definePlugin({ start }), host);
  const started = runner.start("garden-bridge", {
    config: {},
    home: { locale: "en-GB", timeZone: "Europe/Berlin", pollSeconds: 30 },
    storage: await emptyFolder(t),
    folders: {},
    uses: [],
    ...request,
  });
  return { runner, said, started };
}
