import assert from "node:assert/strict";
import type { NetworkInterfaceInfo } from "node:os";
import { test } from "node:test";
import { addressForPhones, networkAddress } from "../../../host/http/network-address.ts";
import type { Context } from "../../../host/http/route.ts";
import { json, serveApp } from "./serve-app.ts";

const at = (address: string, internal = false): NetworkInterfaceInfo => ({
  address,
  internal,
  family: "IPv4",
  netmask: "255.255.255.0",
  mac: "00:00:00:00:00:00",
  cidr: null,
});
const INTERFACES = {
  lo: [at("127.0.0.1", true)],
  docker0: [at("172.17.0.1")],
  eth0: [at("192.168.1.20")],
};

test("a phone reaches a host that listens on all addresses at the one of the home network", () => {
  const url = "http://127.0.0.1:8470";

  assert.equal(networkAddress({ url, host: "0.0.0.0" }, INTERFACES), "http://192.168.1.20:8470");
  assert.equal(networkAddress({ url, host: "0.0.0.0" }, { lo: INTERFACES.lo }), undefined);
});

test("a phone reaches a host at the address on which it listens", () => {
  const url = "https://192.168.1.30:8470";

  assert.equal(networkAddress({ url, host: "192.168.1.30" }, INTERFACES), url);
});

for (const host of ["127.0.0.1", "::1", "localhost"]) {
  test(`a phone cannot reach a host that listens on ${host}`, () => {
    const url = "http://127.0.0.1:8470";

    assert.equal(networkAddress({ url, host }, INTERFACES), undefined);
  });
}

test("pairing and setup tell a page on this machine where a phone finds the host", async (t) => {
  let address: string | undefined;
  const { api } = await serveApp(t, { address: () => address });
  const read = async (answer: Promise<Response>) => (await (await answer).json()) as object;

  const alone = await read(api(null, "/pairing", json("POST", {})));
  address = "http://192.168.1.20:8470";
  const reached = await read(api(null, "/pairing", json("POST", {})));
  const setup = await read(api("read", "/setup"));

  assert.deepEqual(
    [alone, reached, setup].map((each) => Reflect.get(each, "address")),
    [null, address, address],
  );
});

for (const [title, request] of Object.entries({
  "to an address of the network": { hostname: "192.168.1.20", state: {} },
  "through a proxy": { hostname: "127.0.0.1", state: { forwardedHost: "home.example" } },
})) {
  test(`a request ${title} does not learn the address in the home network`, () => {
    const address = () => "http://192.168.1.20:8470";

    assert.deepEqual(addressForPhones(request as unknown as Context, { address }), {});
  });
}
