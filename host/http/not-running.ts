import { MantelError } from "@mantel/plugin-sdk/errors";

/** The refusal of a request that a module would answer if it ran. */
export function notRunning(id: string): MantelError {
  return new MantelError("service_unavailable", `${id} is not running; see GET /modules/${id}`);
}
