import { type Part, partsIn, type TracedAction } from "./document.ts";
import { type DeviceField, fieldOf, type HomeView, valueWords } from "./home.ts";
import { type Phrase, phraseOf } from "./phrases.ts";
import { plainText } from "./seen.ts";
import { words } from "./words.ts";

/** A step of code in words, such as "turn on Hall lamp". */
export function requestPhrase({ type, request }: TracedAction, home: HomeView): Phrase {
  const icon = "mdi:code-tags";
  if (!request) return { icon, hue: "info", text: words.value.unknownPart(type) };
  switch (request.type) {
    case "check": {
      const parts = partsIn(request["conditions"]);
      const texts = parts.map((part) => phraseOf("conditions", part, home).text);
      const text = words.value.ifSo(texts.join(` ${words.value.and} `));
      return { icon: "mdi:call-split", hue: "ok", text };
    }
    case "read":
      return { icon: "mdi:eye-outline", hue: "info", text: measuredText(request, home) };
    case "ramp": {
      const to = valueWords(measuredOf(request, home), request["to"], home);
      return {
        icon: "mdi:trending-up",
        hue: "light",
        text: `${measuredText(request, home)} → ${to}`,
      };
    }
    case "variable":
      return { icon: "mdi:variable", hue: "info", text: String(request["name"]) };
    default:
      return phraseOf("actions", request, home);
  }
}

/** The value that a step of code got, in words; `undefined` for steps without one, such as a command. */
export function resultText(
  { type, request, value }: TracedAction,
  home: HomeView,
): string | undefined {
  if (value === undefined) return undefined;
  if (type === "read" && request) return valueWords(measuredOf(request, home), value, home);
  return type === "variable" || type === "value" ? plainText(value) : undefined;
}

function measuredOf(request: Part, home: HomeView): DeviceField | undefined {
  return fieldOf(home.device(String(request["device"])), String(request["field"]));
}

/** The name of a device with that of one of its fields. */
function measuredText(request: Part, home: HomeView): string {
  const id = String(request["device"]);
  const label = measuredOf(request, home)?.label ?? String(request["field"]);
  return `${home.device(id)?.name ?? id}: ${label}`;
}
