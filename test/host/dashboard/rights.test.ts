import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals-core";
import type { Api, SignedIn } from "../../../host/dashboard/api.ts";
import type { ConnectionState } from "../../../host/dashboard/connection.ts";
import { followRights, mayOnlyReadAt } from "../../../host/dashboard/rights.ts";
import { rememberSignedIn } from "../../../host/dashboard/signed-in.ts";
import "../../helpers/page/light-dom.ts";
import { until } from "../../helpers/until.ts";

const CHILD: SignedIn = { name: "Child", scope: ["control"], readOnlyPaths: [], display: false };

test("a page whose rights were changed remembers them and loads again, and otherwise does not", async (t) => {
  let reloads = 0;
  const before = globalThis.location;
  globalThis.location = { reload: () => void reloads++ } as unknown as Location;
  t.after(() => (globalThis.location = before));
  t.after(() => localStorage.clear());
  let answers = 0;
  let who: SignedIn = CHILD;
  const api = { whoIsSignedIn: async () => (answers++, who) } as unknown as Api;
  const link = signal<ConnectionState>({ state: "away", since: 0, retryAt: 0 });
  rememberSignedIn(CHILD);

  followRights({ api, link });
  assert.equal(answers, 0);
  link.value = { state: "live" };
  await until(() => answers === 1);
  who = { ...CHILD, readOnlyPaths: ["automations"] };
  link.value = { state: "away", since: 0, retryAt: 0 };
  assert.deepEqual([reloads, mayOnlyReadAt("automations")], [0, false]);
  link.value = { state: "live" };
  await until(() => reloads === 1);

  assert.equal(mayOnlyReadAt("automations"), true);
  assert.equal(mayOnlyReadAt("automations/a"), true);
  assert.equal(mayOnlyReadAt("automation"), false);
});
