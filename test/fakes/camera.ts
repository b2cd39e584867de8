// A network camera that sends motion JPEG, as many do: `multipart/x-mixed-replace` with a length in each part.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

const fixture = (name: string): Buffer =>
  readFileSync(join(import.meta.dirname, `../fixtures/camera/${name}.jpg`));
/** Pictures of one colour, 64 x 36. */
export const GREEN_JPEG = fixture("green");
export const RED_JPEG = fixture("red");

export interface FakeCamera {
  /** The address of its motion JPEG. */
  readonly url: string;
  /** The picture that it sends. */
  picture: Buffer;
  /** The number of its viewers now. */
  readonly viewers: number;
}

/** Starts a camera that sends a picture every `everyMs` milliseconds; it ends with the test. */
export async function startCamera(
  t: Pick<TestContext, "after">,
  { everyMs = 50 } = {},
): Promise<FakeCamera> {
  const viewers = new Set<ServerResponse>();
  const camera = { picture: GREEN_JPEG };
  const server = createServer((_, response) => {
    viewers.add(response);
    response.on("close", () => viewers.delete(response));
    response.writeHead(200, { "Content-Type": "multipart/x-mixed-replace; boundary=camera" });
    void (async () => {
      while (viewers.has(response)) {
        const { picture } = camera;
        response.write(
          `--camera\r\nContent-Type: image/jpeg\r\nContent-Length: ${picture.length}\r\n\r\n`,
        );
        response.write(picture);
        response.write("\r\n");
        await delay(everyMs);
      }
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.defineProperties(camera as FakeCamera, {
    url: { value: `http://127.0.0.1:${port}/video` },
    viewers: { get: () => viewers.size },
  });
}
