import {
  type ChangedSubscription,
  type MessageGlobals,
  openHome,
  renewSubscription,
  type Subscriber,
  showMessage,
} from "./messages.ts";
import { type ShellBuild, WorkerFiles } from "./worker-files.ts";

/** The build, which host/assets/build-worker.ts writes ahead of this script. */
declare const MANTEL_BUILD: ShellBuild;

interface LastingEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

/** The worker's globals, which the types of pages lack. */
interface Worker extends MessageGlobals {
  readonly clients: MessageGlobals["clients"] & { claim(): Promise<void> };
  readonly registration: MessageGlobals["registration"] & { readonly pushManager: Subscriber };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: LastingEvent) => void): void;
  addEventListener(
    type: "fetch",
    listener: (
      event: Event & { readonly request: Request; respondWith(answer: Promise<Response>): void },
    ) => void,
  ): void;
  addEventListener(
    type: "message",
    listener: (event: LastingEvent & { readonly data: unknown }) => void,
  ): void;
  addEventListener(
    type: "push",
    listener: (event: LastingEvent & { readonly data: { text(): string } | null }) => void,
  ): void;
  addEventListener(
    type: "pushsubscriptionchange",
    listener: (event: LastingEvent & ChangedSubscription) => void,
  ): void;
  addEventListener(
    type: "notificationclick",
    listener: (event: LastingEvent & { readonly notification: { close(): void } }) => void,
  ): void;
}

const worker = globalThis as unknown as Worker;
const files = new WorkerFiles(MANTEL_BUILD, {
  caches,
  fetch: (request) => fetch(request),
  origin: location.origin,
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});

// A new worker takes over at once: it serves each page the files of the page's own build.
worker.addEventListener("install", (event) => {
  void worker.skipWaiting();
  event.waitUntil(files.install());
});
worker.addEventListener("activate", (event) => {
  event.waitUntil(files.activate().then(() => worker.clients.claim()));
});
worker.addEventListener("fetch", (event) => {
  const answer = files.answer(event.request);
  if (answer) event.respondWith(answer);
});
worker.addEventListener("message", (event) => {
  if (Array.isArray(event.data)) event.waitUntil(files.keep(event.data.map(String)));
});
worker.addEventListener("push", (event) => {
  event.waitUntil(showMessage(worker, event.data?.text() ?? ""));
});
worker.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(renewSubscription(worker.registration.pushManager, event, fetch));
});
worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openHome(worker));
});
