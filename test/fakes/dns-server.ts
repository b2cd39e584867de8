import { createSocket } from "node:dgram";
import dns from "node:dns/promises";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { type Answer, decode, encode } from "dns-packet";
import { onTestEnd } from "../helpers/on-test-end.ts";

/** Serves these records on loopback until the test ends; everything else does not exist (RFC 1035). */
export async function serveDns(t: TestContext, records: readonly Answer[]) {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (message, { port, address }) => {
    const { id = 0, questions = [] } = decode(message);
    const answers = questions.flatMap(({ name, type }) => {
      asked.push(`${type} ${name}`);
      return records.filter((each) => each.name === name && each.type === type);
    });
    const NAME_ERROR = 3;
    const flags = answers.length > 0 ? 0 : NAME_ERROR;
    socket.send(encode({ type: "response", id, flags, questions, answers }), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestEnd(t, async () => void socket.close());
  const resolver = new dns.Resolver();
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return { resolver, asked };
}
