import type { Proof } from "../proof.ts";
import type { Stage } from "../stage.ts";

/** Attacks that reach what no manifest declares. Servers of the stage count who comes. */
export const NETWORK: readonly Proof[] = [
  {
    name: "reach a server of this machine",
    heldFrom: "permission-model",
    attack: `return anyOf([
    async () => (await fetch("http://127.0.0.1:" + facts.web)).status,
    () => new Promise((done, fail) => http.get({ port: facts.web }, () => done("http")).on("error", fail)),
    () => new Promise((done, fail) => net.connect(facts.web, () => done("net")).on("error", fail)),
  ]);`,
    look: lookAtServers,
  },
  {
    name: "reach a server past checks that a plugin answers itself",
    heldFrom: "permission-model",
    attack: `
  sayYes();
  return anyOf([
    async () => (await fetch("http://127.0.0.1:" + facts.web)).status,
    () => new Promise((done, fail) => net.connect(facts.web, "127.0.0.1", () => done("net")).on("error", fail)),
  ]);`,
    look: lookAtServers,
  },
  {
    name: "reach a server by a function that a replaced Function.prototype.apply was called on",
    heldFrom: "permission-model",
    attack: `
  const taken = [];
  const { apply } = Reflect;
  for (const name of ["apply", "call"]) {
    Function.prototype[name] = function (...parts) {
      if (!taken.includes(this)) taken.push(this);
      return apply(this, parts[0], name === "apply" ? parts[1] : parts.slice(1));
    };
  }
  net.connect(9, "192.0.2.1").on("error", () => {});
  for (const connect of [...taken]) {
    try { apply(connect, new net.Socket(), [{ port: facts.web, host: "127.0.0.1" }]) } catch {}
  }
  await new Promise((done) => setTimeout(done, 200));
  return taken.length;`,
    look: lookAtServers,
  },
  {
    name: "reach an undeclared server by options and iterators that answer otherwise the next time",
    heldFrom: "permission-model",
    permissions: { hosts: ["allowed.test"] },
    attack: `
  const reach = (...parts) => () =>
    new Promise((done, fail) => net.connect(...parts).on("connect", () => done("net")).on("error", fail));
  const changing = (times) => {
    let left = times;
    return { port: facts.web, get host() { return left-- > 0 ? "allowed.test" : "127.0.0.1"; } };
  };
  const { iterator } = Symbol;
  const values = Array.prototype[iterator];
  const isolated = async (attempt) => {
    Array.prototype[iterator] = function () {
      let left = 2;
      return { next: () => ({ done: left-- === 0, value: left === 1 ? facts.web : "allowed.test" }) };
    };
    try { return await attempt() } finally { Array.prototype[iterator] = values; }
  };
  Object.prototype.url = "http://127.0.0.1";
  const connected = (socket) => new Promise((done, fail) => socket.on("connect", done).on("error", fail));
  return anyOf([
    ...[1, 2, 3, 4].map((times) => reach(changing(times))),
    reach({ port: facts.web, host: { toString: () => "127.0.0.1" } }),
    async () => {
      const socket = new net.Socket();
      const ended = connected(socket);
      await isolated(() => void socket.connect(facts.web, "127.0.0.1"));
      return ended;
    },
  ]);`,
    look: lookAtServers,
  },
  {
    name: "reach a server by raw handles",
    heldFrom: "kernel",
    attack: `
  let Request;
  asyncHooks.createHook({
    init: (_id, type, _trigger, resource) => { if (type === "TCPCONNECTWRAP") Request ??= resource.constructor; },
  }).enable();
  const refused = new net.Socket().on("error", () => {});
  for (const answer of [["127.0.0.1", 4], [[{ address: "127.0.0.1", family: 4 }]]]) {
    globalThis.setImmediate = (hear) => hear(null, ...answer);
    refused.connect(9, "192.0.2.1");
  }
  const Handle = refused._handle.constructor;
  await new Promise((done) => setTimeout(done, 50));
  const handle = new Handle(0);
  handle.connect(new Request(), "127.0.0.1", facts.web);
  await new Promise((done) => setTimeout(done, 200));
  return "connected";`,
    look: lookAtServers,
  },
  {
    name: "send datagrams by a raw handle",
    heldFrom: "kernel",
    attack: `
  const socket = dgram.createSocket("udp4");
  await new Promise((done) => socket.bind(0, "127.0.0.1", done));
  const state = socket[Object.getOwnPropertySymbols(socket).find((each) => String(each).includes("state"))];
  state.handle.connect("127.0.0.1", facts.datagrams);
  state.connectState = 2;
  await new Promise((done, fail) => socket.send("x", (error) => (error ? fail(error) : done())));
  await new Promise((done) => setTimeout(done, 200));
  return "sent";`,
    look: lookAtServers,
  },
  {
    name: "reach a socket file, and an abstract socket",
    heldFrom: "permission-model",
    attack: `
  sayYes();
  const reach = (path) => () => new Promise((done, fail) => net.connect({ path }, () => done(path)).on("error", fail));
  return anyOf([reach(facts.socket), reach("\\0" + facts.abstractSocket)]);`,
    look: lookAtServers,
  },
];

async function lookAtServers({ visits }: Stage): Promise<string | undefined> {
  return visits.length > 0 ? `reached ${visits.join(", ")}` : undefined;
}
