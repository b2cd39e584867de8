import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { checkServerIdentity, connect, createServer } from "node:tls";
import {
  makeAuthority,
  makeServerPair,
  forbiddenNames,
  readAuthority,
} from "../../scripts/certificate/authority.ts";
import { emptyFolder } from "../helpers/folder.ts";
import { runScript } from "../helpers/script.ts";

const run = (...args: readonly string[]) => runScript("certificate", args);

test("a strict client accepts the certificate for each of its names and no other", async (t) => {
  const names = ["localhost", "mantel.local", "home.example.org", "10.1.2.3", "fd12:3456::9"];
  const trust = await shown(t, names, ["home.example.org"]);

  const taken = await Promise.all([...names, "other.local", "10.1.2.4", "fd12:3456::a"].map(trust));

  assert.deepEqual(taken, [...names.map(() => "taken"), ...Array<string>(3).fill("refused")]);
});

test("the authority's key cannot sign for names outside the local network", async (t) => {
  const names = ["bank.example", "xlocal", "8.8.8.8", "2001:db8::1", "mantel.local"];
  const trust = await shown(t, names, []);

  const taken = await Promise.all(names.map(trust));

  assert.ok(
    taken.every((each) => each === "refused"),
    "one forbidden name makes the whole certificate void",
  );
  const authority = readAuthority(makeAuthority([], new Date()));
  assert.deepEqual(forbiddenNames(authority, names), names.slice(0, 4));
});

test("the command writes private files, names them in the config, and prints link and fingerprint", async (t) => {
  const data = join(await emptyFolder(t), "data");

  const first = await run("Mantel.Example.org", "--data", data, "--port", "8471");
  const authority = await readFile(join(data, "tls/ca.pem"), "utf8");
  const again = await run("--data", data);
  const beyond = await run("other.example.org", "--data", data);

  assert.deepEqual([first.code, again.code, beyond.code], [0, 0, 1], first.stderr + again.stderr);
  assert.match(first.stdout, /mantel\.example\.org\n[\s\S]+http:\/\/\S+:8471\/ca\.crt/);
  assert.ok(first.stdout.includes(new X509Certificate(authority).fingerprint256));
  assert.equal(await readFile(join(data, "tls/ca.pem"), "utf8"), authority, "it is made once");
  assert.match(
    beyond.stderr,
    /does not permit other\.example\.org; create a new one with --new-authority\n$/,
  );
  const { server } = JSON.parse(await readFile(join(data, "config.json"), "utf8")) as {
    server: { hosts: string[]; tls: unknown };
  };
  assert.ok(server.hosts.includes("mantel.example.org"));
  assert.deepEqual(server.tls, { cert: "tls/server.pem", key: "tls/server-key.pem" });
  for (const name of await readdir(join(data, "tls"))) {
    assert.equal((await stat(join(data, "tls", name))).mode & 0o077, 0, name);
  }
  assert.match(await readFile(join(data, "tls/trust.svg"), "utf8"), /^<svg/);
  assert.match(await readFile(join(data, "audit.log"), "utf8"), /"action":"certificate\.make"/);
});

test("certificates of the user stay in use, and a damaged authority is reported", async (t) => {
  const data = await emptyFolder(t);
  const own = { cert: "/etc/own.pem", key: "/etc/own-key.pem" };
  await writeFile(join(data, "config.json"), JSON.stringify({ server: { tls: own } }));

  const made = await run("--data", data);
  await writeFile(join(data, "tls/ca.pem"), "hello");
  const damaged = await run("--data", data);
  const wrong = await run("8.8.8.8", "--data", data);

  assert.match(made.stderr, /the config names \/etc\/own\.pem, which is still used/);
  assert.deepEqual(JSON.parse(await readFile(join(data, "config.json"), "utf8")).server.tls, own);
  assert.deepEqual([damaged.code, wrong.code], [1, 2]);
  assert.match(damaged.stderr, /is damaged; create a new one with --new-authority\n$/);
  assert.match(wrong.stderr, /^certificate: 8\.8\.8\.8 is not an address of a home network\n/);
});

/** Serves a certificate for `names`; the function tells whether a client takes it for a name. */
async function shown(t: TestContext, names: readonly string[], allowed: readonly string[]) {
  const made = makeAuthority(allowed, new Date());
  const server = createServer(makeServerPair(readAuthority(made), names, new Date()));
  server.on("tlsClientError", () => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return (name: string) =>
    new Promise<string>((done) => {
      const socket = connect({
        port,
        host: "127.0.0.1",
        ca: made.cert,
        // A browser compares with the name in its address, wherever that leads.
        checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
      });
      socket.on("secureConnect", () => done("taken")).on("error", () => done("refused"));
      t.after(() => socket.destroy());
    });
}
