import assert from "node:assert/strict";
import { test } from "node:test";
import type { MantelError } from "@mantel/plugin-sdk";
import type { DavAccount, DavReply } from "../../fakes/dav-account.ts";
import { until } from "../../helpers/until.ts";
import { openFakeWriter, SECOND, WORK, ZOO } from "./open-fake-writer.ts";
import { openWriter } from "./open-writer.ts";

/** Answers requests of one method with `reply`; the others reach the server. */
function answering(
  server: DavAccount,
  method: string,
  reply: (count: number) => DavReply | undefined,
) {
  let count = 0;
  server.intervene = (request) => (request.method === method ? reply(++count) : undefined);
}

const puts = (server: DavAccount) => server.requests.filter((each) => each.startsWith("PUT "));

for (const etags of ["none", "weak", "changing"] as const) {
  test(`with ${etags} entity tags a change of somebody else is seen, and not overwritten`, async (t) => {
    const { server, change, rename, storedIn } = await openFakeWriter(t, { etags });
    const { etag } = await change({ action: "read", ...WORK, event: SECOND });
    assert.ok(etag);
    const work = server.calendars.get("work") ?? assert.fail();
    const [series = ""] = storedIn("work");
    work.objects = {
      ...work.objects,
      "choir.ics": series.replace("SUMMARY:choir", "SUMMARY:theirs"),
    };

    const ours = { action: "update", ...WORK, event: SECOND, scope: "all", ifMatch: etag } as const;
    await assert.rejects(change({ ...ours, fields: { title: "ours" } }), {
      code: "revision_stale",
    });
    await assert.rejects(
      change({ action: "remove", ...WORK, event: SECOND, scope: "all", ifMatch: etag }),
      { code: "revision_stale" },
    );

    assert.match(storedIn("work")[0] ?? "", /SUMMARY:theirs/);
    const { etag: now } = await rename("ours");
    assert.match(storedIn("work")[0] ?? "", /SUMMARY:ours/);
    await change({ action: "remove", ...WORK, event: SECOND, scope: "all", ifMatch: now ?? "" });
    assert.equal(storedIn("work").length, 1);
  });

  test(`with ${etags} entity tags a change between reading and writing is kept`, async (t) => {
    const { server, change, storedIn } = await openFakeWriter(t, { etags });
    let left = 1;
    server.intervene = ({ method, path }) => {
      const work = server.calendars.get("work");
      // the second look at the object is the one right before it is written
      if (work && method === "GET" && path.includes("choir") && left-- === 0) {
        const [series = ""] = storedIn("work");
        const theirs = series.replace("SUMMARY:choir", "SUMMARY:choir\r\nLOCATION:Hall");
        work.objects = { ...work.objects, "choir.ics": theirs };
      }
      return undefined;
    };

    const fields = { title: "ours" };
    await change({ action: "update", ...WORK, event: SECOND, scope: "all", fields });

    assert.match(storedIn("work")[0] ?? "", /SUMMARY:ours\r\nLOCATION:Hall/);
  });
}

for (const [status, message, code] of [
  [400, /refuses this as invalid/, "conflict"],
  [403, /does not permit changes/, "conflict"],
  [404, /not at this address of its server any more/, "conflict"],
  [409, /answered with status 409/, "conflict"],
  [413, /larger than the server takes/, "conflict"],
  [423, /locked/, "conflict"],
  [429, /asked too often: try again later/, "rate_limited"],
  [507, /no room left/, "conflict"],
] as const) {
  test(`a refusal with status ${status} is reported at once with its reason`, async (t) => {
    const { server, create, storedIn } = await openFakeWriter(t);
    answering(server, "PUT", () => ({ status, headers: { "retry-after": "120" } }));

    await assert.rejects(create("park"), (error: MantelError) => {
      assert.match(error.message, message);
      assert.deepEqual([error.code, error.extras.retryAfterMs], [code, 120_000]);
      return true;
    });

    assert.equal(puts(server).length, 1);
    assert.deepEqual(storedIn("home"), []);
  });
}

test("a refusal by which Google means that it is asked too often is told as that", async (t) => {
  const { server, create } = await openFakeWriter(t);
  const body = '{"error":{"errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}]}}';
  answering(server, "PUT", () => ({ status: 403, body }));

  await assert.rejects(create("park"), (error: MantelError) => {
    assert.deepEqual([error.code, error.extras.retryAfterMs], ["rate_limited", 60_000]);
    return true;
  });
});

test("a refusal names the precondition that the server names", async (t) => {
  const { server, create } = await openFakeWriter(t);
  const body = '<d:error xmlns:d="DAV:"><c:supported-calendar-component/></d:error>';
  answering(server, "PUT", () => ({ status: 403, body }));

  await assert.rejects(create("park"), { code: "conflict", message: /for other things than this/ });
});

for (const status of [200, 201, 202, 204]) {
  test(`a change that is answered ${status} and not stored is not reported as saved`, async (t) => {
    const { server, create, rename, storedIn } = await openFakeWriter(t);
    answering(server, "PUT", () => ({ status, headers: { etag: '"new"' } }));
    const refused =
      status === 202
        ? { code: "outcome_unknown", message: /accepted the change and not saved it yet/ }
        : { code: "conflict", message: /told the change as saved, but does not have it/ };

    await assert.rejects(create("park"), refused);
    await assert.rejects(rename("ours"), refused);

    assert.deepEqual(storedIn("home"), []);
  });
}

test("a removal that is answered 204 and not carried out is not reported as done", async (t) => {
  const { server, change } = await openFakeWriter(t);
  answering(server, "DELETE", () => ({ status: 204 }));

  const removal = change({ action: "remove", ...WORK, event: ZOO, scope: "this" });

  await assert.rejects(removal, { code: "conflict", message: /does not have it/ });
});

test("a change that the server accepts for later is reported as saved once it is stored", async (t) => {
  const { server, create, storedIn } = await openFakeWriter(t);
  server.intervene = ({ method, path, body }) => {
    const home = server.calendars.get("home");
    if (method !== "PUT" || !home) return undefined;
    setTimeout(() => (home.objects = { [path.split("/").at(-1) ?? ""]: body }), 3);
    return { status: 202 };
  };

  const { event } = await create("park");

  assert.equal(event?.title, "park");
  assert.equal(storedIn("home").length, 1);
});

test("half an object is never taken for the whole, while it is read and written", async (t) => {
  const { server, rename, storedIn } = await openFakeWriter(t);
  const [series = ""] = storedIn("work");
  const half = { status: 200, body: series.slice(0, series.length / 2) };
  const etag = '"half"';
  answering(server, "GET", (count) =>
    count === 1
      ? { ...half, headers: { etag } }
      : count === 2
        ? { ...half, headers: { etag, "content-length": String(series.length) }, isCut: true }
        : count === 4
          ? { ...half, headers: { etag } }
          : undefined,
  );

  await rename("ours");

  assert.match(
    storedIn("work")[0] ?? "",
    /RRULE:FREQ=WEEKLY;COUNT=4[^]*SUMMARY:ours[^]*END:VCALENDAR/,
  );
});

test("an event is found and changed at a server that gives objects other paths in every answer", async (t) => {
  const { rename, change, storedIn, titles, sources } = await openFakeWriter(t, {
    hasChangingPaths: true,
  });

  await rename("ours");
  await change({ action: "remove", ...WORK, event: SECOND, scope: "this" });

  assert.match(storedIn("work")[0] ?? "", /EXDATE:20260608T090000Z/);
  assert.deepEqual(await titles(), ["ours", "ours", "ours", "zoo"]);
  assert.equal(sources.get("dav-work")?.view().status, "ok");
});

test("a refusal of the second step takes the first one back", async (t) => {
  const { server, rename, titles, storedIn, account } = await openFakeWriter(t);
  const [series = ""] = storedIn("work");
  answering(server, "PUT", (count) => (count === 1 ? undefined : { status: 403 }));

  await assert.rejects(rename("band", "following"), { code: "conflict", message: /permit/ });

  assert.deepEqual(storedIn("work")[0], series);
  assert.equal(storedIn("work").length, 2);
  await account.refresh();
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir", "zoo"]);
});

test("a sign-in that ends between two steps leaves no event twice, once it is there again", async (t) => {
  const { server, rename, storedIn, titles } = await openFakeWriter(t);
  let isSignedIn = true;
  server.intervene = ({ method }) => {
    if (method === "PUT" && isSignedIn) {
      isSignedIn = false;
      return undefined;
    }
    return isSignedIn ? undefined : { status: 401 };
  };

  await assert.rejects(rename("band", "following"), {
    code: "conflict",
    message: /does not accept the user name and password/,
  });
  assert.equal(storedIn("work").length, 3, "the first step is done");
  isSignedIn = true;
  server.intervene = () => undefined;

  await until(() => storedIn("work").length === 2);
  await until(async () => (await titles()).join() === "choir,choir,choir,choir,zoo");
});

test("a change that a process could not finish is undone by the next one", async (t) => {
  const { server, rename, storedIn, unfinished, writing, storage } = await openFakeWriter(t);
  answering(server, "PUT", (count) => (count === 1 ? undefined : { status: 401 }));
  server.intervene = (
    (before) => (request: Parameters<typeof before>[0]) =>
      request.method === "GET" && puts(server).length > 1 ? { status: 401 } : before(request)
  )(server.intervene);
  await assert.rejects(rename("band", "following"));
  unfinished.close();
  assert.equal(storedIn("work").length, 3);
  server.intervene = () => undefined;

  const next = openWriter(writing, storage).unfinished;
  t.after(() => next.close());
  await next.start();

  await until(() => storedIn("work").length === 2);
});

test("a change of an event waits until an earlier one of it is finished or undone", async (t) => {
  const { server, rename, storedIn, unfinished } = await openFakeWriter(t);
  let isSignedIn = true;
  server.intervene = ({ method }) => {
    if (method === "GET") return undefined;
    const reply = isSignedIn ? undefined : { status: 401 };
    if (method === "PUT") isSignedIn = false;
    return reply;
  };
  await assert.rejects(rename("band", "following"));
  unfinished.close();

  await assert.rejects(rename("ours"), {
    code: "service_unavailable",
    message: /an earlier change of this event is not finished/,
  });
  server.intervene = () => undefined;
  await rename("ours");

  assert.equal(storedIn("work").length, 2);
  assert.match(storedIn("work")[0] ?? "", /COUNT=4[^]*SUMMARY:ours/);
});

test("a sign-in that ends during a change is reported, and changes nothing", async (t) => {
  const { server, rename, storedIn } = await openFakeWriter(t);
  const before = storedIn("work");
  answering(server, "PUT", () => ({ status: 401 }));

  await assert.rejects(rename("ours"), { code: "conflict", message: /set them again/ });

  assert.deepEqual(storedIn("work"), before);
  assert.equal(puts(server).length, 1);
});

test("an event is written to a calendar that its server moves meanwhile", async (t) => {
  const { server, create, rename, storedIn } = await openFakeWriter(t);
  const move = (id: string) => {
    const found = server.calendars.get(id);
    if (!found) return;
    server.calendars.delete(id);
    server.calendars.set(`${id}-moved`, found);
  };

  move("home");
  const made = await create("park");
  move("work");
  await rename("ours");

  assert.equal(made.event?.calendarId, "dav-home");
  assert.equal(storedIn("home-moved").length, 1);
  assert.match(storedIn("work-moved")[0] ?? "", /SUMMARY:ours/);
});

for (const minutes of [-5, 5]) {
  test(`with a clock that is ${minutes} minutes off at the server, changes are saved and seen`, async (t) => {
    const clockMs = minutes * 60_000;
    const { server, change, rename, storedIn, account, titles } = await openFakeWriter(t, {
      clockMs,
    });
    const theirs = new Date(Date.now() + clockMs)
      .toISOString()
      .slice(0, 19)
      .replaceAll(/[-:]/g, "");
    const work = server.calendars.get("work") ?? assert.fail();
    const [series = ""] = storedIn("work");
    const stamped = `LAST-MODIFIED:${theirs}Z\r\nSEQUENCE:7\r\nSUMMARY:choir`;
    work.objects = { ...work.objects, "choir.ics": series.replace("SUMMARY:choir", stamped) };

    answering(server, "PUT", (count) => (count === 1 ? { status: 503 } : undefined));
    await rename("ours");
    server.intervene = () => undefined;
    await account.refresh();

    const [changed = ""] = storedIn("work");
    assert.match(changed, /SEQUENCE:8/);
    const [, modified = ""] = /LAST-MODIFIED:(\w+)/.exec(changed) ?? [];
    assert.ok(modified >= `${theirs}Z`, "newer than what it replaces");
    assert.deepEqual(await titles(), ["ours", "ours", "ours", "ours", "zoo"]);
    answering(server, "PUT", () => ({
      status: 429,
      headers: { "retry-after": new Date(Date.now() + clockMs + 60_000).toUTCString() },
    }));
    const { extras } = await change({
      action: "update",
      ...WORK,
      event: ZOO,
      scope: "this",
      fields: {},
    })
      .then(() => assert.fail())
      .catch((error: { extras: { retryAfterMs: number } }) => error);
    assert.ok(Math.abs(extras.retryAfterMs - 60_000) < 5_000, "counted on the server's clock");
  });
}

test("one occurrence moves to another calendar, and the others stay", async (t) => {
  const { change, storedIn, titles } = await openFakeWriter(t);
  const move = { action: "update", ...WORK, event: SECOND, fields: { title: "solo" } } as const;

  const moved = await change({ ...move, scope: "this", moveTo: "dav-home" });

  assert.equal(moved.event?.calendarId, "dav-home");
  assert.equal(moved.event?.recurrenceId, null);
  assert.match(storedIn("work")[0] ?? "", /EXDATE:20260608T090000Z/);
  assert.doesNotMatch(storedIn("home")[0] ?? "", /RRULE|RECURRENCE-ID|UID:choir/);
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "solo", "zoo"]);
});

test("this and the following occurrences, or all, move to another calendar", async (t) => {
  const { change, titles, sources } = await openFakeWriter(t);
  const move = { action: "update", ...WORK, fields: {}, moveTo: "dav-home" } as const;

  await change({ ...move, event: "choir/2026-06-15T09:00:00Z", scope: "following" });
  assert.equal(sources.size, 2);
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir", "zoo"]);
  const all = await change({ ...move, event: SECOND, scope: "all" });

  assert.equal(all.event?.uid, "choir");
  assert.deepEqual(await titles(), ["choir", "choir", "choir", "choir", "zoo"]);
});

test("a move to a calendar that has the event is refused in words, and changes nothing", async (t) => {
  const { server, change, storedIn, account } = await openFakeWriter(t);
  const [, zoo = ""] = storedIn("work");
  const copies = [{ "zoo.ics": zoo }, { "other-name.ics": zoo }];
  for (const objects of copies) {
    server.calendars.set("home", { name: "Home", objects });
    await account.refresh();

    const move = { action: "update", ...WORK, event: ZOO, scope: "this", fields: {} } as const;
    await assert.rejects(change({ ...move, moveTo: "dav-home" }), {
      code: "conflict",
      message: /already has this event: delete that copy first/,
    });
  }

  assert.equal(storedIn("work").length, 2);
  assert.equal(storedIn("home").length, 1);
});

test("objects are asked for without compression, which changes their entity tags", async (t) => {
  const { server, rename } = await openFakeWriter(t);
  const asked: unknown[] = [];
  server.intervene = ({ method, headers }) => {
    if (method === "GET") asked.push(headers["accept-encoding"]);
    return undefined;
  };

  await rename("ours");

  assert.deepEqual(new Set(asked), new Set(["identity"]));
});

test("a saved event is answered as its calendar shows it", async (t) => {
  const settings = { colors: { dentist: "#00aa00" }, exclude: ["secret"] };
  const { create } = await openFakeWriter(t, {}, settings);

  const [dentist, secret] = [await create("Dentist"), await create("Secret")];

  assert.deepEqual([dentist.event?.color, secret.event], ["#00aa00", null]);
});
