import { signal } from "@preact/signals-core";
import { html, type TemplateResult } from "lit";
import type { SettingsDependencies } from "./page.ts";
import { settingRow, switchInput } from "./setting-row.ts";
import { words } from "./words.ts";

const PUSH = "/push";
const MAX_NAME = 100;

/** The parts of a browser that get messages while no page is open (W3C Push API, Notifications API). */
export interface PushBrowser {
  /** False over plain HTTP, where browsers have none of these. */
  readonly isSecure: boolean;
  /** Of the dashboard's service worker; `undefined` in a browser without one, or without messages. */
  readonly push: () => Promise<PushManager | undefined>;
  readonly permission: () => NotificationPermission;
  readonly askPermission: () => Promise<NotificationPermission>;
  /** Such as `Chrome, Android`. */
  readonly name: string;
}

type State = "unknown" | "on" | "off" | "insecure" | "missing" | "forbidden";

/** Messages of the home in this browser: whether it gets them, and for whom. */
export class MessagesHere {
  readonly #parts: SettingsDependencies;
  readonly #browser: PushBrowser;
  readonly #state = signal<State>("unknown");
  #person = "";

  constructor(parts: SettingsDependencies, browser: PushBrowser = thisBrowser()) {
    this.#parts = parts;
    this.#browser = browser;
    void this.#read();
  }

  view(): TemplateResult {
    const { messagesHere, messagesHereHint, messagesFor, messagesForHint, ...texts } = words.value;
    const state = this.#state.value;
    if (state === "insecure") return html`<p>${texts.messagesInsecure}</p>`;
    if (state === "missing") return html`<p>${texts.messagesMissing}</p>`;
    if (state === "forbidden") return html`<p>${texts.messagesForbidden}</p>`;
    const isOn = state === "on";
    const onPerson = ({ currentTarget }: Event) =>
      (this.#person = (currentTarget as HTMLInputElement).value.trim());
    return html`${settingRow({
      id: "messages-for",
      title: messagesFor,
      hint: messagesForHint,
      input: html`<input
        id="messages-for"
        maxlength="200"
        aria-describedby="messages-for-hint"
        ?disabled=${isOn}
        @input=${onPerson}
      />`,
    })}
    ${settingRow({
      id: "messages-here",
      title: messagesHere,
      hint: messagesHereHint,
      input: switchInput("messages-here", isOn, (next) => void this.#turn(next)),
    })}`;
  }

  async #read(): Promise<void> {
    this.#state.value = await this.#find().catch((): State => "missing");
  }

  async #find(): Promise<State> {
    if (!this.#browser.isSecure) return "insecure";
    const push = await this.#browser.push();
    if (!push) return "missing";
    if (this.#browser.permission() === "denied") return "forbidden";
    return (await push.getSubscription()) ? "on" : "off";
  }

  async #turn(on: boolean): Promise<void> {
    const { formAction } = this.#parts;
    this.#state.value = on ? "on" : "off"; // as the user has set the switch; it is drawn again if that fails
    await formAction.run(() => (on ? this.#subscribe() : this.#unsubscribe()));
    await this.#read();
  }

  async #subscribe(): Promise<void> {
    const { api } = this.#parts;
    if ((await this.#browser.askPermission()) !== "granted") return;
    const push = await this.#browser.push();
    const { publicKey } = await api.get(PUSH);
    const subscription = await push?.subscribe({
      userVisibleOnly: true,
      applicationServerKey: publicKey,
    });
    if (!subscription) return;
    const person = this.#person === "" ? {} : { person: this.#person };
    const { endpoint, keys } = subscription.toJSON();
    try {
      const body = { subscription: { endpoint, keys }, name: this.#browser.name, ...person };
      const { id } = await api.post(PUSH, body);
      localStorage.setItem(PUSH, id);
    } catch (error) {
      await subscription.unsubscribe();
      throw error;
    }
  }

  /** The browser forgets it first: the home then learns from the push service that it has ended. */
  async #unsubscribe(): Promise<void> {
    const subscription = await (await this.#browser.push())?.getSubscription();
    await subscription?.unsubscribe();
    const id = localStorage.getItem(PUSH);
    localStorage.removeItem(PUSH);
    if (id !== null) await this.#parts.api.delete(`${PUSH}/${id}`).catch(() => undefined);
  }
}

function thisBrowser(): PushBrowser {
  return {
    isSecure: isSecureContext,
    push: async () =>
      "Notification" in globalThis && "PushManager" in globalThis
        ? (await navigator.serviceWorker.ready).pushManager
        : undefined,
    permission: () => Notification.permission,
    askPermission: () => Notification.requestPermission(),
    name: nameOf(navigator.userAgent),
  };
}

/** Names in user agents, each with the name for people. The first that is found counts. */
const BROWSERS = [
  ["Edg", "Edge"],
  ["OPR", "Opera"],
  ["SamsungBrowser", "Samsung Internet"],
  ["Firefox", "Firefox"],
  ["Chrome", "Chrome"],
  ["Safari", "Safari"],
] as const;
const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Macintosh", "Mac"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;

/** Short for people, as user agents name themselves. */
export function nameOf(userAgent: string): string {
  const of = (names: typeof BROWSERS | typeof SYSTEMS) =>
    names.find(([mark]) => userAgent.includes(mark))?.[1];
  const parts = [of(BROWSERS), of(SYSTEMS)].filter((part) => part !== undefined);
  return parts.length === 0 ? userAgent.slice(0, MAX_NAME) || "?" : parts.join(", ");
}
