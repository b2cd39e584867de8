import assert from "node:assert/strict";
import { test } from "node:test";
import { Hosts } from "@mantel/plugin-sdk/hosts";
import { mayResolveTo } from "../../../../host/modules/process/network/may-resolve-to.ts";

const PUBLIC = ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "100.64.0.1"];
const PRIVATE = ["10.0.0.7", "172.16.0.1", "192.168.1.2", "fd00::7", "::ffff:192.168.1.2"];
const LINK = ["169.254.7.7", "fe80::1", "fe80::1%eth0"];
const LOOPBACK = ["127.0.0.1", "127.0.1.1", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1"];
const METADATA = ["169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254"];
const ALL = { PUBLIC, PRIVATE, LINK, LOOPBACK, METADATA };

/** A plugin that people have told of `cloud.example` and of `nas`. */
function hostsOf(...declared: string[]): Hosts {
  const hosts = new Hosts(["api.example", "nas.local", "homeassistant", "config:url", ...declared]);
  hosts.learnFromConfig({ url: ["https://cloud.example", "mqtt://broker"] });
  return hosts;
}

const CASES: readonly (readonly [string, string, Hosts, (keyof typeof ALL)[]])[] = [
  ["a public name of the manifest", "api.example", hostsOf(), ["PUBLIC"]],
  ["its other spelling", "API.example.", hostsOf(), ["PUBLIC"]],
  ["a name of the home", "nas.local", hostsOf(), ["PUBLIC", "PRIVATE", "LINK"]],
  ["a name without a dot", "homeassistant", hostsOf(), ["PUBLIC", "PRIVATE", "LINK"]],
  ["a public name in an option", "cloud.example", hostsOf(), ["PUBLIC", "PRIVATE"]],
  [
    "a name of the home in an option",
    "broker",
    hostsOf(),
    ["PUBLIC", "PRIVATE", "LINK", "LOOPBACK"],
  ],
  [
    "any name, with *",
    "api.example",
    hostsOf("*"),
    ["PUBLIC", "PRIVATE", "LINK", "LOOPBACK", "METADATA"],
  ],
];

for (const [what, name, hosts, may] of CASES) {
  test(`${what} leads to ${may.join(", ").toLowerCase()} addresses and to no others`, () => {
    for (const [kind, addresses] of Object.entries(ALL)) {
      const led = addresses.filter((address) => mayResolveTo(name, address, hosts));
      assert.deepEqual(led, may.includes(kind as keyof typeof ALL) ? addresses : [], kind);
    }
  });
}

test("a declared address is allowed through any name", () => {
  const local = hostsOf("network:local");
  assert.ok(mayResolveTo("api.example", "192.168.1.2", local));
  assert.ok(!mayResolveTo("api.example", "127.0.0.1", local));

  assert.ok(mayResolveTo("api.example", "127.0.0.1", hostsOf("localhost")));
  assert.ok(mayResolveTo("api.example", "10.0.0.7", hostsOf("10.0.0.7")));
  assert.ok(!mayResolveTo("api.example", "10.0.0.8", hostsOf("10.0.0.7")));
});
