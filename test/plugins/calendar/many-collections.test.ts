import assert from "node:assert/strict";
import { test } from "node:test";
import { serveDavAccount } from "../../fakes/dav-account.ts";
import { until } from "../../helpers/until.ts";
import { startWithAccount } from "./start-with-account.ts";

const IN_TIME = { withinMs: 20_000 };

test("an account above the calendar limit reports the number and the missing calendars", async (t) => {
  const account = await serveDavAccount(t);
  for (let n = 1; n <= 54; n++) account.calendars.set(`c${n}`, { name: `Club ${n}`, objects: {} });

  const { sources, source } = await startWithAccount(t, account, { name: "Clubs" });
  await until(() => source("dav")?.error?.startsWith("the account has"), IN_TIME);
  await until(() => sources().filter(({ status }) => status === "ok").length === 50, IN_TIME);

  const { id, name, status, error } = source("dav") ?? {};
  assert.deepEqual([id, name, status], ["dav", "Clubs", "error"]);
  assert.equal(
    error,
    "the account has 54 calendars: 50 are shown, and not Club 51, Club 52, Club 53, +1. Give their own addresses as calendars",
  );
  assert.equal(sources().length, 51);
});

test("an account within the calendar limit shows no message of its own", async (t) => {
  const account = await serveDavAccount(t);
  for (let n = 1; n <= 50; n++) account.calendars.set(`c${n}`, { name: `Club ${n}`, objects: {} });

  const { sources, source } = await startWithAccount(t, account);
  await until(() => sources().filter(({ status }) => status === "ok").length === 50, IN_TIME);

  assert.equal(source("dav"), undefined);
});
