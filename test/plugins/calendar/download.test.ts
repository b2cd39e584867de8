import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { MantelError } from "@mantel/plugin-sdk";
import { download } from "../../../plugins/calendar/web/download.ts";
import { MAX_BYTES } from "../../../plugins/calendar/web/guarded-request.ts";

const BODY = "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n";
const signal = new AbortController().signal;

/** A real server on loopback, the requests that reached it, and where it is. */
async function serve(t: TestContext, listener: RequestListener) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("a calendar is returned with its validators for conditional requests", async (t) => {
  const { url, requests } = await serve(t, (request, response) => {
    response.setHeader("ETag", '"one"').setHeader("Last-Modified", "Fri, 20 Nov 2026 09:00:00 GMT");
    if (request.headers["if-none-match"] === '"one"') response.writeHead(304).end();
    else response.end(BODY);
  });

  const first = await download({ url, allowPrivate: true, signal });
  const { etag, lastModified } = first;
  const second = await download({ url, allowPrivate: true, etag, lastModified, signal });

  assert.equal(Buffer.from(first.bytes ?? []).toString(), BODY);
  assert.equal(second.bytes, undefined);
  assert.equal(requests[1]?.headers["if-modified-since"], "Fri, 20 Nov 2026 09:00:00 GMT");
});

test("a compressed calendar is decompressed", async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(BODY));
  });

  const { bytes } = await download({ url, allowPrivate: true, signal });

  assert.equal(Buffer.from(bytes ?? []).toString(), BODY);
});

test("a calendar behind redirects is found, and the password goes to its own server alone", async (t) => {
  const elsewhere = await serve(t, (_, response) => response.end(BODY));
  const { url, requests } = await serve(t, (request, response) => {
    const location = request.url === "/a" ? "/b" : `${elsewhere.url}/c`;
    response.writeHead(302, { location }).end();
  });

  const { bytes } = await download({
    url: `${url}/a`,
    username: "ann",
    password: "pw",
    allowPrivate: true,
    signal,
  });

  assert.ok(bytes);
  const basic = `Basic ${Buffer.from("ann:pw").toString("base64")}`;
  assert.deepEqual(
    requests.map(({ headers }) => headers.authorization),
    [basic, basic],
  );
  assert.equal(elsewhere.requests[0]?.headers.authorization, undefined);
});

test("the password is not sent to a redirect target that asks for one, and the target is named", async (t) => {
  const elsewhere = await serve(t, (_, response) => response.writeHead(401).end());
  const { url } = await serve(t, (_, response) =>
    response.writeHead(302, { location: `${elsewhere.url}/secret` }).end(),
  );

  const reading = download({ url, username: "ann", password: "pw", allowPrivate: true, signal });

  await assert.rejects(reading, {
    code: "invalid",
    message: `the server sends on to ${elsewhere.url}, which asks for a password (401) and is not given that of another server: give the address there itself`,
  });
  assert.equal(elsewhere.requests[0]?.headers.authorization, undefined);
});

test("an address in the private network is refused before anything is sent", async (t) => {
  const { url, requests } = await serve(t, (_, response) => response.end(BODY));

  await assert.rejects(download({ url, signal }), {
    code: "invalid",
    message: /127\.0\.0\.1 is in a private network/,
  });

  assert.equal(requests.length, 0);
});

test("a server is contacted only at the addresses that were checked", async (t) => {
  const { url, requests } = await serve(t, (_, response) => response.end(BODY));

  await download({ url: url.replace("127.0.0.1", "localhost"), allowPrivate: true, signal });

  assert.match(requests[0]?.headers.host ?? "", /^localhost:/);
});

test("webcal addresses are read, over plain HTTP if the server has no HTTPS", async (t) => {
  const { url } = await serve(t, (_, response) => response.end(BODY));

  const { bytes } = await download({
    url: url.replace("http", "webcal"),
    allowPrivate: true,
    signal,
  });

  assert.equal(Buffer.from(bytes ?? []).toString(), BODY);
});

test("a webcals address is never read over plain HTTP", async (t) => {
  const { url, requests } = await serve(t, (_, response) => response.end(BODY));

  const reading = download({ url: url.replace("http", "webcals"), allowPrivate: true, signal });

  await assert.rejects(reading, /cannot be reached/);
  assert.equal(requests.length, 0);
});

test("a not-modified answer without cached data is an error", async (t) => {
  const { url } = await serve(t, (_, response) => response.writeHead(304).end());

  await assert.rejects(download({ url, allowPrivate: true, signal }), /status 304/);
});

const CHARSETS: [type: string, encoding: BufferEncoding][] = [
  ["text/calendar; charset=ISO-8859-1", "latin1"],
  ['text/calendar; component=vevent; charset="windows-1252"', "latin1"],
  ["text/calendar;charset=utf-16", "utf16le"],
  ["text/calendar; charset=utf-8", "utf8"],
  ["text/calendar; charset=ISO-8859-1", "utf8"], // not true
  ["text/calendar; charset=nonsense", "utf8"],
];

for (const [type, encoding] of CHARSETS) {
  test(`a calendar in ${encoding} is converted to UTF-8, as ${type}`, async (t) => {
    const { url } = await serve(t, (_, response) =>
      response.setHeader("Content-Type", type).end(Buffer.from("Frühstück", encoding)),
    );

    const { bytes } = await download({ url, allowPrivate: true, signal });

    assert.equal(Buffer.from(bytes ?? []).toString(), "Frühstück");
  });
}

const REFUSALS: [what: string, listener: RequestListener, message: RegExp][] = [
  [
    "a loop of redirects",
    (_, response) => response.writeHead(302, { location: "/" }).end(),
    /more than 5 times/,
  ],
  [
    "a redirect to a file",
    (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
    /must begin with/,
  ],
  [
    "wrong credentials",
    (_, response) => response.writeHead(401).end(),
    /does not accept the user name and password/,
  ],
  [
    "a calendar that is not there",
    (_, response) => response.writeHead(404).end(),
    /this address has no calendar/,
  ],
  ["a fault of the server", (_, response) => response.writeHead(502).end(), /status 502/],
  [
    "a connection that breaks",
    (request) => request.socket.destroy(),
    /cannot be reached \(ECONNRESET\)/,
  ],
  [
    "a body that breaks off",
    (request, response) => {
      response.writeHead(200, { "content-length": "1000" }).write("BEGIN");
      setImmediate(() => request.socket.destroy());
    },
    /cannot be reached/,
  ],
  [
    "an endless body",
    (_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(100_000)));
      };
      response.on("drain", more);
      more();
    },
    /larger than 10 MB/,
  ],
  [
    "a small body that decompresses to a large one",
    (_, response) => {
      response
        .writeHead(200, { "content-encoding": "gzip" })
        .end(gzipSync(Buffer.alloc(MAX_BYTES + 1)));
    },
    /larger than 10 MB/,
  ],
  [
    "a body that is not what its header says",
    (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(BODY),
    /is not gzip, although its header says so \(Z_DATA_ERROR\): .* switch compression off/,
  ],
  [
    "a compressed body that is cut off",
    (_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(BODY).subarray(0, -10)),
    /ends in the middle \(Z_BUF_ERROR\): .* switch compression off/,
  ],
  [
    "a compression that was not asked for",
    (_, response) =>
      response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync(BODY)),
    /packs its answer as "br", but only gzip was asked for: switch that off/,
  ],
];

for (const [what, listener, message] of REFUSALS) {
  test(`${what} is refused with a clear message`, async (t) => {
    const { url } = await serve(t, listener);

    await assert.rejects(
      download({ url: `${url}/secret`, allowPrivate: true, signal }),
      (error: Error) => {
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  });
}

test("an unknown host name is refused with a clear message", async () => {
  await assert.rejects(download({ url: "https://nowhere.invalid/a.ics", signal }), {
    code: "invalid",
    message: /nowhere\.invalid cannot be found/,
  });
});

test("aborting the signal ends a download immediately", async (t) => {
  const { url, requests } = await serve(t, () => {});
  const ended = new AbortController();
  const work = download({ url, allowPrivate: true, signal: ended.signal });
  const settled = assert.rejects(work);

  while (requests.length === 0) await new Promise(setImmediate);
  ended.abort();

  await settled;
});

const WAITS: [
  header: string,
  date: string | undefined,
  status: number,
  seconds: number | undefined,
][] = [
  ["120", undefined, 503, 120],
  ["Fri, 20 Nov 2026 09:10:00 GMT", "Fri, 20 Nov 2026 09:00:00 GMT", 429, 600],
  ["Fri, 20 Nov 2026 08:00:00 GMT", "Fri, 20 Nov 2026 09:00:00 GMT", 503, 0],
  ["999999999", undefined, 503, 86_400],
  ["soon", undefined, 503, undefined],
  ["5", undefined, 401, 3_600],
];

for (const [header, date, status, seconds] of WAITS) {
  test(`a server that answers ${status} and "${header}" is left alone for ${seconds} s`, async (t) => {
    const { url } = await serve(t, (_, response) => {
      response.sendDate = false; // its clock, not ours
      if (date) response.setHeader("date", date);
      response.writeHead(status, { "retry-after": header }).end();
    });

    await assert.rejects(download({ url, allowPrivate: true, signal }), (error: MantelError) => {
      const wait = error.extras.retryAfterMs;
      assert.equal(wait === undefined ? undefined : wait / 1000, seconds);
      return true;
    });
  });
}
