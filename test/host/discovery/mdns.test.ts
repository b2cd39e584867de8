import assert from "node:assert/strict";
import { test } from "node:test";
import packet from "dns-packet";
import { findServices, isServiceName } from "../../../host/discovery/mdns.ts";
import { openSearch, signalled, startResponder } from "./responder.ts";

const SERVICE = "_lamp._tcp.local";

/** As a device says it: PTR, with SRV, TXT and addresses beside it. */
function announcement(name: string, address: string): Buffer {
  const instance = `${name}.${SERVICE}`;
  return packet.encode({
    type: "response",
    answers: [{ type: "PTR", name: SERVICE, data: instance }],
    additionals: [
      { type: "SRV", name: instance, data: { port: 443, target: "Lamp.local" } },
      { type: "TXT", name: instance, data: ["ID=7", "id=8", "fast", "note=a=b"] },
      { type: "A", name: "lamp.local", data: address },
      { type: "AAAA", name: "lamp.local", data: "fe80::1" },
    ],
  });
}

test("a service is found with its host, addresses, port and texts, once", async (t) => {
  const done = signalled();
  const questions: unknown[] = [];
  const target = await startResponder(t, (question) => {
    questions.push(...(packet.decode(question).questions ?? []));
    if (questions.length === 2) done.resolve();
    return [announcement("Hall", "192.168.1.7"), announcement("Hall", "192.168.1.7")];
  });
  const { asked, end } = openSearch("_lamp._tcp", target);

  const found = findServices(asked);
  await done.promise; // the second question follows the answers to the first
  await end();

  assert.deepEqual(await found, [
    {
      name: "Hall",
      host: "Lamp.local",
      addresses: ["192.168.1.7", "fe80::1"],
      port: 443,
      txt: { id: "7", fast: "", note: "a=b" },
    },
  ]);
  assert.deepEqual(questions[0], { name: SERVICE, type: "PTR", class: "IN" });
});

test("an instance that only gives its name is asked where it is", async (t) => {
  const done = signalled();
  let isTold = false;
  const name = `Hall.${SERVICE}`;
  const target = await startResponder(t, (question) => {
    const [{ type } = assert.fail()] = packet.decode(question).questions ?? [];
    if (isTold) done.resolve();
    if (type === "PTR") {
      return [
        packet.encode({ type: "response", answers: [{ type: "PTR", name: SERVICE, data: name }] }),
      ];
    }
    isTold = true;
    const data = { port: 80, target: "hall.local" };
    return [packet.encode({ type: "response", answers: [{ type: "SRV", name, data }] })];
  });
  const { asked, end } = openSearch("_lamp._tcp", target);

  const found = findServices(asked);
  await done.promise;
  await end();

  assert.deepEqual(await found, [
    { name: "Hall", host: "hall.local", addresses: [], port: 80, txt: {} },
  ]);
});

test("invalid answers, queries and other services are ignored", async (t) => {
  const done = signalled();
  let asks = 0;
  const loop = Buffer.from("00008400000000010000000003616263c00c00010001", "hex");
  const other = "Hall._printer._tcp.local";
  const target = await startResponder(t, (question) => {
    if (++asks === 2) done.resolve();
    return [
      question,
      "hello",
      loop,
      Buffer.alloc(9_000, 0xc0),
      packet.encode({
        type: "response",
        answers: [
          { type: "PTR", name: "_printer._tcp.local", data: other },
          { type: "SRV", name: other, data: { port: 1, target: "x.local" } },
        ],
      }),
    ];
  });
  const { asked, end } = openSearch("_lamp._tcp", target);

  const found = findServices(asked);
  await done.promise;
  await end();

  assert.deepEqual(await found, []);
});

test("at most a hundred services are found", async (t) => {
  const done = signalled();
  let asks = 0;
  const target = await startResponder(t, () => {
    if (++asks > 2) done.resolve(); // a busy machine may read the answers after it has asked again
    if (asks > 1) return [];
    return Array.from({ length: 150 }, (_, at) => announcement(`Lamp ${at}`, "192.168.1.7"));
  });
  const { asked, end } = openSearch("_lamp._tcp", target);

  const found = findServices(asked);
  await done.promise;
  await end();

  const { length } = await found;
  assert.ok(length > 0 && length <= 100, String(length));
});

test("service names have the form of DNS-SD", () => {
  for (const name of ["_hue._tcp", "_a1-b._udp"]) assert.equal(isServiceName(name), true);
  for (const name of ["hue", "_hue", "_hue._tcp.local", "_-a._tcp", `_${"a".repeat(16)}._tcp`, ""])
    assert.equal(isServiceName(name), false, name);
});
