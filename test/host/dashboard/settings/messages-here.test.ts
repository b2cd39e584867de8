import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { PushBrowser } from "../../../../host/dashboard/settings/messages-here.ts";
import { FakeApi } from "../../../helpers/page/fake-api.ts";
import "../../../helpers/page/light-dom.ts";
import { until } from "../../../helpers/until.ts";

const { effect } = await import("@preact/signals-core");
const { render } = await import("lit");
const { FormAction } = await import("../../../../host/dashboard/settings/form-action.ts");
const { MessagesHere, nameOf } =
  await import("../../../../host/dashboard/settings/messages-here.ts");
const { Store } = await import("../../../../host/dashboard/store.ts");

const SUBSCRIPTION = { endpoint: "https://push.test/1", keys: { p256dh: "p", auth: "a" } };

/** The push manager of a browser, which has at most one subscription. */
class FakePush {
  isSubscribed: boolean;
  asked: unknown;

  constructor(isSubscribed: boolean) {
    this.isSubscribed = isSubscribed;
  }

  async getSubscription() {
    return this.isSubscribed ? this.#subscription() : null;
  }

  async subscribe(options: unknown) {
    this.asked = options;
    this.isSubscribed = true;
    return this.#subscription();
  }

  #subscription() {
    return {
      toJSON: () => ({ ...SUBSCRIPTION, expirationTime: null }),
      unsubscribe: async () => {
        this.isSubscribed = false;
        return true;
      },
    };
  }
}

class DeletingApi extends FakeApi {
  override async delete(path: string): Promise<never> {
    this.asked.push(`DELETE ${path}`);
    return undefined as never;
  }
}

function open(t: TestContext, browser: Partial<PushBrowser> = {}, answers: object = {}) {
  const push = new FakePush(false);
  const api = new DeletingApi({ "/push": { publicKey: "key", id: "id1" }, ...answers });
  const formAction = new FormAction();
  const here = new MessagesHere(
    { api, formAction, mayAdminister: true, store: new Store() },
    {
      isSecure: true,
      push: async () => push as unknown as PushManager,
      permission: () => "default",
      askPermission: async () => "granted",
      name: "Firefox, Linux",
      ...browser,
    },
  );
  const root = document.createElement("div");
  document.body.append(root);
  const stop = effect(() => void render(here.view(), root));
  t.after(() => {
    stop();
    root.remove();
    localStorage.clear();
  });
  const input = () => root.querySelector<HTMLInputElement>("#messages-here");
  const turn = async (on: boolean): Promise<void> => {
    const element = input();
    assert.ok(element);
    element.checked = on;
    element.dispatchEvent(new Event("change", { bubbles: true }));
    await until(() => !formAction.busy.peek());
  };
  return { api, root, push, input, turn, formAction };
}

test("a switch subscribes the browser to the messages of a person, and ends it", async (t) => {
  const { api, root, push, input, turn } = open(t);
  const person = root.querySelector<HTMLInputElement>("#messages-for");
  assert.ok(person);
  person.value = " Anna ";
  person.dispatchEvent(new Event("input", { bubbles: true }));

  await turn(true);
  await until(() => input()?.checked === true);

  assert.deepEqual(push.asked, { userVisibleOnly: true, applicationServerKey: "key" });
  assert.deepEqual(api.posted, [
    { subscription: SUBSCRIPTION, name: "Firefox, Linux", person: "Anna" },
  ]);

  await turn(false);
  await until(() => input()?.checked === false);

  assert.equal(push.isSubscribed, false);
  assert.equal(api.asked.at(-1), "DELETE /push/id1");
});

test("without the permission nothing is subscribed, and the switch is off again", async (t) => {
  const { api, push, input, turn } = open(t, { askPermission: async () => "default" });

  await turn(true);
  await until(() => input()?.checked === false);

  assert.equal(push.isSubscribed, false);
  assert.deepEqual(api.posted, []);
});

test("a subscription that the home refuses is ended, and the reason is shown", async (t) => {
  const { api, push, turn, formAction } = open(t);
  t.mock.method(api, "post", async () => {
    throw new Error("full");
  });

  await turn(true);

  assert.equal(push.isSubscribed, false);
  const notice = document.createElement("div");
  render(formAction.notice(), notice);
  assert.match(notice.textContent ?? "", /full/);
});

for (const [what, browser, sentence] of [
  ["over plain HTTP", { isSecure: false }, /over HTTPS only/],
  ["without messages", { push: async () => undefined }, /This browser gets no messages/],
  ["with a worker that fails", { push: () => Promise.reject(new Error()) }, /gets no messages/],
  [
    "that forbids them",
    { permission: () => "denied" as const },
    /This browser blocks notifications/,
  ],
] as const) {
  test(`a browser ${what} says why it gets no messages`, async (t) => {
    const { root, input } = open(t, browser);

    await until(() => input() === null);

    assert.match(root.textContent ?? "", sentence);
  });
}

test("browsers are named by their short names and systems", () => {
  const [chrome, edge, iphone, other] = [
    "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
    "Ladybird",
  ].map(nameOf);
  assert.deepEqual(
    [chrome, edge, iphone, other],
    ["Chrome, Android", "Edge, Windows", "Safari, iPhone", "Ladybird"],
  );
});
