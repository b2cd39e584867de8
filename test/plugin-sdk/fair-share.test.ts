import assert from "node:assert/strict";
import { test } from "node:test";
import { FairShare } from "../../plugin-sdk/fair-share.ts";

test("one owner cannot exceed its limit, even if places are free", () => {
  const places = new FairShare<number>({ most: 10, mostOfOne: 2 });

  const given = [1, 2, 3].map((item) => places.take("a", item).isGiven);

  assert.deepEqual(given, [true, true, false]);
  assert.equal(places.taken, 2);
});

test("a newcomer takes the oldest place of the owner with the most", () => {
  const places = new FairShare<string>({ most: 5, mostOfOne: 4 });
  for (const item of ["a1", "a2", "a3", "b1", "b2"]) places.take(item.slice(0, 1), item);

  assert.deepEqual(places.take("c", "c1"), { isGiven: true, replaced: "a1" });
  assert.deepEqual(places.take("c", "c2"), { isGiven: false }, "2, 2 and 1 is even enough");
  assert.equal(places.taken, 5);
});

test("the owner with the most places cannot take another owner's place", () => {
  const places = new FairShare<string>({ most: 3, mostOfOne: 3 });
  for (const item of ["a1", "a2", "b1"]) places.take(item.slice(0, 1), item);

  assert.deepEqual(places.take("a", "a3"), { isGiven: false });
});

test("an owner without a place gets one even if all others have only one", () => {
  const places = new FairShare<string>({ most: 2, mostOfOne: 2 });
  places.take("a", "a1");
  places.take("b", "b1");

  assert.deepEqual(places.take("c", "c1"), { isGiven: true, replaced: "a1" });
});

test("an item that must keep its place is skipped, and the next one is replaced", () => {
  const places = new FairShare<string>({ most: 2, mostOfOne: 2 });
  places.take("a", "a1");
  places.take("a", "a2");

  const place = places.take("b", "b1", (item) => item !== "a1");

  assert.deepEqual(place, { isGiven: true, replaced: "a2" });
  assert.deepEqual(
    places.take("c", "c1", () => false),
    { isGiven: false },
  );
});

test("a released place is free, and releasing it twice has no effect", () => {
  const places = new FairShare<string>({ most: 1, mostOfOne: 1 });
  places.take("a", "a1");

  places.release("a", "a1");
  places.release("a", "a1");

  assert.equal(places.taken, 0);
  assert.deepEqual(places.take("b", "b1"), { isGiven: true });
});

test("of several owners the one with the most places gives one up, in any order of arrival", () => {
  for (const order of ["aabbbcc", "bbbaacc", "aaccbbb"]) {
    const places = new FairShare<string>({ most: 7, mostOfOne: 4 });
    for (const [at, owner] of order.split("").entries()) places.take(owner, `${owner}${at}`);

    const { replaced } = places.take("d", "d");

    assert.equal(replaced?.startsWith("b"), true, order);
  }
});
