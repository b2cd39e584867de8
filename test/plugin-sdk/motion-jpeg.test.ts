import assert from "node:assert/strict";
import { test } from "node:test";
import { NotMotionJpeg, readMotionJpeg } from "@mantel/plugin-sdk";

const MIXED = "multipart/x-mixed-replace; boundary=frame";
const encoder = new TextEncoder();

/** The pictures in a stream that comes in chunks of `size` bytes. */
async function pictures(
  stream: string,
  { size = stream.length, contentType = MIXED, maxBytes = 1_000 } = {},
): Promise<string[]> {
  const bytes = encoder.encode(stream);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: string[] = [];
  for await (const picture of readMotionJpeg(chunks(), { contentType, maxBytes })) {
    found.push(new TextDecoder().decode(picture));
  }
  return found;
}

const part = (body: string, boundary = "--frame"): string =>
  `${boundary}\r\nContent-Type: image/jpeg\r\nContent-Length: ${body.length}\r\n\r\n${body}\r\n`;
const unmeasured = (body: string, boundary = "--frame"): string =>
  `${boundary}\r\nContent-Type: image/jpeg\r\n\r\n${body}\r\n`;

for (const size of [1, 2, 7, 1_000]) {
  test(`pictures are found whatever the chunks are: ${size} bytes`, async () => {
    const measured = part("first") + part("--frame in a picture\r\n\r\n") + part("third");
    const open = `${unmeasured("first")}${unmeasured("sec\r\nond")}--frame--\r\n`;

    assert.deepEqual(await pictures(measured, { size }), [
      "first",
      "--frame in a picture\r\n\r\n",
      "third",
    ]);
    assert.deepEqual(await pictures(open, { size }), ["first", "sec\r\nond"]);
  });
}

test("a picture that has not ended is not returned", async () => {
  assert.deepEqual(await pictures(part("first") + part("second").slice(0, -5)), ["first"]);
  assert.deepEqual(await pictures(unmeasured("first")), []);
});

test("a boundary may be quoted, and may contain its dashes", async () => {
  const contentType = 'multipart/x-mixed-replace;boundary="--my frame"';

  assert.deepEqual(await pictures(part("one", "--my frame"), { contentType }), ["one"]);
});

test("empty parts are skipped", async () => {
  assert.deepEqual(await pictures(`${part("")}\r\n\r\n${part("one")}`), ["one"]);
});

test("a stream that is not multipart is refused with its type", async () => {
  for (const contentType of ["image/jpeg", "multipart/x-mixed-replace", ""]) {
    await assert.rejects(pictures(part("one"), { contentType }), NotMotionJpeg);
  }
  await assert.rejects(pictures("", { contentType: "text/html; boundary=frame" }), {
    message: "text/html; boundary=frame is not motion JPEG",
  });
});

test("a picture or head that is too long is refused before it is stored", async () => {
  const long = "x".repeat(1_100);

  await assert.rejects(pictures(part(long).slice(0, 100)), { name: "NotMotionJpeg" });
  await assert.rejects(pictures(unmeasured(long), { size: 100 }), {
    message: "a picture has more than 1000 bytes",
  });
  await assert.rejects(pictures(`--frame\r\n${"x".repeat(5_000)}`, { size: 100 }), {
    message: "a head has more than 4096 bytes",
  });
});
