import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { WeatherCondition } from "./forecast.ts";

interface Sky {
  readonly condition: WeatherCondition;
  /** True if the sun is up. */
  readonly day: boolean;
}

/** The cloud in front of the sun or moon, and the precipitation. */
const PARTS: Readonly<
  Record<WeatherCondition, { cloud: "none" | "some" | "all"; falls?: Falling }>
> = {
  clear: { cloud: "none" },
  "partly-cloudy": { cloud: "some" },
  cloudy: { cloud: "all" },
  fog: { cloud: "all", falls: "mist" },
  "light-rain": { cloud: "some", falls: "drops" },
  rain: { cloud: "all", falls: "drops" },
  sleet: { cloud: "all", falls: "sleet" },
  snow: { cloud: "all", falls: "flakes" },
  thunderstorm: { cloud: "all", falls: "bolt" },
};
type Falling = "drops" | "flakes" | "sleet" | "bolt" | "mist";

/** An icon for the weather. Hidden from screen readers: the text beside it describes it. */
export function icon({ condition, day }: Sky): TemplateResult {
  const { cloud, falls } = PARTS[condition];
  const light = cloud === "none" ? "whole" : "behind";
  return html`<svg class="sky" viewBox="0 0 64 64" aria-hidden="true">
    ${cloud === "all" ? nothing : day ? sun(light) : moon(light)}
    ${cloud === "none" ? nothing : CLOUD} ${falls === undefined ? nothing : FALLING[falls]}
  </svg>`;
}

function sun(where: "whole" | "behind"): SVGTemplateResult {
  const [x, y, radius] = where === "whole" ? [32, 32, 13] : [42, 20, 10];
  const rays = Array.from({ length: 8 }, (_, index) => {
    const turn = `rotate(${index * 45} ${x} ${y})`;
    return svg`<path d=${`M${x} ${y - radius - 4}v-5`} transform=${turn}></path>`;
  });
  return svg`<g class="sun"><circle cx=${x} cy=${y} r=${radius}></circle>${rays}</g>`;
}

function moon(where: "whole" | "behind"): SVGTemplateResult {
  const shape =
    where === "whole"
      ? "M28 12a21 21 0 1 0 24 28A18 18 0 0 1 28 12z"
      : "M36 7a13 13 0 1 0 12 20A11.500 11.500 0 0 1 36 7z";
  return svg`<path class="moon" d=${shape}></path>`;
}

const CLOUD = svg`<defs>
    <linearGradient id="cloud" x1="0" y1="0" x2="0" y2="1">
      <stop class="cloud-top" offset="0"></stop><stop class="cloud-bottom" offset="1"></stop>
    </linearGradient>
  </defs>
  <path fill="url(#cloud)"
    d="M18 48a10 10 0 0 1-1-20 15.500 15.500 0 0 1 29.500-1A10.500 10.500 0 0 1 46 48z"></path>`;

const FALLING: Readonly<Record<Falling, SVGTemplateResult>> = {
  drops: svg`<path class="rain" d="M23 53l-2 6M33 53l-2 6M43 53l-2 6"></path>`,
  flakes: svg`<path class="flakes" d="M22 56h.01M32 58h.01M42 56h.01"></path>`,
  sleet: svg`<path class="rain" d="M23 53l-2 6M43 53l-2 6"></path>
    <path class="flakes" d="M32 57h.01"></path>`,
  bolt: svg`<path class="bolt" d="M34 44l-8 10h6l-3 8 9-11h-6l4-7z"></path>`,
  mist: svg`<path class="mist" d="M17 54h30M23 60h22"></path>`,
};
