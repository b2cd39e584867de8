import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createStorage } from "../../../plugin-sdk/runtime/storage.ts";
import { type DavReply, serveDavAccount } from "../../fakes/dav-account.ts";
import { DavXml } from "../../fakes/dav-xml.ts";
import { collectedLog } from "../../helpers/collected-log.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { calendar, event } from "./calendar-text.ts";
import { openAccount } from "./open-account.ts";

const { c, d, multistatus, response } = new DavXml();
const INVITED = calendar(
  event(
    "UID:a",
    "DTSTART:20260601T090000Z",
    "ATTENDEE;PARTSTAT=DECLINED:mailto:ann@example.org",
    "ATTENDEE;PARTSTAT=ACCEPTED:mailto:bob@example.org",
  ),
).toString();
const YEAR = { from: Date.parse("2026-01-01"), to: Date.parse("2027-01-01") };

type Settings = Omit<Parameters<typeof openAccount>[0], "url">;

/** Reads an account whose server knows these addresses of its user, or answers otherwise. */
async function read(t: TestContext, settings: Settings, known: readonly string[] | DavReply) {
  const server = await serveDavAccount(t);
  server.calendars.set("home", { name: "Home", objects: { "a.ics": INVITED } });
  const hrefs = "status" in known ? "" : known.map((href) => d("href", href)).join("");
  const asked: string[] = [];
  server.intervene = ({ path, body }) => {
    if (!body.includes("calendar-user-address-set")) return undefined;
    asked.push(path);
    if ("status" in known) return known;
    return multistatus(response("/principal/", c("calendar-user-address-set", hrefs)));
  };
  const storage = createStorage(await emptyFolder(t), collectedLog());
  const open = async () => {
    const { account, sources } = openAccount({ ...settings, url: server.url }, storage);
    await account.restore();
    const attendance = async () => {
      const source = sources.get("dav-home") ?? assert.fail("the calendar is missing");
      return (await source.eventsIn(YEAR)).events[0]?.attendance;
    };
    return { account, attendance };
  };
  const { account, attendance } = await open();
  await account.refresh();
  await account.refresh();
  return { attendance: await attendance(), asked, open };
}

test("a user name that is a mail address is that of the person", async (t) => {
  const { attendance, asked } = await read(t, { username: "ann@example.org" }, []);

  assert.deepEqual([attendance, asked], ["declined", []]);
});

test("the server is asked once for the addresses of a user with another name, and they are kept", async (t) => {
  const known = ["/principals/ann/", "mailto:Ann@example.org", "urn:uuid:5c6f"];

  const { attendance, asked, open } = await read(t, { username: "ann" }, known);
  const restored = await (await open()).attendance();

  assert.deepEqual([attendance, restored, asked], ["declined", "declined", ["/principal/"]]);
});

test("addresses in the settings replace those of the account", async (t) => {
  const settings = { username: "ann@example.org", mailAddresses: ["bob@example.org"] };

  const { attendance, asked } = await read(t, settings, []);

  assert.deepEqual([attendance, asked], ["accepted", []]);
});

test("a server that does not tell addresses shows its calendars without answers", async (t) => {
  const { attendance } = await read(t, { username: "ann" }, { status: 500 });

  assert.equal(attendance, undefined);
});
