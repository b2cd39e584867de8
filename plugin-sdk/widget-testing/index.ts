// The test kit for widgets, in a page without a browser. Import it before the widget. For a real browser see
// `chromium.ts`.

import "./page.ts";
import type { Settings, WidgetDefinition } from "../widget.ts";
import type { WidgetTestOptions } from "./fake-context.ts";
import { mountWidget as mount, type TestedWidget } from "./mount.ts";
import { withManifest } from "./needs-of-test.ts";

export { provide } from "../service.ts";
export type { FakeDevice } from "../testing-device.ts";
export type { TestedWidget } from "./mount.ts";
export type { RecordedCommand, RecordedRoomCommand, WidgetTestOptions } from "./fake-context.ts";

/**
 * Mounts a widget in a home of the test, without a host. It is refused what the needs in its manifest do not list, as in a
 * frame. A command changes its device at once.
 * @throws the widget's error while it mounts
 */
export function mountWidget<S extends Settings, State>(
  definition: WidgetDefinition<S, State>,
  options: WidgetTestOptions = {},
): TestedWidget {
  return mount(definition, withManifest(options));
}
