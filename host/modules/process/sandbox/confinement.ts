import type { Manifest } from "@mantel/plugin-sdk/manifest";
import type { Confinement } from "../../../api/module.ts";

/** The facts that determine the confinement of a module. */
export interface ConfinementFacts {
  /** The reason why the kernel confines nothing on this machine; null if it does. */
  readonly kernelReason: string | null;
  /** True if a debugger may attach: that needs the machine's network, and no permission model. */
  readonly isDebugged: boolean;
  readonly network: Confinement["network"];
}

/** The effective confinement of a plugin's process. */
export function confinementOf(
  manifest: Manifest,
  { kernelReason, isDebugged, network }: ConfinementFacts,
): Confinement {
  if (manifest.server === undefined) {
    const reason = "it has no process: its widget runs in the browser";
    return { level: "none", network: "none", reason };
  }
  if (isDebugged) {
    const reason = "a debugger may attach to it";
    const level = kernelReason === null ? "kernel" : "none";
    return {
      level,
      network: "open",
      reason: kernelReason === null ? reason : `${reason}; ${kernelReason}`,
    };
  }
  if (kernelReason !== null) {
    return { level: "permission-model", network: "open", reason: kernelReason };
  }
  return { level: "kernel", network, reason: network === "open" ? OPEN : null };
}

const OPEN = "its manifest asks for the machine's own network";
