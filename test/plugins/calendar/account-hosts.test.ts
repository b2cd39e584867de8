import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import {
  makeAuthority,
  makeServerPair,
  readAuthority,
} from "../../../scripts/certificate/authority.ts";
import { type DavAccount, serveDavAccount } from "../../fakes/dav-account.ts";
import { DavXml } from "../../fakes/dav-xml.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { bundledProgram } from "../../helpers/script.ts";
import { calendar, event } from "./calendar-text.ts";

const FIXTURE = "test/fixtures/calendar/read-account.ts";
const OBJECT = calendar(event("UID:a", "DTSTART:20260601T090000Z")).toString();

/** The server that people know, another of the same site, and what reads the account from the first. */
async function setUp(t: TestContext) {
  const authority = makeAuthority([], new Date());
  const trusted = join(await emptyFolder(t), "authority.pem");
  await writeFile(trusted, authority.cert);
  const secure = makeServerPair(readAuthority(authority), ["127.0.0.1"], new Date());
  const front = await serveDavAccount(t, { secure });
  const shard = await serveDavAccount(t, { secure, cdata: true });
  shard.calendars.set("home", { name: "Home", objects: { "a.ics": OBJECT } });
  const read = async (authorities = trusted) => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: authorities, ACCOUNT_URL: front.url };
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [await bundledProgram(FIXTURE)], { env });
    return JSON.parse(stdout) as unknown;
  };
  return { front, shard, read };
}

/** From its principal on, the account is at another address. */
function redirect(from: DavAccount, to: DavAccount): void {
  from.intervene = ({ path }) =>
    path === "/" ? undefined : { status: 301, headers: { location: `${to.url}${path}` } };
}

const HOME = { found: [{ name: "Home", objects: ["/home/home/a.ics"] }] };

test("an account whose principal is redirected to another server of its site, as in iCloud, is read there", async (t) => {
  const { front, shard, read } = await setUp(t);
  redirect(front, shard);

  assert.deepEqual(await read(), HOME);
});

test("an account whose calendars have an address on another server of its site, as in iCloud, is read there", async (t) => {
  const { front, shard, read } = await setUp(t);
  const { c, d, multistatus, response } = new DavXml();
  const home = c("calendar-home-set", d("href", `${shard.url}/home/`));
  front.intervene = ({ path }) =>
    path === "/principal/" ? multistatus(response(path, home)) : undefined;

  assert.deepEqual(await read(), HOME);
});

test("the password of an account is not sent outside its site, and the server is named", async (t) => {
  const { front, read } = await setUp(t);
  const elsewhere = await serveDavAccount(t);
  const passwords: (string | undefined)[] = [];
  elsewhere.intervene = ({ authorization }) => {
    passwords.push(authorization);
    return { status: 401 };
  };
  redirect(front, elsewhere);

  const { message } = (await read()) as { message?: string };

  assert.match(
    message ?? "",
    /sends on to http:\/\/127\.0\.0\.1:\d+, which asks .* give the address there/,
  );
  assert.ok(passwords.length > 0);
  assert.deepEqual(new Set(passwords), new Set([undefined]));
});

test("an untrusted certificate is reported with a fix", async (t) => {
  const { read } = await setUp(t);

  const { message } = (await read("")) as { message?: string };

  assert.match(
    message ?? "",
    /certificate \(\w+\) is not signed by a known authority: set caFile .*: ([0-9A-F]{2}:){31}[0-9A-F]{2}$/,
  );
});
