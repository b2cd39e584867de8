import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { IconStore } from "../../../../host/dashboard/icons/icon-store.ts";
import { mockAgain } from "../../../helpers/mock-again.ts";

/** A host that draws each icon as its name, and none that begins with "no". */
function openHost(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const host = {
    asked: [] as string[],
    isAway: false,
    status: 200,
    stored: new Map<string, string>(),
    open: (url = "/icons/7/") =>
      new IconStore({
        url,
        storage: {
          get: (key) => host.stored.get(key) ?? null,
          set: (key, value) => void host.stored.set(key, value ?? ""),
        },
      }),
    pass: async (ms: number) => {
      t.mock.timers.tick(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  t.mock.method(globalThis, "fetch", async (url: string) => {
    host.asked.push(url);
    if (host.isAway) throw new TypeError("fetch failed");
    const [, names = ""] = /^\/icons\/\d\/(.*)\.json$/.exec(url) ?? [];
    const paths = names.split(",").map((name) => [name, `M ${name}`] as const);
    const known = Object.fromEntries(paths.filter(([name]) => !name.startsWith("no")));
    return Response.json(known, { status: host.status });
  });
  return host;
}

test("icons are requested together, and the next ones when the answer is there", async (t) => {
  const { open, pass, asked } = openHost(t);
  const store = open();

  const first = [store.load("sofa"), store.load("lamp"), store.load("sofa")];
  await pass(0);
  const later = [store.load("fan"), store.load("sofa")];
  await pass(0);

  assert.deepEqual(await Promise.all(first), ["M sofa", "M lamp", "M sofa"]);
  assert.deepEqual(await Promise.all(later), ["M fan", "M sofa"]);
  assert.deepEqual(asked, ["/icons/7/help,lamp,sofa.json", "/icons/7/fan.json"]);
  await pass(60_000);
  assert.equal(asked.length, 2, "nothing is requested when no icon is missing");
});

test("while a request runs, further icons wait for its end", async (t) => {
  const { open, pass, asked } = openHost(t);
  const store = open();
  let answer = (_response: Response): void => undefined;
  mockAgain(t, globalThis, "fetch", (url) => {
    asked.push(url as string);
    return new Promise<Response>((resolve) => (answer = resolve));
  });

  void store.load("sofa");
  await pass(0);
  void store.load("lamp");
  void store.load("fan");
  await pass(1_000);
  assert.equal(asked.length, 1);

  answer(Response.json({ sofa: "M 1", help: "M 2" }));
  await pass(0);
  await pass(0);
  assert.deepEqual(asked.slice(1), ["/icons/7/fan,lamp.json"]);
});

test("an unknown icon, and a name that cannot be one, is a question mark", async (t) => {
  const { open, pass, asked } = openHost(t);
  const store = open();

  const loading = ["nothing-like-it", "../secret,sofa", "", "a".repeat(61)].map((name) =>
    store.load(name),
  );
  await pass(0);

  assert.deepEqual(new Set(await Promise.all(loading)), new Set(["M help"]));
  assert.deepEqual(asked, ["/icons/7/help,nothing-like-it.json"]);
  assert.equal(store.find("nothing-like-it"), "M help", "it is not asked for again");
});

test("more than fifty icons are requested in turns", async (t) => {
  const { open, pass, asked } = openHost(t);
  const store = open();

  const loading = Array.from({ length: 120 }, (_, n) => store.load(`icon-${n}`));
  for (let turn = 0; turn < 3; turn++) await pass(0);

  assert.equal((await Promise.all(loading)).at(-1), "M icon-119");
  assert.deepEqual(
    asked.map((url) => url.split(",").length),
    [51, 50, 20],
  );
});

test("a host that cannot be reached, or answers with an error, is asked again after five seconds", async (t) => {
  const host = openHost(t);
  const store = host.open();
  host.isAway = true;
  const loading = store.load("sofa");
  await host.pass(0);
  host.isAway = false;
  host.status = 503;
  await host.pass(5_000);
  host.status = 200;
  void store.load("lamp");
  await host.pass(4_999);
  assert.equal(host.asked.length, 2);

  await host.pass(1);

  assert.equal(await loading, "M sofa");
  assert.equal(host.asked.at(-1), "/icons/7/help,lamp,sofa.json");
});

test("an answer that is not the host's is none", async (t) => {
  const { open, pass, stored } = openHost(t);
  const store = open();
  const answers = [null, {}, { help: "M help", sofa: "M sofa" }];
  mockAgain(t, globalThis, "fetch", async () => Response.json(answers.shift()));

  const loading = store.load("sofa");
  for (const ms of [0, 5_000]) {
    await pass(ms);
    assert.equal(stored.size, 0);
  }
  await pass(5_000);

  assert.equal(await loading, "M sofa");
});

test("the next visit knows the icons of this one, until their version changes", async (t) => {
  const { open, pass } = openHost(t);
  const store = open();
  assert.equal(store.find("sofa"), undefined);
  void store.load("sofa");
  await pass(0);

  assert.equal(open().find("sofa"), "M sofa");
  assert.equal(await open().load("sofa"), "M sofa");
  assert.equal(open("/icons/8/").find("sofa"), undefined);
});

const DAMAGED = [
  ...["", "{", "null", "[]"],
  ...['{"url":"/icons/7/","paths":7}', '{"url":"/icons/7/","paths":[7]}'],
];
for (const stored of DAMAGED) {
  test(`a storage that holds ${stored || "nothing"} is one without icons`, (t) => {
    const host = openHost(t);
    host.stored.set("mantel.icons", stored);

    assert.equal(host.open().find("sofa"), undefined);
  });
}

test("of many icons those used last are kept", async (t) => {
  const { open, pass } = openHost(t);
  const store = open();
  for (let n = 0; n < 398; n++) {
    void store.load(`icon-${n}`);
    if (n % 50 === 0) await pass(0);
  }
  await pass(0);
  assert.ok(store.find("icon-0"));

  void store.load("fan");
  void store.load("lamp");
  await pass(0);

  const again = open();
  assert.deepEqual(
    ["help", "icon-0", "icon-1", "icon-2", "fan", "lamp"].map(
      (name) => again.find(name) !== undefined,
    ),
    [true, true, false, true, true, true],
  );
});
