import assert from "node:assert/strict";
import { test } from "node:test";
import { Places } from "../../../host/places/places.ts";

const FEW = `
freiburg\tFreiburg\tDE\t215966\t48\t7.85
bad freienwalde\tBad Freienwalde\tDE\t12850\t52.79\t14.03
freital\tFreital\tDE\t39734\t51\t13.65
munchen\tMünchen\tDE\t1260391\t48.14\t11.58
munich\tMunich\tDE\t1260391\t48.14\t11.58
`;

const few = (): Places => new Places(async () => FEW);
const names = async (places: Places, text: string): Promise<string[]> =>
  (await places.find(text, 10)).map(({ name }) => name);

test("towns are found by the beginning of their name or of a later word, the largest first", async (t) => {
  const places = few();
  t.after(() => places.close());

  assert.deepEqual(await names(places, "frei"), ["Freiburg", "Freital", "Bad Freienwalde"]);
  assert.deepEqual(await names(places, "BAD FREI"), ["Bad Freienwalde"]);
  assert.deepEqual(await names(places, "burg"), []);
  assert.deepEqual(await names(places, "DE"), []);
});

test("accents do not matter, and a town with two names is found once", async (t) => {
  const places = few();
  t.after(() => places.close());

  assert.deepEqual(await names(places, "Mün"), ["München"]);
  assert.deepEqual(await names(places, "munch"), ["München"]);
  assert.deepEqual(await names(places, " ,. "), []);
});

test("the shipped list has towns of every size with their coordinates", async (t) => {
  const places = new Places();
  t.after(() => places.close());

  const [freiburg] = await places.find("Freiburg", 1);
  const [small] = await places.find("Münchenbuchsee", 1);

  assert.deepEqual(freiburg, {
    name: "Freiburg",
    country: "DE",
    population: 215_966,
    latitude: 48,
    longitude: 7.85,
  });
  assert.equal(small?.country, "CH");
});
