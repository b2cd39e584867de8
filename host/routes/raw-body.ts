import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asDiskFault } from "@mantel/plugin-sdk/document-file";
import type { RouteCall } from "@mantel/plugin-sdk/protocol";
import { ROUTE_LIMITS } from "@mantel/plugin-sdk/route";

/** A request to a route of a plugin, with the raw body as it came. */
export type RouteInput = Omit<RouteCall, "bytes" | "bytesFile"> & { readonly bytes?: Buffer };

/**
 * Sends a request to a plugin. A large body goes through a file in the plugin's storage: in a message the plugin would
 * need several times its size. The file is removed afterwards.
 * @param storage resolves with the plugin's storage folder
 * @throws MantelError `disk_full` or `disk_read_only`; an error of `send`
 */
export async function sendWithBody<T>(
  { bytes, ...request }: RouteInput,
  storage: () => Promise<string>,
  send: (call: RouteCall) => Promise<T>,
): Promise<T> {
  if (!bytes) return send(request);
  if (bytes.length <= ROUTE_LIMITS.mostBytes) {
    return send({ ...request, bytes: bytes.toString("base64") });
  }
  const bytesFile = join(await storage(), `.request.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeNew(bytesFile, bytes);
    return await send({ ...request, bytesFile });
  } finally {
    await rm(bytesFile, { force: true });
  }
}

/** Never follows a link: the plugin can change the folder. */
async function writeNew(path: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw asDiskFault(error, path);
  }
}
