import type { CommandBody } from "@mantel/plugin-sdk/device";
import { mergedCommand } from "@mantel/plugin-sdk/vocabulary/contradictions";
import { sectionsOf } from "./pending.ts";

/** Both commands as one, also those for parts and extras. */
export function mergeCommands(earlier: CommandBody, later: CommandBody): CommandBody {
  const [before, after] = [sectionsOf(earlier), sectionsOf(later)];
  const parts = { ...before.parts };
  for (const [id, values] of Object.entries(after.parts)) {
    parts[id] = mergedCommand(parts[id] ?? {}, values);
  }
  const extra = { ...before.extra, ...after.extra };
  return {
    ...mergedCommand(before.own, after.own),
    ...(Object.keys(parts).length > 0 ? { parts } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}
