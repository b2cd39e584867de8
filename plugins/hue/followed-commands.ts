import type { DeviceCommand } from "@mantel/plugin-sdk";
import { follows, type LightBody, lightBody } from "./convert-light.ts";
import { at, type Resource, type Resources } from "./resources.ts";

/** A command to a light or a group, and the way its lights confirm it. */
export interface FollowedCommand {
  readonly body: LightBody;
  /** True once what was requested is reported: by the light, or by a group and one of its lights. */
  readonly isFollowed: () => boolean;
  /** Keeps what confirmed the command, for the next one with the same values. */
  readonly remember: () => void;
}

/** A light that a command concerns, and its state before, which does not confirm the command. */
interface Follower {
  readonly id: string;
  readonly body: LightBody;
  readonly before: Resource | undefined;
}

/** The commands to the lights of one bridge. */
export class FollowedCommands {
  readonly #resources: Resources;
  /** By light and field, as JSON: the last requested value and the one that confirmed it, which may differ a little. */
  readonly #confirmed = new Map<string, string>();

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  /** @param members the ids of the lights of a group; empty for a light */
  begin(target: Resource, members: readonly string[], command: DeviceCommand): FollowedCommand {
    const { id, type } = target;
    const body = lightBody(this.#resources.get(id), command);
    const isGroup = type === "grouped_light";
    const followers = (isGroup ? members : [id]).map((each) => this.#follower(each, command));
    return {
      body,
      isFollowed: () =>
        isGroup
          ? this.#groupFollows(id, body, followers)
          : followers.every((each) => this.#follows(each)),
      remember: () => {
        for (const each of followers) {
          for (const [key, answer] of this.#answers(each)) this.#confirmed.set(key, answer);
        }
      },
    };
  }

  #follower(id: string, command: DeviceCommand): Follower {
    const before = this.#resources.get(id);
    const body = lightBody(before, command);
    const repeated = this.#answers({ id, body }).flatMap(([key, answer, field]) =>
      this.#confirmed.get(key) === answer ? [[field, undefined] as const] : [],
    );
    // a light does not change for a repeated request
    return { id, body, before: before && { ...before, ...Object.fromEntries(repeated) } };
  }

  #follows({ id, body, before }: Follower): boolean {
    return follows(this.#resources.get(id), body, before);
  }

  /** A group reports whether one of its lights is on. Its other values are those of its lights: one of them suffices. */
  #groupFollows(id: string, body: LightBody, followers: readonly Follower[]): boolean {
    const { on } = body;
    if (on && at(this.#resources.get(id), "on", "on") !== on.on) return false;
    const concerned = followers.flatMap(({ body: { on: _on, ...asked }, ...rest }) => {
      const light = this.#resources.get(rest.id);
      const fields = Object.entries(asked).filter(([field]) => at(light, field) !== undefined);
      const takes = on?.on === true || at(light, "on", "on") === true;
      return takes && fields.length > 0 ? [{ ...rest, body: Object.fromEntries(fields) }] : [];
    });
    return concerned.length === 0 || concerned.some((each) => this.#follows(each));
  }

  /** For each requested field its key in `#confirmed`, and the requested with the present value. */
  #answers({ id, body }: Pick<Follower, "id" | "body">) {
    const light = this.#resources.get(id);
    return Object.entries(body).map(
      ([field, asked]) =>
        [`${id}/${field}`, JSON.stringify([asked, light?.[field]]), field] as const,
    );
  }
}
