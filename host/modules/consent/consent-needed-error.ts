import { MantelError } from "@mantel/plugin-sdk/errors";
import { type RequestedPermission, describePermission } from "./requested-permissions.ts";

/** The error for starting a plugin that asks for permissions it does not have. */
export function consentNeededError(
  id: string,
  missing: readonly RequestedPermission[],
): MantelError {
  const needed = missing.map(describePermission);
  const message = `${id} needs consent for more permissions: it wants to ${needed.join("; ")}. Give consent in the settings, or by POST /modules/${id}/consent`;
  return new MantelError("consent_needed", message, { needed });
}

export function isConsentNeeded(error: unknown): boolean {
  return error instanceof MantelError && error.code === "consent_needed";
}
