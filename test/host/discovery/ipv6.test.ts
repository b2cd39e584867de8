import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { findDevices } from "../../../host/discovery/ssdp.ts";
import { bundledProgram } from "../../helpers/script.ts";
import { openSearch, signalled, startResponder } from "./responder.ts";

const FIXTURE = "test/fixtures/discovery/find-over-ipv6.ts";
/** A network that is up as soon as both of its ends are. */
const PREPARE = [
  "ip link set lo up",
  "ip link add t0 type veth peer name t1",
  "ip link set t0 up",
  "ip link set t1 up",
  "ip address add fe80::7/64 dev t0 nodad",
].join(" && ");
const inNetwork = (command: string) => ["-rn", "sh", "-c", `${PREPARE} && ${command}`];

function cannotHaveNetwork(): string | false {
  try {
    execFileSync("unshare", inNetwork("true"), { stdio: "ignore" });
    return false;
  } catch {
    return "networks of its own cannot be made by this user (unshare, ip)";
  }
}

test("a device at an IPv6 address is asked, and answers", async (t) => {
  const done = signalled();
  const target = await startResponder(
    t,
    () => (done.resolve(), ["HTTP/1.1 200 OK\r\nUSN: uuid:1\r\n\r\n"]),
    "::1",
  );
  const { asked, end } = openSearch("ssdp:all", target);

  const found = findDevices(asked);
  await done.promise;
  await end();
  const devices = await found;

  assert.deepEqual(
    devices.map(({ address, usn }) => [address, usn]),
    [["::1", "uuid:1"]],
  );
});

test(
  "services and devices are found by multicast of IPv6, in a network without IPv4",
  { skip: cannotHaveNetwork() },
  async () => {
    const command = `exec "${process.execPath}" "${await bundledProgram(FIXTURE)}"`;
    const { stdout } = await promisify(execFile)("unshare", inNetwork(command));

    assert.deepEqual(JSON.parse(stdout), {
      services: ["Hall hall.local"],
      devices: [`uuid:7 ${/fe80::[^"]*%t0/.exec(stdout)?.[0]}`],
      asked: ["[ff02::c]:1900"],
    });
  },
);
