import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type FaultKind, faultyPlugin, idOf } from "../../scripts/faults/kinds.ts";
import { type PluginFiles, startModules } from "../helpers/module.ts";

const GOOD: FaultKind = { name: "good", code: "", cause: /never/ };

const FALL = "the module crashed; restarting";

/** Starts a plugin for each fault, a good one that is commanded all the time, and `others`. */
export async function startFaultyModules(
  t: TestContext,
  kinds: readonly FaultKind[],
  when: "call" | "start",
  others: Readonly<Record<string, PluginFiles>> = {},
) {
  const faulty = kinds.map((kind) => [idOf(kind), faultyPlugin(idOf(kind), kind, when)] as const);
  const good = ["good", faultyPlugin("good", GOOD, "call")] as const;
  const modules = await startModules(t, {
    ...Object.fromEntries([good, ...faulty]),
    ...others,
  });
  const lampOf = (id: string) => `${id.replaceAll("-", "")}:light:1`;
  const send = (id: string, command: Record<string, unknown>) =>
    modules.commands.send(lampOf(id), command).done;
  return {
    ...modules,
    send,
    harm: (kind: FaultKind) => send(idOf(kind), { effect: "harm" }).catch(() => undefined),
    /** The text in the log; the module's own error disappears when it works again. */
    causeOfFall: (id: string): string => {
      const fall = modules.registry.logs(id).findLast(({ sentence }) => sentence === FALL);
      return String(fall?.fields?.["message"]);
    },
    assertGoodWorks: async () => {
      await send("good", { on: true });
      const { state, restarts, generation } = modules.registry.get("good");
      assert.deepEqual(
        { state, restarts, generation },
        { state: "active", restarts: 0, generation: 1 },
      );
    },
  };
}

/** Every `parts`th of a list, from `part`: the tests of a long list run in several files. */
export function share<T>(list: readonly T[], part: number, parts: number): readonly T[] {
  return list.filter((_, at) => at % parts === part);
}
