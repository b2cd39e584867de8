import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Answer } from "dns-packet";
import { findServers } from "../../../../plugins/calendar/setup/find-servers.ts";
import { serveDns } from "../../../fakes/dns-server.ts";

const SERVICE = "_caldavs._tcp.example.org";

function srv(target: string, port: number, priority = 0, weight = 0): Answer {
  return { type: "SRV", name: SERVICE, data: { target, port, priority, weight } };
}

async function found(t: TestContext, address: string, records: readonly Answer[] = []) {
  const { resolver } = await serveDns(t, records);
  return findServers(address, resolver);
}

test("SRV and TXT records of the domain name server, port and path, the best first (RFC 6764)", async (t) => {
  const records: Answer[] = [
    srv("second.example.org", 443, 20),
    srv("light.example.org", 8443, 10, 1),
    srv("heavy.example.org", 8443, 10, 9),
    { type: "TXT", name: SERVICE, data: ["path=/dav/"] },
  ];

  const servers = await found(t, " Ann@Example.org ", records);

  assert.deepEqual(servers, [
    { url: "https://heavy.example.org:8443/dav/", isElsewhere: false },
    { url: "https://light.example.org:8443/dav/", isElsewhere: false },
    { url: "https://second.example.org:443/dav/", isElsewhere: false },
  ]);
});

test("without a path in a TXT record the well-known one is used, and a server of another site is named as such", async (t) => {
  const records: Answer[] = [
    srv("dav.provider.net", 443),
    { type: "TXT", name: SERVICE, data: ["path=//no path"] },
  ];

  assert.deepEqual(await found(t, "ann@example.org", records), [
    { url: "https://dav.provider.net:443/.well-known/caldav", isElsewhere: true },
  ]);
});

test('a domain whose record has the name "." has no calendars (RFC 2782)', async (t) => {
  await assert.rejects(found(t, "ann@example.org", [srv(".", 0)]), {
    message: "example.org says that it has no calendars",
  });
});

test("a domain without records is asked itself, after the provider of its mail", async (t) => {
  const mx: Answer = {
    type: "MX",
    name: "example.org",
    data: { preference: 10, exchange: "mx01.mail.icloud.com" },
  };

  assert.deepEqual(await found(t, "ann@example.org", [mx]), [
    { url: "https://caldav.icloud.com/", isElsewhere: false },
    { url: "https://example.org/", isElsewhere: false },
  ]);
  assert.deepEqual(await found(t, "ann@bücher.example"), [
    { url: "https://xn--bcher-kva.example/", isElsewhere: false },
  ]);
});

test("a known provider is found without a look-up", async (t) => {
  const { resolver, asked } = await serveDns(t, []);

  const servers = await findServers("ann@me.com", resolver);

  assert.deepEqual(servers, [{ url: "https://caldav.icloud.com/", isElsewhere: false }]);
  assert.deepEqual(asked, []);
});

test("providers that take no passwords are found by their domains and mail servers", async (t) => {
  const exchange = { preference: 0, exchange: "example-org.mail.protection.outlook.com" };
  const mx: Answer = { type: "MX", name: "example.org", data: exchange };

  assert.deepEqual(await found(t, "ann@gmail.com"), [{ signInAt: "google" }]);
  assert.deepEqual((await found(t, "ann@example.org", [mx]))[0], { signInAt: "microsoft" });
});

test("the name or address of a server is taken as it is", async (t) => {
  const at = (url: string) => [{ url, isElsewhere: false }];

  assert.deepEqual(await found(t, "nas.local:5232"), at("https://nas.local:5232"));
  assert.deepEqual(await found(t, "http://ann@nas.local/dav"), at("http://ann@nas.local/dav"));
});

for (const text of ["ann@", "ann@a b", "ann@-/x y", "two words", "ann@exa_mple.org"]) {
  test(`"${text}" is not an address`, async (t) => {
    await assert.rejects(found(t, text), /neither a mail address nor/);
  });
}

test("a name system that does not answer counts as one without records", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const never = () => new Promise<never>(() => undefined);
  const silent = { resolveSrv: never, resolveTxt: never, resolveMx: never };

  const servers = findServers("ann@example.org", silent);
  t.mock.timers.tick(5_000);

  assert.deepEqual(await servers, [{ url: "https://example.org/", isElsewhere: false }]);
});
