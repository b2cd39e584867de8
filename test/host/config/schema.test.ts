import assert from "node:assert/strict";
import { test } from "node:test";
import { keyFaults } from "../../../host/config/document.ts";
import { KeyTable } from "../../../host/config/keys.ts";
import { ConfigPatch } from "../../../host/config/schema.ts";
import { faultsOf } from "../../../host/validate.ts";
import { openConfig } from "./open-config.ts";

const many = (count: number, value: string) => Array.from({ length: count }, () => value);
const PEM = "-----BEGIN CERTIFICATE-----";

/** Values at both sides of every limit, by key. */
const VALUES: Readonly<Record<string, { right: unknown[]; wrong: unknown[] }>> = {
  "api.prefix": { right: ["/api/v1", "/api"], wrong: ["/", "/api/v2", ""] },
  "server.hosts": {
    right: [[], ["mantel.local"], ["a"], many(100, "a")],
    wrong: ["a", ["-a"], ["a:80"], ["a b"], ["a".repeat(254)], many(101, "a")],
  },
  "server.proxies": {
    right: [
      ...[[], ["192.168.1.1"], ["10.0.0.0/8"], ["10.0.0.0/0"], ["10.0.0.0/32"], ["10.0.0.0/16"]],
      ...[["::1"], ["fd00::/128"], many(100, "::1")],
    ],
    wrong: [
      ...[[""], ["a.local"], ["10.0.0.0/33"], ["fd00::/129"], ["10.0.0.0/"], ["10.0.0.0/8/8"]],
      ...[["10.0.0.0/0x8"], ["10.0.0.0/+8"], ["10.0.0.0/0008"], many(101, "::1")],
    ],
  },
  "server.tls": {
    right: [
      { cert: "a.pem", key: "b.pem" },
      { cert: "a".repeat(4_096), key: "b".repeat(4_096) },
    ],
    wrong: [
      ...[{ cert: "a" }, { key: "b" }, { cert: "", key: "b" }, { cert: "a", key: "" }],
      ...[
        { cert: "a".repeat(4_097), key: "b" },
        { cert: "a", key: "b".repeat(4_097) },
      ],
      { cert: "a", key: "b", ca: "c" },
    ],
  },
  "server.frames": {
    right: [[], ["https://example.org"], ["http://10.0.0.5:8123"], many(50, "https://a.org")],
    wrong: [
      ...[["example.org"], ["ftp://a.org"], ["https://a.org/x"], ["https://a.org:123456"]],
      ...[[`https://${"a".repeat(300)}`], many(51, "https://a.org")],
    ],
  },
  "server.rateLimit": {
    right: [{}, { perSecond: 0.1, burst: 1 }, { perSecond: 100_000, burst: 1_000_000 }],
    wrong: [
      ...[{ perSecond: 0 }, { perSecond: 100_001 }, { burst: 0 }, { burst: 1_000_001 }],
      ...[{ burst: 1.5 }, { loopback: 1 }, { odd: 1 }],
    ],
  },
  "ui.theme": { right: ["auto", "dark", "light", "night"], wrong: ["pink", ""] },
  "ui.locale": { right: ["de", "en-GB"], wrong: ["", "no locale", `de-x-${"a-".repeat(30)}b`] },
  "ui.timeZone": { right: ["Europe/Berlin", "UTC"], wrong: ["", "Mars/Olympus", "+01:00"] },
  "ui.units": { right: ["metric", "imperial"], wrong: ["si", ""] },
  "ui.night": { right: [null, { from: "22:00", to: "06:00" }], wrong: [{ from: "22:00" }, "x"] },
  "ui.accent": { right: ["amber", "green"], wrong: ["", "#112233", "pink"] },
  "ui.wallpaper": {
    right: [{ name: "a.jpg" }, { name: "a.jpg", album: "Holidays" }],
    wrong: ["a.jpg", {}, { name: "" }, { name: "a.jpg", url: "https://a.org" }],
  },
  "ui.screensaver": { right: ["clock", "photos"], wrong: ["", "none", true] },
  "ui.idleSeconds": { right: [0, 86_400], wrong: [-1, 86_401, 1.5] },
  "calendar.refreshSeconds": { right: [60, 86_400], wrong: [59, 86_401] },
  "calendar.defaultDays": { right: [1, 366], wrong: [0, 367] },
  "system.sampleSeconds": { right: [1, 3_600], wrong: [0, 3_601] },
  "home.place": { right: ["Freiburg"], wrong: ["", 5] },
  "home.latitude": { right: [-90, 52.5, 90], wrong: [-90.1, 91, "52"] },
  "home.longitude": { right: [-180, 13.4, 180], wrong: [-181, 180.1, null] },
  "devices.pollSeconds": { right: [1, 86_400], wrong: [0, 86_401] },
  "log.level": { right: ["debug", "info", "warn", "error"], wrong: ["loud", ""] },
  "mqtt.url": {
    right: ["mqtt://h", "mqtts://h:8883", "ws://h/mqtt", "wss://h/"],
    wrong: ["h", "http://h", "mqtt://", "mqtt://a b", "mqtt://u@h", `mqtt://${"h".repeat(2_000)}`],
  },
  "mqtt.username": { right: ["a", "a".repeat(1_000)], wrong: ["", "a".repeat(1_001)] },
  "mqtt.password": { right: ["a", "a".repeat(1_000)], wrong: ["", "a".repeat(1_001)] },
  "mqtt.ca": {
    right: [PEM, `\n ${PEM}\n`],
    wrong: ["", "a.pem", `x${PEM}`, PEM + "a".repeat(100_000)],
  },
  "mqtt.denyTopics": {
    right: [[], ["a/#"], many(1_000, "a")],
    wrong: [[""], ["a".repeat(1_001)], many(1_001, "a")],
  },
  "modules.demo-home": {
    right: [
      {},
      { enabled: false, logLevel: "debug", inspect: 1_024, links: true, trusted: true, limits: {} },
      { inspect: 65_535 },
    ],
    wrong: [
      ...[{ enabled: "no" }, { logLevel: "loud" }, { inspect: 1_023 }, { inspect: 65_536 }],
      ...[{ links: 1 }, { trusted: 1 }, { limits: 1 }, { odd: 1 }],
    ],
  },
};

const keyOf = (dotted: string) => {
  const [section = "", key = ""] = dotted.split(".");
  return new KeyTable().find(section, key) ?? assert.fail(`${dotted} is not a key`);
};

for (const [dotted, { right, wrong }] of Object.entries(VALUES)) {
  test(`${dotted} accepts the values within its limits and no others`, () => {
    const accepted = (value: unknown) => keyFaults(keyOf(dotted), value).length === 0;

    assert.deepEqual(
      right.filter((value) => !accepted(value)),
      [],
    );
    assert.deepEqual(wrong.filter(accepted), []);
  });
}

test("every config key of the host is tested with valid and invalid values", () => {
  const keys = [...new KeyTable().all()].map(({ dotted }) => dotted);

  assert.deepEqual([...keys, "modules.demo-home"].toSorted(), Object.keys(VALUES).toSorted());
});

for (const [dotted, value, pointer, expected] of [
  ["server.hosts", ["a b"], "/0", "a host name without port, such as mantel.local"],
  ["server.proxies", ["x"], "/0", "an IP address, or a network such as 10.0.0.0/8"],
  ["server.frames", ["x"], "/0", "an origin without a path, such as https://example.org"],
  ["ui.locale", "no locale", "", "a BCP 47 language tag such as en-GB"],
  ["ui.timeZone", "x", "", "an IANA time zone such as Europe/Berlin"],
  ["mqtt.url", "x", "", "the address of a broker such as mqtt://192.168.1.5:1883"],
  ["mqtt.ca", "x", "", "a certificate in PEM form"],
] as const) {
  test(`a wrong ${dotted} is refused with an example of a right one`, () => {
    const [fault] = keyFaults(keyOf(dotted), value);

    assert.equal(fault?.pointer, `/${dotted.replace(".", "/")}${pointer}`);
    assert.match(fault.detail, new RegExp(`must be ${expected}$`));
  });
}

test("without a configuration the host uses its default values", async (t) => {
  const { config } = await openConfig(t);

  const { timeZone, ...ui } = config.current.ui;
  assert.deepEqual(
    { ...config.current, ui },
    {
      api: { prefix: "/api/v1" },
      server: {
        hosts: [],
        proxies: [],
        frames: [],
        rateLimit: { perSecond: 20, burst: 100, loopback: false },
      },
      ui: { theme: "auto", locale: "en-GB", units: "metric", night: null, idleSeconds: 300 },
      calendar: { refreshSeconds: 900, defaultDays: 14 },
      system: { sampleSeconds: 5 },
      devices: { pollSeconds: 30 },
      home: {},
      log: { level: "info" },
      mqtt: { denyTopics: ["zigbee2mqtt/bridge/request/#"] },
      modules: {},
    },
  );
  assert.equal(timeZone, new Intl.DateTimeFormat().resolvedOptions().timeZone);
});

test("a patch as documented may have any part of the config, or null for it", () => {
  const right = [
    {},
    { ui: null },
    { ui: {}, log: { level: null } },
    { ui: { theme: "dark", night: { from: "22:00", to: "06:00" } } },
    { server: { rateLimit: { burst: null } } },
    { modules: { demo: { enabled: false } } },
  ];
  const wrong = [5, { ui: 5 }, { ui: { theme: "pink" } }, { server: { rateLimit: { burst: 0 } } }];

  const accepted = (patch: unknown) => faultsOf(ConfigPatch, patch).length === 0;
  assert.deepEqual(
    right.filter((patch) => !accepted(patch)),
    [],
  );
  assert.deepEqual(wrong.filter(accepted), []);
});

test("no plugin can have the id of a section of the host", () => {
  for (const section of ["api", "server", "ui", "devices", "log", "modules"]) {
    assert.throws(() => new KeyTable().register(section, undefined), {
      message: `${section} is a section of the host`,
    });
  }
  assert.ok(new KeyTable().register("calendar", undefined));
});

test("only the ids of modules are keys of the section modules", () => {
  const keys = new KeyTable();

  assert.equal(keys.find("modules", "demo-home")?.dotted, "modules.demo-home");
  for (const id of ["Demo", "demo home", "", "__proto__"]) {
    assert.equal(keys.find("modules", id), undefined, id);
  }
});
