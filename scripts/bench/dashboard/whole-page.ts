import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A page that redraws all lamps at each change, like many small dashboards. */
const page = (lamps: number): string => `<!doctype html><style>
body { display: grid; grid-template-columns: repeat(auto-fill, 150px); gap: 12px; color: #eee; background: #171311; }
.tile { height: 92px; padding: 12px; border-radius: 20px; background: #2a2421; }
.on { background: linear-gradient(90deg, #a86 var(--percent), #2a2421 var(--percent)); }
</style><body><script>
const lamps = Array.from({ length: ${lamps} }, (_, at) => ({ name: "Lamp " + (at + 1), brightness: 50 }));
const draw = () => document.body.innerHTML = lamps.map(({ name, brightness }) =>
  '<div class="tile on" style="--percent: ' + brightness + '%"><b>' + brightness + '</b><small>%</small><p>' + name + '</p></div>').join("");
draw();
new EventSource("/events").onmessage = ({ data }) => {
  const { at, brightness } = JSON.parse(data);
  lamps[at].brightness = brightness;
  draw();
};
</script>`;

/** The same lamps and changes without Mantel: a server that sends each change, and that page. */
export async function openWholePage(lamps: number) {
  const streams = new Set<ServerResponse>();
  const server = createServer(({ url }, response) => {
    if (url === "/events") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      streams.add(response);
    } else response.setHeader("content-type", "text/html").end(page(lamps));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  let timer: NodeJS.Timeout | undefined;
  let count = 0;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    begin(perSecond: number): void {
      count = 0;
      timer = setInterval(() => {
        const change = { at: count % lamps, brightness: 1 + ((count++ * 7) % 99) };
        for (const stream of streams) stream.write(`data: ${JSON.stringify(change)}\n\n`);
      }, 1_000 / perSecond);
    },
    end(): number {
      clearInterval(timer);
      return count;
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
