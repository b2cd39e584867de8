import { computed, type ReadonlySignal, signal } from "@preact/signals-core";
import { getPosition } from "suncalc";
import type { ModuleView } from "../../api/module.ts";
import { now } from "../home-time.ts";
import type { OverlaySession } from "../overlay-route.ts";
import { isRecord } from "./document.ts";
import { type HomeView, type SunNow, WEEKDAYS } from "./home.ts";

const CLOCK_MS = 10_000;
/** The altitude of the sun's middle at its rise, in degrees. */
const HORIZON = -0.27;

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** The home as sentences see it, kept current until it is closed. */
export function followHome({ api, store, contexts }: OverlaySession): HomeView & { close(): void } {
  const present = signal(now());
  const timer = setInterval(() => (present.value = now()), CLOCK_MS);
  const scenes = signal<ReadonlyMap<string, string>>(new Map());
  const calendars = signal<ReadonlyMap<string, string>>(new Map());
  const place = signal<Place | undefined>(undefined);
  const read = async (path: string, take: (answer: unknown) => void): Promise<void> => {
    try {
      take(await api.get(path));
    } catch (error) {
      console.warn(`could not read ${path}`, error);
    }
  };
  void read("/smart-home/scenes", (answer) => (scenes.value = namesIn(answer, "scenes")));
  void read("/config", (answer) => {
    const config = isRecord(answer) && isRecord(answer["config"]) ? answer["config"] : {};
    place.value = placeIn(config["home"]);
  });
  if (hasCalendars(store.modules().peek())) {
    void read("/calendar/events?limit=1", (answer) => {
      calendars.value = namesIn(answer, "sources");
    });
  }
  const shown = store.devices();
  const clock = clockOf(
    present,
    computed(() => store.ui.value.timeZone),
  );
  return {
    device: (id) => store.device(id).value,
    devices: () => shown.value,
    scenes: () => scenes.value,
    calendars: () => calendars.value,
    sun: () => sunAt(place.value, present.value),
    clock: () => clock.value,
    get fmt() {
      return contexts.formats.value;
    },
    close: () => clearInterval(timer),
  };
}

function clockOf(
  present: ReadonlySignal<number>,
  timeZone: ReadonlySignal<string | undefined>,
): ReadonlySignal<ReturnType<HomeView["clock"]>> {
  const format = computed(
    () =>
      new Intl.DateTimeFormat("en-GB", {
        ...(timeZone.value !== undefined && { timeZone: timeZone.value }),
        hour: "2-digit",
        minute: "2-digit",
        weekday: "short",
      }),
  );
  return computed(() => {
    const parts = format.value.formatToParts(present.value);
    const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? "";
    const day = part("weekday").toLowerCase();
    return {
      time: `${part("hour")}:${part("minute")}`,
      day: WEEKDAYS.find((each) => each === day) ?? "mon",
    };
  });
}

function sunAt(place: Place | undefined, at: number): SunNow | undefined {
  if (!place) return undefined;
  const { altitude } = getPosition(new Date(at), place.latitude, place.longitude);
  return { isUp: altitude > HORIZON };
}

function placeIn(home: unknown): Place | undefined {
  if (!isRecord(home)) return undefined;
  const { latitude, longitude } = home;
  return typeof latitude === "number" && typeof longitude === "number"
    ? { latitude, longitude }
    : undefined;
}

function hasCalendars(modules: readonly ModuleView[]): boolean {
  return modules.some(({ permissions }) => permissions.provides.includes("calendar.window"));
}

function namesIn(answer: unknown, key: string): ReadonlyMap<string, string> {
  const list = isRecord(answer) && Array.isArray(answer[key]) ? (answer[key] as unknown[]) : [];
  return new Map(
    list
      .filter(isRecord)
      .flatMap(({ id, name }) =>
        typeof id === "string" && typeof name === "string" ? [[id, name] as const] : [],
      ),
  );
}
