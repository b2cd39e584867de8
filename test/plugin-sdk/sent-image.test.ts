import assert from "node:assert/strict";
import { test } from "node:test";
import { imageTypeOf, MAX_IMAGE_BYTES } from "@mantel/plugin-sdk/device-image";
import { parseImage, toSentImage } from "@mantel/plugin-sdk/sent-image";

const JPEG = Buffer.of(0xff, 0xd8, 0xff, 0xe0);
const PNG = Buffer.from("89504e470d0a1a0a00", "hex");
const WEBP = Buffer.from("RIFF\0\0\0\0WEBPVP8 ");
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');

test("the type of a picture shows in its first bytes", () => {
  assert.equal(imageTypeOf(JPEG), "image/jpeg");
  assert.equal(imageTypeOf(PNG), "image/png");
  assert.equal(imageTypeOf(WEBP), "image/webp");
  for (const other of [
    SVG,
    Buffer.from("RIFF\0\0\0\0WAVEfmt "),
    JPEG.subarray(0, 2),
    Buffer.of(),
  ]) {
    assert.equal(imageTypeOf(other), undefined);
  }
});

test("bytes and base64 are the same picture", () => {
  const buffer = new ArrayBuffer(20);
  const part = new Uint8Array(buffer, 5, PNG.length); // a part of a larger buffer
  part.set(PNG);

  const fromBytes = parseImage(toSentImage({ type: "image/png", bytes: part }));
  const fromText = parseImage(toSentImage({ type: "image/png", bytes: PNG.toString("base64") }));

  assert.deepEqual(fromBytes, { type: "image/png", bytes: PNG });
  assert.deepEqual(fromText, fromBytes);
});

test("a picture of another type than it says is refused", () => {
  const wrong = { type: "image/png", bytes: JPEG };
  assert.throws(() => toSentImage(wrong), {
    code: "not_found",
    message: /its bytes are image\/jpeg/,
  });
});

test("SVG is refused, also under another name", () => {
  for (const type of ["image/svg+xml", "image/png"]) {
    assert.throws(() => toSentImage({ type, bytes: SVG }), {
      code: "not_found",
      message: "the picture cannot be shown: it is not a JPEG, PNG or WebP picture",
    });
  }
});

test("a picture has at most 4 MiB", () => {
  const most = Buffer.alloc(MAX_IMAGE_BYTES);
  PNG.copy(most);
  assert.equal(
    parseImage(toSentImage({ type: "image/png", bytes: most })).bytes.length,
    most.length,
  );

  const more = Buffer.alloc(MAX_IMAGE_BYTES + 1);
  PNG.copy(more);
  const tooLarge = { code: "not_found", message: /has 4194305 bytes/ };
  assert.throws(() => toSentImage({ type: "image/png", bytes: more }), tooLarge);
  assert.throws(() => parseImage({ type: "image/png", base64: more.toString("base64") }), tooLarge);
});

test("data that is not a picture at all is refused", () => {
  for (const image of [
    null,
    "picture",
    {},
    { type: "image/png" },
    { type: "image/png", bytes: 3 },
  ]) {
    assert.throws(() => toSentImage(image), { code: "not_found" });
  }
});
