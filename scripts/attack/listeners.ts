import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer as createWebServer } from "node:http";
import { type AddressInfo, createServer } from "node:net";

/** Servers of this machine that no hostile plugin may reach. */
export interface Listeners {
  readonly web: number;
  readonly datagrams: number;
  readonly socket: string;
  readonly abstractSocket: string;
  /** The visits since a caller last emptied the list. */
  readonly visits: string[];
  close(): void;
}

export async function openListeners(socket: string, abstractSocket: string): Promise<Listeners> {
  const visits: string[] = [];
  const web = createWebServer((_, response) => response.end("here"));
  web.on("connection", () => visits.push("the web server")).listen(0, "127.0.0.1");
  const files = createServer(() => visits.push("the socket file")).listen(socket);
  const abstract = createServer(() => visits.push("the abstract socket"));
  abstract.listen(`\0${abstractSocket}`);
  const datagrams = createSocket("udp4", () => visits.push("the server of datagrams"));
  datagrams.bind(0, "127.0.0.1");
  await Promise.all([web, files, abstract, datagrams].map((each) => once(each, "listening")));
  await chmod(socket, 0o777);
  return {
    socket,
    abstractSocket,
    visits,
    web: (web.address() as AddressInfo).port,
    datagrams: datagrams.address().port,
    close() {
      web.closeAllConnections();
      for (const each of [web, files, abstract, datagrams]) each.close();
    },
  };
}
