import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { emptyFolder } from "./folder.ts";
import { onTestEnd } from "./on-test-end.ts";

/** Node has no such sockets, so another program takes the datagrams: one line of JSON for each. */
const LISTENER = `
import json, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True: print(json.dumps(s.recv(65536).decode().split("\\n")), flush=True)
`;

const missing = ["systemd-notify", "python3"].find(
  (program) => spawnSync(program, ["--version"]).error !== undefined,
);
/** For `test(name, { skip: withoutNotify }, …)`: false, or why such tests are skipped. */
export const withoutNotify = missing === undefined ? false : `${missing} is not installed`;

/** A socket as a service manager listens on (sd_notify(3)). */
export interface NotifySocket {
  readonly path: string;
  /** The received messages: the assignments of each message that has any for people or managers. */
  readonly messages: readonly (readonly string[])[];
}

export async function openNotifySocket(t: TestContext): Promise<NotifySocket> {
  const path = join(await emptyFolder(t), "notify");
  const listener = spawn("python3", ["-c", LISTENER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(listener, "close");
  onTestEnd(t, async () => {
    listener.kill("SIGKILL");
    await closed;
  });
  const messages: string[][] = [];
  const lines = createInterface(listener.stdout);
  await once(lines, "line"); // it listens
  lines.on("line", (line) => {
    const message = JSON.parse(line) as string[];
    if (message[0] !== "BARRIER=1") messages.push(message);
  });
  return { path, messages };
}
