import type { FakeAnswer } from "../../fakes/hue-bridge.ts";
import type { FakeEvent } from "../../fakes/hue-events.ts";
import type { FakeResource } from "../../fakes/hue-home.ts";
import bridges from "../../fixtures/hue/bridges.json" with { type: "json" };
import described from "../../fixtures/hue/shapes.json" with { type: "json" };
import { type Shape, shapeFaults, type Shapes } from "../../helpers/shape.ts";

/** The description of OpenHue, and the additional fields of real bridges. */
export const OPENHUE: Shapes = Object.fromEntries(
  Object.entries(described as unknown as Shapes).map(([name, shape]) => {
    const more: Shape = (bridges as unknown as Partial<Shapes>)[name] ?? {};
    return [name, { ...shape, ...more }];
  }),
);

/** The differences from the description: in an answer to a request … */
export function answerFaults({ method, path, status, body }: FakeAnswer): string[] {
  if (!path.startsWith("/clip/v2/") && path !== "/eventstream/clip/v2") {
    return path === "/api" ? shapeFaults(OPENHUE, "pairing", body) : []; // older interfaces are not described
  }
  if (status >= 400) return shapeFaults(OPENHUE, "refusal", refusalIn(body));
  const faults = shapeFaults(OPENHUE, "answer", body);
  const { data } = body as { data: FakeResource[] };
  if (method === "PUT") {
    return [...faults, ...data.flatMap((each) => shapeFaults(OPENHUE, "identifier", each))];
  }
  return [...faults, ...resourceFaults(data)];
}

/** A refusal need not have data; bridges have an empty list. */
function refusalIn(body: unknown): unknown {
  const { data, ...rest } = body as { data?: unknown };
  return Array.isArray(data) && data.length === 0 ? rest : body;
}

/** … in resources … */
export function resourceFaults(resources: readonly FakeResource[]): string[] {
  return resources.flatMap((each) => shapeFaults(OPENHUE, each.type, each));
}

/** … and in events. */
export function eventFaults(events: readonly FakeEvent[]): string[] {
  return events.flatMap((event) => [
    ...shapeFaults(OPENHUE, "event", event),
    ...event.data.flatMap((each) => {
      const isPart = event.type !== "add";
      const hasIds = typeof each.id === "string" && typeof each.type === "string";
      const faults = shapeFaults(OPENHUE, each.type, each, { isPart });
      return hasIds
        ? faults
        : [...faults, `event.data[]: ${JSON.stringify(each)} has no id or type`];
    }),
  ]);
}
