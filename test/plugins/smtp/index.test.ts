import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { homeNotify } from "@mantel/plugin-sdk/services";
import { startPlugin, testOptions } from "@mantel/plugin-sdk/testing";
import plugin from "../../../plugins/smtp/index.ts";
import {
  makeAuthority,
  makeServerPair,
  readAuthority,
} from "../../../scripts/certificate/authority.ts";
import { emptyFolder } from "../../helpers/folder.ts";
import { type MailServer, startMailServer } from "../../helpers/mail-server.ts";
import { watchResources } from "../../helpers/resources.ts";
import { bundledProgram } from "../../helpers/script.ts";

after(watchResources());

const SEND = "test/helpers/send-mail-program.ts";
const run = promisify(execFile);

const CONFIG = { from: "home@example.org", to: ["anna@example.org", "ben@example.org"] };
const PEOPLE = [
  { name: "Anna", address: "anna@example.org" },
  { name: "Ben", address: "ben@example.org" },
];
const ACCOUNT = { user: "anna", password: "secret" };
const PLAIN = { disabledCommands: ["STARTTLS"] };

/** A certificate for this machine, and the authority that has signed it. */
function ownCertificate() {
  const names = ["127.0.0.1"];
  const authority = makeAuthority(names, new Date());
  const certificate = makeServerPair(readAuthority(authority), names, new Date());
  return { authority: authority.cert, certificate };
}

/** Sends "hello" from a process that trusts an authority; "sent", or the reason why it was not sent. */
async function sendWithAuthority(t: TestContext, authority: string, config: object) {
  const folder = await emptyFolder(t);
  await writeFile(join(folder, "authority.pem"), authority);
  const program = await bundledProgram(SEND);
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") };
  const { stdout } = await run(process.execPath, [program, JSON.stringify(config)], { env });
  return stdout.trim();
}

async function start(t: TestContext, config: object, server: MailServer) {
  const address = `smtp://127.0.0.1:${server.port}`;
  const started = await startPlugin(plugin, { config: { server: address, ...CONFIG, ...config } });
  t.after(() => started.stop());
  const notify = (message: string, ...to: string[]) =>
    started.call(homeNotify, { message, ...(to.length > 0 && { to }) });
  return { started, notify };
}

test("a message without receivers goes to all addresses of the home", async (t) => {
  const server = await startMailServer(t, PLAIN);
  const { started, notify } = await start(t, {}, server);

  await notify("The door is open 🚪\nsince ten minutes");

  const [mail] = server.received;
  assert.equal(mail?.from, "home@example.org");
  assert.deepEqual(mail.to, CONFIG.to);
  assert.match(mail.content, /^Subject: =\?UTF-8\?Q\?Mantel=3A_The_door_is_open_/m);
  assert.match(mail.content, /since ten minutes/);
  assert.equal(started.degraded, undefined);
});

test("a message to people goes to their addresses only, and to those of the home if nobody has one", async (t) => {
  const server = await startMailServer(t, PLAIN);
  const { notify } = await start(t, { people: PEOPLE, title: "" }, server);

  await notify("one", "Anna");
  await notify("two", "Ben", "Anna", "Ben");
  await notify("three", "Carla");

  assert.deepEqual(
    server.received.map(({ to, content }) => [/^Subject: (.*)\r$/m.exec(content)?.[1], to]),
    [
      ["one", ["anna@example.org"]],
      ["two", ["anna@example.org", "ben@example.org"]],
      ["three", CONFIG.to],
    ],
  );
});

test("a message cannot add headers or receivers", async (t) => {
  const server = await startMailServer(t, PLAIN);
  const { notify } = await start(t, {}, server);

  await notify("hello\r\nBcc: eve@example.org\r\n\r\n.\r\nMAIL FROM:<eve@example.org>");

  assert.equal(server.received.length, 1);
  const [head = ""] = server.received[0]?.content.split("\r\n\r\n") ?? [];
  assert.match(head, /^Subject: Mantel: hello\r$/m);
  assert.doesNotMatch(head, /eve/);
});

test("a long first line is cut in the subject and whole in the text", async (t) => {
  const server = await startMailServer(t, PLAIN);
  const { notify } = await start(t, {}, server);

  await notify("x".repeat(500));

  const { content = "" } = server.received[0] ?? {};
  const [head = "", text = ""] = content.split("\r\n\r\n");
  const subject = /^Subject: ((?:.|\r\n )*)/m.exec(head)?.[1] ?? "";
  assert.equal(subject.match(/x/g)?.length, 100 - "Mantel: …".length);
  assert.equal(text.replaceAll(/=?\r\n/g, "").trim(), "x".repeat(500));
});

test("a password is never sent without TLS, nor to a server whose certificate is not valid", async (t) => {
  const plain = await startMailServer(t, { ...PLAIN, allowInsecureAuth: true });
  const own = await startMailServer(t, ownCertificate().certificate);
  const reason = /the message was not sent: .* has no TLS with a valid certificate \(/;
  for (const server of [plain, own]) {
    const { started, notify } = await start(t, ACCOUNT, server);

    await assert.rejects(notify("hello"), { code: "service_unavailable", message: reason });

    assert.match(started.degraded ?? "", reason);
    assert.deepEqual(server.passwords, []);
    assert.deepEqual(server.received, []);
  }
});

for (const protocol of ["smtp", "smtps"]) {
  test(`with a valid certificate an account sends over ${protocol}, and a wrong password is named`, async (t) => {
    const { authority, certificate } = ownCertificate();
    const server = await startMailServer(t, { ...certificate, secure: protocol === "smtps" });
    const config = { server: `${protocol}://127.0.0.1:${server.port}`, ...CONFIG, ...ACCOUNT };

    assert.equal(await sendWithAuthority(t, authority, config), "sent");
    const refused = await sendWithAuthority(t, authority, { ...config, password: "wrong" });

    assert.deepEqual(
      server.received.map(({ user, secure }) => [user, secure]),
      [["anna", true]],
    );
    assert.match(refused, /refused user name and password \(535/);
  });
}

test("a busy server is asked again, a refusal is not, and the module recovers", async (t) => {
  const server = await startMailServer(t, PLAIN);
  const { started, notify } = await start(t, {}, server);
  server.refuseNext(451, 421);
  await notify("patient");
  server.refuseNext(550);

  await assert.rejects(notify("refused"), { message: /answered 550 not now/ });
  const degraded = started.degraded;
  await notify("sent");

  assert.match(degraded ?? "", /550/);
  assert.equal(started.degraded, undefined);
  assert.equal(server.received.length, 2);
  assert.equal(server.connections, 5);
});

test("a server that is away, or has no such name, is named with the reason", async (t) => {
  const server = await startMailServer(t, PLAIN);
  for (const away of ["smtp://127.0.0.1:9", "smtp://mail.invalid"]) {
    const { started, notify } = await start(t, { server: away }, server);

    await assert.rejects(notify("hello"), { message: new RegExp(`${away} cannot be reached \\(`) });

    assert.match(started.degraded ?? "", /cannot be reached/);
  }
});

test("the options are tested by a message to the home", async (t) => {
  const server = await startMailServer(t, PLAIN);
  const config = { server: `smtp://127.0.0.1:${server.port}`, ...CONFIG };

  const sentence = await testOptions(plugin, { config });

  assert.equal(sentence, "a message was sent to anna@example.org, ben@example.org");
  assert.equal(server.received.length, 1);
});
