import assert from "node:assert/strict";
import { test } from "node:test";
import { Hosts } from "../../plugin-sdk/hosts.ts";

const CASES: readonly (readonly [declared: string, allowed: string[], refused: string[]])[] = [
  ["*", ["a.example", "127.0.0.1", "::1", "/run/x.sock"], []],
  [
    "a.example",
    ["a.example", "A.Example", "a.example."],
    ["b.a.example", "example", "a.example.b", "192.0.2.1"],
  ],
  ["*.a.example", ["b.a.example", "c.b.A.example"], ["a.example", "ba.example", "a.example.b"]],
  ["192.0.2.1", ["192.0.2.1"], ["192.0.2.10", "192.0.2.1.example"]],
  [
    "127.0.0.1",
    ["127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST", "x.localhost", "::1", "[::1]", "0:0::1"],
    ["0.0.0.0", "localhost.example", "127.1", "192.168.0.1"],
  ],
  ["localhost", ["127.0.0.1", "::1"], ["::2"]],
  ["2001:db8::1", ["2001:db8:0::1", "2001:DB8::1", "[2001:db8::1]"], ["2001:db8::2"]],
  ["/run/a.sock", ["/run/a.sock"], ["/run/A.sock", "/run/b.sock"]],
  ["config:url", [], ["config:url", "url", "a.example"]],
];

for (const [declared, allowed, refused] of CASES) {
  test(`"${declared}" allows exactly the hosts that it names`, () => {
    const hosts = new Hosts([declared]);

    assert.deepEqual(
      allowed.filter((host) => !hosts.allows(host)),
      [],
    );
    assert.deepEqual(
      refused.filter((host) => hosts.allows(host)),
      [],
    );
  });
}

test("a plugin without declared hosts can reach none", () => {
  assert.equal(new Hosts([]).allows("localhost"), false);
});

test("hosts in an option are found in URLs and plain addresses, at any depth", () => {
  const hosts = new Hosts(["config:brokers", "config:toString"]);
  hosts.learnFromConfig({
    other: "https://other.example",
    brokers: [
      { url: "mqtt://NAS.example:1883" },
      { url: "https://user:pass@web.example/path?x=evil.example" },
      "bare.example:80",
      "bare-alone.example",
      "192.0.2.7:80",
      "2001:db8::7",
      "[2001:db8::8]:80",
      "/run/broker.sock",
      "-----BEGIN CERTIFICATE-----\nMII",
      "two words",
      7,
      null,
    ],
  });

  const named = ["nas.example", "web.example", "bare.example", "bare-alone.example", "192.0.2.7"];
  const special = ["2001:db8::7", "2001:db8::8", "/run/broker.sock"];
  for (const host of [...named, ...special]) assert.ok(hosts.allows(host), host);
  for (const host of ["other.example", "evil.example", "words", "-----BEGIN CERTIFICATE-----"]) {
    assert.equal(hosts.allows(host), false, host);
  }
});

test("the resolved address of an allowed name is allowed", () => {
  const hosts = new Hosts(["a.example"]);

  hosts.allowAddress("192.0.2.1");
  hosts.allowAddress("b.example");

  assert.equal(hosts.allows("192.0.2.1"), true);
  assert.equal(hosts.allows("b.example"), false);
});

test("a name that resolves to a loopback address allows that address only", () => {
  const hosts = new Hosts(["nas"]);

  hosts.allowAddress("127.0.1.1");

  assert.equal(hosts.allows("127.0.1.1"), true);
  for (const host of ["127.0.0.1", "localhost", "::1"]) assert.equal(hosts.allows(host), false);
});

test("the newest 4,096 resolved addresses are kept", () => {
  const hosts = new Hosts(["a.example"]);

  for (let at = 0; at < 5_000; at++) hosts.allowAddress(`10.0.${at >> 8}.${at & 255}`);
  hosts.allowAddress("10.0.3.200"); // one of the oldest that are kept becomes the newest
  for (let at = 0; at < 4_000; at++) hosts.allowAddress(`10.1.${at >> 8}.${at & 255}`);

  assert.equal(hosts.allows("10.0.0.1"), false);
  assert.equal(hosts.allows("10.0.3.200"), true);
  assert.equal(hosts.allows("10.1.0.1"), true);
});

test("the hosts in a service's answer are allowed after the answer", () => {
  const hosts = new Hosts(["service:mqtt.broker"]);
  assert.ok(!hosts.allows("nas.example"));

  hosts.learnFromService("broker.address", { url: "mqtt://other.example" });
  hosts.learnFromService("mqtt.broker", { url: "mqtts://nas.example:8883", username: "mantel" });

  assert.ok(hosts.allows("nas.example"));
  assert.ok(!hosts.allows("other.example"));
});

test("the suggested declaration of a host is the option or service that it came from", () => {
  const hosts = new Hosts(["config:url"]);

  hosts.learnFromConfig({ url: "http://declared.example", bridge: { address: "192.0.2.7:80" } });
  hosts.learnFromService("mqtt.broker", { url: "mqtt://127.0.0.1:1883" });

  assert.ok(!hosts.allows("192.0.2.7"));
  assert.equal(hosts.manifestEntryFor("192.0.2.7"), "config:bridge");
  assert.equal(hosts.manifestEntryFor("localhost"), "service:mqtt.broker");
  assert.equal(hosts.manifestEntryFor("other.example"), "other.example");
});

test("the local network consists of private addresses and local multicast, never of names", () => {
  const hosts = new Hosts(["network:local"]);

  for (const host of [
    "10.0.0.7",
    "172.31.0.1",
    "192.168.1.2",
    "169.254.7.7",
    "fd00::7",
    "fe80::1%en0",
    "224.0.0.251",
    "239.255.255.250",
    "255.255.255.255",
    "ff02::fb",
  ]) {
    assert.equal(hosts.allows(host), true, host);
  }
  for (const host of [
    "8.8.8.8",
    "224.0.1.1",
    "ff0e::1",
    "172.32.0.1",
    "127.0.0.1",
    "2001:db8::1",
    "nas.local",
    "network:local",
  ]) {
    assert.equal(hosts.allows(host), false, host);
  }
});
