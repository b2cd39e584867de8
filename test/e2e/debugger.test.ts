import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { freePort } from "../helpers/free-port.ts";
import { startHost } from "../helpers/host.ts";

const ROUNDS = 5;

test("SIGUSR1 opens no debugger in the host, which continues to answer", async (t) => {
  const port = await freePort();
  const env = { NODE_OPTIONS: `--inspect-port=${port}` }; // where Node would open it
  const host = await startHost(t, { plugins: ["plugins/system"], env });

  for (let round = 0; round < ROUNDS; round++) {
    process.kill(host.pid, "SIGUSR1");
    const { status } = await host.api("/modules", { scope: "read" });

    assert.equal(status, 200);
    assert.equal(await answers(port), false);
  }
  assert.doesNotMatch(host.log(), /Debugger listening/);
});

/** True if something listens at a port of this machine. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
