import assert from "node:assert/strict";
import { test } from "node:test";
import type { paths } from "@mantel/plugin-sdk/client";
import type { AnswerTo } from "../../../host/dashboard/typed-paths.ts";

/** Compiles only if both types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type AnswerOf<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer Body } } } };
}
  ? Body
  : never;

test("an answer has the type that the client has for its path, with parameters and a query too", () => {
  const same: readonly true[] = [
    true satisfies Same<AnswerTo<"get", "/layout">, AnswerOf<"/layout">>,
    true satisfies Same<
      AnswerTo<"get", `/modules/${string}/config`>,
      AnswerOf<"/modules/{id}/config">
    >,
    true satisfies Same<AnswerTo<"get", `/logbook?${string}`>, AnswerOf<"/logbook">>,
    true satisfies Same<
      AnswerTo<"delete", `/modules/${string}/setup`>,
      AnswerTo<"delete", "/modules/x/setup">
    >,
  ];

  assert.equal(same.length, 4);
});

test("a path that the client does not know has an unknown answer", () => {
  const unknown: readonly true[] = [
    true satisfies Same<AnswerTo<"get", string>, unknown>,
    true satisfies Same<AnswerTo<"get", "/tides">, unknown>,
    true satisfies Same<AnswerTo<"put", "/health">, unknown>,
  ];

  assert.equal(unknown.length, 3);
});
