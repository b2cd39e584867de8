import { Type } from "typebox";

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

/** One link of a chain of causes. */
interface CauseLink {
  readonly kind: (typeof CAUSE_KINDS)[number];
  /** The id of the device, scene, module or automation; of a person, display or token, the `jti` as in the audit log. */
  readonly id: string;
  /** The user-facing name. */
  readonly name: string;
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
  const { kind, id, name } = link;
  const above = parent && shortened(parent, MAX_CAUSES - 1);
  return above ? { kind, id, name, parent: above } : { kind, id, name };
}

function shortened({ parent, ...link }: Cause, most: number): Cause {
  return parent && most > 1 ? { ...link, parent: shortened(parent, most - 1) } : link;
}
