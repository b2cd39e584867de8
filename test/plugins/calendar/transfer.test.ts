import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { UntrustedCertificate } from "../../../plugins/calendar/web/certificate.ts";
import { download } from "../../../plugins/calendar/web/download.ts";
import { guardedRequest } from "../../../plugins/calendar/web/guarded-request.ts";
import {
  makeAuthority,
  makeServerPair,
  readAuthority,
} from "../../../scripts/certificate/authority.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { LOAD } from "../../helpers/until.ts";
import { calendar } from "./calendar-text.ts";

const signal = new AbortController().signal;
const BODY = calendar();

async function serve(
  t: TestContext,
  listener: RequestListener,
  secure?: { cert: string; key: string },
) {
  const server = secure ? createSecureServer(secure, listener) : createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `${secure ? "https" : "http"}://127.0.0.1:${port}/secret`;
}

/** Requests with short limits. The answer comes in pieces, each when the client has the one before. */
async function request(
  t: TestContext,
  {
    pieces,
    ends = true,
    idleMs,
    totalMs,
  }: Record<"idleMs" | "totalMs", number> & {
    pieces: number;
    ends?: boolean;
  },
) {
  let next = () => {};
  const url = await serve(t, (_, response) => {
    let sent = 0;
    response.writeHead(200, ends ? { "content-length": pieces * 10 } : {});
    next = () => {
      if (sent++ < pieces) response.write("x".repeat(10));
      else if (ends) response.end();
    };
    next();
  });
  const progress: [number, number | null][] = [];
  const answer = guardedRequest({
    url,
    allowPrivate: true,
    trusts: () => true,
    limits: { idleMs, totalMs },
    onProgress(done, total) {
      progress.push([done, total]);
      setTimeout(() => next(), idleMs / 10);
    },
    signal,
  });
  return { answer, progress };
}

test("a transfer takes as long as bytes come, beyond the time without a byte", async (t) => {
  const { answer, progress } = await request(t, {
    pieces: 12,
    idleMs: 600 * LOAD,
    totalMs: 60_000,
  });

  assert.equal((await answer).body.length, 120);
  assert.deepEqual(progress.at(-1), [120, 120]);
});

test("a transfer ends after a time without a byte", async (t) => {
  const { answer, progress } = await request(t, {
    pieces: 2,
    ends: false,
    idleMs: 800,
    totalMs: 60_000,
  });

  await assert.rejects(answer, {
    code: "deadline_passed",
    message: "no answer within 0.8 seconds",
  });
  assert.deepEqual(progress.at(-1), [20, null]);
});

test("a transfer ends after the time in all, although bytes come", async (t) => {
  const { answer } = await request(t, { pieces: 1_000_000, idleMs: 60_000, totalMs: 300 });

  await assert.rejects(answer, { code: "deadline_passed", message: /raise transferSeconds/ });
});

/** A server with a certificate of an authority that nobody knows, and what it was asked. */
async function setUpSecure(t: TestContext) {
  const authority = makeAuthority([], new Date());
  const caFile = join(await emptyFolder(t), "ca.pem");
  await writeFile(caFile, authority.cert);
  const asked: (string | undefined)[] = [];
  const answer: RequestListener = ({ headers }, response) => {
    asked.push(headers.authorization);
    response.end(BODY);
  };
  const url = await serve(
    t,
    answer,
    makeServerPair(readAuthority(authority), ["127.0.0.1"], new Date()),
  );
  const secrets = { username: "ann", password: "pw" };
  const read = (trust: { fingerprint?: string; authorityFile?: string } = {}) =>
    download({ url, allowPrivate: true, ...secrets, ...trust, signal });
  return { caFile, asked, read };
}

test("a certificate of nobody known is refused with its fingerprint, and accepted by that", async (t) => {
  const { asked, read } = await setUpSecure(t);
  const refused = await read().catch((error: unknown) => error);
  assert.ok(refused instanceof UntrustedCertificate);
  const { fingerprint, message } = refused;

  assert.ok(message.endsWith(fingerprint));
  assert.equal(asked.length, 0);
  assert.deepEqual(Buffer.from((await read({ fingerprint })).bytes ?? []), BODY);
  assert.ok((await read({ fingerprint: fingerprint.replaceAll(":", "").toLowerCase() })).bytes);
});

test("another certificate than the accepted one is refused before the password is sent", async (t) => {
  const { asked, read } = await setUpSecure(t);

  await assert.rejects(read({ fingerprint: "AB:".repeat(31) + "CD" }), /another fingerprint/);

  assert.equal(asked.length, 0);
});

test("a certificate is accepted by the file of its authority, and a wrong file is named", async (t) => {
  const { caFile, read } = await setUpSecure(t);

  assert.ok((await read({ authorityFile: caFile })).bytes);
  await assert.rejects(read({ authorityFile: `${caFile}.other` }), /caFile: ca\.pem\.other .* PEM/);
});
