import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { mountOnPage } from "../../helpers/page/widget.ts";

const { default: timers } = await import("../../../plugins/timers-widget/widget.ts");

const NOW = Date.UTC(2026, 10, 20, 8);

test("a press on a length starts a timer, the form one with a name, and the shortest is first", (t) => {
  clock(t);
  const { root, click, textOf } = mountOnPage(t, timers, { config: { minutes: [5, 12] } });
  const lengths = textOf(".lengths button");

  click(".lengths button");
  fill(root, "Tea", "3");
  fill(root, "Nothing", "");

  assert.deepEqual(lengths, ["5 min", "12 min"]);
  assert.deepEqual(textOf(".what"), ["Tea 3:00", "5 min 5:00"]);
  assert.equal(
    root.querySelector<HTMLInputElement>("form input")?.value,
    "Nothing",
    "a timer needs a length",
  );
});

test("a timer is paused, continued, extended and removed", (t) => {
  const { tick } = clock(t);
  const { root, textOf, click } = mountOnPage(t, timers);
  fill(root, "Eggs", "5");
  const shown: unknown[] = [];
  const press = (label: string, ms: number): void => {
    click(`[aria-label="${label}: Eggs"]`);
    tick(ms);
    shown.push(textOf(".what")[0]);
  };

  tick(60_000);
  press("Pause", 60_000);
  press("Continue", 60_000);
  press("One minute more", 0);
  press("Remove", 0);

  assert.deepEqual(shown, ["Eggs 4:00 paused", "Eggs 3:00", "Eggs 4:00", undefined]);
});

test("a timer that is over says so once, sounds until it is stopped, and at most for two minutes", (t) => {
  const { tick } = clock(t);
  const tones = sound(t, "running");
  const { root, said, textOf, click } = mountOnPage(t, timers);
  fill(root, "Tea", "1");
  tick(60_000);
  const first = { what: textOf(".over .what"), tones: tones.length };
  for (let second = 0; second < 130; second++) tick(1_000);

  assert.deepEqual(first, { what: ["Tea over"], tones: 3 });
  assert.deepEqual(said, ["Tea is over"]);
  assert.equal(tones.length, 3 * 40, "a chime of three tones every three seconds, for two minutes");
  click('[aria-label="Stop: Tea"]');
  assert.deepEqual(textOf("li"), []);
});

test("without sound, and where the browser forbids it, a timer only shows that it is over", (t) => {
  const { tick } = clock(t);
  const tones = sound(t, "suspended");
  const { root, config, textOf } = mountOnPage(t, timers);
  fill(root, "", "0.5");
  tick(30_000);
  config.value = { sound: false };
  tick(5_000);

  assert.deepEqual(tones, []);
  assert.deepEqual(textOf(".over .what"), ["1 min over"]);
});

test("the timers of a screen are those of its browser, also after a reload", (t) => {
  const { tick, items } = clock(t);
  const first = mountOnPage(t, timers);
  fill(first.root, "Tea", "3");
  first.mounted.unmount();
  tick(60_000);

  const { textOf, said } = mountOnPage(t, timers);
  const reloaded = textOf(".what");
  items.set("mantel.timers", "[]");
  window.dispatchEvent(Object.assign(new Event("storage"), { key: "mantel.timers" }));

  assert.deepEqual(reloaded, ["Tea 2:00"]);
  assert.deepEqual([textOf(".what"), said], [[], []], "another window has removed it");
});

/** A browser with a clock of its own, and a storage of its own. */
function clock(t: TestContext) {
  const items = new Map<string, string>();
  const localStorage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  Object.defineProperty(globalThis, "localStorage", { value: localStorage, configurable: true });
  t.after(() => {
    if (before) Object.defineProperty(globalThis, "localStorage", before);
    else Reflect.deleteProperty(globalThis, "localStorage");
  });
  t.mock.timers.enable({ apis: ["Date", "setTimeout", "setInterval"], now: NOW });
  return { items, tick: (ms: number) => t.mock.timers.tick(ms) };
}

/** A browser with sound: the tones that it plays. */
function sound(t: TestContext, state: string): unknown[] {
  const tones: unknown[] = [];
  const node = { connect: (next: unknown) => next };
  class Sound {
    state = state;
    currentTime = 0;
    destination = node;
    resume = async () => undefined;
    createGain = () => ({
      ...node,
      gain: { setValueAtTime: () => undefined, exponentialRampToValueAtTime: () => undefined },
    });
    createOscillator = () => ({
      ...node,
      frequency: { value: 0 },
      start: (at: number) => tones.push(at),
      stop: () => undefined,
    });
  }
  Object.assign(globalThis, { AudioContext: Sound });
  t.after(() => Reflect.deleteProperty(globalThis, "AudioContext"));
  return tones;
}

function fill(root: ShadowRoot, name: string, minutes: string): void {
  const [first, second] = root.querySelectorAll<HTMLInputElement>("form input");
  if (first) first.value = name;
  if (second) second.value = minutes;
  root.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
}
