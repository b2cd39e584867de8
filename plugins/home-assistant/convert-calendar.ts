import { textIn } from "./attributes.ts";
import { type Domain, extras, onOff, TEXT, YES_NO } from "./domain.ts";

/** `calendar`: on during an event. Its attributes are those of this event, or of the next one. */
export const calendar: Domain = {
  describe(entity) {
    const { attributes } = entity;
    return {
      kind: "binary-sensor",
      capabilities: { active: YES_NO },
      extra: extras({
        title: TEXT,
        start: TEXT,
        end: TEXT,
        location: TEXT,
        description: TEXT,
        allDay: YES_NO,
      }),
      state: {
        active: onOff(entity),
        title: textIn(attributes, "message") ?? null,
        start: textIn(attributes, "start_time") ?? null,
        end: textIn(attributes, "end_time") ?? null,
        location: textIn(attributes, "location") ?? null,
        description: textIn(attributes, "description") ?? null,
        allDay: attributes["all_day"] === true,
      },
    };
  },
};
