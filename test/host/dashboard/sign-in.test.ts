import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Api, ApiError, type SignedIn } from "../../../host/dashboard/api.ts";
import { refusalOf, signIn, signInOnLoad } from "../../../host/dashboard/sign-in.ts";
import {
  forgetRefused,
  onChangeInOtherTab,
  rememberedSignedIn,
  rememberRefusal,
  rememberSignedIn,
  scopesOf,
  takeRefusal,
} from "../../../host/dashboard/signed-in.ts";
import "../../helpers/page/light-dom.ts";

const MIA: SignedIn = { name: "Mia", scope: ["edit"], display: false };
const WALL: SignedIn = { name: "Wall", scope: ["control"], display: true };
const INVALID = new ApiError(401, { code: "unauthorized", detail: "invalid token" });

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

test("a remembered identity is shown without asking the host", async () => {
  rememberSignedIn(MIA);
  const host = new Host();

  assert.deepEqual(await signInOnLoad(host, undefined), { fault: undefined, who: MIA });
  assert.deepEqual(host.asked, []);
});

test("a browser that remembers nothing asks who is signed in, and remembers the answer", async () => {
  const host = new Host({ who: MIA });

  const { who } = await signInOnLoad(host, undefined);

  assert.deepEqual([who, rememberedSignedIn()], [MIA, MIA]);
  assert.deepEqual(host.asked, ["who"]);
});

test("the token of a link signs in", async () => {
  const host = new Host({ tokens: { good: WALL } });

  assert.deepEqual(await signInOnLoad(host, "good"), { fault: undefined, who: WALL });
  assert.deepEqual(rememberedSignedIn(), WALL);
});

test("a refused link changes nothing: who is signed in stays, and the reason is known", async () => {
  rememberSignedIn(MIA);
  const host = new Host({ who: MIA });

  assert.deepEqual(await signInOnLoad(host, "bad"), { fault: INVALID, who: MIA });
  assert.deepEqual(host.asked, ["sign in bad", "who"]);
});

test("a session that the host no longer knows is forgotten", async () => {
  rememberSignedIn(MIA);

  const { who } = await signInOnLoad(new Host(), "bad");

  assert.deepEqual([who, rememberedSignedIn()], [undefined, undefined]);
});

test("a token stored by an older version becomes a session, and is dropped when it is refused", async () => {
  localStorage.setItem("mantel.token", "good");
  const moved = await signInOnLoad(new Host({ tokens: { good: MIA } }), undefined);
  const left = localStorage.getItem("mantel.token");
  localStorage.clear();
  localStorage.setItem("mantel.token", "bad");

  const refused = await signInOnLoad(new Host(), undefined);

  assert.deepEqual([moved.who, left], [MIA, null]);
  assert.deepEqual(refused, { fault: INVALID, who: undefined });
  assert.equal(localStorage.getItem("mantel.token"), null);
});

test("a stored token is kept while the host fails for another reason", async () => {
  localStorage.setItem("mantel.token", "good");
  const fault = new ApiError(500, { code: "internal" });

  const { fault: found } = await signInOnLoad(new Host({ faults: [fault] }), undefined);

  assert.deepEqual([found, localStorage.getItem("mantel.token")], [fault, "good"]);
});

test("an unreachable host is asked again, after two seconds or the time that it says", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const faults = [
    new ApiError(0, { code: "offline" }),
    new ApiError(429, { retryAfterMs: 50 }),
    new ApiError(503, {}),
  ];
  const host = new Host({ tokens: { good: MIA }, faults });

  const signedIn = signIn(host, "good");
  for (const ms of [1_999, 1, 50, 2_000]) {
    await setImmediate();
    t.mock.timers.tick(ms);
  }

  assert.deepEqual(await signedIn, MIA);
  assert.equal(host.asked.length, 4);
});

test("an error that does not come from the host is thrown", async () => {
  const fault = new TypeError("broken");

  await assert.rejects(signInOnLoad(new Host({ faults: [fault] }), "good"), fault);
});

test("a refusal has the host's sentence, unless the page has its own", () => {
  const refusals = [
    new ApiError(410, { code: "link_used" }),
    new ApiError(401, { reason: "revoked", detail: "no" }),
    new ApiError(403, { detail: "no" }),
  ].map(refusalOf);

  assert.deepEqual(refusals, [
    { reason: "link_used", name: undefined },
    { reason: "revoked", name: undefined },
    { reason: undefined, name: undefined, detail: "no" },
  ]);
});

test("the reason of a refusal is shown once, with the name of a display", () => {
  const refusedAs = (who: SignedIn, reason: "revoked" | undefined) => {
    rememberSignedIn(who);
    forgetRefused(reason);
    return [takeRefusal()?.name, rememberedSignedIn(), takeRefusal()];
  };

  assert.deepEqual(refusedAs(WALL, "revoked"), ["Wall", undefined, undefined]);
  assert.deepEqual(refusedAs(WALL, undefined), [undefined, undefined, undefined]);
  assert.deepEqual(refusedAs(MIA, "revoked"), [undefined, undefined, undefined]);
  rememberRefusal({ reason: "expired", name: "Wall" });
  assert.deepEqual(takeRefusal(), { reason: "expired", name: "Wall" });
});

test("a remembered identity of another format is ignored", () => {
  for (const note of ["{", "null", '{"name":1,"scope":[]}', '{"name":"Mia","scope":"edit"}']) {
    localStorage.setItem("mantel.signed-in", note);
    assert.equal(rememberedSignedIn(), undefined, note);
  }
  localStorage.setItem("mantel.signed-in", '{"name":"Mia","scope":["read"]}');
  assert.deepEqual(rememberedSignedIn(), { name: "Mia", scope: ["read"], display: false });
});

test("a scope includes those below it, and an unknown one none", () => {
  const scopes = [["read"], ["edit"], ["read", "admin"], ["other"]].map((scope) =>
    scopesOf({ ...MIA, scope }),
  );

  assert.deepEqual(scopes, [
    ["read"],
    ["read", "control", "edit"],
    ["read", "control", "edit", "admin"],
    [],
  ]);
});

test("a sign-in in another tab is noticed, and no other change", () => {
  let changes = 0;
  onChangeInOtherTab(() => changes++);

  for (const key of ["mantel.theme", "mantel.signed-in"]) {
    window.dispatchEvent(Object.assign(new Event("storage"), { key }));
  }

  assert.equal(changes, 1);
});

interface Known {
  readonly who?: SignedIn;
  readonly tokens?: Readonly<Record<string, SignedIn>>;
  /** Thrown first. */
  readonly faults?: readonly Error[];
}

class Host extends Api {
  readonly asked: string[] = [];
  readonly #known: Known;
  readonly #faults: Error[];

  constructor(known: Known = {}) {
    super(() => undefined);
    this.#known = known;
    this.#faults = [...(known.faults ?? [])];
  }

  override async signIn(token: string): Promise<SignedIn> {
    this.asked.push(`sign in ${token}`);
    const fault = this.#faults.shift();
    if (fault) throw fault;
    const who = this.#known.tokens?.[token];
    if (!who) throw INVALID;
    return who;
  }

  override async whoIsSignedIn(): Promise<SignedIn | undefined> {
    this.asked.push("who");
    return this.#known.who;
  }
}
