import { MantelError } from "@mantel/plugin-sdk/errors";
import type { HostApi } from "@mantel/plugin-sdk/protocol";
import type { Begin, Handlers } from "@mantel/plugin-sdk/rpc";

/** The most calls of one process that run at once. */
const CALLS_AT_ONCE = 200;
/**
 * All calls that a process may make; the type names every one, so that none is missing. Of unanswered ones the process
 * hears nothing. The host does not refuse them, because nobody would know: it reads no further messages until there is
 * room.
 */
const METHODS: Readonly<Record<keyof HostApi, "answered" | "unanswered">> = {
  publishDevices: "answered",
  updateDevices: "unanswered",
  announceDeviceEvent: "unanswered",
  publishScenes: "answered",
  publish: "answered",
  publishCalendarPart: "answered",
  publishChannel: "answered",
  followChannel: "answered",
  followSources: "answered",
  describeSources: "answered",
  callService: "answered",
  routeUrl: "answered",
  reportDegraded: "unanswered",
  showStep: "unanswered",
  log: "unanswered",
  setSchedule: "answered",
  cancelSchedule: "answered",
  resumeSchedules: "unanswered",
  listHomeDevices: "answered",
  getHomeDevice: "answered",
  followHome: "answered",
  unfollowHome: "unanswered",
  suspendHome: "unanswered",
  commandHome: "answered",
  activateHomeScene: "answered",
  listHomeScenes: "answered",
  listHomeRooms: "answered",
  getSun: "answered",
  getCoordinates: "answered",
  listHomeEvents: "answered",
  discoverMdns: "answered",
  discoverSsdp: "answered",
};

interface Owner {
  /** The API of the process's module, once it has one. */
  readonly ownerApi: () => Handlers<HostApi> | undefined;
  /** Called with the input of a service call and its answer. */
  readonly onServiceAnswer: (input: never, answer: unknown) => void;
}

type Work = (api: Handlers<HostApi>) => Promise<unknown>;

/** Forwards the calls of a process to its module, within limits. */
export class ForwardedCalls {
  /** @throws MantelError `module_down` without a module, or if too many calls run */
  readonly handlers: Handlers<HostApi>;
  readonly #owner: Owner;
  #answered = 0;
  #unanswered = 0;

  constructor(owner: Owner) {
    this.#owner = owner;
    this.handlers = Object.fromEntries(
      Object.keys(METHODS).map((method) => [method, this.#forward(method as keyof HostApi)]),
    ) as unknown as Handlers<HostApi>;
  }

  /** True while no further message of the process is to be read. */
  get mustWait(): boolean {
    return this.#unanswered >= CALLS_AT_ONCE;
  }

  #forward(method: keyof HostApi) {
    return (input: never, begin: Begin): Promise<unknown> => {
      const work: Work = async (api) => {
        const answer = await (api[method] as (input: never, begin: Begin) => unknown)(input, begin);
        if (method === "callService") this.#owner.onServiceAnswer(input, answer);
        return answer;
      };
      return METHODS[method] === "answered" ? this.#withinLimit(work) : this.#withoutLimit(work);
    };
  }

  async #withoutLimit(work: Work): Promise<unknown> {
    const api = this.#requireApi();
    this.#unanswered++;
    try {
      return await work(api);
    } finally {
      this.#unanswered--;
    }
  }

  async #withinLimit(work: Work): Promise<unknown> {
    const api = this.#requireApi();
    if (this.#answered >= CALLS_AT_ONCE) {
      throw new MantelError("module_down", `${CALLS_AT_ONCE} calls are already running`);
    }
    this.#answered++;
    try {
      return await work(api);
    } finally {
      this.#answered--;
    }
  }

  #requireApi(): Handlers<HostApi> {
    const api = this.#owner.ownerApi();
    if (api) return api;
    throw new MantelError("module_down", "the process belongs to no module");
  }
}
