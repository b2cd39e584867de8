import type { Permissions } from "@mantel/plugin-sdk/permissions";
import type { Network } from "@mantel/plugin-sdk/protocol";

/**
 * The network of a plugin's process. `isTrial` is true for the process of a setup or a test.
 * The host can only make outgoing connections: a process that listens needs the machine's network.
 */
export function networkOf(
  { hosts = [], listen, openNetwork }: Permissions,
  isTrial = false,
): Network {
  if (listen || openNetwork === "always" || (openNetwork === "setup" && isTrial)) return "open";
  return hosts.length > 0 ? "proxied" : "none";
}
