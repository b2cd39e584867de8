import { type Static, Type } from "typebox";
import { Strict } from "./schema.ts";

/** The kinds of causes. `person` is a signed-in browser, `token` any other program, `device` the device itself. */
export const CAUSE_KINDS = [
  "person",
  "display",
  "token",
  "automation",
  "scene",
  "module",
  "device",
] as const;

/** The longest chain of causes. Of a longer one, the farthest causes are dropped. */
export const MAX_CAUSES = 8;

/** The reason for which an automation ran. */
export const CauseReason = Type.Object(
  {
    type: Type.String({
      minLength: 1,
      maxLength: 40,
      description:
        "the type of the trigger as in documents of automations, such as `state`, `sun` or `webhook`; `manual` for a run by hand",
    }),
    values: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 40 }),
        Type.Union([Type.String({ maxLength: 300 }), Type.Number(), Type.Boolean()]),
        {
          maxProperties: 10,
          description:
            "the details of the trigger: `device`, `field`, `from` and `to`, `event`, `at`, `expression`, `offsetMs`, `title`, `topic` …",
        },
      ),
    ),
  },
  Strict,
);
export type CauseReason = Static<typeof CauseReason>;

/** One link of a chain of causes. */
interface CauseLink {
  readonly kind: (typeof CAUSE_KINDS)[number];
  /** The id of the device, scene, module or automation; of a person, display or token, the `jti` as in the audit log. */
  readonly id: string;
  /** The user-facing name. */
  readonly name: string;
  /** Set for automations. */
  readonly what?: CauseReason;
  /** The instant at which it acted, ISO 8601 in UTC; absent for devices. */
  readonly at?: string;
}

/** The cause of a command, a scene activation or a changed state, and in `parent` the cause of that. */
export interface Cause extends CauseLink {
  readonly parent?: Cause;
}

export const Cause = Type.Object(
  {
    kind: Type.Enum([...CAUSE_KINDS]),
    id: Type.String({
      description: "the id of the device, scene, module or automation, or the jti of the token",
    }),
    name: Type.String(),
    what: Type.Optional(CauseReason),
    at: Type.Optional(
      Type.String({
        format: "date-time",
        description: "the instant at which it acted; absent for devices",
      }),
    ),
    parent: Type.Optional(
      Type.Unsafe<Cause>({
        type: "object",
        description: `the cause of this cause, of the same form; a chain has at most ${MAX_CAUSES}`,
      }),
    ),
  },
  {
    description:
      "who or what caused it; person is a signed-in browser, token another program, device the device itself",
  },
);

/** The cause `link` with its own cause, at most `MAX_CAUSES` in a chain. */
export function causedBy(link: CauseLink, parent: Cause | undefined): Cause {
  const above = parent && shortened(parent, MAX_CAUSES - 1);
  return above ? { ...link, parent: above } : { ...link };
}

function shortened({ parent, ...link }: Cause, most: number): Cause {
  return parent && most > 1 ? { ...link, parent: shortened(parent, most - 1) } : link;
}
