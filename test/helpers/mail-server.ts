import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as they came. */
  readonly content: string;
  readonly user: string | undefined;
  readonly secure: boolean;
}

export interface MailServer {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** Passwords that clients sent. */
  readonly passwords: readonly string[];
  /** The number of connections that were made. */
  readonly connections: number;
  /** Answers the next mails with these codes. */
  refuseNext(...codes: number[]): void;
}

/** A real SMTP server on loopback. The account "anna" has the password "secret". */
export async function startMailServer(
  t: Pick<TestContext, "after">,
  options: SMTPServerOptions = {},
): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const passwords: string[] = [];
  const refusals: number[] = [];
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    ...options,
    onConnect(_session, done) {
      connections++;
      done();
    },
    onAuth({ username, password }, _session, done) {
      passwords.push(password ?? "");
      const isRight = username === "anna" && password === "secret";
      done(isRight ? null : new Error("invalid login"), isRight ? { user: username } : undefined);
    },
    onMailFrom(_address, _session, done) {
      const code = refusals.shift();
      const refusal = Object.assign(new Error("not now"), { responseCode: code });
      done(code === undefined ? null : refusal);
    },
    onData(stream, { envelope, user, secure }, done) {
      let content = "";
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => (content += text));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = envelope;
        const from = mailFrom ? mailFrom.address : "";
        received.push({ from, to: rcptTo.map(({ address }) => address), content, user, secure });
        done();
      });
    },
  });
  server.on("error", () => undefined); // a client that trusts no certificate breaks the connection
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  t.after(() => new Promise<void>((done) => server.close(() => done())));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    passwords,
    get connections() {
      return connections;
    },
    refuseNext: (...codes) => void refusals.push(...codes),
  };
}
