import assert from "node:assert/strict";
import { test } from "node:test";
import { defineChannels, Type } from "@mantel/plugin-sdk";
import { MantelError } from "@mantel/plugin-sdk/errors";

const schema = Type.String();

test("channels are defined as they are written", () => {
  const channels = defineChannels({
    headlines: { schema: Type.Array(Type.String()), title: "Headlines", keep: true },
    "last-error": { schema, scope: "admin", maxBytes: 1_000 },
  });

  assert.deepEqual(Object.keys(channels), ["headlines", "last-error"]);
  assert.equal(channels.headlines.title, "Headlines");
});

for (const name of ["Headlines", "a/b", "a b", "", "1st", "__proto__", "a".repeat(61), "a-", "ä"]) {
  test(`a channel cannot be named ${JSON.stringify(name)}`, () => {
    assert.throws(() => defineChannels(Object.fromEntries([[name, { schema }]])), {
      code: "invalid",
      message: /must be named with lower-case words joined by hyphens, or camel case/,
    });
  });
}

for (const name of ["calendar", "scenes", "modules", "system", "weather"]) {
  test(`the name ${name} is one of the host's own`, () => {
    assert.throws(() => defineChannels({ [name]: { schema } }), {
      message: `the channel "${name}" has the name of one of the host's own channels; choose another one`,
    });
  });
}

test("the size of a value, and the number of channels, have limits", () => {
  for (const maxBytes of [0, -1, 1.5, 2 ** 20 + 1, Number.NaN]) {
    assert.throws(
      () => defineChannels({ news: { schema, maxBytes } }),
      /maxBytes of the channel "news" must be a whole number from 1 to 1048576/,
    );
  }
  const many = Array.from({ length: 33 }, (_, index) => [`c${index}`, { schema }]);
  assert.throws(() => defineChannels(Object.fromEntries(many)), /33 channels .* the limit is 32/);
});

test("a channel without a schema is refused", () => {
  assert.throws(
    () => defineChannels({ news: {} as never }),
    (error) => error instanceof MantelError && error.message === 'the channel "news" has no schema',
  );
});
