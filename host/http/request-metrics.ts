import type { Registry } from "prom-client";

/** The upper bounds of durations, in seconds. */
const BOUNDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10] as const;

interface RouteFigures {
  /** Answers by method and status, joined by a space. */
  readonly answers: Map<string, number>;
  /** Answers within each bound and above the previous one; the last number is of those above all. */
  readonly within: number[];
  seconds: number;
}

/** One answered request. */
export interface AnsweredRequest {
  readonly method: string;
  /** The pattern of the route. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Counts requests by route, and their durations. Counting is on the path of every request, and reading is rare. */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteFigures>();

  count({ method, route, status, durationMs }: AnsweredRequest): void {
    const seconds = durationMs / 1000;
    const figures = this.#routes.get(route) ?? this.#add(route);
    const answer = `${method} ${status}`;
    figures.answers.set(answer, (figures.answers.get(answer) ?? 0) + 1);
    figures.seconds += seconds;
    let bound = 0;
    while (bound < BOUNDS.length && seconds > (BOUNDS[bound] ?? 0)) bound++;
    figures.within[bound] = (figures.within[bound] ?? 0) + 1;
  }

  /** The numbers of answers, each with its labels. */
  answers(): [labels: { method: string; route: string; status: string }, count: number][] {
    return [...this.#routes].flatMap(([route, { answers }]) =>
      [...answers].map(([answer, count]) => {
        const [method = "", status = ""] = answer.split(" ");
        return [{ method, route, status }, count] satisfies [object, number];
      }),
    );
  }

  /** Adds the histogram of durations, whose counts come from here and not from the library. */
  registerDurations(registry: Registry, name: string): void {
    const histogram = {
      name,
      get: () => ({
        name,
        help: "Time from the head of a request to the head of its answer",
        type: "histogram",
        values: [...this.#routes].flatMap(([route, figures]) => histogramOf(name, route, figures)),
      }),
    };
    registry.registerMetric(histogram as never);
  }

  #add(route: string): RouteFigures {
    const within = Array.from({ length: BOUNDS.length + 1 }, () => 0);
    const added = { answers: new Map(), within, seconds: 0 };
    this.#routes.set(route, added);
    return added;
  }
}

/** Buckets contain those below them, as Prometheus requires. */
function histogramOf(name: string, route: string, { within, seconds }: RouteFigures): object[] {
  let count = 0;
  const buckets = within.map((own, at) => {
    count += own;
    const labels = { route, le: String(BOUNDS[at] ?? "+Inf") };
    return { metricName: `${name}_bucket`, labels, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { route }, value: seconds },
    { metricName: `${name}_count`, labels: { route }, value: count },
  ];
}
