import { MantelError } from "@mantel/plugin-sdk/errors";
import type { ModuleFault } from "../../api/module.ts";

/** An error as the module list shows it. */
export function toFault(error: unknown): ModuleFault {
  const message = error instanceof Error ? error.message : String(error);
  const location = error instanceof MantelError ? error.extras.location : undefined;
  return { message, ...location };
}
