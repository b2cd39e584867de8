import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { bundledProgram } from "../../helpers/script.ts";

const ADDRESS = "203.1.113.7";
const FIXTURE = "test/fixtures/calendar/redirect-to-loopback.ts";
/** Only in a network of its own may a test have an address that is not private. */
const PREPARE = `ip link set lo up && ip address add ${ADDRESS}/32 dev lo`;
const inNetwork = (command: string) => ["-rn", "sh", "-c", `${PREPARE} && ${command}`];

function cannotHaveNetwork(): string | false {
  try {
    execFileSync("unshare", inNetwork("true"), { stdio: "ignore" });
    return false;
  } catch {
    return "networks of its own cannot be made by this user (unshare, ip)";
  }
}

test(
  "a redirect from a public address to this machine is refused",
  { skip: cannotHaveNetwork() },
  async () => {
    const { stdout } = await promisify(execFile)(
      "unshare",
      inNetwork(`exec "${process.execPath}" "${await bundledProgram(FIXTURE)}"`),
      { env: { ...process.env, PUBLIC_ADDRESS: ADDRESS } },
    );

    const { goodBytes, download, account, reached } = JSON.parse(stdout) as Record<string, unknown>;
    assert.equal(goodBytes, 30);
    assert.match(String(download), /127\.0\.0\.1 is in a private network/);
    assert.match(String(account), /127\.0\.0\.1 is in a private network/);
    assert.equal(reached, 0);
  },
);
